"""The claims of the paper, and the verdict on each from the measured differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groupcm.experiments.areas import Areas
from groupcm.experiments.sizes import GCM, MISVM, SVM, UNGROUPED, Sizes, Trial
from groupcm.metrics import Comparison, Interval

__all__ = [
    "FAILS",
    "HOLDS",
    "OPEN",
    "Claim",
    "Finding",
    "joint_verdict",
    "judge",
    "paper_claims",
    "verdict",
]

HOLDS, FAILS, OPEN = "holds", "does not hold", "not settled here"
_CHANCE = 0.05
_NOTICEABLE = 0.1  # of what the smaller training set leaves to be gained


@dataclass(frozen=True)
class Finding:
    """One measured difference that a claim is about.

    Attributes
    ----------
    a, b : Trial
    of : {"group", "candidate"}
        The kind of AUC.
    claimed : {"higher", "lower", "no noticeable gain"}
        The claim of the paper on ``a`` against ``b``.
    comparison : Comparison
    repeats : tuple of float
        The difference ``a − b`` with each training set.
    margin : float
        The smallest noticeable gain.
    """

    a: Trial
    b: Trial
    of: str
    claimed: str
    comparison: Comparison
    repeats: tuple[float, ...]
    margin: float = 0.0

    @property
    def verdict(self) -> str:
        found = self.comparison
        return verdict(found.difference, self.claimed, self.margin, p_value=found.p_value)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and the differences that decide on it."""

    id: str
    statement: str
    findings: Sequence[Finding]

    @property
    def verdict(self) -> str:
        return joint_verdict([finding.verdict for finding in self.findings])


def verdict(
    difference: Interval, claimed: str, margin: float = 0.0, *, p_value: float = 0.0
) -> str:
    """Judge a claim by the interval of a difference, and its p-value.

    A claim of a difference holds where the interval lies on its side of 0, does not hold where
    it lies on the other, and is open where it contains 0, or p is 0.05 or more: with few training
    sets the two may disagree. A claim of no noticeable gain holds where the interval lies below
    ``margin``, does not hold where it lies above, and is open where it contains ``margin``.

    Examples
    --------
    >>> verdict(Interval(0.02, 0.01, 0.03), "higher"), verdict(Interval(0.02, 0.01, 0.03), "lower")
    ('holds', 'does not hold')
    >>> verdict(Interval(0.02, -0.01, 0.05), "higher")
    'not settled here'
    >>> verdict(Interval(0.001, -0.001, 0.003), "no noticeable gain", margin=0.005)
    'holds'
    """
    if claimed in ("higher", "lower") and p_value >= _CHANCE:
        return OPEN
    low, high = difference.low - margin, difference.high - margin
    above, below = (HOLDS, FAILS) if claimed == "higher" else (FAILS, HOLDS)
    if low > 0:
        return above
    return below if high < 0 else OPEN


def joint_verdict(verdicts: Sequence[str]) -> str:
    """Return the verdict on several differences: all must hold, and one can fail the claim.

    Examples
    --------
    >>> joint_verdict([HOLDS, OPEN]), joint_verdict([HOLDS, FAILS, OPEN])
    ('not settled here', 'does not hold')
    """
    if FAILS in verdicts:
        return FAILS
    return HOLDS if all(one == HOLDS for one in verdicts) else OPEN


@dataclass(frozen=True)
class _Difference:
    of: str
    a: Trial
    claimed: str
    b: Trial


def paper_claims(sizes: Sizes) -> list[tuple[str, str, list[_Difference]]]:
    """Return every claim: its letter, its statement, and the differences it is about."""
    few, most = sizes.fewest, sizes.most
    groups, many = f"{sizes.groups(few)} groups", f"{most:,}"
    svm, svm_in_groups = Trial(SVM, few, in_groups=False), Trial(SVM, few)
    misvm, gcm, gcm_few = Trial(MISVM, few), Trial(GCM, most), Trial(GCM, few)
    alone, alone_few = Trial(UNGROUPED, most), Trial(UNGROUPED, few)
    alone_drawn = Trial(UNGROUPED, few, in_groups=False)
    levels = ("group", "candidate")
    return [
        (
            "a",
            "Per group, grouping wins over no grouping.",
            [_Difference("group", gcm, "higher", alone)],
        ),
        (
            "b",
            "Per candidate, grouping loses to no grouping.",
            [_Difference("candidate", gcm, "lower", alone)],
        ),
        (
            "c",
            f"GCM (without grouping) beats SVM with the same {few:,} negatives, per candidate.",
            [_Difference("candidate", alone_drawn, "higher", svm)],
        ),
        (
            "c, second reading",
            f"The same where both have the candidates of {groups}.",
            [_Difference("candidate", alone_few, "higher", svm_in_groups)],
        ),
        (
            "d",
            f"With {few:,} grouped negatives ({groups}) GCM is worse than SVM, per group.",
            [_Difference("group", gcm_few, "lower", svm)],
        ),
        (
            "d, second reading",
            f"The same where SVM has the candidates of these {groups} too.",
            [_Difference("group", gcm_few, "lower", svm_in_groups)],
        ),
        (
            "e",
            f"More negatives ({few:,} → {many}) help the grouped objective, per group.",
            [_Difference("group", gcm, "higher", gcm_few)],
        ),
        (
            "f",
            f"More negatives ({few:,} → {many}) bring the ungrouped objective no noticeable "
            "gain, per candidate.",
            [_Difference("candidate", alone, "no noticeable gain", alone_few)],
        ),
        (
            "g",
            "MI-SVM trails all others, per group and per candidate.",
            [_Difference(of, misvm, "lower", o) for of in levels for o in (svm, alone, gcm)],
        ),
        (
            "h",
            f"MI-SVM trails GCM also where that has only the same {groups}, per group.",
            [_Difference("group", misvm, "lower", gcm_few)],
        ),
        (
            "i",
            "Both GCMs with all negatives beat SVM, per group and per candidate.",
            [_Difference(of, one, "higher", svm) for of in levels for one in (alone, gcm)],
        ),
    ]


def judge(sizes: Sizes, areas: Mapping[str, Areas]) -> list[Claim]:
    """Measure the differences of every claim; ``areas`` are those of "group" and "candidate"."""
    return [
        Claim(id, statement, [_measure(one, areas[one.of]) for one in differences])
        for id, statement, differences in paper_claims(sizes)
    ]


def _measure(one: _Difference, areas: Areas) -> Finding:
    comparison = areas.difference(one.a, one.b)
    repeats = areas.repeats(one.a) - areas.repeats(one.b)
    margin = 0.0
    if one.claimed == "no noticeable gain":
        margin = _NOTICEABLE * (1 - comparison.b.estimate)
    return Finding(one.a, one.b, one.of, one.claimed, comparison, tuple(repeats.tolist()), margin)
