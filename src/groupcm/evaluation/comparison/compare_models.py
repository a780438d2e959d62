"""The comparison of models on a table of candidates by nested cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm import __version__
from groupcm.data.group_table import group_level
from groupcm.data.validation import check_length
from groupcm.evaluation.comparison.compared_levels import compare_at_levels
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import DEFAULT_NAMES, contenders
from groupcm.evaluation.comparison.crossfit import CrossFit, CrossFits, Progress, crossfit, folds_of
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.comparison.learning_curve import fold_percentiles, learning_curve
from groupcm.evaluation.comparison.results import ModelComparison, ModelResult, Pair
from groupcm.evaluation.curves import roc_of
from groupcm.evaluation.results import DataCounts, Roc
from groupcm.metrics import Metric, compare, read_levels
from groupcm.metrics.levels import above_groups
from groupcm.utils.merged_warnings import merge_warnings
from groupcm.utils.text import listed, printable

__all__ = ["chosen_contenders", "compare_models"]


def _unannotated_notes(data: LabelledCandidates, models: Sequence[Contender]) -> list[str]:
    """Describe how each model uses unannotated groups, and which metrics include them.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.evaluation.comparison.contenders import contenders
    >>> data = LabelledCandidates.check(
    ...     np.zeros((3, 1)), [1, 1, 0], ["a", "b", "c"], annotated=[True, False, True]
    ... )
    >>> print(*_unannotated_notes(data, contenders(["svm", "misvm", "gcm"])), sep="\\n")
    1 of 2 positive groups is not annotated: GCM chooses a candidate of each such group, MI-SVM
    needs labels of groups alone, and SVM trains without them.
    Metrics of groups include them for all models; metrics of candidates exclude them.
    """
    n_unannotated = data.n_unannotated
    if not n_unannotated:
        return []
    n_positive = int(group_level(data.y, data.groups).positive.sum())
    choosing = [model.name for model in models if model.chooses_candidates]
    by_labels = [model.name for model in models if model.by_group_labels]
    without = [model.name for model in models if model.name not in (*choosing, *by_labels)]
    parts = [
        f"{listed(names)} {one if len(names) == 1 else several} {what}"
        for names, one, several, what in (
            (choosing, "chooses", "choose", "a candidate of each such group"),
            (by_labels, "needs", "need", "labels of groups alone"),
            (without, "trains", "train", "without them"),
        )
        if names
    ]
    uses = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
    verb = "is" if n_unannotated == 1 else "are"
    return [
        f"{n_unannotated:,} of {n_positive:,} positive groups {verb} not annotated: {uses}.",
        "Metrics of groups include them for all models; metrics of candidates exclude them.",
    ]


def compare_models(
    X: Any,
    y: ArrayLike,
    groups: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    patients: ArrayLike | None = None,
    *,
    annotated: ArrayLike | None = None,
    objects: ArrayLike | None = None,
    pos_label: Any = None,
    models: Sequence[str | Contender] = DEFAULT_NAMES,
    cv: Any = 5,
    n_settings: int = 10,
    max_negatives: int | None = 100_000,
    scoring: str | Metric = "group_roc_auc",
    learning: bool = True,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int = 0,
    title: str = "Comparison of models",
    unit: str = "group",
    data_name: str = "",
    progress: Progress | None = None,
    levels: Mapping[str, ArrayLike] | None = None,
    aggregate: str = "max",
    k: int = 1,
) -> ModelComparison:
    """Train several models on the same folds with the same budget, and compare them.

    Parameters
    ----------
    X : array, CSR matrix or data frame of shape (n, d)
        One row per candidate.
    y : array-like of shape (n,)
        One label per candidate.
    groups, overlap, patients : array-like of shape (n,), optional
        The group of each candidate, its overlap with the annotation, and its patient.
    annotated : array-like of bool of shape (n,), optional
        False for the candidates of unannotated positive groups. Models that choose a candidate in
        them or need labels of groups alone train with them, the others without. They are tested
        like all groups, and metrics of candidates exclude them.
    objects : array-like of shape (n,), optional
        The object of its group that each positive candidate shows, for models that use it.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.
    models : sequence of str or Contender
        Names of `groupcm.evaluation.comparison.contenders.contenders`, or custom contenders.
    cv : int, splitter, or list of (train, test), default=5
        The outer folds; see `groupcm.evaluation.comparison.crossfit.crossfit`.
    n_settings : int, default=10
        The number of hyperparameters that each named model is tuned over, inside the folds.
    max_negatives : int or None, default=100,000
        The number of negative candidates for models that are trained on candidates, at most.
    scoring : str or callable, default="group_roc_auc"
        The metric that hyperparameters are chosen by.
    learning : bool, default=True
        Whether to train again on fewer negative groups, for the learning curve.
    level, n_resamples
        The options of the intervals, which resample patients, or groups without patients.
    random_state : int, default=0
    title, data_name : str
        The title of the report, and the name of the data.
    unit : str, default="group"
        The word for a group in the report, such as "frame"; an irregular plural follows a slash,
        as in "query/queries".
    progress : callable, optional
        Is called with a text at the start of each step.
    levels : mapping of str to array-like of shape (n,), optional
        The unit of each candidate at each level above the group, from the lowest to the highest,
        such as ``{"video": videos, "patient": patients}``; each level nested in the next. The
        models are compared at every level. Folds split no unit of the highest, which takes the
        place of ``patients`` where those are not given.
    aggregate : {"max", "kth_largest", "top_mean"}
        How the scores of groups make the scores of units; see `groupcm.metrics.level_scores`.
    k : int, default=1
        For "kth_largest" and "top_mean".

    Returns
    -------
    ModelComparison
        With one pair of the GCM and each other model, or of the last model where the GCM is not
        among them. Scores of the folds are pooled as the module `learning_curve` describes.

    Examples
    --------
    >>> from groupcm.simulate import capsule
    >>> made = capsule(60, n_positive=20, group_size=10)
    >>> found = compare_models(
    ...     made.X, made.y, made.groups, made.overlap, models=["svm", "gcm"], cv=3,
    ...     n_settings=2, learning=False, n_resamples=100,
    ... )
    >>> [model.name for model in found.models], [(pair.a, pair.b) for pair in found.pairs]
    (['SVM', 'GCM'], [('GCM', 'SVM')])
    """
    levels = levels or {}
    for name, ids in levels.items():
        check_length(f"level {printable(name)}", ids, len(np.asarray(y)))
    if levels and patients is None:
        patients = list(levels.values())[-1]
    data = LabelledCandidates.check(
        X, y, groups, overlap, patients, annotated, objects, pos_label=pos_label
    )
    units = _units(data, levels)
    chosen = chosen_contenders(models, n_settings, max_negatives, random_state)
    # Folds come first, because their errors name the user's own ids.
    folds = folds_of(data, cv, random_state)
    data = data.numbered()
    options = {"level": level, "n_resamples": n_resamples, "random_state": random_state}
    with merge_warnings():
        fits = crossfit(
            data, chosen, cv=folds, scoring=scoring, random_state=random_state, progress=progress
        )
        if progress is not None:
            drawn = "groups" if data.patients is None else "patients"
            progress(f"resampling {drawn} for the intervals")
        pooled = [_pool(data, fits, result, options) for result in fits.results]
        pairs = _pairs(pooled, options)
        above = compare_at_levels(
            pooled[0].truth,
            fits.fold[fits.left_out],
            {fit.contender.name: fit.scores[fits.left_out] for fit in fits.results},
            {name: ids[fits.left_out] for name, ids in units.items()},
            _first(pooled).result.name,
            aggregate=aggregate,
            k=k,
            **options,
        )
        curve = learning_curve(data, fits, progress=progress, **options) if learning else None
    at_ends = [fit for fit in fits.results if 2 * max(fit.n_at_ends) > len(fits.folds)]
    return ModelComparison(
        title=title,
        version=__version__,
        data=_count(data.take(fits.left_out), data_name),
        n_folds=len(fits.folds),
        n_settings=max(len(contender.settings) for contender in chosen),
        folds_by="group" if data.patients is None else "patient",
        models=[one.result for one in pooled],
        pairs=pairs,
        learning=curve,
        level=level,
        unit=unit,
        notes=[*_unannotated_notes(data, chosen), *map(_end_note, at_ends)],
        levels=above,
    )


def _units(data: LabelledCandidates, levels: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
    """Return the unit of each candidate at each level; raise where they are not nested."""
    units = {name: np.asarray(ids) for name, ids in levels.items()}
    if units:
        patients = {} if "patients" in units else {"patients": data.clusters}
        read_levels({**above_groups(data.groups, units), **patients})
    return units


def _end_note(fit: CrossFit) -> str:
    """Describe that a model chose the end of its grid, so that the grid may be too narrow."""
    first, last = fit.n_at_ends
    settings = fit.contender.settings
    end, word = (settings[0], "smallest") if first > last else (settings[-1], "largest")
    return (
        f"{fit.contender.name} chose the {word} value tried, {fit.contender.describe(end)}, in "
        f"{max(first, last)} of {len(fit.chosen)} folds: a better one may be beyond it."
    )


def chosen_contenders(
    models: Sequence[str | Contender], n_settings: int, max_negatives: int | None, seed: int
) -> list[Contender]:
    """Return the contenders, those that are named with ``n_settings`` settings each."""
    names = [model for model in models if isinstance(model, str)]
    if models and not names:
        return [model for model in models if isinstance(model, Contender)]
    named = iter(contenders(names, n_settings, max_negatives=max_negatives, random_state=seed))
    return [next(named) if isinstance(model, str) else model for model in models]


@dataclass(frozen=True, eq=False)
class _Pooled:
    """The result of one model, and its scores of all folds on one scale."""

    result: ModelResult
    truth: LabelledCandidates
    scores: NDArray[np.float64]


def _pool(
    data: LabelledCandidates, fits: CrossFits, fit: CrossFit, options: dict[str, Any]
) -> _Pooled:
    rows = fits.left_out
    truth, fold, scores = data.take(rows), fits.fold[rows], fit.scores[rows]
    of_groups = fold_percentiles(truth.y, scores, truth.groups, fold)
    contender = fit.contender
    result = ModelResult(
        name=contender.name,
        about=contender.about,
        group_roc=roc_of(truth.y, of_groups, truth.groups, clusters=truth.clusters, **options),
        candidate_roc=_candidate_roc(truth, scores, fold, options),
        chosen=[contender.describe(contender.settings[number]) for number in fit.chosen],
        seconds=fit.seconds,
    )
    return _Pooled(result, truth, of_groups)


def _candidate_roc(
    truth: LabelledCandidates,
    scores: NDArray[np.float64],
    fold: NDArray[np.int64],
    options: dict[str, Any],
) -> Roc | None:
    """Return None without labels of candidates, in all groups or in the positives of a fold."""
    known = truth.has_candidate_labels
    scores, fold, truth = scores[known], fold[known], truth.with_candidate_labels()
    has_positives = np.array_equal(np.unique(fold[truth.y == 1]), np.unique(fold))
    if not has_positives or truth.labels_are_of_groups:
        return None
    percentiles = fold_percentiles(truth.y, scores, None, fold)
    return roc_of(truth.y, percentiles, clusters=truth.clusters, **options)


def _first(pooled: Sequence[_Pooled]) -> _Pooled:
    """Return the model that the others are compared with: the GCM, or the last one."""
    return next((one for one in pooled if one.result.name == "GCM"), pooled[-1])


def _pairs(pooled: Sequence[_Pooled], options: dict[str, Any]) -> list[Pair]:
    a = _first(pooled)
    return [
        Pair(
            a.result.name,
            b.result.name,
            compare(
                a.truth.y,
                a.scores,
                b.scores,
                a.truth.groups,
                clusters=a.truth.clusters,
                **options,
            ),
        )
        for b in pooled
        if b is not a
    ]


def _count(data: LabelledCandidates, name: str) -> DataCounts:
    table = group_level(data.y, data.groups, data.patients)
    return DataCounts(
        name=name,
        n_candidates=len(data.y),
        n_positive_groups=int(table.positive.sum()),
        n_negative_groups=int((~table.positive).sum()),
        n_patients=None if table.patient_ids is None else len(table.patient_ids),
    )
