"""The figure of what annotation buys."""

from __future__ import annotations

from groupcm.experiments.annotation import AnnotationCurve
from groupcm.experiments.annotation_figure import annotation_figure
from groupcm.experiments.size_figure import SizeLine
from groupcm.experiments.trial import GCM, METHODS, MISVM
from groupcm.report.figures.plate import Plate
from groupcm.report.figures.style import MUTED, NAMED_COLOURS, Series, series_of
from groupcm.report.words import count, interval

__all__ = ["annotation_plate"]

_WITH_OTHERS = Series(NAMED_COLOURS["series-6"], "solid", "v")


def annotation_plate(curve: AnnotationCurve) -> Plate:
    """Draw group AUC against annotated groups, and MI-SVM with all positive groups as a level."""
    looks = series_of(METHODS)
    drawn = [
        (looks[GCM], "GCM, annotated", curve.gcm),
        (_WITH_OTHERS, "GCM, others unannotated", curve.with_others),
        (looks[MISVM], "MI-SVM, labels alone", curve.misvm),
    ]
    if not curve.added:
        del drawn[1]
    lines = [
        SizeLine(name, look, curve.sizes, [curve.auc(one) for one in values], values.tolist())
        for look, name, values in drawn
    ]
    focus = lines[:-1]
    of_all = curve.auc(curve.misvm_of_all)
    if curve.sizes[-1] < curve.n_all:
        look = Series(MUTED, (0, (3, 2)), "P")
        name = "MI-SVM, all positive groups"
        lines.append(SizeLine(name, look, [curve.n_all], [of_all], [curve.misvm_of_all.tolist()]))
    shows = " ".join(
        f"With {count(size)} annotated groups GCM {interval(curve.auc(gcm))}, with the others "
        f"unannotated {interval(curve.auc(more))}, MI-SVM {interval(curve.auc(misvm))}."
        for size, gcm, more, misvm in zip(
            curve.sizes, curve.gcm, curve.with_others, curve.misvm, strict=True
        )
    )
    return Plate(
        "annotation",
        "Group AUC against annotated positive groups",
        "Marks are means over repeats, small dots the single repeats, lines 95 % intervals. A line "
        "that still rises at its right end says that more annotation would help. Below: what the "
        "positive groups that are not annotated add, repeat by repeat; an interval that holds 0 "
        "leaves open whether they do.",
        shows,
        annotation_figure(curve, lines, focus, _WITH_OTHERS),
    )
