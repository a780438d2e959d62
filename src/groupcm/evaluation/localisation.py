"""Whether the winners of positive groups lie on the object."""

from __future__ import annotations

import numpy as np

from groupcm.evaluation.numbers import Localisation
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.proportion import share_interval

__all__ = ["LEAST_OVERLAP", "localisation_of"]

LEAST_OVERLAP = 0.3


def localisation_of(
    candidates: ScoredCandidates, *, least_overlap: float = LEAST_OVERLAP, level: float = 0.95
) -> Localisation | None:
    """The share of annotated positive groups k whose winner i*(k) lies on the object.

        share = #{k : o_i*(k) ≥ t} / n+,    n_reachable = #{k : max_{i∈G_k} o_i ≥ t}

    where o_i is the overlap of candidate i with the object and t is ``least_overlap``.

    Parameters
    ----------
    candidates : ScoredCandidates
    least_overlap : float, default=0.3
        From this overlap on, a candidate lies on the object.
    level : float, default=0.95
        Of the interval, which draws patients or groups.

    Returns
    -------
    Localisation, or None where overlaps are not known of any positive group

    Examples
    --------
    >>> from groupcm.group_index import index_groups
    >>> candidates = ScoredCandidates(
    ...     index_groups(["a", "a", "b", "b", "c"]),
    ...     score=np.array([2.0, 1.0, 0.0, 3.0, 1.0]),
    ...     is_positive=np.array([True, False, True, False, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     overlap=np.array([0.7, 0.0, 0.4, 0.1, 0.0]),
    ... )
    >>> found = localisation_of(candidates)
    >>> found.n_on_object, found.n_positive_groups, found.n_reachable
    (1, 2, 2)
    """
    if not least_overlap > 0.0:
        raise ValueError(
            f"least_overlap is {least_overlap:g}; it must be above 0, "
            "or every winner would lie on the object."
        )
    if candidates.overlap is None:
        return None
    positive = candidates.group_positive & candidates.group_has_labels
    if not positive.any():
        return None
    is_on = candidates.overlap >= least_overlap  # a NaN is no overlap
    winner = candidates.winner[positive]
    hits = is_on[winner] & (winner >= 0)  # without candidates there is no winner
    reachable = candidates.with_empty(candidates.index.maxima(is_on), False)
    return Localisation(
        n_positive_groups=len(hits),
        n_on_object=int(np.count_nonzero(hits)),
        share=share_interval(hits, candidates.group_clusters[positive], level=level),
        n_reachable=int(np.count_nonzero(reachable[positive])),
        least_overlap=least_overlap,
    )
