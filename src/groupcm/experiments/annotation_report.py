"""The report of the annotation experiment: a page with one figure, and the numbers as JSON.

The figure shows the AUC against the number of annotated groups, and below it the gain from the
other positive groups when they take part unannotated.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from groupcm import __version__
from groupcm.experiments.annotation import AnnotationCurve
from groupcm.experiments.annotation_text import (
    against_misvm,
    method_sentences,
    next_hundred,
    what_others_add,
)
from groupcm.experiments.output import write_text
from groupcm.experiments.sizes import GCM, METHODS, MISVM
from groupcm.plots.axes import plain_ticks
from groupcm.plots.style import MUTED, SURFACE, Series, series_of
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.learning import SizeLine, draw_repeats, size_figure
from groupcm.report.figures.style import NAMED_COLOURS, WIDTH, in_style
from groupcm.report.page import render
from groupcm.report.save import save_page
from groupcm.utils.formatting import count, fraction, interval

__all__ = ["captioned_annotation_figure", "save_annotation"]


_HEIGHT = 5.0
_UPPER_SHARE = 2.4  # of the lower axes' height
_MARGIN = 0.06  # of the range shown
_OFFSET = 1.02
_WITH_OTHERS = Series(NAMED_COLOURS["series-6"], "solid", "v")


def save_annotation(curve: AnnotationCurve, folder: Path, name: str) -> list[Path]:
    """Write ``annotation.html``, its figure and ``annotation.json``.

    Parameters
    ----------
    curve : AnnotationCurve
    folder : Path
        An existing folder.
    name : str
        The name of the data.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    figure = captioned_annotation_figure(curve)
    rows = [
        (size, curve.auc(gcm), curve.auc(misvm))
        for size, gcm, misvm in zip(curve.sizes, curve.gcm, curve.misvm, strict=True)
    ]
    page = render(
        "experiment_annotation.html",
        [figure],
        title="What annotation buys",
        version=__version__,
        name=name,
        curve=curve,
        rows=rows,
        with_others=[curve.auc(one) for one in curve.with_others],
        of_all=curve.auc(curve.misvm_of_all),
        summary=[next_hundred(curve), what_others_add(curve), against_misvm(curve)],
        method=method_sentences(curve),
    )
    numbers = write_text(folder / "annotation.json", _annotation_json(curve))
    return [*save_page(page, [figure], folder / "annotation.html"), numbers]


def _annotation_json(curve: AnnotationCurve) -> str:
    """Write sizes and the AUC of every repeat as JSON."""
    found = {
        "version": __version__,
        "positive_groups": curve.n_positive,
        "negative_groups": curve.n_negative,
        "positive_groups_left_out_unannotated": curve.n_left_out,
        "folds": curve.n_folds,
        "folds_by": curve.folds_by,
        "annotated_positive_groups": list(curve.sizes),
        "gcm_auc": curve.gcm.tolist(),
        "gcm_auc_with_others_unannotated": curve.with_others.tolist(),
        "misvm_auc": curve.misvm.tolist(),
        "misvm_auc_with_all_positive_groups": curve.misvm_of_all.tolist(),
    }
    return json.dumps(found, indent=1) + "\n"


def captioned_annotation_figure(curve: AnnotationCurve) -> CaptionedFigure:
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
    return CaptionedFigure(
        "annotation",
        "Group AUC against annotated positive groups",
        "Marks are means over repeats, small dots the single repeats, lines 95 % intervals. A line "
        "that still rises at its right end shows that more annotation would help. Below: what the "
        "positive groups that are not annotated add, repeat by repeat; an interval that contains 0 "
        "leaves open whether they do.",
        shows,
        _annotation_figure(curve, lines, focus, _WITH_OTHERS),
    )


@in_style
def _annotation_figure(
    curve: AnnotationCurve, lines: Sequence[SizeLine], focus: Sequence[SizeLine], look: Series
) -> Figure:
    """Draw the lines over the range of those in focus, and the differences below them.

    Where a line leaves that range its AUC is written there: a method that fails with few groups
    would make all others look flat.

    Parameters
    ----------
    curve : AnnotationCurve
    lines, focus : sequence of SizeLine
        All lines, and those whose values and intervals fill the upper axes.
    look : Series
        Of the differences.
    """
    figure = size_figure(lines, "", "AUC of groups")
    upper = figure.axes[0]
    if not curve.added:
        upper.set_xlabel("Annotated positive groups")
        return figure
    figure.set_size_inches(WIDTH, _HEIGHT)
    grid = GridSpec(2, 1, figure, height_ratios=(_UPPER_SHARE, 1.0))
    upper.set_subplotspec(grid[0])
    upper.tick_params(labelbottom=False)
    _show_range_of(upper, lines, focus)
    lower = figure.add_subplot(grid[1], sharex=upper)
    _draw_differences(lower, curve, look)
    lower.set_xlabel("Annotated positive groups")
    figure.align_ylabels()
    return figure


def _show_range_of(axes: Axes, lines: Sequence[SizeLine], focus: Sequence[SizeLine]) -> None:
    ends = [end for line in focus for auc in line.auc for end in auc if np.isfinite(end)]
    ends += [one for line in focus for of_size in line.repeats for one in of_size]
    low, high = min(ends), max(ends)
    margin = _MARGIN * ((high - low) or 0.1)
    axes.set_ylim(low - margin, high + margin)
    for line in lines:
        for size, auc in zip(line.sizes, line.auc, strict=True):
            if auc.estimate < low - margin:
                axes.annotate(
                    f"{fraction(auc.estimate, 2)} ↓",
                    (size * _OFFSET, low - margin),
                    xytext=(5, 4),
                    textcoords="offset points",
                    color=line.look.colour,
                    fontsize=8,
                    bbox={"facecolor": SURFACE, "edgecolor": "none", "pad": 1.0},
                    zorder=6,
                )


def _draw_differences(axes: Axes, curve: AnnotationCurve, look: Series) -> None:
    """Draw the mean change at each size with its interval, and the single repeats."""
    n = len(curve.added)
    x = np.asarray(curve.sizes[:n], float)
    axes.axhline(0.0, color=MUTED, linewidth=0.9)
    repeats = list(curve.with_others[:n] - curve.gcm[:n])
    draw_repeats(axes, x, curve.added, repeats, look, offset=_OFFSET)
    plain_ticks(axes.yaxis, 4)
    axes.set_ylabel("Added AUC")
