"""The model card as plain values, with the performance on held-out groups."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics import at_threshold, bootstrap_interval
from groupcm.metrics.clusters import FewClustersWarning
from groupcm.utils.merged_warnings import record_warnings

__all__ = [
    "Certificate",
    "ChosenByFolds",
    "Features",
    "HeldOut",
    "ModelCard",
    "Threshold",
    "TrainedOn",
    "Trees",
    "Validation",
    "best_validation",
    "held_out_of",
]

# The number of resamples is smaller where many groups would make it slow.
_FEWEST_RESAMPLES, _MOST_RESAMPLES, _MOST_DRAWS = 200, 1000, 100_000_000
_LEVEL = 0.95
# Characters that a terminal or an editor interprets instead of showing; JSON can escape them.
_NOT_SHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_FORMAT = "groupcm-model-card"
_VERSION = 1


@dataclass(frozen=True)
class HeldOut:
    """Performance on groups that folds left out, with the scores of all folds pooled.

    Attributes
    ----------
    n_positive_groups, n_negative_groups : int
    group_auc, group_auc_low, group_auc_high : float
        The area and its interval; NaN where there are too few groups for bounds.
    level : float
        The confidence level of the interval.
    drawn : str
        What was resampled: "patients" or "groups".
    sensitivity, specificity : float or None
        At the threshold of the model.
    caution : str or None
        Why the interval is unreliable.
    """

    n_positive_groups: int
    n_negative_groups: int
    group_auc: float
    group_auc_low: float
    group_auc_high: float
    level: float
    drawn: str
    sensitivity: float | None = None
    specificity: float | None = None
    caution: str | None = None


def held_out_of(
    model: Any, threshold: float | None = None, patient_of_groups: ArrayLike | None = None
) -> HeldOut:
    """Compute the performance of a fitted model from its held-out scores.

    Parameters
    ----------
    model : estimator
        With ``held_out_scores_`` and ``held_out_labels_``.
    threshold : float, optional
        The score from which on a group raises an alarm.
    patient_of_groups : array-like, optional
        The patient of each group; the interval then resamples patients.

    Examples
    --------
    >>> from groupcm import GroupClassifierCV
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=10)
    >>> model = GroupClassifierCV(lams=[0.5]).fit(data.X, data.y, data.groups, data.overlap)
    >>> found = held_out_of(model, threshold=0.0)
    >>> found.group_auc_low < found.group_auc <= found.group_auc_high, found.drawn
    (True, 'groups')
    """
    known = np.isfinite(model.held_out_scores_)
    is_positive = model.held_out_labels_[known] == model.classes_[-1]
    scores = model.held_out_scores_[known]
    clusters = None if patient_of_groups is None else np.asarray(patient_of_groups)[known]
    n_resamples = max(_FEWEST_RESAMPLES, _MOST_DRAWS // max(1, len(scores)))
    with record_warnings(FewClustersWarning) as caught:
        auc = bootstrap_interval(
            is_positive,
            scores,
            clusters=clusters,
            level=_LEVEL,
            n_resamples=min(_MOST_RESAMPLES, n_resamples),
        )
    there = None if threshold is None else at_threshold(is_positive, scores, threshold=threshold)
    return HeldOut(
        n_positive_groups=int(np.count_nonzero(is_positive)),
        n_negative_groups=int(np.count_nonzero(~is_positive)),
        group_auc=float(auc.estimate),
        group_auc_low=float(auc.low),
        group_auc_high=float(auc.high),
        level=_LEVEL,
        drawn="groups" if clusters is None else "patients",
        sensitivity=None if there is None else float(there.sensitivity),
        specificity=None if there is None else float(there.specificity),
        caution=" ".join(str(caught[0].message).split()) if caught else None,
    )


@dataclass(frozen=True)
class Validation:
    """A metric on groups that were left out to choose the number of trees.

    Attributes
    ----------
    metric : str
    value : float
        The largest value, at the chosen number of trees, which makes it a little optimistic.
    most : int
        The number of trees that were tried.
    """

    metric: str
    value: float
    most: int


def best_validation(model: Any) -> Validation | None:
    """Return the validation metric of the chosen trees; None where no choice was made.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> curve = np.array([0.7, 0.9, 0.8])
    >>> trees = SimpleNamespace(scoring="group_roc_auc", validation_curve_=curve, n_trees_=2)
    >>> best_validation(trees)
    Validation(metric='group_roc_auc', value=0.9, most=3)
    """
    curve = np.asarray(getattr(model, "validation_curve_", ()), dtype=np.float64)
    if len(curve) == 0:
        return None
    chosen = min(max(model.n_trees_, 1), len(curve)) - 1
    return Validation(str(model.scoring), float(curve[chosen]), len(curve))


@dataclass(frozen=True)
class Features:
    """The features of a model; ``names`` is None where they have no names."""

    count: int
    names: Sequence[str] | None = None
    map: str | None = None
    count_of_map: int | None = None


@dataclass(frozen=True)
class TrainedOn:
    """The training data of a model; None for what is not known."""

    tables: Sequence[str] | None = None
    n_candidates: int | None = None
    n_positive_groups: int | None = None
    n_negative_groups: int | None = None
    n_patients: int | None = None
    n_unannotated_groups: int | None = None
    date: str | None = None


@dataclass(frozen=True)
class Certificate:
    """The certificate of a linear model: one value per problem solved.

    ``of`` is what was minimised, in words, where that is not the loss of groups.
    """

    objective: Sequence[float]
    lower_bound: Sequence[float]
    gap: Sequence[float]
    tol: float
    passes: Sequence[float]
    of: str = ""


@dataclass(frozen=True)
class Trees:
    """The number of trees, and the validation that chose it."""

    count: Sequence[int]
    validation: Validation | None = None


@dataclass(frozen=True)
class ChosenByFolds:
    """The λ that folds chose, and the metric over the folds."""

    lam: float
    metric: str
    mean: float
    low: float
    high: float
    n_folds: int


@dataclass(frozen=True)
class Threshold:
    """The score from which on a group raises an alarm, and how it was chosen.

    The fields after ``chosen`` are those of `groupcm.metrics.decision.DecisionRule`.
    """

    value: float
    chosen: str
    level: str = "group"
    target: str | None = None
    target_level: float | None = None
    confidence_level: float | None = None
    k: int = 1


@dataclass(frozen=True)
class ModelCard:
    """What a model is, was trained on and can do; created by `model_card`.

    Attributes
    ----------
    model : str
        The name of the estimator class.
    kind : {"linear", "trees", "other"}
    classes : sequence
        The classes; of two, the second is the positive one.
    positive_class : object or None
    features : Features
    trained_on : TrainedOn
    certificate : Certificate or None
        For a linear model.
    trees : Trees or None
    chosen_by_folds : ChosenByFolds or None
    held_out : HeldOut or None
        The performance on groups that folds left out.
    threshold : Threshold or None
    calibration : str or None
        The calibration curve: "sigmoid" or "isotonic".
    place : str or None
        The name of the estimator class of the place model.
    parameters : mapping
        The parameters of the estimator.
    columns : mapping
        The column of each role in the training tables.
    versions : mapping
        The versions of the packages used in training; that of "groupcm" wrote the file.
    """

    model: str
    kind: str
    classes: Sequence[Any]
    positive_class: Any
    features: Features
    trained_on: TrainedOn = field(default_factory=TrainedOn)
    certificate: Certificate | None = None
    trees: Trees | None = None
    chosen_by_folds: ChosenByFolds | None = None
    held_out: HeldOut | None = None
    threshold: Threshold | None = None
    calibration: str | None = None
    place: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """Return the card as plain text."""
        from groupcm.report.model_card.sections import as_text

        return as_text(self)

    def markdown(self) -> str:
        """Return the card as Markdown."""
        from groupcm.report.model_card.sections import as_markdown

        return as_markdown(self)

    def json(self) -> str:
        """Return the card as JSON, every attribute under its own name.

        Unknown values are null, infinite numbers are "inf" or "-inf".
        """
        plain = {"format": _FORMAT, "version": _VERSION, **_plain(asdict(self))}
        text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
        return _NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """Return a value of JSON, which has neither NaN nor infinity."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
