"""The figure of what annotation buys."""

from __future__ import annotations

from groupcm.experiments.annotation import AnnotationCurve
from groupcm.experiments.size_figure import SizeLine, size_figure
from groupcm.experiments.trial import GCM, METHODS, MISVM
from groupcm.report.figures.plate import Plate
from groupcm.report.figures.style import MUTED, Series, series_of
from groupcm.report.words import count, interval

__all__ = ["annotation_plate"]


def annotation_plate(curve: AnnotationCurve) -> Plate:
    """Draw group AUC against annotated groups, and MI-SVM with all positive groups as a level."""
    looks = series_of(METHODS)
    lines = [
        SizeLine(
            name,
            looks[method],
            curve.sizes,
            [curve.auc(one) for one in values],
            values.tolist(),
        )
        for method, name, values in (
            (GCM, "GCM, annotated", curve.gcm),
            (MISVM, "MI-SVM, labels of groups", curve.misvm),
        )
    ]
    of_all = curve.auc(curve.misvm_of_all)
    if curve.sizes[-1] < curve.n_all:
        look = Series(MUTED, (0, (3, 2)), "P")
        name = "MI-SVM, all positive groups"
        lines.append(SizeLine(name, look, [curve.n_all], [of_all], [curve.misvm_of_all.tolist()]))
    shows = " ".join(
        f"With {count(size)} annotated groups GCM {interval(curve.auc(gcm))}, MI-SVM "
        f"{interval(curve.auc(misvm))}."
        for size, gcm, misvm in zip(curve.sizes, curve.gcm, curve.misvm, strict=True)
    )
    return Plate(
        "annotation",
        "Group AUC against annotated positive groups",
        "Marks are means over repeats, small dots the single repeats, lines 95 % intervals. A line "
        "that still rises at its right end says that more annotation would help.",
        shows,
        size_figure(lines, "Annotated positive groups", "AUC of groups"),
    )
