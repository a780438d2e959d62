"""How an evaluation describes its data: which groups take part in which metrics, and why."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.object_rows import HitRule
from groupcm.evaluation.provenance import Computation, DataStep, FileDigest
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.clusters import FewClustersWarning
from groupcm.utils.formatting import number
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.text import counted

__all__ = [
    "computation_of",
    "data_flow",
    "data_notes",
    "object_word",
    "unannotated_note",
    "warned_of",
]


@contextmanager
def warned_of(candidates: ScoredCandidates) -> Iterator[None]:
    """Warn of scores that are all the same, and of a single patient, once for all metrics.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> scored = ScoredCandidates(
    ...     index_groups(["a", "b"]),
    ...     score=np.zeros(2),
    ...     is_positive=np.array([True, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ... )
    >>> with warnings.catch_warnings(record=True, action="always") as issued, warned_of(scored):
    ...     pass
    >>> print(issued[0].message)
    every group has the score 0, so that nothing is ranked and every area under a ROC curve is one
    half; check that the features are those of the training.
    """
    scores, patient = candidates.group_score, candidates.group_patient
    if scores.min() == scores.max():
        warnings.warn(
            f"every group has the score {number(float(scores[0]))}, so that nothing is ranked and "
            "every area under a ROC curve is one half; check that the features are those of the "
            "training.",
            UserWarning,
            stacklevel=5,
        )
    if patient is None or np.any(patient != patient[0]):
        yield
        return
    warnings.warn(
        FewClustersWarning(
            "all groups are of one patient, so that no confidence interval is known; an interval "
            "needs at least two patients with positive groups, and two with negative ones."
        ),
        stacklevel=5,
    )
    with ignore_warnings(FewClustersWarning):
        yield


def unannotated_note(n_unannotated: int, n_positive: int) -> str:
    """Describe how many positive groups are unannotated, and which metrics include them.

    Examples
    --------
    >>> unannotated_note(5, 20)
    '5 of 20 positive groups; metrics of groups include them, metrics of candidates and of winners
    exclude them'
    """
    return (
        f"{n_unannotated:,} of {n_positive:,} positive groups; metrics of groups include them, "
        "metrics of candidates and of winners exclude them"
    )


def data_notes(candidates: ScoredCandidates) -> dict[str, str]:
    """Describe the groups that are unannotated, and those without candidates."""
    notes = {}
    if candidates.n_unannotated:
        n_positive = candidates.n_positive
        notes["Not annotated"] = unannotated_note(candidates.n_unannotated, n_positive)
    if candidates.empty is not None and candidates.n_empty:
        n_positive = int(candidates.empty.is_positive.sum())
        text = (
            f"{candidates.n_empty:,} groups have no candidates and never alarm, {n_positive:,} of "
            "them positive and missed"
        )
        if candidates.objects is not None and candidates.listed is None and n_positive:
            text += "; their objects are not known and not in the FROC curve"
        notes["Without candidates"] = text
    if candidates.listed is not None:
        n_listed = len(set(candidates.listed.ids.tolist()))
        notes["All objects"] = (
            f"{n_listed:,} objects are listed; those that no candidate is on count as missed"
        )
    return notes


def data_flow(candidates: ScoredCandidates, rule: HitRule | None = None) -> list[DataStep]:
    """Return how many groups came in, had candidates, and are left out of which metrics.

    Parameters
    ----------
    candidates : ScoredCandidates
    rule : HitRule, optional
        When a candidate is on an object; by default where its label is positive.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> scored = ScoredCandidates(
    ...     index_groups(["a", "a", "b"]),
    ...     score=np.array([2.0, 1.0, 0.0]),
    ...     is_positive=np.array([True, False, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     overlap=np.array([0.8, 0.1, 0.0]),
    ... )
    >>> for step in data_flow(scored):
    ...     print(step.n_groups, step.text)
    2 in the data
    1 with 1 candidate of small overlap, above 0 but too small for a positive label: counted as
    negative
    2 evaluated
    """
    steps = [DataStep("in the data", candidates.n_groups, n_candidates=candidates.index.n_rows)]
    steps += _missing_features(candidates) + _small_overlaps(candidates, rule or HitRule())
    if candidates.empty is not None and candidates.n_empty:
        n_positive = int(candidates.empty.is_positive.sum())
        if n_positive:
            text = "positive without candidates: they count as missed"
            steps.append(DataStep(text, n_positive))
        if candidates.n_empty > n_positive:
            text = "negative without candidates: they raise no alarm"
            steps.append(DataStep(text, candidates.n_empty - n_positive))
    if candidates.n_unannotated:
        text = "positive without annotation: left out of the metrics of candidates and objects"
        n_rows = int((~candidates.has_label).sum())
        steps.append(DataStep(text, candidates.n_unannotated, True, n_rows))
    if candidates.listed is not None:
        alone = set(candidates.listed_group[candidates.listed_group >= 0].tolist())
        annotated = candidates.with_empty(
            candidates.index.maxima(candidates.is_positive),
            False if candidates.empty is None else candidates.empty.is_positive,
        )
        n_missed = sum(not annotated[each] for each in alone)
        if n_missed:
            text = "positive, though no candidate is on their objects"
            steps.append(DataStep(text, n_missed))
    return [*steps, DataStep("evaluated", candidates.n_groups)]


def _missing_features(candidates: ScoredCandidates) -> list[DataStep]:
    if candidates.has_missing is None:
        return []
    text = "with missing features in {}: scored, as the model takes missing values"
    return [_step(candidates, candidates.has_missing, text)]


def _small_overlaps(candidates: ScoredCandidates, rule: HitRule) -> list[DataStep]:
    """Count the candidates that overlap an object, but not as much as a hit does."""
    if candidates.overlap is None:
        return []
    of_positive = candidates.group_positive[candidates.index.codes] & candidates.has_label
    steps = []
    unknown = of_positive & np.isnan(candidates.overlap)
    if unknown.any():
        text = "with a missing overlap in {}: not on any object by its overlap"
        steps.append(_step(candidates, unknown, text))
    small = of_positive & (candidates.overlap > 0.0) & ~rule.of(candidates)
    if small.any():
        needed = "a positive label" if rule.name == "label" else rule.words
        text = (
            f"with {{}} of small overlap, above 0 but too small for {needed}: counted as negative"
        )
        steps.append(_step(candidates, small, text))
    return steps


def _step(candidates: ScoredCandidates, rows: NDArray[np.bool_], text: str) -> DataStep:
    """Return a step about some candidates, whose number is put into its text."""
    n_rows, n_groups = int(rows.sum()), int(candidates.index.maxima(rows).sum())
    return DataStep(text.format(counted(n_rows, "candidate")), n_groups, n_candidates=n_rows)


def object_word(column: str | None) -> str:
    """Return what an object is called: the name of its column, without the ending of an id.

    Examples
    --------
    >>> object_word("polyp_id"), object_word("weld_defect"), object_word(None)
    ('polyp', 'weld defect', 'object')
    """
    words = (column or "object").replace("_", " ").strip()
    for ending in (" id", " ID"):
        words = words.removesuffix(ending) or words
    return words


def computation_of(
    candidates: ScoredCandidates,
    n_resamples: int,
    random_state: Any,
    files: Sequence[FileDigest],
) -> Computation:
    """Return how the intervals of an evaluation are computed, for its record."""
    return Computation(
        n_resamples=n_resamples,
        random_state=random_state if isinstance(random_state, int) else None,
        resampled="groups" if candidates.by_patient is None else "patients",
        n_resampled=len(np.unique(candidates.group_clusters)),
        files=tuple(files),
    )
