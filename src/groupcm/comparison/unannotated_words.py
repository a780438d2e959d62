"""What became of positive groups nobody annotated, in words."""

from __future__ import annotations

from collections.abc import Sequence

from groupcm.comparison.contender import Contender
from groupcm.comparison.data import LabelledCandidates
from groupcm.group_table import group_level
from groupcm.words import listed

__all__ = ["unannotated_remarks"]


def unannotated_remarks(data: LabelledCandidates, models: Sequence[Contender]) -> list[str]:
    """Say which models train with such groups, and which numbers have them.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.comparison.contenders import contenders
    >>> data = LabelledCandidates.check(
    ...     np.zeros((3, 1)), [1, 1, 0], ["a", "b", "c"], annotated=[True, False, True]
    ... )
    >>> print(*unannotated_remarks(data, contenders(["svm", "misvm", "gcm"])), sep="\\n")
    1 of 2 positive groups is not annotated: GCM chooses a candidate of each such group, MI-SVM
    needs labels of groups alone, and SVM trains without them.
    All models are tested on them by groups; numbers of candidates leave them out.
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
    told = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
    verb = "is" if n_unannotated == 1 else "are"
    return [
        f"{n_unannotated:,} of {n_positive:,} positive groups {verb} not annotated: {told}.",
        "All models are tested on them by groups; numbers of candidates leave them out.",
    ]
