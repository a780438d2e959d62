"""A learning curve in words."""

from __future__ import annotations

from groupcm.evaluation.numbers import LearningCurve
from groupcm.report.words import count, fraction

__all__ = ["learning_shows"]


def learning_shows(learning: LearningCurve) -> str:
    """Say where each line of a learning curve begins and ends.

    Examples
    --------
    >>> from groupcm.evaluation.numbers import LearningLine
    >>> from groupcm.metrics import Interval
    >>> line = LearningLine("GCM", [Interval(0.8, 0.7, 0.9), Interval(0.9, 0.85, 0.95)])
    >>> learning_shows(LearningCurve([100, 1000], "negative groups", [line]))
    'GCM: AUC 0.800 with 100 and 0.900 with 1,000 negative groups.'
    """
    sentences = []
    for line in learning.lines:
        known = [
            f"{fraction(auc.estimate)} with {count(size)}"
            for size, auc in zip(learning.sizes, line.auc, strict=True)
            if auc is not None
        ]
        if known:
            ends = known[:1] if len(known) == 1 else [known[0], known[-1]]
            sentences.append(f"{line.model}: AUC {' and '.join(ends)} {learning.unit}.")
    return " ".join(sentences)
