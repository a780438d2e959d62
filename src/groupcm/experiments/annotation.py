"""The value of annotation: group AUC against the number of annotated positive groups.

Each repeat leaves one fold of groups (patients) out and puts the positive groups of the rest in
a random order. At size m the GCM is trained on the first m positive groups, annotated, and MI-SVM
on the same m groups by their labels alone; both have all negative groups of the rest, and choose
λ by folds inside it. A larger size contains the smaller ones. Positive groups beyond m take no
part, and in one more training of the GCM they take part unannotated, by their labels alone: λ is
then chosen by folds that train on the annotated groups and score all of them, and the last training
chooses a candidate in each of the others (see `GroupClassifierCV`). Where there are more repeats
than folds, the groups are divided into new folds.

The interval of a mean over R repeats with standard deviation s, each of which left one of K folds
out, is

    mean ± t_{R−1} · s · sqrt(1 / R + 1 / (K − 1))

The second term under the root is Nadeau and Bengio's: training parts share most of their groups, so
that their scores vary less than those of independent ones would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.data.folds import group_folds
from groupcm.data.group_table import group_level
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, ParameterError
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.evaluation.comparison.crossfit import crossfit
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.comparison.tables import read_labelled
from groupcm.experiments.areas import mean_interval
from groupcm.experiments.training import fit_with_others
from groupcm.metrics import Interval, group_roc_auc
from groupcm.sources.tables import Tables
from groupcm.utils.merged_warnings import merge_warnings
from groupcm.utils.progress import announce_stage

__all__ = [
    "AnnotationCurve",
    "annotation_curve",
    "annotation_curve_of_tables",
    "annotation_sizes",
]

_STEPS = (1, 2, 5)
_FEWEST = 10


@dataclass(frozen=True, eq=False)
class AnnotationCurve:
    """Group AUC at each number of annotated positive groups.

    Attributes
    ----------
    sizes : sequence of int
    gcm, with_others, misvm : ndarray of shape (n_sizes, n_repeats)
        The AUC on the groups that each repeat left out; ``with_others`` is the GCM's where the
        other positive groups take part unannotated.
    misvm_of_all : ndarray of shape (n_repeats,)
        The AUC of MI-SVM with every positive group of the training part, at least ``n_all``.
    n_positive, n_negative, n_all : int
        The numbers of groups, and of positive groups that every training part has.
    n_folds : int
    folds_by : {"patient", "group"}
    n_left_out : int
        The number of positive groups that took no part because they are not annotated.
    name : str
        The name of the data.
    labels : tuple or None
        The negative and the positive label, where they are known.
    """

    sizes: Sequence[int]
    gcm: NDArray[np.float64]
    with_others: NDArray[np.float64]
    misvm: NDArray[np.float64]
    misvm_of_all: NDArray[np.float64]
    n_positive: int
    n_negative: int
    n_all: int
    n_folds: int
    folds_by: str
    n_left_out: int = 0
    name: str = ""
    labels: tuple[Any, Any] | None = None

    @property
    def n_repeats(self) -> int:
        return self.gcm.shape[1]

    def auc(self, values: NDArray[np.float64]) -> Interval:
        """Return the mean of one AUC per repeat; an interval beyond 0 or 1 is cut there.

        The bounds are NaN where they would exclude nothing.
        """
        return self._mean(values, least=0.0)

    def _mean(self, values: NDArray[np.float64], *, least: float = -1.0) -> Interval:
        """Return the mean of one AUC, or of one difference, per repeat, cut to what is possible."""
        found = mean_interval(values, self.n_folds)
        low, high = np.maximum(found.low, least), np.minimum(found.high, 1.0)
        return Interval(found.estimate, float(low), float(high)).or_unknown(least)

    @property
    def last_step(self) -> Interval | None:
        """The gain in the GCM's AUC from the last step in size; None where there is one size."""
        if len(self.sizes) < 2:
            return None
        return self._mean(self.gcm[-1] - self.gcm[-2])

    @property
    def added(self) -> list[Interval]:
        """The gain in the GCM's AUC at each size from the other, unannotated positive groups.

        Sizes without other groups are left out.
        """
        return [
            self._mean(more - alone)
            for size, alone, more in zip(self.sizes, self.gcm, self.with_others, strict=True)
            if size < self.n_all
        ]

    @property
    def over_misvm(self) -> Interval:
        """The GCM's AUC at the largest size minus that of MI-SVM with all groups."""
        return self._mean(self.gcm[-1] - self.misvm_of_all)


def annotation_sizes(n_positive: int) -> list[int]:
    """Return the sizes 10, 20, 50, 100, …, and the number of all groups at the end.

    Examples
    --------
    >>> annotation_sizes(234), annotation_sizes(12), annotation_sizes(7)
    ([10, 20, 50, 100, 200, 234], [10, 12], [7])
    """
    sizes, power = [], _FEWEST
    while power < n_positive:
        sizes += [step * power for step in _STEPS if step * power < n_positive]
        power *= 10
    return [*sizes, n_positive]


def annotation_curve(
    X: Any,
    y: Any,
    groups: Any,
    overlap: Any = None,
    patients: Any = None,
    *,
    annotated: Any = None,
    objects: Any = None,
    pos_label: Any = None,
    sizes: Sequence[int] | None = None,
    repeats: int = 5,
    n_folds: int = 5,
    n_settings: int = 5,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> AnnotationCurve:
    """Train with more and more annotated groups, and score groups that were left out.

    Parameters
    ----------
    X, y, groups, overlap, patients, annotated, objects, pos_label
        As for `groupcm.evaluation.compare_models`; the labels of candidates, or
        overlaps, are the annotation. Positive groups that have none take no part.
    sizes : sequence of int, optional
        Numbers of annotated positive groups; by default `annotation_sizes` of what the smallest
        training part has.
    repeats : int, default=5
        The number of repeats, at least 2.
    n_folds : int, default=5
    n_settings : int, default=5
        The number of values of λ that each model chooses among, inside the training part.
    random_state : int, default=0
    progress : callable, optional
        Is called with a text at the start of each step.

    Returns
    -------
    AnnotationCurve

    Examples
    --------
    >>> from groupcm.simulate import capsule
    >>> made = capsule(60, n_positive=24, n_patients=40, group_size=10)
    >>> curve = annotation_curve(made.X, made.y, made.groups, made.overlap, sizes=[4, 12],
    ...                          repeats=2, n_folds=3, n_settings=2)
    >>> curve.gcm.shape, curve.n_all
    ((2, 2), 16)
    """
    if repeats < 2:
        raise ParameterError(
            Argument("repeats"), f" must be at least 2, for intervals; got {repeats}."
        )
    models = contenders(["gcm", "misvm"], n_settings, random_state=random_state)
    whole = LabelledCandidates.check(
        X, y, groups, overlap, patients, annotated, objects, pos_label=pos_label
    )
    data = whole.with_candidate_labels()
    if data.overlap is None and data.labels_are_of_groups:
        raise ValueError(
            "every candidate of a positive group carries the positive label, so none is annotated; "
            "label the candidates one by one, or give their overlap with the annotation."
        )
    parts = _parts(data, repeats, n_folds, random_state)
    n_all = min(len(part.positives) for part in parts)
    table = group_level(data.y, data.groups)
    chosen = _checked_sizes(sizes, n_all, int(table.positive.sum()))
    report = progress or (lambda text: None)
    auc = np.empty((3, len(chosen), repeats))
    of_all = np.empty(repeats)
    for r, part in enumerate(parts):
        for k, size in enumerate(chosen):
            report(f"repeat {r + 1} of {repeats}: {size:,} annotated groups")
            auc[:2, k, r] = _scored(data, models, part, size, random_state)
            auc[2, k, r] = auc[0, k, r]
            if size < len(part.positives):
                auc[2, k, r] = _with_others(data, part, size, n_settings, random_state + 1)
        n_positive = len(part.positives)
        if n_positive == chosen[-1]:
            of_all[r] = auc[1, -1, r]
        else:
            report(f"repeat {r + 1} of {repeats}: MI-SVM with all {n_positive:,} positive groups")
            (of_all[r],) = _scored(data, models[1:], part, n_positive, random_state)
    return AnnotationCurve(
        chosen,
        gcm=auc[0],
        with_others=auc[2],
        misvm=auc[1],
        misvm_of_all=of_all,
        n_positive=int(table.positive.sum()),
        n_negative=int(np.count_nonzero(~table.positive)),
        n_all=n_all,
        n_folds=n_folds,
        folds_by="group" if patients is None else "patient",
        n_left_out=whole.n_unannotated,
    )


def annotation_curve_of_tables(
    tables: Tables,
    *,
    group: str | None = None,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    annotated: str | None = None,
    object: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    pos_label: Any = None,
    **options: Any,
) -> AnnotationCurve:
    """Compute the annotation curve of tables, as ``groupcm experiment annotation`` does.

    Parameters
    ----------
    tables : path, or sequence of paths
        Files and folders, which are read into memory; see `groupcm.sources.read_candidates`.
    group, label, overlap, patient, annotated, object, weight : str, optional
        The column of each role; see `groupcm.data.tables.roles.ColumnRoles`. Those that the tables
        describe need not be named.
    features, exclude : sequence of str, optional
        The feature columns, and those to leave out.
    pos_label : label, optional
        The positive one of the two labels; a number can be given as text. By default the larger.
    **options
        Of `annotation_curve`, such as ``sizes`` and ``repeats``.

    Returns
    -------
    AnnotationCurve

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm.simulate import capsule_to_parquet
    >>> path = Path(tempfile.mkdtemp()) / "frames.parquet"
    >>> _ = capsule_to_parquet(path, 60, n_positive=24, group_size=10)
    >>> columns = {"group": "frame", "label": "label", "overlap": "overlap"}
    >>> few = {"sizes": [4, 12], "repeats": 2, "n_folds": 3, "n_settings": 2}
    >>> curve = annotation_curve_of_tables(path, **columns, features=["redness"], **few)
    >>> curve.gcm.shape, curve.name, curve.labels
    ((2, 2), 'frames.parquet', (0, 1))
    """
    roles = ColumnRoles(group, label, overlap, patient, annotated, object, weight)
    data = read_labelled(
        tables,
        roles,
        features=features,
        exclude=exclude,
        pos_label=pos_label,
        purpose="this experiment",
    )
    data.candidates.require_complete("this experiment needs", "fill the values in")
    curve = annotation_curve(**data.arguments(), progress=announce_stage, **options)
    return replace(curve, name=data.name, labels=data.labels)


@dataclass(frozen=True, eq=False)
class _Part:
    """The training rows of one repeat, its positive groups in a random order, and its test rows."""

    train: NDArray[np.int64]
    place: NDArray[np.intp]  # of each training row's group among the positive ones; -1: negative
    positives: NDArray[np.intp]
    test: NDArray[np.int64]

    def rows(self, size: int) -> NDArray[np.int64]:
        return self.train[self.place < size]


def _parts(data: LabelledCandidates, repeats: int, n_folds: int, seed: int) -> list[_Part]:
    parts: list[_Part] = []
    while len(parts) < repeats:
        cut = seed + len(parts) // n_folds
        for train, test in group_folds(
            data.y, data.groups, data.patients, n_splits=n_folds, random_state=cut
        ):
            table = group_level(data.y[train], data.groups[train])
            positives = np.flatnonzero(table.positive)
            place = np.full(len(table.positive), -1)
            rng = np.random.default_rng([seed, len(parts)])
            place[positives] = rng.permutation(len(positives))
            parts.append(_Part(train, place[table.index.codes], positives, test))
    return parts[:repeats]


def _checked_sizes(sizes: Sequence[int] | None, n_all: int, n_positive: int) -> list[int]:
    if sizes is None:
        return annotation_sizes(n_all)
    chosen = sorted(set(sizes))
    if not chosen or chosen[0] < 2:
        raise ParameterError(
            Argument("sizes"), f" must be whole numbers of at least 2; got {list(sizes)}."
        )
    if chosen[-1] > n_all:
        raise ParameterError(
            Argument("sizes"),
            f" requires {chosen[-1]} annotated positive groups; there are {n_positive}, of which "
            f"{n_all} can be trained on while the others are left out to test: ask for {n_all} or "
            "fewer.",
        )
    return chosen


def _with_others(
    data: LabelledCandidates, part: _Part, size: int, n_settings: int, seed: int
) -> float:
    with merge_warnings():
        model = fit_with_others(data.take(part.train), part.place < size, n_settings, seed)
    unseen = data.take(part.test)
    return group_roc_auc(unseen.y, model.decision_function(unseen.X), unseen.groups)


def _scored(
    data: LabelledCandidates, models: Sequence[Any], part: _Part, size: int, seed: int
) -> list[float]:
    with merge_warnings():
        fits = crossfit(data, models, cv=[(part.rows(size), part.test)], random_state=seed)
    y, groups = data.y[part.test], data.groups[part.test]
    return [group_roc_auc(y, result.scores[part.test], groups) for result in fits.results]
