"""A model file that a page is opened with."""

from __future__ import annotations

import os
from math import isfinite

from groupcm.errors import InputError
from groupcm.images.proposals import Given
from groupcm.images.score import PictureScorer
from groupcm.persistence import read

__all__ = ["read_picture_model"]


def read_picture_model(
    path: str | os.PathLike[str], *, threshold: float | None = None, command: str = "review"
) -> PictureScorer:
    """Read a model that scores pictures by itself.

    Parameters
    ----------
    path
        The model file.
    threshold
        A picture whose score is at least this raises an alarm; left out, the model's own.
    command
        What an error calls the work that needs the model.
    """
    if threshold is not None and not isfinite(threshold):
        raise InputError(f"--threshold is {threshold}; it must be a number")
    path = os.fspath(path)
    scorer = PictureScorer.of_saved(read(path), path, threshold=threshold)
    if scorer.threshold is not None and not isfinite(scorer.threshold):
        scorer.threshold = None  # the page needs one that its slider can show
    if any(isinstance(part, Given) for part in scorer.recipe.proposals.parts):
        raise InputError(
            f"{path} was trained on candidates of a detector; {command} needs a model that finds "
            "its own candidates"
        )
    return scorer
