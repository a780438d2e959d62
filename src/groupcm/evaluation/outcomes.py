"""Outcomes of an evaluation: the alarms at the threshold, and the position of the winners.

`decide` counts what the threshold does and compares it with the target that it was chosen for;
`localisation_of` counts how often the winner of a positive group overlaps the object.
"""

from __future__ import annotations

import numpy as np

from groupcm.data.groups import index_groups
from groupcm.errors import Argument, ParameterError
from groupcm.evaluation.results import Decision, Localisation
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics import Interval, at_threshold
from groupcm.metrics.decision import ChosenThreshold, DecisionRule, is_alarm
from groupcm.metrics.froc import LEAST_OVERLAP
from groupcm.metrics.intervals import share_interval

__all__ = ["contradiction", "decide", "localisation_of"]


def decide(candidates: ScoredCandidates, threshold: ChosenThreshold, level: float) -> Decision:
    """Count what a threshold does: groups, candidates and winners, and shares with intervals."""
    positive, score = candidates.group_positive, candidates.group_score
    rows, alarm = candidates.all_rows, is_alarm(score, threshold.value)
    clusters = candidates.group_clusters
    judged = alarm & positive & candidates.group_has_labels
    detected = candidates.located[judged]
    sensitivity = share_interval(alarm[positive], clusters[positive], level=level)
    specificity = share_interval(~alarm[~positive], clusters[~positive], level=level)
    found = {"sensitivity": sensitivity, "specificity": specificity}
    if threshold.decision.level != "group":
        found = {}  # the target is about units of another level
    elif threshold.decision.target == "patient_sensitivity":
        by_patient = index_groups(clusters[positive])
        hits = by_patient.maxima(alarm[positive])
        found = {"patient_sensitivity": share_interval(hits, by_patient.ids, level=level)}
    return Decision(
        point=at_threshold(
            rows.is_positive,
            rows.score,
            rows.group,
            threshold=threshold.value,
            objects=rows.object,
            labelled=rows.has_label,
        ),
        chosen=threshold.chosen,
        is_chosen_here=threshold.is_chosen_here,
        sensitivity=sensitivity,
        specificity=specificity,
        n_winners_on_object=int(candidates.is_positive[detected].sum()),
        n_winners_judged=len(detected),
        contradiction=contradiction(threshold.decision, found, level),
        rule=threshold.decision,
    )


def contradiction(rule: DecisionRule, found: dict[str, Interval], level: float) -> str | None:
    """Report that a threshold does not keep what it was chosen for; None if it may.

    It does not where the whole confidence interval of the share found is below the share
    requested. A higher share keeps what was requested; the other share then shows what it costs.

    Parameters
    ----------
    rule : DecisionRule
    found : mapping
        The "sensitivity" and the "specificity" found, with their intervals.
    level : float
        Of the intervals.

    Examples
    --------
    >>> rule = DecisionRule(target="specificity", value=0.9, chosen_on="127 left-out groups")
    >>> print(contradiction(rule, {"specificity": Interval(0.38, 0.31, 0.46)}, 0.95))
    The threshold does not hold here: it was chosen for a specificity of 0.9 on 127 left-out
    groups, and the specificity found is 0.380 (95 % confidence interval 0.310 to 0.460).
    >>> contradiction(rule, {"specificity": Interval(0.87, 0.8, 0.92)}, 0.95) is None
    True
    """
    if rule.value is None or rule.target not in found:
        return None
    share, name = found[rule.target], rule.target
    if name == "patient_sensitivity":
        name = "share of such patients"
    if not share.high < rule.value:
        return None
    return (
        f"The threshold does not hold here: it was {rule.words}, and the {name} found is "
        f"{share.estimate:.3f} ({100 * level:g} % confidence interval {share.low:.3f} to "
        f"{share.high:.3f})."
    )


def localisation_of(
    candidates: ScoredCandidates, *, least_overlap: float = LEAST_OVERLAP, level: float = 0.95
) -> Localisation | None:
    """The share of annotated positive groups k whose winner i*(k) overlaps the object.

        share = #{k : o_i*(k) ≥ t} / n+,    n_reachable = #{k : max_{i∈G_k} o_i ≥ t}

    where o_i is the overlap of candidate i with the object and t is ``least_overlap``. Of a model
    with a place model, i*(k) is the candidate that the latter chooses.

    Parameters
    ----------
    candidates : ScoredCandidates
    least_overlap : float, default=0.3
        From this overlap on, a candidate counts as on the object.
    level : float, default=0.95
        Of the interval, which draws patients or groups.

    Returns
    -------
    Localisation, or None where overlaps are not known of any positive group

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
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
        raise ParameterError(
            Argument("least_overlap"),
            f" is {least_overlap:g}; it must be above 0, or every winner would count as on the "
            "object.",
        )
    if candidates.overlap is None:
        return None
    positive = candidates.group_positive & candidates.group_has_labels
    if not positive.any():
        return None
    is_on = candidates.overlap >= least_overlap  # a NaN is not an overlap
    located = candidates.located[positive]
    hits = is_on[located] & (located >= 0)  # without candidates there is no winner
    reachable = candidates.with_empty(candidates.index.maxima(is_on), False)
    return Localisation(
        n_positive_groups=len(hits),
        n_on_object=int(np.count_nonzero(hits)),
        share=share_interval(hits, candidates.group_clusters[positive], level=level),
        n_reachable=int(np.count_nonzero(reachable[positive])),
        least_overlap=least_overlap,
    )
