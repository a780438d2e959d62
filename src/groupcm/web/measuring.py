"""A picture's score together with the features that gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.images.reading import Pixels
from groupcm.images.score import PictureScore, PictureScorer

__all__ = ["MeasuredPicture", "measure_picture"]


@dataclass(frozen=True, eq=False)
class MeasuredPicture:
    """What a model finds in a picture.

    Attributes
    ----------
    found
        Candidates and their scores.
    rows
        Their features, in the order of the model's.
    """

    found: PictureScore
    rows: NDArray[np.float32]


def measure_picture(scorer: PictureScorer, pixels: Pixels, name: str = "") -> MeasuredPicture:
    """Score a picture, and keep the features that the model was given.

    Examples
    --------
    >>> from groupcm.images.made import make_frames
    >>> from groupcm.images.recipe import Recipe
    >>> class Lightest:
    ...     feature_names_in_ = ["colour_lightness"]
    ...     def decision_function(self, X):
    ...         return X[:, 0]
    >>> frame = next(make_frames(1, height=48, width=64))
    >>> measured = measure_picture(PictureScorer(Lightest(), Recipe()), frame.pixels)
    >>> bool(np.all(measured.rows[:, 0] == measured.found.scores))
    True
    """
    model = _Attentive(scorer.model)
    attentive = PictureScorer(model, scorer.recipe, vote=scorer.vote, threshold=scorer.threshold)
    found = attentive(pixels, name)
    return MeasuredPicture(found, model.rows)


class _Attentive:
    """A model that remembers what it scored last."""

    rows: NDArray[np.float32]

    def __init__(self, model: Any) -> None:
        self._model = model
        self.rows = np.empty((0, 0), dtype=np.float32)  # where there is nothing to score

    def decision_function(self, X: NDArray[np.float32], /) -> NDArray[np.float64]:
        self.rows = X
        return self._model.decision_function(X)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)
