"""The threshold of a fitted model: how it is set, tuned and stored.

`groupcm.metrics.decision` has the rule itself, and decides which threshold applies.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from groupcm.data.frames import as_frame
from groupcm.data.groups import index_groups, no_groups
from groupcm.data.labels import shown_labels
from groupcm.data.validation import as_labels
from groupcm.errors import ThresholdWarning
from groupcm.estimators.adapters import group_scores_of
from groupcm.estimators.training.input import leave_out, source_of_columns
from groupcm.metrics import operating_point
from groupcm.metrics.decision import ChosenThreshold, DecisionRule, threshold_of
from groupcm.metrics.truth import read_truth
from groupcm.sources.base import Source
from groupcm.utils.fitted_state import Expected, Maybe, Nullable, Number, PerClass
from groupcm.utils.state_check import Record
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = [
    "THRESHOLD_STATE",
    "ChosenThreshold",
    "ModelNotes",
    "ThresholdModel",
    "choose_threshold",
    "fill_in_threshold",
    "held_out_groups_of",
    "keep_notes",
    "known_labels",
    "notes_of",
    "positive_groups",
    "score_labelled_groups",
    "threshold_of",
]


_LEFT_OUT = "groups that the folds left out"
_NUMBER, _RULE = Number(finite=False, nan=False), Record((DecisionRule,))
#: What a `ThresholdModel` stores. Files of version 0.1 lack both; see `fill_in_threshold`.
THRESHOLD_STATE: Mapping[str, Expected] = {
    "threshold_": Maybe(PerClass(_NUMBER, Nullable(_NUMBER))),
    "decision_": Maybe(PerClass(_RULE, Nullable(_RULE))),
}


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    where: str = "validation groups",
    is_chosen_here: bool = False,
    pos_label: Any = None,
) -> ChosenThreshold:
    """Choose the threshold that keeps a specificity or a sensitivity on some groups.

    It is halfway between the score of the operating point and the next lower score of a group:
    the alarms are the same, and a group keeps its decision where another way of computing its
    score, such as in single precision, rounds differently.

    Parameters
    ----------
    y, scores, groups, pos_label
        One label, one score and one group per candidate, as for `groupcm.metrics.operating_point`.
    specificity, sensitivity : float, optional
        What to keep, one of them; with neither, the largest sum of both.
    where : str
        What these groups are, in words.
    is_chosen_here : bool
        Whether they are the groups that are evaluated.

    Examples
    --------
    >>> choose_threshold([0, 1, 0, 1], [0.1, 0.8, 0.5, 0.6], specificity=1.0).chosen
    'chosen for a specificity of 1 on 4 validation groups'
    >>> choose_threshold([0, 1, 0, 1], [0.1, 0.8, 0.5, 0.7], specificity=1.0).value
    0.6
    """
    groups = None if no_groups(groups) else groups
    point = operating_point(
        y,
        scores,
        groups,
        specificity=specificity,
        sensitivity=sensitivity,
        pos_label=pos_label,
    )
    group_scores = read_truth(y, scores, groups, pos_label=pos_label).scores
    n_groups = len(group_scores)
    target, value = "youden", None
    if specificity is not None:
        target, value = "specificity", float(specificity)
    elif sensitivity is not None:
        target, value = "sensitivity", float(sensitivity)
    on = f"{n_groups:,} {where}"
    rule = DecisionRule(target=target, value=value, chosen_on=on)
    if point.threshold == math.inf:
        warnings.warn(
            f"no threshold keeps a {target} of {value:g} on {on} and finds any positive one; the "
            "threshold chosen never raises an alarm: ask for a lower specificity.",
            ThresholdWarning,
            stacklevel=2,
        )
    value = _between_scores(point.threshold, group_scores.astype(np.float64))
    return ChosenThreshold(value, rule, is_chosen_here)


def _between_scores(threshold: float, scores: Vector) -> float:
    """Return a threshold of the same alarms as one of the scores, but away from all of them."""
    if not math.isfinite(threshold):
        return threshold
    levels = np.unique(scores[np.isfinite(scores)])
    place = int(np.searchsorted(levels, threshold))
    if place > 0:
        below = float(levels[place - 1])
    elif len(levels) > 1:  # as far below the lowest score as the next one is above it
        below = threshold - (float(levels[1]) - threshold)
    else:
        below = threshold - max(1.0, abs(threshold))
    between = threshold / 2 + below / 2
    return between if below < between < threshold else threshold


@dataclass(frozen=True)
class ModelNotes:
    """What is known of the training of a model, and the threshold that the model had then."""

    notes: Mapping[str, Any]
    threshold: float | None


class ThresholdModel:
    """A model that decides about groups: one raises an alarm when ``score >= threshold_``.

    Attributes
    ----------
    threshold_ : float or None
        None for more than two classes, where the largest score decides.
    decision_ : DecisionRule or None
        How the threshold was chosen.
    """

    threshold_: float | None
    decision_: DecisionRule | None

    # See `keep_notes`; fitting the model again drops them.
    _notes: ModelNotes | None = None

    def set_threshold(self, threshold: float) -> Self:
        """Set the score from which on a group raises an alarm.

        Parameters
        ----------
        threshold : float
            May be infinite: then no group, or every group, raises an alarm.

        Returns
        -------
        self

        Examples
        --------
        >>> from groupcm import GroupClassifier
        >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
        >>> model.threshold_, model.set_threshold(0.5).threshold_
        (0.0, 0.5)
        """
        return self._take_threshold(ChosenThreshold.given(threshold))

    def tune_threshold(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        specificity: float | None = None,
        sensitivity: float | None = None,
        where: str | None = None,
    ) -> Self:
        """Choose the threshold on groups that the model was not trained on.

        Parameters
        ----------
        X, y, groups : optional
            Labelled candidates, as for ``score``. Without X, the groups that the folds of the fit
            left out: ``held_out_scores_`` of `GroupClassifierCV`, of trees with early stopping and
            of a calibrated model. A file does not keep those.
        specificity, sensitivity : float, optional
            What to keep, one of them; with neither, the largest sum of both.
        where : str, optional
            What the groups are, in words, for ``decision_``.

        Returns
        -------
        self

        Examples
        --------
        >>> from groupcm import GroupClassifierCV
        >>> from groupcm.simulate import capsule
        >>> data = capsule(60, n_positive=20, group_size=10)
        >>> model = GroupClassifierCV(lams=[0.5]).fit(data.X, data.y, data.groups, data.overlap)
        >>> model.tune_threshold(specificity=0.9).decision_.words
        'chosen for a specificity of 0.9 on 80 groups that the folds left out'
        """
        check_is_fitted(self)
        self._require_one_threshold()
        if X is None:
            found = held_out_groups_of(self)
            if found is None:
                raise ValueError(
                    f"this {type(self).__name__} has no scores of both positive and negative "
                    "groups that folds left out; give labelled candidates as X, y and groups."
                )
            (positive, scores), default = found, _LEFT_OUT
        else:
            scores, positive = score_labelled_groups(self, X, y, groups)
            default = "groups given"
        chosen = choose_threshold(
            positive,
            scores,
            specificity=specificity,
            sensitivity=sensitivity,
            where=default if where is None else where,
        )
        return self._take_threshold(chosen)

    def _take_threshold(self, chosen: ChosenThreshold) -> Self:
        check_is_fitted(self)
        self._require_one_threshold()
        self.threshold_, self.decision_ = chosen.value, chosen.decision
        return self

    def _require_one_threshold(self) -> None:
        n_classes = len(getattr(self, "classes_", ()))
        if n_classes != 2:
            raise ValueError(
                f"the model has {n_classes} classes, and the largest score decides; a threshold "
                "is for two."
            )

    def _default_threshold(self) -> ChosenThreshold:
        """Return the threshold of a model that was not tuned."""
        return ChosenThreshold(0.0)

    def _reset_threshold(self) -> None:
        """Set the default threshold of a model that has just been fitted."""
        vars(self).pop("_notes", None)
        self.threshold_, self.decision_ = None, None
        if len(getattr(self, "classes_", ())) == 2:
            default = self._default_threshold()
            self.threshold_, self.decision_ = default.value, default.decision


def fill_in_threshold(model: Any) -> None:
    """Add the default threshold to a model that version 0.1 saved without one.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> del model.threshold_
    >>> fill_in_threshold(model)
    >>> model.threshold_
    0.0
    """
    if not isinstance(model, ThresholdModel):
        return
    if "threshold_" not in vars(model) or "decision_" not in vars(model):
        model._reset_threshold()


def keep_notes(model: Any, notes: Mapping[str, Any]) -> None:
    """Keep notes with a model, as its file has them, until it is fitted again."""
    if isinstance(model, ThresholdModel):
        model._notes = ModelNotes(notes, getattr(model, "threshold_", None))


def notes_of(model: Any) -> ModelNotes | None:
    """Return the notes that a model, or the one that it calibrates, was read or fitted with."""
    while model is not None:
        if isinstance(model, ThresholdModel) and model._notes is not None:
            return model._notes
        model = getattr(model, "estimator_", None)
    return None


def held_out_groups_of(model: Any) -> tuple[NDArray[np.bool_], Vector] | None:
    """Return which groups left out by folds are positive, and their scores.

    None where the model has no such groups of both classes.
    """
    scores = getattr(model, "held_out_scores_", None)
    if scores is None:
        return None
    known = np.isfinite(scores)
    positive = model.held_out_labels_[known] == model.classes_[1]
    if positive.all() or not positive.any():
        return None
    return positive, scores[known]


def score_labelled_groups(
    model: Any, X: Any, y: Any, groups: Any
) -> tuple[Vector, NDArray[np.bool_]]:
    """Return the scores of groups by a fitted model, and which of the groups are positive."""
    check_is_fitted(model)
    classes = model.classes_
    if len(classes) != 2:
        raise ValueError(
            f"the estimator has {len(classes)} classes; only one of two classes can be calibrated "
            "or have a threshold."
        )
    if isinstance(X, Source):
        leave_out(y=y, groups=groups)
    if isinstance(X, str | os.PathLike):
        names = getattr(model, "feature_names_in_", None)
        X = source_of_columns(X, groups, y, features=None if names is None else list(names))
    if isinstance(X, Source):
        truth = X.index()
        return group_scores_of(model, X, None).score, truth.group_labels(classes[1])
    X = as_frame(X)
    groups = np.arange(_num_samples(X)) if no_groups(groups) else groups
    positive = positive_groups(classes, y, groups)
    return group_scores_of(model, X, groups).score, positive


def positive_groups(classes: NDArray[Any], y: Any, groups: ArrayLike) -> NDArray[np.bool_]:
    """Return which groups hold a candidate of the second class; refuse labels of no class."""
    index = index_groups(groups)
    return index.maxima(known_labels(classes, y, index.n_rows) == classes[1])


def known_labels(classes: NDArray[Any], y: Any, n_rows: int) -> NDArray[Any]:
    """Return one label per row; refuse labels of no class.

    Of more than two classes one may be missing in a training fold, so that its label is merely
    wrong; there, labels are refused only where none of them is a class.

    Examples
    --------
    >>> known_labels(np.array(["cancer", "healthy"]), ["Cancer"], 1)
    Traceback (most recent call last):
    ValueError: y holds Cancer at row 0, which is not a class of the estimator; it knows 'cancer'
    and 'healthy'.
    """
    y = as_labels(y, n_rows)
    known = np.zeros(len(y), dtype=bool)
    for label in classes:
        known |= np.asarray(y == label)
    if not known.all() and (len(classes) == 2 or not known.any()):
        row = int(np.argmin(known))
        raise ValueError(
            f"y holds {printable(y[row])} at row {row}, which is not a class of the estimator; "
            f"it knows {shown_labels(classes)}."
        )
    return y
