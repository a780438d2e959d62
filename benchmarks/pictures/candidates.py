"""Candidates of all pictures of a set, made once by a recipe and kept in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pictures.sets import RealPicture
from groupcm.images.overlap import overlap
from groupcm.images.parallel import map_pictures
from groupcm.images.reading import Pixels
from groupcm.images.recipe import Recipe
from groupcm.utils.files import whole_file

__all__ = ["SetCandidates", "candidates_of"]

POSITIVE_OVERLAP = 0.3


@dataclass(frozen=True, eq=False)
class SetCandidates:
    """Candidates of a set of pictures: rows, picture after picture.

    Attributes
    ----------
    values
        Features, shape (n, d).
    picture
        The number of each candidate's picture, ascending.
    edges
        Left, top, right and bottom of each candidate's box.
    overlap
        Largest overlap of each candidate's box with the box of an object.
    positive, cluster, height, width
        Of each picture: whether it shows an object, what it may not be split from, its size.
    found
        Of each object of the set, the best overlap of a candidate with it.
    """

    values: NDArray[np.float32]
    picture: NDArray[np.int64]
    edges: NDArray[np.float32]
    overlap: NDArray[np.float32]
    positive: NDArray[np.bool_]
    cluster: NDArray[np.str_]
    height: NDArray[np.int64]
    width: NDArray[np.int64]
    found: NDArray[np.float32]

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Where the rows of each picture begin, and where the last ones end."""
        return np.searchsorted(self.picture, np.arange(len(self.positive) + 1))

    @property
    def best(self) -> NDArray[np.float64]:
        """The best overlap of each picture's candidates."""
        return np.maximum.reduceat(self.overlap, self.ptr[:-1])

    @property
    def y(self) -> NDArray[np.int8]:
        """1 for candidates that lie on an object, and the best-fitting one where none does."""
        best = self.best[self.picture]
        on_object = self.overlap >= np.minimum(POSITIVE_OVERLAP, best)
        return (on_object & self.positive[self.picture]).astype(np.int8)

    def whole_pictures(self) -> SetCandidates:
        """The last candidate of every picture alone: the whole of it."""
        return self._with(self.ptr[1:] - 1)

    def every(self, step: int) -> SetCandidates:
        """Every so many-th candidate of each picture, its first one included."""
        within = np.arange(len(self.picture)) - self.ptr[self.picture]
        return self._with(np.flatnonzero(within % step == 0))

    def _with(self, rows: NDArray[np.int64]) -> SetCandidates:
        names = ("values", "picture", "edges", "overlap")
        kept = {name: getattr(self, name)[rows] for name in names}
        others = {each.name: getattr(self, each.name) for each in fields(self)}
        return SetCandidates(**{**others, **kept})


@dataclass(frozen=True)
class _Work:
    """What is done with one picture, in a process of its own."""

    recipe: Recipe
    kind: type

    def __call__(self, task: RealPicture, pixels: Pixels) -> tuple[NDArray, ...]:
        height, width = pixels.shape[:2]
        made = self.recipe.candidates(pixels)
        table = overlap(made.regions, task.objects(height, width), "box_iou")
        none = np.zeros(len(table))
        best = table.max(axis=1) if table.shape[1] else none
        found = table.max(axis=0) if table.shape[1] else none[:0]
        return (
            made.values.astype(self.kind),
            made.regions.edges,
            best,
            found,
            np.array([height, width]),
        )


def candidates_of(
    pictures: Sequence[RealPicture],
    recipe: Recipe,
    cache: Path | None = None,
    *,
    half: bool = False,
) -> SetCandidates:
    """Propose and measure the candidates of every picture, or read them from the cache.

    The file's name distinguishes recipes and pictures, but not versions of the code,
    so empty the folder when a proposal or a feature changes. ``half`` keeps the features in half
    precision, for wide ones.
    """
    file = None if cache is None else cache / f"{_key(pictures, recipe)}.npz"
    if file is not None and file.is_file():
        with np.load(file) as kept:
            return SetCandidates(**kept)
    made = _made(pictures, recipe, np.float16 if half else np.float32)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as path, Path(path).open("wb") as stream:
            np.savez(stream, **{each.name: getattr(made, each.name) for each in fields(made)})
    return made


def _key(pictures: Sequence[RealPicture], recipe: Recipe) -> str:
    told = json.dumps([recipe.to_json(), [picture.name for picture in pictures]], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _made(pictures: Sequence[RealPicture], recipe: Recipe, kind: type) -> SetCandidates:
    with closing(map_pictures(_Work(recipe, kind), pictures)) as results:
        values, edges, best, found, sizes = zip(*(parts for _, parts in results), strict=True)
    counts = [len(each) for each in values]
    height, width = np.array(sizes, dtype=np.int64).T
    return SetCandidates(
        values=np.concatenate(values),
        picture=np.repeat(np.arange(len(counts)), counts),
        edges=np.concatenate(edges).astype(np.float32),
        overlap=np.concatenate(best).astype(np.float32),
        positive=np.array([picture.positive for picture in pictures]),
        cluster=np.array([picture.cluster for picture in pictures]),
        height=height,
        width=width,
        found=np.concatenate(found).astype(np.float32),
    )
