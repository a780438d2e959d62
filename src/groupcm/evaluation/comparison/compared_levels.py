"""The comparison of models at levels above the group, such as the video and the patient.

Each model scores the units of a fold that it did not see. Their scores, made of those of groups
(`groupcm.metrics.level_scores`), become percentiles among the negative units of the fold, as those
of groups do (`groupcm.evaluation.comparison.learning_curve`), so that one vector of scores serves
the curves, the intervals and the paired comparisons.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.comparison.learning_curve import fold_percentiles
from groupcm.evaluation.comparison.results import LevelComparison, Pair
from groupcm.evaluation.curves import roc_of
from groupcm.metrics import compare
from groupcm.metrics.levels import Level, above_groups, index_units, level_scores
from groupcm.utils.text import plural, printable, singular
from groupcm.utils.typing import Vector

__all__ = ["compare_at_levels"]


def compare_at_levels(
    truth: LabelledCandidates,
    fold: NDArray[np.int64],
    scores: Mapping[str, Vector],
    levels: Mapping[str, NDArray[Any]],
    first: str,
    *,
    aggregate: str = "max",
    k: int = 1,
    **options: Any,
) -> list[LevelComparison]:
    """Compare the scores of several models at every level above the group.

    Parameters
    ----------
    truth : LabelledCandidates
        The candidates that folds left out.
    fold : ndarray of shape (n,)
        The fold that left each of them out.
    scores : mapping of str to ndarray of shape (n,)
        The score of each candidate by each model, in the units of the model of its fold.
    levels : mapping of str to ndarray of shape (n,)
        The unit of each candidate, from the lowest level to the highest; no fold splits one.
    first : str
        The model that the others are compared with.
    aggregate, k
        See `groupcm.metrics.level_scores`.
    **options
        Those of the confidence intervals.

    Returns
    -------
    list of LevelComparison
        From the lowest level to the highest. A level where the units of some fold are all of one
        class has no curves, and a warning says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frames = np.arange(120)
    >>> patients, y = frames // 3, frames % 6 == 0
    >>> truth = LabelledCandidates.check(np.zeros((120, 1)), y, frames, patients=patients)
    >>> scores = {"A": y + rng.normal(size=120), "B": rng.normal(size=120)}
    >>> (found,) = compare_at_levels(
    ...     truth, patients // 2 % 2, scores, {"patient": patients}, "A", n_resamples=50
    ... )
    >>> found.n_positive, found.n_negative, [(pair.a, pair.b) for pair in found.pairs]
    (20, 20, [('A', 'B')])
    """
    if not levels:
        return []
    whole = above_groups(truth.groups, levels)
    of_models = {
        model: level_scores(truth.y, each, whole, aggregate=aggregate, k=k)
        for model, each in scores.items()
    }
    results = []
    for name, ids in levels.items():
        index = index_units(name, ids)
        row = index.winners(np.zeros(index.n_rows))
        results.append(
            _compared(
                {model: found[name] for model, found in of_models.items()},
                fold[row],
                truth.clusters[row],
                first,
                LevelComparison(name, aggregate, int(k)),
                options,
            )
        )
    return results


def _compared(
    units: Mapping[str, Level],
    fold: NDArray[np.int64],
    clusters: NDArray[Any],
    first: str,
    empty: LevelComparison,
    options: Mapping[str, Any],
) -> LevelComparison:
    """Return the curves and the pairs of one level."""
    positive = units[first].is_positive
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    empty = replace(empty, n_positive=n_positive, n_negative=n_negative)
    mixed = [len(np.unique(positive[fold == each])) == 2 for each in np.unique(fold)]
    if not all(mixed):
        name, names = (printable(form(empty.name)) for form in (singular, plural))
        note = (
            f"the {names} of {mixed.count(False)} of {len(mixed)} folds are all of one class "
            f"({n_positive:,} positive and {n_negative:,} negative in all), so that no models are "
            f"compared by {name}; use fewer folds, or more {names} of both classes."
        )
        if not (n_positive and n_negative):
            note = (
                f"every {name} is {'positive' if n_positive else 'negative'}, so that no models "
                f"are compared by {name}; that needs {names} of both classes."
            )
        warnings.warn(note, UserWarning, stacklevel=5)
        return replace(empty, note=note)
    scores = {
        model: fold_percentiles(positive, unit.scores, None, fold) for model, unit in units.items()
    }
    rocs = {
        model: roc_of(positive, each, clusters=clusters, **options)
        for model, each in scores.items()
    }
    pairs = [
        Pair(
            first,
            other,
            compare(positive, scores[first], each, clusters=clusters, **options),
        )
        for other, each in scores.items()
        if other != first
    ]
    return replace(empty, rocs=rocs, pairs=pairs)
