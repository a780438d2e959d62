"""Recipes by the names of their parts, as commands set them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from groupcm.errors import Argument, InputError
from groupcm.images.features import FAMILIES
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.features.network_family import NetworkFamily
from groupcm.images.features.pooled_embedding import PooledEmbedding
from groupcm.images.features.user_families import import_family
from groupcm.images.proposals import PROPOSERS, Given, Proposals
from groupcm.images.recipe import Recipe
from groupcm.utils.extras import MissingExtra

__all__ = ["NETWORK_MODES", "N_COMPONENTS", "recipe_named"]

N_COMPONENTS = 128
NETWORK_MODES = ("auto", "crop", "pool", "both")


def recipe_named(
    proposals: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    *,
    network: Sequence[str] = (),
    network_mode: str = "auto",
    components: int = N_COMPONENTS,
    crop_size: int | None = None,
    context: Sequence[float] = (),
    family: Sequence[str] = (),
    at_most: int | None = None,
    longest_side: int | None = None,
    highlights: str = "keep",
    with_given: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> Recipe:
    """Return a recipe from the names of its parts, as ``groupcm images propose`` does.

    Parameters
    ----------
    proposals : sequence of str, optional
        Names of `groupcm.images.proposals.PROPOSERS`; by default those of `Recipe`.
    features : sequence of str, optional
        Names of `groupcm.images.features.FAMILIES`; by default those of `Recipe`. The name
        "network" needs ``network``.
    network : sequence of str
        Networks whose embeddings are features, too: files, or names such as ``timm:resnet18``.
    network_mode : {"auto", "crop", "pool", "both"}
        Whether a network is applied to a crop of each candidate, or once to the picture, whose
        feature maps are then pooled over each candidate and its ring, or both. With "auto" it is
        both, or crops alone where the network has no feature maps or takes one size of pictures.
    components : int
        The number of principal components of each network's embeddings that are features, which
        `groupcm.images.fit_recipe` computes; 0 for all outputs.
    crop_size : int, optional
        The side of the crops that a network is applied to; see
        `groupcm.images.features.network_embedding.NetworkEmbedding.of`.
    context : sequence of float
        Margins of further crops, which show more of the surroundings of a candidate.
    family : sequence of str
        Families of the user as MODULE.CLASS, which are imported and added.
    at_most : int, optional
        The largest number of candidates per picture.
    longest_side : int, optional
        Larger pictures are shrunk to it.
    highlights : {"keep", "fill"}
        Whether specular highlights are filled in first.
    with_given : bool
        Whether the candidates of a detector are added to the default proposals.
    cache : path, optional
        A folder for embeddings; see `Recipe.with_cache`.

    Examples
    --------
    >>> recipe_named(["windows"], ["shape"], at_most=9).to_json()["proposals"][0]["kind"]
    'windows'
    """
    default = Proposals.default()
    parts = default.parts
    if proposals is not None:
        parts = _parts_named(proposals, default)
    elif with_given:
        parts = (Given(), *parts)
    families = Recipe().features
    if features is not None:
        if "network" in features and not network:
            raise InputError(
                Argument("features"), " names network; give one with ", Argument("network", "FILE")
            )
        named = [name for name in features if name != "network"]
        families = _all_named(named, FAMILIES, "features")
    by_user = [import_family(name)() for name in family]
    if network_mode not in NETWORK_MODES:
        raise InputError(
            Argument("network_mode"),
            f" is {network_mode!r}; it must be 'auto', 'crop', 'pool' or 'both'",
        )
    shared: dict[str, Any] = {"n_components": components, "cache": cache}
    embeddings: list[NetworkFamily] = []
    for name, file in _with_names(network):
        if network_mode != "pool":
            crops: dict[str, Any] = {"size": crop_size, "context": tuple(context)}
            embeddings.append(NetworkEmbedding.of(file, name=name, **crops, **shared))
        if network_mode == "crop":
            continue
        name = name if network_mode == "pool" else name.replace("embedding", "pooled")
        try:
            embeddings.append(PooledEmbedding.of(file, name=name, **shared))
        except MissingExtra:
            raise
        except InputError:
            if network_mode != "auto":
                raise
    recipe = Recipe(
        replace(default, parts=parts, at_most=default.at_most if at_most is None else at_most),
        (*families, *by_user, *embeddings),
        highlights=highlights,
    )
    return recipe if longest_side is None else replace(recipe, longest_side=longest_side)


def _with_names(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return each network with the beginning of its features' names, which no two share."""
    for number, file in enumerate(files):
        yield "embedding" if len(files) == 1 else f"embedding{number + 1}", file


def _parts_named(names: Sequence[str], default: Proposals) -> tuple[Any, ...]:
    """Return the default's own parts of each kind, so that naming all of them changes nothing."""
    named = _all_named(names, PROPOSERS, "proposals")
    known = [[part for part in default.parts if type(part) is type(each)] for each in named]
    return tuple(part for each, parts in zip(named, known, strict=True) for part in parts or [each])


def _all_named(names: Sequence[str], known: Mapping[str, type], argument: str) -> tuple[Any, ...]:
    for name in names:
        if name not in known:
            raise InputError(
                Argument(argument), f": there is no {name!r}; choose from {', '.join(known)}"
            )
        if names.count(name) > 1:
            raise InputError(Argument(argument), f": {name!r} is named twice; name it once")
    return tuple(known[name]() for name in names)
