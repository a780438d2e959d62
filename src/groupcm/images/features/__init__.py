"""Families of features of candidates, one module per family; a recipe selects families."""

from __future__ import annotations

from groupcm.images.features.colour import Colour, Contrast, Sides
from groupcm.images.features.gradients import Gradients
from groupcm.images.features.lines import Lines
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.features.pooled_embedding import PooledEmbedding
from groupcm.images.features.shape import Place, Shape
from groupcm.images.features.texture import Texture

__all__ = ["DEFAULT_FAMILIES", "FAMILIES", "STORED_FAMILIES"]

FAMILIES: dict[str, type] = {
    "shape": Shape,
    "colour": Colour,
    "contrast": Contrast,
    "sides": Sides,
    "lines": Lines,
    "texture": Texture,
    "gradients": Gradients,
    "place": Place,
    "network": NetworkEmbedding,
}
#: All families that a recipe can store.
STORED_FAMILIES: dict[str, type] = FAMILIES | {"pooled": PooledEmbedding}

DEFAULT_FAMILIES = (Shape(), Colour(), Contrast(), Sides(), Lines(), Texture(), Gradients())
