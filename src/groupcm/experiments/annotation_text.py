"""The sentences of the annotation experiment."""

from __future__ import annotations

from math import log

import numpy as np

from groupcm.experiments.annotation import AnnotationCurve
from groupcm.metrics import Interval
from groupcm.utils.formatting import count, counted, fraction, interval
from groupcm.utils.text import listed

__all__ = [
    "against_misvm",
    "annotation_notes",
    "method_sentences",
    "next_hundred",
    "what_others_add",
]

_NEXT = 100
_FEW_REPEATS = 3


def next_hundred(curve: AnnotationCurve) -> str:
    """Describe the gain of the last step, and the extrapolated gain of another hundred groups.

    The AUC is assumed to grow with the logarithm of the number of annotated groups, as in the last
    step; real curves flatten sooner or later.

    Examples
    --------
    >>> import numpy as np
    >>> gcm = np.array([[0.80, 0.82, 0.81], [0.84, 0.85, 0.84]])
    >>> curve = AnnotationCurve([50, 100], gcm, gcm, gcm, gcm[1], 150, 900, 100, 3, "patient")
    >>> next_hundred(curve)
    'From 50 to 100 annotated positive groups the group AUC rose by 0.033 (0.011 to 0.056). If the
    trend continued, 100 more would add about 0.033 (0.011 to 0.056); curves flatten, so less is
    more likely.'
    """
    step = curve.last_step
    if step is None:
        return (
            f"With {counted(curve.sizes[-1], 'annotated positive group')} the group AUC is "
            f"{interval(curve.auc(curve.gcm[-1]))}; one size does not show what more would add."
        )
    before, after = curve.sizes[-2:]
    factor = log((after + _NEXT) / after) / log(after / before)
    most = 1.0 - float(np.mean(curve.gcm[-1]))  # no AUC passes 1
    more = Interval(*np.minimum(factor * np.array(step), most).tolist())
    change = "rose" if step.estimate >= 0 else "fell"
    size = step if step.estimate >= 0 else _turned(step)
    found = (
        f"From {count(before)} to {count(after)} annotated positive groups the group AUC {change} "
        f"by {interval(size)}."
    )
    if not step.low > 0:
        at_most = f", and hardly more than {fraction(max(more.high, 0.0))}"
        return (
            f"{found} That may be chance: it is not shown that {_NEXT} more would add anything"
            f"{'' if np.isnan(more.high) else at_most}."
        )
    return (
        f"{found} If the trend continued, {_NEXT} more would add about {interval(more)}; curves "
        "flatten, so less is more likely."
    )


def what_others_add(curve: AnnotationCurve) -> str:
    """Describe the gain from unannotated positive groups, and where it may be chance.

    Examples
    --------
    >>> gcm = np.array([[0.80, 0.82, 0.81], [0.84, 0.85, 0.84]])
    >>> more = gcm + [[0.05, 0.04, 0.05], [0.01, -0.01, 0.01]]
    >>> curve = AnnotationCurve([10, 50], gcm, more, gcm, gcm[1], 150, 900, 100, 3, "patient")
    >>> what_others_add(curve)
    'With 10 annotated positive groups the other 90 or more, unannotated, add 0.047 (0.024 to 0.069)
    to the group AUC, which is then as high as with 50 annotated groups alone. With 50 the change,
    0.003, may be chance.'
    """
    cases = list(zip(curve.sizes, curve.added, strict=False))
    if not cases:
        return "Every positive group is annotated, so the gain from unannotated ones is unknown."
    (fewest, found), *later = cases
    groups = counted(fewest, "annotated positive group")
    first = f"With {groups} the other {count(curve.n_all - fewest)} or more, unannotated,"
    if found.low > 0:
        sentences = [f"{first} add {interval(found)} to the group AUC{_as_much_as(curve)}."]
    elif found.high < 0:
        sentences = [f"{first} lower the group AUC by {interval(_turned(found))}."]
    else:
        sentences = [f"{first} change the group AUC by {interval(found)}, which may be chance."]
    for verdict, changed in (
        ("they add {}", [(size, interval(d)) for size, d in later if d.low > 0]),
        ("they lower it by {}", [(size, interval(_turned(d))) for size, d in later if d.high < 0]),
        (
            "the change, {}, may be chance",
            [(size, fraction(d.estimate, 3)) for size, d in later if not (d.low > 0 or d.high < 0)],
        ),
    ):
        if changed:
            sizes, changes = listed([count(size) for size, _ in changed]), [of for _, of in changed]
            sentences.append(f"With {sizes} {verdict.format(listed(changes))}.")
    return " ".join(sentences)


def _as_much_as(curve: AnnotationCurve) -> str:
    """Describe how many annotated groups alone reach what the fewest do with the others."""
    reached = float(np.mean(curve.with_others[0]))
    below = [
        size
        for size, alone in zip(curve.sizes[1:], curve.gcm[1:], strict=True)
        if np.mean(alone) <= reached
    ]
    if not below:
        return ""
    return f", which is then as high as with {count(below[-1])} annotated groups alone"


def _turned(difference: Interval) -> Interval:
    return Interval(-difference.estimate, -difference.high, -difference.low)


def against_misvm(curve: AnnotationCurve) -> str:
    """Compare the annotated groups with labels of groups alone."""
    found = curve.over_misvm
    what = (
        f"that of MI-SVM, which has the labels of all {count(curve.n_all)} or more positive groups"
    )
    gcm = f"With {count(curve.sizes[-1])} annotated groups the AUC of GCM is"
    if found.low > 0:
        return f"{gcm} {interval(found)} above {what}."
    if found.high < 0:
        return f"{gcm} {interval(_turned(found))} below {what}."
    return f"{gcm} not clearly above or below {what}: the difference is {interval(found)}."


def annotation_notes(curve: AnnotationCurve) -> list[str]:
    """Describe which groups took no part, and whether the repeats are few.

    Examples
    --------
    >>> gcm = np.array([[0.80, 0.92]])
    >>> few = AnnotationCurve([50], gcm, gcm, gcm, gcm[0], 50, 900, 40, 5, "patient", n_left_out=7)
    >>> print(*annotation_notes(few), sep="\\n")
    7 positive groups are not annotated; they took no part.
    2 repeats are few: the intervals are wide, and more repeats would make them narrower.
    """
    found = []
    if curve.n_left_out:
        verb, pronoun = ("is", "it") if curve.n_left_out == 1 else ("are", "they")
        groups = counted(curve.n_left_out, "positive group")
        found.append(f"{groups} {verb} not annotated; {pronoun} took no part.")
    if curve.n_repeats <= _FEW_REPEATS:
        found.append(
            f"{counted(curve.n_repeats, 'repeat')} are few: the intervals are wide, and more "
            "repeats would make them narrower."
        )
    return found


def method_sentences(curve: AnnotationCurve) -> list[str]:
    """Describe the method."""
    return [
        f"There are {count(curve.n_positive)} positive and {count(curve.n_negative)} negative "
        f"groups. Each of {counted(curve.n_repeats, 'repeat')} left one of {curve.n_folds} folds "
        f"by {curve.folds_by} out, put the positive groups of the rest in a random order, and "
        "trained with the first of them and all negative groups of the rest; λ was chosen by folds "
        "inside that.",
        "GCM knows which candidate of a positive group is the positive one; MI-SVM has the same "
        "groups and knows only that they are positive.",
        "In one more training the positive groups beyond the first take part unannotated: GCM "
        "knows that they are positive, chooses the candidate of largest score in each, trains "
        "with all of them, and chooses again until no choice changes. λ is then chosen by folds "
        "that train on the annotated groups and score the others, too.",
        "Intervals (95 %) are of the mean over repeats, widened because the repeats' training "
        "parts overlap. A difference is taken repeat by repeat, at each size for itself.",
        *annotation_notes(curve),
    ]
