"""All candidates of one picture of a review, and the explanations of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.evaluation.explanation import explain_scores, require_without_map
from groupcm.images.features import FAMILIES
from groupcm.images.recipe import Recipe, trained_names
from groupcm.images.scoring.score import PictureScorer
from groupcm.web.server.background import picture_stamp
from groupcm.web.server.compute_once import ComputeOnce
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import MeasuredPicture, candidates_to_json, measure_picture

__all__ = ["PictureDetails", "explain_candidate", "family_of_features"]

_PICTURES_KEPT = 16


class PictureDetails:
    """Candidates of pictures, computed when a picture is opened; recent pictures are kept.

    Parameters
    ----------
    library
        The pictures.
    scorer
        The model.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> from groupcm.images.recipe import Recipe
    >>> home = tempfile.mkdtemp()
    >>> _ = write_frames(home, 1, height=48, width=64)
    >>> class Lightest:
    ...     feature_names_in_ = ["colour_lightness"]
    ...     def decision_function(self, X):
    ...         return X[:, 0]
    >>> library = PictureLibrary(f"{home}/frames")
    >>> details = PictureDetails(library, PictureScorer(Lightest(), Recipe()))
    >>> found = details.to_json(details.measured(0, details.stamp(0)))
    >>> found["score"] == found["candidates"][found["winner"]]["score"]
    True
    """

    def __init__(self, library: PictureLibrary, scorer: PictureScorer) -> None:
        self._library, self._scorer = library, scorer
        self._kept = ComputeOnce(self._measure, _PICTURES_KEPT)

    def stamp(self, number: int) -> str:
        """Return the present stamp of the file of a picture, or raise if the file is gone."""
        self._library.stamp(number)
        return picture_stamp(self._library, number)

    def measured(self, number: int, stamp: str) -> MeasuredPicture:
        """Return the candidates of a picture whose file has this stamp."""
        return self._kept((number, stamp))

    def to_json(self, measured: MeasuredPicture) -> dict[str, Any]:
        """Return all candidates of a picture as JSON, the best first."""
        found = measured.found
        regions, order = found.regions, _best_first(found.scores)
        return {
            "width": regions.width,
            "height": regions.height,
            "score": found.score,
            "probability": found.probability,
            "threshold": self._scorer.threshold,
            "winner": order.index(found.located) if found.located >= 0 else 0,
            "candidates": candidates_to_json(regions, order, found.scores),
        }

    def explain(self, measured: MeasuredPicture, candidate: int) -> dict[str, Any]:
        """Explain the score of one candidate, given by its rank."""
        if not 0 <= candidate < len(measured.rows):
            raise IndexError(candidate)
        row = measured.rows[_best_first(measured.found.scores)[candidate]]
        return explain_candidate(self._scorer, row)

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


def explain_candidate(scorer: PictureScorer, row: NDArray[Any]) -> dict[str, Any]:
    """Return the score of a candidate as a sum over features and over their families.

    The numbers are those of `groupcm.evaluation.explain_scores`, which reports use, too.

    Parameters
    ----------
    scorer
        A model that is linear without a feature map, or trees, and its recipe.
    row
        The features of the candidate, in the order of the model.
    """
    require_without_map(scorer.model)
    (found,) = explain_scores(scorer.model, row)
    family = family_of_features(scorer.recipe)
    # A model without names of its own has those of the recipe.
    name_of = dict(zip(found.names, trained_names(scorer.model, scorer.recipe), strict=True))
    features = [
        {
            "name": name_of[each.feature],
            "family": family[name_of[each.feature]],
            "value": each.value,
            "typical": each.typical,
            "contribution": each.contribution,
        }
        for each in found.listed()
    ]
    totals: dict[str, float] = {}
    for each in features:
        totals[each["family"]] = totals.get(each["family"], 0.0) + each["contribution"]
    families = [
        {"family": name, "contribution": total}
        for name, total in sorted(totals.items(), key=lambda item: -abs(item[1]))
    ]
    return {
        "score": found.score,
        "baseline": found.baseline,
        "base": found.base,
        "features": features,
        "families": families,
    }


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
