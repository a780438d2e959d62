"""A model card: what a model is, as plain values.

How well groups that folds left out are told apart.

By what the number of trees was chosen.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics import at_threshold, bootstrap_interval
from groupcm.metrics.clusters import FewClustersWarning

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

# Resamples, fewer where there are so many groups that they take long.
_FEWEST_RESAMPLES, _MOST_RESAMPLES, _MOST_DRAWS = 200, 1000, 100_000_000
_LEVEL = 0.95


@dataclass(frozen=True)
class HeldOut:
    """Scores of all folds taken together, though each fold has a model of its own.

    Attributes
    ----------
    n_positive_groups, n_negative_groups : int
    group_auc, group_auc_low, group_auc_high : float
        The area and its interval; NaN where there are too few groups for bounds.
    level : float
        Of the interval.
    drawn : str
        What was drawn again for it: "patients" or "groups".
    sensitivity, specificity : float or None
        At the noted threshold.
    caution : str or None
        Why the interval is not to be trusted, in words.
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
    """From the held-out scores of a fitted model.

    Parameters
    ----------
    model : estimator
        With ``held_out_scores_`` and ``held_out_labels_``.
    threshold : float, optional
        From this score on a group is an alarm.
    patient_of_groups : array-like, optional
        Whose each group is; the interval then draws patients.

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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FewClustersWarning)
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
        At the number chosen, for which it is largest; that flatters it a little.
    most : int
        How many trees were tried.
    """

    metric: str
    value: float
    most: int


def best_validation(model: Any) -> Validation | None:
    """How the trees chosen validate; None where all were grown without a choice.

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


# What a terminal or an editor obeys instead of showing it; JSON has escapes for these too.
_NOT_SHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_FORMAT = "groupcm-model-card"
_VERSION = 1


@dataclass(frozen=True)
class Features:
    """What a model looks at; ``names`` is None where nobody named them."""

    count: int
    names: Sequence[str] | None = None
    map: str | None = None
    count_of_map: int | None = None


@dataclass(frozen=True)
class TrainedOn:
    """How much a model was trained on; None for what is not known."""

    tables: Sequence[str] | None = None
    n_candidates: int | None = None
    n_positive_groups: int | None = None
    n_negative_groups: int | None = None
    n_patients: int | None = None
    n_unannotated_groups: int | None = None
    date: str | None = None


@dataclass(frozen=True)
class Certificate:
    """How near a linear model is to the best possible: a value a problem that was solved."""

    objective: Sequence[float]
    lower_bound: Sequence[float]
    gap: Sequence[float]
    tol: float
    passes: Sequence[float]


@dataclass(frozen=True)
class Trees:
    """How many trees there are, and by what that was chosen."""

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
    """From which score on a group is an alarm, and who chose that."""

    value: float
    chosen: str


@dataclass(frozen=True)
class ModelCard:
    """What a model is, was trained on and can do; made by `model_card`.

    Attributes
    ----------
    model : str
        The class of groupcm.
    kind : {"linear", "trees", "other"}
    classes : sequence
        The last is the positive one where there are two.
    positive_class : object or None
    features : Features
    trained_on : TrainedOn
    certificate : Certificate or None
        Of a linear model.
    trees : Trees or None
    chosen_by_folds : ChosenByFolds or None
    held_out : HeldOut or None
        On groups that folds left out.
    threshold : Threshold or None
    calibration : str or None
        How probabilities come about: "sigmoid" or "isotonic".
    parameters : mapping
        Of the estimator that was trained.
    columns : mapping
        The column of each role in the tables trained on.
    versions : mapping
        Of what it was trained with; "groupcm" wrote the file.
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
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The card as plain text."""
        from groupcm.report.model_card.sections import as_text

        return as_text(self)

    def markdown(self) -> str:
        """The card as Markdown."""
        from groupcm.report.model_card.sections import as_markdown

        return as_markdown(self)

    def json(self) -> str:
        """The card as JSON: every attribute under its own name.

        What is not known is null, an infinite number is "inf" or "-inf".
        """
        plain = {"format": _FORMAT, "version": _VERSION, **_plain(asdict(self))}
        text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
        return _NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """JSON's own values, which have no word for NaN and infinity."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
