"""The folder an experiment writes into.

Performance against the amount trained on, with references that do not grow.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from groupcm.errors import InputError
from groupcm.metrics import Interval
from groupcm.report.figures.axes import plain
from groupcm.report.figures.learning import labelled_sizes
from groupcm.report.figures.style import SURFACE, Series, in_style, legend_below, new_axes
from groupcm.report.formatting import fraction
from groupcm.utils.files import check_output, whole_file

__all__ = ["SizeLine", "check_folder", "size_figure", "synthetic_data_in", "write_text"]


def check_folder(path: str | os.PathLike[str]) -> Path:
    """Say, before long work begins, why a folder could not be written into.

    Examples
    --------
    >>> check_folder("no/such/place").name
    'place'
    """
    folder = Path(path)
    if folder.is_dir():
        if not os.access(folder, os.W_OK):
            raise InputError(f"cannot write into {folder}: no permission to write there")
        return folder
    if folder.exists():
        raise InputError(f"cannot write into {folder}: it is a file, not a folder")
    return check_output(folder)


@contextmanager
def synthetic_data_in(folder: Path, *, keep: bool) -> Iterator[Path]:
    """A place for large made data inside the folder, empty again after the block unless kept.

    A folder that was made for it goes too, if nothing else is in it.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "paper"
    >>> with synthetic_data_in(folder, keep=False) as place:
    ...     place.is_dir()
    True
    >>> folder.exists()
    False
    """
    was_there = folder.exists()
    place = folder / "data"
    if place.exists():
        raise InputError(f"{place} exists already; move it or choose another folder")
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
        if not was_there:
            with suppress(OSError):
                folder.rmdir()


def write_text(path: Path, text: str) -> Path:
    """Write a file that appears whole or not at all."""
    with whole_file(path) as beside:
        beside.write_text(text, encoding="utf-8")
    return path


_SIDE_BY_SIDE = 0.012  # of the axis
_FAR = 1.0  # of the others' range


@dataclass(frozen=True)
class SizeLine:
    """A method's AUC at each size; one that was trained at one size is drawn as a level.

    Attributes
    ----------
    name : str
    look : Series
    sizes : sequence of int
    auc : sequence of Interval
    repeats : sequence of sequences of float
        At each size the AUC of each repeat.
    """

    name: str
    look: Series
    sizes: Sequence[int]
    auc: Sequence[Interval]
    repeats: Sequence[Sequence[float]]


@in_style
def size_figure(lines: Sequence[SizeLine], xlabel: str, ylabel: str) -> Figure:
    """Lines with intervals and the single repeats; a level far below the others is only named.

    Examples
    --------
    >>> look = Series("#0072b2", "solid", "o")
    >>> auc = [Interval(0.8, 0.7, 0.9), Interval(0.9, 0.85, 0.95)]
    >>> line = SizeLine("GCM", look, [25, 500], auc, [[0.79, 0.81], [0.9, 0.9]])
    >>> size_figure([line], "Negative candidates", "AUC of groups").axes[0].get_xlabel()
    'Negative candidates'
    """
    figure, axes = new_axes(3.7)
    sizes = np.unique(np.concatenate([line.sizes for line in lines]).astype(float))
    reach = max(float(sizes[-1] / sizes[0]), 1.5)
    shown, below = _split(lines)
    for k, line in enumerate(shown):
        shift = reach ** (_SIDE_BY_SIDE * (k - (len(shown) - 1) / 2))
        _draw(axes, line, shift, reach)
    axes.set_xscale("log")
    axes.set_xlim(sizes[0] / reach**0.07, sizes[-1] * reach**0.07)
    axes.xaxis.set_major_locator(FixedLocator(labelled_sizes(sizes)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    for k, line in enumerate(below):
        axes.text(
            0.985,
            0.03 + 0.075 * k,
            f"{line.name}: {fraction(line.auc[0].estimate)}, below this axis ↓",
            transform=axes.transAxes,
            ha="right",
            color=line.look.colour,
            fontsize=8.5,
            bbox={"facecolor": SURFACE, "edgecolor": "none", "pad": 1.5},
            zorder=6,
        )
    legend_below(figure)
    return figure


def _split(lines: Sequence[SizeLine]) -> tuple[list[SizeLine], list[SizeLine]]:
    """Those to draw, and the levels so far below them that the others would look flat."""
    growing = [auc for line in lines if len(line.sizes) > 1 for auc in line.auc]
    if not growing:  # one size
        return list(lines), []
    ends = [end for auc in growing for end in auc if np.isfinite(end)]
    low, high = min(ends), max(ends)
    bottom = low - _FAR * (high - low)
    far = [line for line in lines if len(line.sizes) == 1 and line.auc[0].estimate < bottom]
    return [line for line in lines if line not in far], far


def _draw(axes: Axes, line: SizeLine, shift: float, reach: float) -> None:
    colour = line.look.colour
    x = np.asarray(line.sizes, float) * shift
    low, middle, high = (
        np.array([getattr(auc, end) for auc in line.auc]) for end in ("low", "estimate", "high")
    )
    if len(x) == 1:
        axes.axhline(middle[0], color=colour, linestyle=line.look.dashes, linewidth=1.0)
    axes.vlines(x, low, high, color=colour, linewidth=1.2, alpha=0.8)
    dots = [(at * reach**0.004, one) for at, of in zip(x, line.repeats, strict=True) for one in of]
    axes.plot(*np.transpose(dots), "o", color=colour, markersize=2.2, alpha=0.55, linestyle="none")
    axes.plot(
        x,
        middle,
        color=colour,
        linestyle=line.look.dashes,
        marker=line.look.marker,
        markersize=5,
        markeredgecolor=SURFACE,
        markeredgewidth=0.6,
        linewidth=1.5,
        label=line.name,
    )
