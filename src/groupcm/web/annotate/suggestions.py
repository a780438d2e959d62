"""Candidate regions of a picture that the annotator can accept with one click."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.images.proposals.base import distinct
from groupcm.images.reading import Pixels
from groupcm.images.recipe import Recipe
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.view import View, resized
from groupcm.web.server.compute_once import ComputeOnce
from groupcm.web.server.library import PictureLibrary, Stamp
from groupcm.web.server.scored_pictures import candidates_to_json

__all__ = ["Suggestions", "suggested_regions", "suggested_winners"]

MOST = 300
_PICTURES_KEPT = 32
# Of candidates that overlap more than this, only the best is shown. Recipes have removed near
# duplicates themselves; removing more would lose outlines that fit.
_ALIKE = 0.7
_SMALLEST_SHARE, _LARGEST_SHARE = 1e-4, 0.8


class Suggestions:
    """Candidate regions of the pictures of a library; those of recent pictures are kept.

    Several threads may call it. The next picture is prepared while the annotator works on the
    current one. A picture whose file was replaced is processed again.

    Parameters
    ----------
    library
        The pictures.
    recipe
        How regions are found without a model; by default `Recipe()`.
    scorer
        A model, whose recipe is used and whose scores the regions have.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> home = tempfile.mkdtemp()
    >>> _ = write_frames(home, 1, height=48, width=64)
    >>> found = Suggestions(PictureLibrary(f"{home}/frames")).of(0)
    >>> sorted(found[0]), sum(found[0]["counts"]) == 48 * 64
    (['box', 'counts', 'score'], True)
    """

    def __init__(
        self,
        library: PictureLibrary,
        recipe: Recipe | None = None,
        scorer: PictureScorer | None = None,
    ) -> None:
        self._library, self._scorer = library, scorer
        self._recipe = recipe or Recipe()
        self._found = ComputeOnce(self._find, _PICTURES_KEPT)
        self._lock = threading.Lock()
        self._ahead: ThreadPoolExecutor | None = ThreadPoolExecutor(1, "suggestions")

    def of(self, number: int) -> list[dict[str, Any]]:
        """Return the regions of a picture, the best first, or without a model the smallest.

        Each has ``box``, ``counts`` (None for a box) and ``score`` (None without a model); see
        `groupcm.web.server.scored_pictures`.
        """
        found = self._found(self._key(number))
        if number + 1 < len(self._library):
            self._prepare(number + 1)
        return found

    def stop(self) -> None:
        """Stop preparing pictures; work that has begun is left to finish."""
        with self._lock:
            ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.shutdown(wait=False, cancel_futures=True)

    def _prepare(self, number: int) -> None:
        with self._lock:
            if self._ahead is not None:
                self._ahead.submit(self._find_quietly, number)

    def _find_quietly(self, number: int) -> None:
        with suppress(Exception):  # raised again when the picture is requested
            self._found(self._key(number))

    def _key(self, number: int) -> tuple[int, Stamp]:
        return number, self._library.stamp(number)

    def _find(self, picture: tuple[int, Stamp]) -> list[dict[str, Any]]:
        number, _ = picture
        name, pixels = self._library.names[number], self._library.read(number)
        try:
            if self._scorer is None:
                regions = suggested_regions(self._recipe, pixels)
                return candidates_to_json(regions, range(len(regions)))
            found = self._scorer(pixels, name)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the picture {name}: {error}") from error
        order = suggested_winners(found.regions, found.scores)
        return candidates_to_json(found.regions, order, found.scores)


def suggested_regions(recipe: Recipe, pixels: Pixels, at_most: int = MOST) -> Regions:
    """Find the first ``at_most`` regions of a recipe to suggest, sorted by area.

    Windows are left out if outlines were found, and so are tiny regions and those that cover
    nearly the whole picture.

    Examples
    --------
    >>> from groupcm.images.synthetic import make_frames
    >>> frame = next(make_frames(1, height=48, width=64))
    >>> regions = suggested_regions(Recipe(), frame.pixels)
    >>> bool(np.all(np.diff(regions.areas) >= 0)), bool(regions.is_box.any())
    (True, False)
    """
    height, width = pixels.shape[:2]
    view = View.of(pixels, recipe.longest_side)
    regions = resized(recipe.proposals.propose(view), height, width)
    share = regions.areas / (height * width)
    wanted = (share >= _SMALLEST_SHARE) & (share <= _LARGEST_SHARE)
    if (wanted & ~regions.is_box).any():
        wanted &= ~regions.is_box
    regions = regions.take(np.flatnonzero(wanted)[:at_most])
    return regions.take(np.argsort(regions.areas, kind="stable"))


def suggested_winners(
    regions: Regions, scores: NDArray[np.float64], at_most: int = MOST
) -> NDArray[np.int64]:
    """Return the positions of candidates to suggest, the best first, without near duplicates.

    A candidate that is the whole picture is left out.

    Examples
    --------
    >>> boxes = [[0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 30, 30], [0, 0, 40, 40]]
    >>> regions = Regions.from_boxes(boxes, height=40, width=40)
    >>> suggested_winners(regions, np.array([1.0, 2.0, 3.0, 4.0]))
    array([2, 1])
    """
    order = np.argsort(-scores, kind="stable")
    order = order[regions.areas[order] < regions.height * regions.width]
    return order[distinct(regions.edges[order], regions.areas[order], _ALIKE, at_most)]
