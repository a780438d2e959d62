"""The claims of the paper, the effect size of each, and the verdict from the measured differences.

The analysis was planned before the first run at full size:

- A claim is about differences in AUC, on the test set with many patients, combined over all
  training sets (`groupcm.experiments.areas`). All models share test patients and training patients.
- The **effect size** is the smallest difference that matters: 0.010 in the AUC of groups, and in
  that of candidates a tenth of what the SVM of the calibration leaves to be gained, 0.0004.
- A claim of a difference **holds** where the 95 % interval is on its side of 0. It **does not
  hold** where the interval excludes a difference of the effect size on that side. Otherwise it is
  **not settled**, and the number of training sets, or of test patients, that would settle it is
  stated.
- A claim of no noticeable gain holds where the interval excludes a gain of the effect size, does
  not hold where the whole interval is above it, and is not settled otherwise.
- A claim of several differences needs all of them, and fails with one. No correction for their
  number is needed for that; across the claims none is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groupcm.experiments.areas import Areas, Crossed
from groupcm.experiments.sizes import GCM, MISVM, SVM, UNGROUPED, Sizes, Trial
from groupcm.metrics import Interval

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
_NO_GAIN = "no noticeable gain"


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
    found : Crossed
        The difference ``a − b``.
    repeats : tuple of float
        It with each training set that has both models.
    effect : float
        The effect size.
    """

    a: Trial
    b: Trial
    of: str
    claimed: str
    found: Crossed
    repeats: tuple[float, ...]
    effect: float

    @property
    def verdict(self) -> str:
        return verdict(self.found.interval, self.claimed, self.effect)

    @property
    def needed(self) -> tuple[float, float, float] | None:
        """What would settle an open finding, as `Crossed.needed` returns it.

        The numbers are those for which the interval around the present estimate would exclude 0 or
        the effect size, whichever is further away. None where the finding is settled.
        """
        if self.verdict != OPEN or math.isnan(self.found.interval.low):
            return None
        sign = -1.0 if self.claimed == "lower" else 1.0
        estimate = sign * self.found.interval.estimate
        away = abs(self.effect - estimate)
        return self.found.needed(away if self.claimed == _NO_GAIN else max(abs(estimate), away))


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and the differences that decide on it."""

    id: str
    statement: str
    findings: Sequence[Finding]

    @property
    def verdict(self) -> str:
        return joint_verdict([finding.verdict for finding in self.findings])


def verdict(difference: Interval, claimed: str, effect: float) -> str:
    """Judge a claim by the interval of a difference, as the module describes.

    Examples
    --------
    >>> verdict(Interval(0.02, 0.01, 0.03), "higher", 0.01)
    'holds'
    >>> verdict(Interval(0.002, -0.002, 0.006), "higher", 0.01)
    'does not hold'
    >>> verdict(Interval(0.02, -0.01, 0.05), "higher", 0.01)
    'not settled here'
    >>> verdict(Interval(0.001, -0.001, 0.003), "no noticeable gain", 0.005)
    'holds'
    """
    low, high = difference.low, difference.high
    if claimed == "lower":
        low, high = -high, -low
    if claimed == _NO_GAIN:
        return HOLDS if high < effect else FAILS if low > effect else OPEN
    return HOLDS if low > 0 else FAILS if high < effect else OPEN


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
    """Return every claim: its letter, its statement, and the differences it is about.

    The 5,000 negatives of the paper's SVM are those of its MI-SVM and of the GCM with 25 images:
    the candidates of the same 25 frames. The second readings give the SVM as many negatives drawn
    one by one from all frames.
    """
    few, most = sizes.fewest, sizes.most
    groups, many = f"{sizes.groups(few)} groups", f"{most:,}"
    svm, svm_alone = Trial(SVM, few), Trial(SVM, few, "one by one")
    misvm, gcm, gcm_few = Trial(MISVM, few), Trial(GCM, most), Trial(GCM, few)
    alone, alone_few = Trial(UNGROUPED, most), Trial(UNGROUPED, few)
    alone_drawn = Trial(UNGROUPED, few, "one by one")
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
            [_Difference("candidate", alone_few, "higher", svm)],
        ),
        (
            "c, second reading",
            "The same where both have negatives drawn one by one.",
            [_Difference("candidate", alone_drawn, "higher", svm_alone)],
        ),
        (
            "d",
            f"With {few:,} grouped negatives ({groups}) GCM is worse than SVM, per group.",
            [_Difference("group", gcm_few, "lower", svm)],
        ),
        (
            "d, second reading",
            "The same where SVM has negatives drawn one by one.",
            [_Difference("group", gcm_few, "lower", svm_alone)],
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
            [_Difference("candidate", alone, _NO_GAIN, alone_few)],
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
        (
            "i, second reading",
            "The same where SVM has negatives drawn one by one.",
            [_Difference(of, one, "higher", svm_alone) for of in levels for one in (alone, gcm)],
        ),
    ]


def judge(sizes: Sizes, areas: Mapping[str, Areas]) -> list[Claim]:
    """Measure the differences of every claim; ``areas`` are those of "group" and "candidate"."""
    return [
        Claim(id, statement, [_measure(one, areas[one.of], sizes) for one in differences])
        for id, statement, differences in paper_claims(sizes)
    ]


def _measure(one: _Difference, areas: Areas, sizes: Sizes) -> Finding:
    found = areas.difference(one.a, one.b)
    repeats = areas.repeated_difference(one.a, one.b)
    effect = sizes.effect_sizes[one.of]
    return Finding(one.a, one.b, one.of, one.claimed, found, tuple(repeats.tolist()), effect)
