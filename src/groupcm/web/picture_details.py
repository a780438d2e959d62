"""One picture of a review: all its candidates, and why they score as they do."""

from __future__ import annotations

from typing import Any

import numpy as np

from groupcm.errors import InputError
from groupcm.images.score import PictureScorer
from groupcm.web.background import picture_stamp
from groupcm.web.candidate_json import candidates_to_json
from groupcm.web.library import PictureLibrary
from groupcm.web.measuring import MeasuredPicture, measure_picture
from groupcm.web.once import WorkedOutOnce
from groupcm.web.typical import TypicalCandidate, explained

__all__ = ["PictureDetails"]

_PICTURES_KEPT = 16


class PictureDetails:
    """Pictures measured when somebody looks at them; the last few are kept.

    Parameters
    ----------
    library
        The pictures.
    scorer
        The model.
    typical
        What candidates are compared with.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.made import write_frames
    >>> from groupcm.images.recipe import Recipe
    >>> home = tempfile.mkdtemp()
    >>> _ = write_frames(home, 1, height=48, width=64)
    >>> class Lightest:
    ...     feature_names_in_ = ["colour_lightness"]
    ...     def decision_function(self, X):
    ...         return X[:, 0]
    >>> library = PictureLibrary(f"{home}/frames")
    >>> details = PictureDetails(
    ...     library, PictureScorer(Lightest(), Recipe()), TypicalCandidate(1)
    ... )
    >>> told = details.tell(details.measured(0, details.stamp(0)))
    >>> told["score"] == told["candidates"][told["winner"]]["score"]
    True
    """

    def __init__(
        self, library: PictureLibrary, scorer: PictureScorer, typical: TypicalCandidate
    ) -> None:
        self._library, self._scorer, self._typical = library, scorer, typical
        self._kept = WorkedOutOnce(self._measure, _PICTURES_KEPT)

    def stamp(self, number: int) -> str:
        """Stamp of the picture's file as it is now, or an error where it is gone."""
        self._library.stamp(number)
        return picture_stamp(self._library, number)

    def measured(self, number: int, stamp: str) -> MeasuredPicture:
        """Score a picture whose file has this stamp, unless that was just done."""
        return self._kept((number, stamp))

    def tell(self, measured: MeasuredPicture) -> dict[str, Any]:
        """All candidates of a picture, the best first."""
        found = measured.found
        regions = found.regions
        return {
            "width": regions.width,
            "height": regions.height,
            "score": found.score,
            "probability": found.probability,
            "threshold": self._scorer.threshold,
            "winner": 0,
            "candidates": candidates_to_json(regions, _best_first(found.scores), found.scores),
        }

    def explain(self, measured: MeasuredPicture, candidate: int) -> dict[str, Any]:
        """What the features of one of the candidates that are told add to its score."""
        if not 0 <= candidate < len(measured.rows):
            raise IndexError(candidate)
        row = measured.rows[_best_first(measured.found.scores)[candidate]]
        typical = self._typical.mean()
        if typical is None:
            typical = measured.rows.mean(axis=0, dtype=np.float64)
        return explained(self._scorer, row, typical)

    def _measure(self, picture: tuple[int, str]) -> MeasuredPicture:
        number, _ = picture
        name = self._library.names[number]
        pixels = self._library.read(number)
        try:
            return measure_picture(self._scorer, pixels, name)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the picture {name}: {error}") from error


def _best_first(scores: Any) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()
