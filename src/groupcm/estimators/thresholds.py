"""The threshold of a fitted model: how it is set, tuned and stored.

`groupcm.metrics.decision` has the rule itself, and decides which threshold applies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from groupcm.data.frames import as_frame
from groupcm.data.groups import index_groups, no_groups, owner_of_groups
from groupcm.data.labels import shown_labels
from groupcm.data.validation import as_labels, check_length
from groupcm.estimators.adapters import group_scores_of
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.estimators.training.input import leave_out, source_of_columns
from groupcm.metrics.decision import ChosenThreshold, DecisionRule
from groupcm.sources.base import Source
from groupcm.utils.fitted_state import Expected, Maybe, Nullable, Number, PerClass
from groupcm.utils.state_check import Part, Record
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = [
    "THRESHOLD_STATE",
    "ModelNotes",
    "ThresholdModel",
    "fill_in_threshold",
    "held_out_groups_of",
    "keep_notes",
    "known_labels",
    "notes_of",
    "positive_groups",
    "score_labelled_groups",
]

_LEFT_OUT = "groups that the folds left out"
_NUMBER, _RULE = Number(finite=False, nan=False), Record((DecisionRule,))
#: What a `ThresholdModel` stores. Files of version 0.1 have none of it; see `fill_in_threshold`.
THRESHOLD_STATE: Mapping[str, Expected] = {
    "threshold_": Maybe(PerClass(_NUMBER, Nullable(_NUMBER))),
    "decision_": Maybe(PerClass(_RULE, Nullable(_RULE))),
    "place_": Maybe(Part(ClassifierMixin, {"features": "n_features_in_"})),
}


@dataclass(frozen=True)
class ModelNotes:
    """What is known of the training of a model, and the threshold that the model had then."""

    notes: Mapping[str, Any]
    threshold: float | None


class _Labelled(NamedTuple):
    """Groups, or candidates, to choose a threshold on: one entry each, as `choose_threshold`."""

    y: Any
    scores: Any
    groups: Any
    patients: Any
    levels: Mapping[str, Any] | None


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
    place_: Any  # only where there is a place model; see `groupcm.estimators.place`

    # See `keep_notes`; fitting the model again drops them.
    _notes: ModelNotes | None = None

    def set_threshold(self, threshold: float, decision: DecisionRule | None = None) -> Self:
        """Set the score from which on a group raises an alarm.

        Parameters
        ----------
        threshold : float
            May be infinite: then no group, or every group, raises an alarm.
        decision : DecisionRule, optional
            What it was chosen for, and on which data; by default that it was given.

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
        chosen = ChosenThreshold.given(threshold)
        return self._take_threshold(replace(chosen, decision=decision or chosen.decision))

    def tune_threshold(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        specificity: float | None = None,
        sensitivity: float | None = None,
        patient_sensitivity: float | None = None,
        false_alarms: float | None = None,
        confidence: float | None = None,
        most_per_group: int | None = None,
        patients: ArrayLike | None = None,
        levels: Mapping[str, ArrayLike] | None = None,
        level: str = "group",
        k: int = 1,
        where: str | None = None,
    ) -> Self:
        """Choose the threshold on groups that the model was not trained on.

        Parameters
        ----------
        X, y, groups : optional
            Labelled candidates, as for ``score``. Without X, the groups that the folds of the fit
            left out: ``held_out_scores_`` of `GroupClassifierCV`, of trees with early stopping and
            of a calibrated model. A file does not keep those.
        specificity, sensitivity, patient_sensitivity, false_alarms : float, optional
            The value to keep; give at most one. By default, the sum of sensitivity and specificity
            is maximised. See `groupcm.metrics.operating_point`; ``false_alarms`` needs X.
        confidence : float, optional
            Choose the threshold so that the target holds for new patients with this confidence.
            It is exact on groups given as X; of groups that folds left out, the scores are by the
            models of the folds, and not by this one.
        most_per_group : int, optional
            With ``false_alarms`` and ``confidence``, the most that are counted in one group.
        patients : array-like of shape (n,), optional
            The patient of each candidate; without X those of the fit.
        levels : mapping of str to array-like of shape (n,), optional
            The unit of each candidate at levels between the group and the patient; without X, of
            each of the groups that ``held_out_scores_`` are of.
        level : str, default="group"
            What the target is about: "group", "patient" or one of the levels. A unit raises an
            alarm where at least ``k`` of its groups do.
        k : int, default=1
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
            known, default = self._left_out(false_alarms, patients, levels), _LEFT_OUT
        else:
            known = _labelled_groups(self, X, y, groups, false_alarms, patients, levels)
            default = "groups given"
        chosen = choose_threshold(
            known.y,
            known.scores,
            known.groups,
            patients=known.patients,
            levels=known.levels,
            where=default if where is None else where,
            specificity=specificity,
            sensitivity=sensitivity,
            patient_sensitivity=patient_sensitivity,
            false_alarms=false_alarms,
            confidence=confidence,
            most_per_group=most_per_group,
            level=level,
            k=k,
        )
        return self._take_threshold(chosen)

    def _left_out(
        self,
        false_alarms: float | None,
        patients: ArrayLike | None,
        levels: Mapping[str, ArrayLike] | None,
    ) -> _Labelled:
        """Return the groups that folds left out."""
        found = held_out_groups_of(self)
        if found is None:
            raise ValueError(
                f"this {type(self).__name__} has no scores of both positive and negative "
                "groups that folds left out; give labelled candidates as X, y and groups."
            )
        if false_alarms is not None:
            raise ValueError(
                "false_alarms counts candidates, and folds keep the scores of groups alone; give "
                "labelled candidates as X, y and groups."
            )
        if patients is None:
            patients = getattr(self, "held_out_patients_", None)
        whole: Any = getattr(self, "held_out_scores_")  # noqa: B009
        known = np.isfinite(whole)

        def of_known(name: str, ids: ArrayLike) -> NDArray[Any]:
            check_length(name, ids, len(known))
            return np.asarray(ids)[known]

        positive, scores = found
        by_level = {name: of_known(name, ids) for name, ids in (levels or {}).items()}
        owners = None if patients is None else of_known("patients", patients)
        return _Labelled(positive, scores, None, owners, by_level)

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
        for name in ("_notes", "place_"):
            vars(self).pop(name, None)
        self.threshold_, self.decision_ = None, None
        if len(getattr(self, "classes_", ())) == 2:
            chosen = self._default_threshold()
            self.threshold_, self.decision_ = chosen.value, chosen.decision


def _labelled_groups(
    model: Any,
    X: Any,
    y: Any,
    groups: Any,
    false_alarms: float | None,
    patients: ArrayLike | None,
    levels: Mapping[str, ArrayLike] | None,
) -> _Labelled:
    """Return scored groups, or scored candidates where false alarms count."""
    if false_alarms is not None and not isinstance(X, Source | str | os.PathLike):
        scores = np.asarray(model.decision_function(X))
        known = known_labels(model.classes_, y, len(scores)) == model.classes_[1]
        return _Labelled(known, scores, groups, patients, levels)
    if false_alarms is not None:
        raise ValueError(
            "false_alarms counts candidates; give them as arrays or data frames X, y and groups."
        )
    scores, positive = score_labelled_groups(model, X, y, groups)
    if patients is None and not levels:
        return _Labelled(positive, scores, None, None, None)
    if isinstance(X, str | os.PathLike):
        raise ValueError("patients and levels need candidates as arrays or as a source.")
    if isinstance(X, Source):
        groups = X.index().groups_of_rows()
    elif no_groups(groups):
        groups = np.arange(_num_samples(as_frame(X)))
    index = index_groups(groups)

    def of_groups(name: str, ids: ArrayLike) -> NDArray[Any]:
        check_length(name, ids, index.n_rows)
        by_unit = index_groups(np.asarray(ids))
        return by_unit.ids[owner_of_groups(index, by_unit, name)]

    by_level = {name: of_groups(f"units of level {name}", u) for name, u in (levels or {}).items()}
    owners = None if patients is None else of_groups("patients", patients)
    return _Labelled(positive, scores, None, owners, by_level)


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
    ValueError: y holds Cancer at row 0, which is not a class of the estimator; its classes are
    'cancer' and 'healthy'.
    """
    y = as_labels(y, n_rows)
    known = np.zeros(len(y), dtype=bool)
    for label in classes:
        known |= np.asarray(y == label)
    if not known.all() and (len(classes) == 2 or not known.any()):
        row = int(np.argmin(known))
        raise ValueError(
            f"y holds {printable(y[row])} at row {row}, which is not a class of the estimator; "
            f"its classes are {shown_labels(classes)}."
        )
    return y
