"""What the threshold does on the groups evaluated, and whether it keeps what it was chosen for."""

from __future__ import annotations

from groupcm.decision import DecisionRule, is_alarm
from groupcm.evaluation.numbers import Decision
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics import Interval, at_threshold
from groupcm.metrics.proportion import share_interval
from groupcm.thresholds import ChosenThreshold

__all__ = ["contradiction", "decide"]


def decide(candidates: ScoredCandidates, threshold: ChosenThreshold, level: float) -> Decision:
    """Count what a threshold does: groups, candidates and winners, and shares with intervals."""
    positive, score = candidates.group_positive, candidates.group_score
    rows, alarm = candidates.all_rows, is_alarm(score, threshold.value)
    clusters = candidates.group_clusters
    judged = alarm & positive & candidates.group_has_labels
    detected = candidates.winner[judged]
    sensitivity = share_interval(alarm[positive], clusters[positive], level=level)
    specificity = share_interval(~alarm[~positive], clusters[~positive], level=level)
    found = {"sensitivity": sensitivity, "specificity": specificity}
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
    )


def contradiction(rule: DecisionRule, found: dict[str, Interval], level: float) -> str | None:
    """Say that a threshold does not keep what it was chosen for; None where it may.

    It does not where the whole confidence interval of the share found is below the share asked
    for. A share that is higher costs nothing of what was asked for; the other share then shows
    what it costs.

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
    share = found[rule.target]
    if not share.high < rule.value:
        return None
    return (
        f"The threshold does not hold here: it was {rule.words}, and the {rule.target} found is "
        f"{share.estimate:.3f} ({100 * level:g} % confidence interval {share.low:.3f} to "
        f"{share.high:.3f})."
    )
