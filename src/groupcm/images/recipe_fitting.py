"""What a recipe learns from training pictures: the principal components of embeddings.

No label is used, and still only training pictures may be given: a picture on which a model is
evaluated later has to be new to all that the model consists of.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from groupcm.errors import InputError
from groupcm.images.features.network_family import NetworkFamily
from groupcm.images.parallel import PictureTask, Unreadable, map_pictures
from groupcm.images.reading import Pixels
from groupcm.images.recipe import Recipe
from groupcm.images.regions import Regions
from groupcm.utils.parallel import one_blas_thread
from groupcm.utils.typing import Float32

__all__ = ["fit_recipe"]

_N_PICTURES = 400
_PER_PICTURE = 30


@dataclass(frozen=True)
class _Sampling:
    """The embeddings of some candidates of a picture, one array per family."""

    recipe: Recipe
    families: tuple[NetworkFamily, ...]
    per_picture: int

    def __call__(self, task: Any, pixels: Pixels) -> list[Float32]:
        given = getattr(task, "given", None)
        if given is not None:
            height, width = pixels.shape[:2]
            given = Regions.of(given, height, width, what="given candidate")
        view, regions, _ = self.recipe.proposed(pixels, given)
        rng = np.random.default_rng(crc32(task.name.encode()))
        chosen = np.sort(rng.permutation(len(regions))[: self.per_picture])
        return [family.embeddings(view, regions.take(chosen)) for family in self.families]


def fit_recipe(
    recipe: Recipe,
    pictures: Iterable[PictureTask],
    *,
    n_pictures: int = _N_PICTURES,
    per_picture: int = _PER_PICTURE,
    workers: int | None = None,
) -> Recipe:
    """Return a recipe with the principal components of the embeddings of training pictures.

    Parameters
    ----------
    recipe
        A recipe; one without unknown components is returned unchanged.
    pictures
        Training pictures, as `groupcm.images.parallel.PictureFile` describes one. Those that cannot
        be read are left out.
    n_pictures, per_picture
        The largest number of pictures, spread evenly, and of candidates of each, drawn at random
        but always the same.
    workers
        Number of processes; see `groupcm.images.parallel`.

    Examples
    --------
    >>> from groupcm.images.parallel import VideoFrame
    >>> from groupcm.images.synthetic import make_frames
    >>> frames = [VideoFrame("a", frame.pixels) for frame in make_frames(2, height=48, width=64)]
    >>> fit_recipe(Recipe(), frames) == Recipe()
    True
    """
    unknown = [place for place, family in enumerate(recipe.features) if not _is_fitted(family)]
    if not unknown:
        return recipe
    families: Any = tuple(recipe.features[place] for place in unknown)
    chosen = _spread(pictures, n_pictures)
    work = _Sampling(recipe, families, per_picture)
    rows: list[list[Float32]] = [[] for _ in families]
    running = map_pictures(
        work,
        chosen,
        n_tasks=len(chosen),
        doing="learning components",
        workers=workers,
        skip_unreadable=True,
    )
    with closing(running) as results:
        for _, found in results:
            if not isinstance(found, Unreadable):
                for kept, values in zip(rows, found, strict=True):
                    kept.append(values)
    if not rows[0]:
        raise InputError("no picture could be read to compute principal components from")
    features = list(recipe.features)
    with one_blas_thread():  # the same bits whatever the number of cores
        for place, kept in zip(unknown, rows, strict=True):
            features[place] = features[place].fitted(np.concatenate(kept))  # type: ignore
    return replace(recipe, features=tuple(features))


def _is_fitted(family: Any) -> bool:
    return getattr(family, "is_fitted", True)


def _spread(pictures: Iterable[PictureTask], most: int) -> list[PictureTask]:
    """Return at most so many pictures, evenly spread, of which only about twice are ever held.

    Examples
    --------
    >>> _spread(range(10), 4)
    [0, 4, 8]
    """
    kept: list[PictureTask] = []
    step = 1
    for place, picture in enumerate(pictures):
        if place % step == 0:
            kept.append(picture)
        if len(kept) > most:
            kept, step = kept[::2], 2 * step
    return kept
