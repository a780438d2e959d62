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

import csv
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation.scoring import require_two_classes
from groupcm.evaluation.trained_tables import (
    TrainedTables,
    group_scores_of_rows,
    model_and_notes,
)
from groupcm.images.listing import list_pictures
from groupcm.images.picture_set import read_picture_set
from groupcm.images.scoring.folder import score_folder
from groupcm.metrics.decision import ChosenThreshold, DecisionRule, is_alarm, threshold_of
from groupcm.metrics.intervals import share_interval
from groupcm.metrics.results import Interval
from groupcm.persistence.model_file import SavedModel
from groupcm.sources.tables import Tables, name_of

__all__ = ["Recalibration", "recalibrate", "recalibrate_folder", "recalibrate_tables"]

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
    **goal
        ``alarm_rate``, ``specificity``, ``sensitivity``, ``prevalence`` and ``confidence`` of
        `recalibrate`.

    Returns
    -------
    Recalibration

    Examples
    --------
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


def recalibrate_folder(
    model: SavedModel,
    folder: str | os.PathLike[str],
    *,
    annotations: str | os.PathLike[str] | None = None,
    patients: str | os.PathLike[str] | None = None,
    unannotated: str = "leave_out",
    networks: Sequence[str | os.PathLike[str]] = (),
    workers: int | None = None,
    name: str = "the model",
    **goal: Any,
) -> Recalibration:
    """Set the threshold of a picture model from the pictures of another site.

    Parameters
    ----------
    model : SavedModel
        As `groupcm.persistence.read` returns it; its model's threshold changes in place.
    folder : path
    annotations : path, optional
        Annotations of some of the pictures, in any format; without them pictures are unlabelled.
    patients : str or path, optional
        As for `groupcm.images.picture_set.read_picture_set`, with annotations.
    unannotated : {"leave_out", "auto", "negative"}
        The pictures that the annotations do not mention.
    networks, workers, name
        As for `groupcm.images.score_folder`.
    **goal
        As for `recalibrate_tables`.

    Examples
    --------
    >>> from groupcm import GroupClassifier, fit_tables
    >>> from groupcm.images import propose_folder
    >>> from groupcm.images.recipe_options import recipe_named
    >>> from groupcm.images.synthetic import write_frames
    >>> home = Path(tempfile.mkdtemp())
    >>> _ = write_frames(home, 8, share_with_polyps=0.5, height=32, width=40)
    >>> truth, table = home / "annotations.json", home / "candidates.parquet"
    >>> recipe = recipe_named(["windows"], ["colour"])
    >>> _ = propose_folder(home / "frames", table, annotations=truth, recipe=recipe, workers=1)
    >>> fit = fit_tables(GroupClassifier(), table)
    >>> saved = SavedModel(fit.model, fit.notes())
    >>> recalibrate_folder(saved, home / "frames", alarm_rate=0.25, workers=1).n_groups
    8
    """
    options: dict[str, Any] = {"networks": networks, "workers": workers, "name": name}
    if annotations is None:
        found = score_folder(model, folder, **options)
        scores = found.scores.table()["score"].to_numpy()
        return recalibrate(model.model, scores, where="unlabelled pictures", **goal)
    pictures = read_picture_set(
        folder, annotations=annotations, patients=patients, unannotated=unannotated
    )
    used = set(pictures.names)
    with tempfile.TemporaryDirectory() as place:
        # Only the annotated pictures are scored.
        listed = Path(place) / "split.csv"
        with listed.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["image", "split"])
            for each in list_pictures(pictures.folder):
                rows.writerow([each, "used" if each in used else "other"])
        found = score_folder(model, pictures.folder, patients=listed, split="used", **options)
    table = found.scores.table()
    names = table["image"].to_pylist()
    owners = [pictures.patients[each] for each in names] if pictures.patients else None
    return recalibrate(
        model.model,
        table["score"].to_numpy(),
        [pictures.is_positive(each) for each in names],
        patients=owners,
        where="labelled pictures",
        **goal,
    )
