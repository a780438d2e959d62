"""From a picture to its score and the place of its winner, with a fitted model and its recipe."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations import Region
from groupcm.errors import InputError
from groupcm.estimators.group_model import GroupModel, decision_in_order
from groupcm.estimators.place import place_model
from groupcm.images.features.network_embedding import with_networks
from groupcm.images.reading import Pixels
from groupcm.images.recipe import Recipe, needed_part, noted_recipe, trained_names
from groupcm.images.regions import Regions
from groupcm.images.scoring.vote import refine as refined
from groupcm.images.scoring.vote import vote as voted
from groupcm.metrics.decision import is_alarm, resolve_threshold
from groupcm.utils.merged_warnings import ignore_warnings

__all__ = [
    "CandidateModel",
    "PictureScore",
    "PictureScorer",
    "SavedPictureModel",
    "score_picture",
]


class CandidateModel(Protocol):
    """A fitted classifier: one score per candidate."""

    def decision_function(self, X: Any, /) -> NDArray[np.float64]: ...


class SavedPictureModel(Protocol):
    """What a model file holds, as `groupcm.persistence.read` gives it."""

    @property
    def model(self) -> Any: ...

    @property
    def notes(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, eq=False)
class PictureScore:
    """What a model finds in one picture.

    Attributes
    ----------
    name
        Name of the picture.
    regions
        Its candidates.
    scores
        Their scores, shape (n,).
    winner
        The candidate of largest score, the first of equal ones; -1 where nothing was proposed.
    located
        The candidate that locates the object: the winner, the choice of the place model, or the
        one that was voted for; -1 where nothing was proposed.
    probability
        That the picture is positive; None where the model is not calibrated.
    threshold
        Pictures and candidates that score at least this are marked; None where there is none.
    drawn
        The features of one candidate, drawn at random but always the same, in the model's order:
        by those of many pictures, these are compared with the training.
    place_scores
        The scores of the candidates by the place model, shape (n,); None without one.
    refined
        The region ``located``, joined with or trimmed by candidates that overlap it; None where it
        was not refined.
    """

    name: str
    regions: Regions
    scores: NDArray[np.float64]
    winner: int
    located: int
    probability: float | None = None
    threshold: float | None = None
    drawn: NDArray[np.float32] | None = None
    place_scores: NDArray[np.float64] | None = None
    refined: Regions | None = None

    @property
    def place(self) -> Regions:
        """The region that locates the object, alone; none where nothing was proposed."""
        if self.refined is not None:
            return self.refined
        return self.regions.take([self.located] if self.located >= 0 else [])

    @property
    def score(self) -> float:
        """Score of the picture: its winner's; -inf where nothing was proposed."""
        return float(self.scores[self.winner]) if self.winner >= 0 else -math.inf

    @property
    def alarm(self) -> bool | None:
        """Whether the picture scores at least the threshold; None without one.

        A picture in which nothing was proposed is not an alarm.
        """
        return None if self.threshold is None else bool(is_alarm(self.score, self.threshold))

    @property
    def marked(self) -> NDArray[np.intp]:
        """Candidates that score at least the threshold, best first; none without one."""
        if self.threshold is None:
            return np.empty(0, dtype=np.intp)
        order = np.argsort(-self.scores, kind="stable")
        return order[is_alarm(self.scores[order], self.threshold)]


class PictureScorer:
    """Scores pictures, one call per picture; it can be sent to other processes.

    Parameters
    ----------
    model
        Any fitted classifier of two classes with ``decision_function``. By its
        ``feature_names_in_`` it is given the features it was trained with, which may be some of
        the recipe's; others are not measured. With a ``calibrator_`` pictures get a probability.
    recipe
        How candidates and features are made.
    vote
        Let the best candidates vote where the object is; the score stays the winner's.
    refine
        Join or trim the region that locates the object; see `groupcm.images.scoring.vote.refine`.
    threshold
        See `PictureScore`.

    Examples
    --------
    >>> from groupcm.images.synthetic import make_frames
    >>> class Largest:
    ...     feature_names_in_ = ["colour_lightness"]
    ...     def decision_function(self, X):
    ...         return X[:, 0]
    >>> frame = next(make_frames(1, height=48, width=64))
    >>> found = PictureScorer(Largest(), Recipe())(frame.pixels)
    >>> bool(found.scores[found.winner] == found.scores.max())
    True
    """

    def __init__(
        self,
        model: CandidateModel,
        recipe: Recipe,
        *,
        vote: bool = False,
        refine: bool = False,
        threshold: float | None = None,
    ) -> None:
        self.model, self.vote, self.refine, self.threshold = model, vote, refine, threshold
        self.features = trained_names(model, recipe)
        self.recipe = needed_part(recipe, self.features)
        place = {name: at for at, name in enumerate(self.recipe.feature_names)}
        self._columns = np.array([place[name] for name in self.features])

    @classmethod
    def of_saved(
        cls,
        saved: SavedPictureModel,
        path: str = "the model",
        *,
        vote: bool = False,
        refine: bool = False,
        threshold: float | None = None,
        networks: Sequence[str | os.PathLike[str]] = (),
    ) -> PictureScorer:
        """Take the recipe from a model's notes, and its threshold unless another one is given.

        ``path`` is how an error calls the model; ``networks`` are files of those that its recipe
        names and does not carry.
        """
        chosen = resolve_threshold(saved.model, threshold)
        recipe = noted_recipe(saved.notes, path)
        recipe = replace(recipe, features=with_networks(recipe.features, networks))
        value = None if chosen is None else chosen.value
        return cls(saved.model, recipe, vote=vote, refine=refine, threshold=value)

    def __call__(
        self, pixels: Pixels, name: str = "", given: Sequence[Region] | None = None
    ) -> PictureScore:
        """Find, measure and score the candidates of a picture.

        Parameters
        ----------
        pixels
            As `groupcm.images.reading.read_picture` gives them.
        name
            What to call it.
        given
            What a detector found in it, if the recipe uses it.
        """
        return self.of_candidates(*self.candidates(pixels, given), name)

    def candidates(
        self, pixels: Pixels, given: Sequence[Region] | None = None
    ) -> tuple[Regions, NDArray[np.float32]]:
        """Find and measure the candidates of a picture: regions, and what the model reads of them.

        Parameters
        ----------
        pixels, given
            As for the call.
        """
        found = self.recipe.candidates(pixels, given)
        return found.regions, found.values[:, self._columns]

    def of_candidates(
        self, regions: Regions, values: NDArray[np.float32], name: str = ""
    ) -> PictureScore:
        """Score candidates that are known already.

        Parameters
        ----------
        regions
            Where they are; perhaps none.
        values
            Their features, in the order of `features`.
        name
            What to call the picture.
        """
        calibrator = getattr(self.model, "calibrator_", None)
        if len(regions) == 0:  # From a custom proposer; the others add the whole picture.
            chance = None if calibrator is None else 0.0
            return PictureScore(name, regions, np.empty(0), -1, -1, chance, self.threshold)
        scores = _scores(self.model, values)
        winner = int(np.argmax(scores))
        chooser = place_model(self.model)
        place = scores if chooser is None else _scores(chooser, values)
        located = voted(regions, place) if self.vote else int(np.argmax(place))
        probability = None if calibrator is None else float(calibrator(scores[[winner]])[0])
        return PictureScore(
            name,
            regions,
            scores,
            winner,
            located,
            probability,
            self.threshold,
            values[crc32(name.encode()) % len(values)],
            None if chooser is None else place,
            refined(regions, place, located) if self.refine else None,
        )


def score_picture(
    model: CandidateModel,
    recipe: Recipe,
    pixels: Pixels,
    *,
    name: str = "",
    vote: bool = False,
    threshold: float | None = None,
    given: Sequence[Region] | None = None,
) -> PictureScore:
    """Score one picture; see `PictureScorer`, which is faster for many.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.images.proposals import Proposals, Windows
    >>> recipe = Recipe(Proposals((Windows(),), at_most=10))
    >>> pixels = np.random.default_rng(0).integers(0, 255, (48, 64, 3), np.uint8)
    >>> X = recipe.candidates(pixels).values
    >>> model = GroupClassifier(standardize=False).fit(X, np.arange(len(X)) == 0)
    >>> score_picture(model, recipe, pixels, name="a.png").name
    'a.png'
    """
    return PictureScorer(model, recipe, vote=vote, threshold=threshold)(pixels, name, given)


def _scores(model: CandidateModel, values: NDArray[np.float32]) -> NDArray[np.float64]:
    if isinstance(model, GroupModel):
        # No filter of warnings, which belongs to the process: servers score in several threads.
        scores = decision_in_order(model, values)
    else:
        with ignore_warnings(UserWarning, module=r"sklearn\."):  # of names that the array lacks
            scores = np.asarray(model.decision_function(values), dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(
            f"the model has {scores.shape[1]} classes; pictures are scored with a model of two"
        )
    return scores
