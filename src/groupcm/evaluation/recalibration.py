"""A new threshold for data of another site: from unlabelled groups, or from a few labelled ones.

The scores of a model move with the camera, the light or the population, and a threshold that kept a
specificity of 0.9 where it was chosen may keep another one elsewhere. Without labels, the threshold
follows the share of groups that may raise an alarm,

    t = the (1 − r) quantile of the scores of the new groups,      r the alarm rate,

and where the share π of positive groups is known, the alarm rate that belongs to a specificity is

    r = (1 − π) (1 − specificity) + π sensitivity,

with the sensitivity that the model had on groups left out in training. With labels, the threshold
keeps the target on the labelled groups. The model itself does not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation.chosen_threshold import check_target, choose_on
from groupcm.evaluation.row_scores import group_scores_of_rows, score_rows
from groupcm.evaluation.scoring import require_two_classes
from groupcm.evaluation.trained_tables import TrainedTables, model_and_notes
from groupcm.metrics.decision import ChosenThreshold, DecisionRule, is_alarm, threshold_of
from groupcm.metrics.intervals import share_interval
from groupcm.metrics.results import Interval
from groupcm.sources.tables import Tables, name_of

__all__ = ["Recalibration", "recalibrate", "recalibrate_tables"]

_RATE = "alarm_rate"


@dataclass(frozen=True, eq=False)
class _NewGroups:
    """The scores of new groups, and what is known of them.

    Attributes
    ----------
    scores : ndarray of shape (n,)
    is_positive : ndarray of bool of shape (n,), optional
        None for unlabelled groups.
    patients : ndarray of shape (n,), optional
    """

    scores: NDArray[np.float64]
    is_positive: NDArray[np.bool_] | None = None
    patients: NDArray[Any] | None = None

    @property
    def clusters(self) -> NDArray[Any]:
        """The patient of each group; each group by itself where patients are not known."""
        return np.arange(len(self.scores)) if self.patients is None else self.patients


@dataclass(frozen=True)
class Recalibration:
    """The threshold before and after, and what both do on the new groups.

    Attributes
    ----------
    before, after : ChosenThreshold
    n_groups : int
    n_positive : int or None
        None for unlabelled groups.
    alarm_rate_before, alarm_rate : Interval
        The share of the new groups that raise an alarm, with both thresholds.
    sensitivity, specificity : Interval or None
        With the new threshold; None for unlabelled groups.
    """

    before: ChosenThreshold
    after: ChosenThreshold
    n_groups: int
    n_positive: int | None
    alarm_rate_before: Interval
    alarm_rate: Interval
    sensitivity: Interval | None = None
    specificity: Interval | None = None


def recalibrate(
    model: Any,
    scores: ArrayLike,
    is_positive: ArrayLike | None = None,
    *,
    alarm_rate: float | None = None,
    specificity: float | None = None,
    sensitivity: float | None = None,
    prevalence: float | None = None,
    confidence: float | None = None,
    patients: ArrayLike | None = None,
    where: str = "new groups",
) -> Recalibration:
    """Set the threshold of a fitted model from the scores of new groups.

    Parameters
    ----------
    model : estimator
        Of two classes; its threshold and decision change in place.
    scores : array-like of shape (n,)
        The score of each new group.
    is_positive : array-like of bool of shape (n,), optional
        Which groups are positive; without it, give ``alarm_rate``, or ``specificity`` with
        ``prevalence``.
    alarm_rate : float, optional
        The share of groups that may raise an alarm.
    specificity, sensitivity : float, optional
        The value to keep; with labels at most one of the two. By default that of the model.
    prevalence : float, optional
        The share of positive groups among unlabelled ones.
    confidence : float, optional
        With labels, keep the target for new patients with this confidence; see
        `groupcm.metrics.operating_point`.
    patients : array-like of shape (n,), optional
        The patient of each group, for the intervals and the confidence.
    where : str
        What the groups are, in words, for ``decision_``.

    Returns
    -------
    Recalibration

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> found = recalibrate(model, [0.3, 0.1, 0.9, 0.5, 0.2], alarm_rate=0.4)
    >>> model.threshold_, found.alarm_rate.estimate
    (0.4, 0.4)
    >>> model.decision_.words
    'chosen for an alarm in 40.0% of the groups on 5 new groups'
    """
    require_two_classes(model)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not len(values) or np.isnan(values).any():
        raise InputError("scores must be one number per group, of one group or more")
    known = None if is_positive is None else np.asarray(is_positive, dtype=bool)
    groups = _NewGroups(values, known, None if patients is None else np.asarray(patients))
    before = threshold_of(model)
    targets = {"specificity": specificity, "sensitivity": sensitivity}
    given: dict[str, Any] = {name: value for name, value in targets.items() if value is not None}
    _check_shares({_RATE: alarm_rate, **targets, "prevalence": prevalence})
    if alarm_rate is not None or known is None:
        if alarm_rate is None:
            alarm_rate = _expected_rate(model, before, given, prevalence)
        after = _at_rate(values, alarm_rate, f"{len(values):,} {where}")
    else:
        if not given and before.decision.target in targets:
            given = {before.decision.target: before.decision.value}
        after = choose_threshold(
            known, values, patients=groups.patients, confidence=confidence, where=where, **given
        )
    return _take(model, groups, after)


def _take(model: Any, groups: _NewGroups, after: ChosenThreshold) -> Recalibration:
    """Set the threshold of the model, and return what it and the one before do."""
    before = threshold_of(model)
    model.set_threshold(after.value, after.decision)
    return _measured(groups, before, after)


def _check_shares(shares: Mapping[str, float | None]) -> None:
    for name, value in shares.items():
        if value is not None and not 0.0 <= value <= 1.0:
            raise ParameterError(Argument(name), f" is {value:g}; it is a share, between 0 and 1")


def _at_rate(scores: NDArray[np.float64], rate: float, about: str) -> ChosenThreshold:
    """Return the threshold that at most this share of the groups reaches, between two scores."""
    values, counts = np.unique(scores[scores > -np.inf], return_counts=True)
    n_reaching = np.cumsum(counts[::-1])[::-1]  # the groups that score at least each value
    reached = n_reaching <= rate * len(scores) + 1e-9
    first = int(np.argmax(reached)) if reached.any() else len(values)
    if first == len(values):
        value = np.inf
    else:
        value = values[first] if first == 0 else (values[first - 1] + values[first]) / 2
    rule = DecisionRule(target=_RATE, value=float(rate), chosen_on=about)
    return ChosenThreshold(float(value), rule)


def _expected_rate(
    model: Any,
    before: ChosenThreshold,
    given: Mapping[str, float],
    prevalence: float | None,
) -> float:
    """Return the alarm rate that belongs to a specificity, by the model's own sensitivity."""
    wanted = given.get("specificity")
    if wanted is None and before.decision.target == "specificity":
        wanted = before.decision.value
    if wanted is None or prevalence is None:
        raise InputError(
            "unlabelled groups do not show which are positive; give ",
            Argument(_RATE),
            ", or ",
            Argument("specificity"),
            " and ",
            Argument("prevalence"),
            ", or labels",
        )
    held_out = model_and_notes(model)[1].get("held_out") or {}
    found = held_out.get("sensitivity")
    if found is None:
        raise InputError(
            "the model does not record its sensitivity on groups left out in training, which ",
            Argument("prevalence"),
            " needs; give ",
            Argument(_RATE),
        )
    return (1.0 - prevalence) * (1.0 - wanted) + prevalence * float(found)


def _measured(groups: _NewGroups, before: ChosenThreshold, after: ChosenThreshold) -> Recalibration:
    """Return what both thresholds do on the new groups."""
    clusters, known = groups.clusters, groups.is_positive
    rates = [
        share_interval(is_alarm(groups.scores, each.value), clusters) for each in (before, after)
    ]
    if known is None or known.all() or not known.any():
        n_positive = None if known is None else int(known.sum())
        return Recalibration(before, after, len(groups.scores), n_positive, *rates)
    alarm = is_alarm(groups.scores, after.value)
    return Recalibration(
        before,
        after,
        len(groups.scores),
        int(known.sum()),
        *rates,
        sensitivity=share_interval(alarm[known], clusters[known]),
        specificity=share_interval(~alarm[~known], clusters[~known]),
    )


def recalibrate_tables(
    model: Any,
    tables: Tables,
    *,
    group: str | None = None,
    label: str | None = None,
    patient: str | None = None,
    features: Sequence[str] | None = None,
    pos_label: Any = None,
    name: str = "the model",
    false_alarms: float | None = None,
    **goal: Any,
) -> Recalibration:
    """Set the threshold of a model from tables of new candidates.

    Parameters
    ----------
    model : estimator or SavedModel
        Its threshold and decision change in place.
    tables : path, or sequence of paths
    group, label, patient : str, optional
        The column of each role; groups are unlabelled unless ``label`` is given.
    features, pos_label, name
        As for `groupcm.evaluate_tables`.
    false_alarms : float, optional
        With labels, the largest number per group of candidates that are not positive and reach the
        threshold; of the ``goal`` only ``confidence`` can be given, too.
    **goal
        ``alarm_rate``, ``specificity``, ``sensitivity``, ``prevalence`` and ``confidence`` of
        `recalibrate`.

    Returns
    -------
    Recalibration

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm import GroupClassifier, fit_tables
    >>> from groupcm.simulate import capsule_to_parquet
    >>> folder = Path(tempfile.mkdtemp())
    >>> for seed, part in enumerate(("train.parquet", "new.parquet")):
    ...     _ = capsule_to_parquet(folder / part, 60, n_positive=20, seed=seed)
    >>> columns = {"group": "frame", "label": "label", "overlap": "overlap"}
    >>> fit = fit_tables(
    ...     GroupClassifier(), folder / "train.parquet", **columns, exclude=["patient", "polyp"]
    ... )
    >>> found = recalibrate_tables(fit.model, folder / "new.parquet", alarm_rate=0.25)
    >>> found.alarm_rate.estimate
    0.25
    """
    roles = ColumnRoles(group, label, patient=patient)
    known = ("group", "label", "patient") if label is not None else ("group",)
    trained = TrainedTables(
        model, tables, roles, features=features, pos_label=pos_label, name=name, roles=known
    )
    about = f"groups of {name_of(tables)}"
    if false_alarms is not None:
        return _with_few_alarms(trained, label, false_alarms, about, **goal)
    if label is None:
        scores = group_scores_of_rows(trained.model, trained.read_to_score()).score
        return recalibrate(model_and_notes(model)[0], scores, where=about, **goal)
    candidates = trained.read()
    return recalibrate(
        trained.model,
        group_scores_of_rows(trained.model, candidates).score,
        candidates.groups_with(candidates.positive),
        patients=candidates.patient_of_groups(),
        where=about,
        **goal,
    )


def _with_few_alarms(
    trained: TrainedTables,
    label: str | None,
    false_alarms: float,
    about: str,
    confidence: float | None = None,
    **others: float | None,
) -> Recalibration:
    """Set the threshold that few enough candidates of labelled tables reach by mistake."""
    check_target({"false_alarms": false_alarms, **others})
    if label is None:
        raise InputError(
            Argument("false_alarms"),
            " counts candidates that are not positive, which unlabelled tables do not show; name "
            "the column of labels with ",
            Argument("label"),
        )
    scored = score_rows(trained.model, trained.read())
    after = choose_on(scored, where=about, false_alarms=false_alarms, confidence=confidence)
    groups = _NewGroups(scored.group_score, scored.group_positive, scored.group_patient)
    return _take(trained.model, groups, after)
