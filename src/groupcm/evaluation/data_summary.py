"""How an evaluation describes its data: which groups take part in which metrics, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groupcm.evaluation.provenance import Computation, DataStep, FileDigest
from groupcm.evaluation.scored import ScoredCandidates

__all__ = ["computation_of", "data_flow", "data_notes", "object_word", "unannotated_note"]


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


def data_flow(candidates: ScoredCandidates) -> list[DataStep]:
    """Return how many groups came in, had candidates, and are left out of which metrics."""
    steps = [DataStep("in the data", candidates.n_groups, n_candidates=candidates.index.n_rows)]
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
