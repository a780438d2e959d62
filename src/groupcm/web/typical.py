"""The average candidate of a folder, and how another one differs from it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.explanation import explain_scores
from groupcm.images.features import FAMILIES
from groupcm.images.recipe import Recipe
from groupcm.images.score import PictureScorer
from groupcm.images.trained_recipe import trained_names
from groupcm.web.picture_result import PictureResult

__all__ = ["TypicalCandidate", "explained", "family_of_features"]

_ENOUGH_PICTURES = 256


class TypicalCandidate:
    """Mean features of candidates over some pictures, evenly spread, as they become known.

    Every picture counts alike, however many candidates it has. A few hundred pictures tell the
    mean as well as all would, and are little to keep.

    Parameters
    ----------
    n_pictures
        How many there are.

    Examples
    --------
    >>> typical = TypicalCandidate(1_000)
    >>> len(typical.numbers), typical.mean() is None
    (250, True)
    """

    def __init__(self, n_pictures: int) -> None:
        self.numbers = range(0, n_pictures, max(1, -(-n_pictures // _ENOUGH_PICTURES)))
        self._lock = threading.Lock()
        self._means: dict[int, NDArray[np.float64]] = {}

    def add(self, number: int, result: PictureResult) -> None:
        """Count a picture in, if it is one of those that are wanted, in place of what it was."""
        if result.mean is not None and number in self.numbers:
            with self._lock:
                self._means[number] = np.array(result.mean)

    def mean(self) -> NDArray[np.float64] | None:
        """Return the features of the average candidate; None where no picture is known yet."""
        with self._lock:
            # In the order of numbers, so that it does not matter who came first.
            means = [self._means[number] for number in sorted(self._means)]
        return np.mean(means, axis=0) if means else None


def explained(
    scorer: PictureScorer, row: NDArray[Any], typical: NDArray[np.float64]
) -> dict[str, Any]:
    """Return the score of a candidate as a sum over features and over their families.

    Parameters
    ----------
    scorer
        A model that is linear, or trees, and its recipe.
    row, typical
        Features of the candidate and of the average one, in the model's order.
    """
    (found,) = explain_scores(scorer.model, row, typical=typical)
    family = family_of_features(scorer.recipe)
    names = trained_names(scorer.model, scorer.recipe)
    features = [
        {
            "name": names[j],
            "family": family[names[j]],
            "value": float(found.values[j]),
            "typical": float(typical[j]),
            "contribution": float(found.contributions[j]),
        }
        for j in found.largest_first().tolist()
    ]
    totals: dict[str, float] = {}
    for each in features:
        totals[each["family"]] = totals.get(each["family"], 0.0) + each["contribution"]
    families = [
        {"family": name, "contribution": total}
        for name, total in sorted(totals.items(), key=lambda item: -abs(item[1]))
    ]
    return {"score": found.score, "base": found.base, "features": features, "families": families}


def family_of_features(recipe: Recipe) -> Mapping[str, str]:
    """Return the family of each feature of a recipe by its name.

    Examples
    --------
    >>> family_of_features(Recipe())["colour_lightness"]
    'colour'
    """
    known = {each: name for name, each in FAMILIES.items()}
    return {
        name: known.get(type(family), type(family).__name__)
        for family in recipe.features
        for name in family.names
    }
