"""The flow of data: what came in, what was left out of what, and what the threshold did with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from groupcm.plots.axes import clean
from groupcm.plots.style import GRID, INK, MUTED, NEGATIVE, POSITIVE, SURFACE
from groupcm.report.figures.style import WIDTH, in_style

__all__ = ["FlowBox", "flow_figure"]

_LINE, _PAD, _GAP = 0.165, 0.16, 0.24  # inches
_LETTERS_PER_INCH = 12.0  # of the text at its size
_SIZE = 8.5


@dataclass(frozen=True)
class FlowBox:
    """A box of the flow: its lines, the first of which is bold, and whether it is a mistake."""

    lines: Sequence[str]
    is_wrong: bool | None = None


@dataclass(frozen=True)
class _Place:
    left: float
    right: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@in_style
def flow_figure(
    top: FlowBox,
    aside: Sequence[FlowBox],
    evaluated: FlowBox,
    kinds: Sequence[FlowBox],
    outcomes: Sequence[FlowBox],
) -> Figure:
    """Draw a flow diagram in the manner of STARD: in, left out, by truth, and by alarm.

    Parameters
    ----------
    top : FlowBox
        What came in.
    aside : sequence of FlowBox
        What was left out, or counted in another way, next to the line that leads down.
    evaluated : FlowBox
        What is left.
    kinds : sequence of FlowBox
        The positive and the negative groups.
    outcomes : sequence of FlowBox
        Two for each kind.

    Examples
    --------
    >>> boxes = [FlowBox([name]) for name in ("in", "with", "without", "out")]
    >>> figure = flow_figure(boxes[0], [], boxes[0], boxes[1:3], boxes * 1)
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['in', 'with']
    """
    half, quarter = WIDTH / 2, WIDTH / 4
    rows = [(top, aside), (evaluated, ())] if aside else [(top, ())]
    columns = [(k * half, (k + 1) * half) for k in range(2)]
    fine = [(k * quarter, (k + 1) * quarter) for k in range(4)]
    wrapped_aside = [_wrapped(box, 0.56 * WIDTH) for box in aside]
    wrapped_kinds = [_wrapped(box, half - 0.1) for box in kinds]
    wrapped_outcomes = [_wrapped(box, quarter - 0.08) for box in outcomes]
    main = [_wrapped(box, WIDTH - 0.3) for box, _ in rows]
    heights = [_height([box]) for box in main]
    side = sum(_height([box]) + 0.5 * _GAP for box in wrapped_aside)
    total = sum(heights) + _GAP * (len(main) - 1) + side
    total += _height(wrapped_kinds) + _height(wrapped_outcomes) + 2 * _GAP + 0.06
    figure = Figure(figsize=(WIDTH, total))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(0, total)
    axes.set_axis_off()
    y = total - 0.03
    place = _box(axes, main[0], 0.6, WIDTH - 0.6, y, heights[0])
    if aside:
        place = _draw_aside(axes, place, wrapped_aside, main[1], heights[1])
    truth = _row(axes, wrapped_kinds, columns, place.bottom - _GAP)
    for each in truth:
        _connect(axes, place, each)
    ends = _row(axes, wrapped_outcomes, fine, truth[0].bottom - _GAP)
    for k, each in enumerate(ends):
        _connect(axes, truth[k // 2], each)
    return figure


def _draw_aside(
    axes: Axes, start: _Place, boxes: Sequence[FlowBox], after: FlowBox, height: float
) -> _Place:
    """Draw the boxes beside the line that leads from the first box down to the next one."""
    line, y = start.left + 0.45, start.bottom
    for box in boxes:
        y -= 0.5 * _GAP
        tall = _height([box])
        place = _box(axes, box, WIDTH - 0.56 * WIDTH - 0.04, WIDTH - 0.04, y, tall)
        _arrow(axes, line, (place.top + place.bottom) / 2, place.left)
        y = place.bottom
    end = _box(axes, after, start.left, start.right, y - _GAP, height)
    _line(axes, line, start.bottom, line, end.top)
    return end


def _wrapped(box: FlowBox, width: float) -> FlowBox:
    letters = max(int((width - _PAD) * _LETTERS_PER_INCH), 8)
    lines = [
        part for line in map(clean, box.lines) for part in wrap(line, letters, max_lines=3) or [""]
    ]
    return FlowBox(lines, box.is_wrong)


def _height(boxes: Sequence[FlowBox]) -> float:
    return _LINE * max(len(box.lines) for box in boxes) + _PAD


def _row(
    axes: Axes, boxes: Sequence[FlowBox], columns: Sequence[tuple[float, float]], top: float
) -> list[_Place]:
    height = _height(boxes)
    return [
        _box(axes, box, left + 0.04, right - 0.04, top, height)
        for box, (left, right) in zip(boxes, columns, strict=True)
    ]


def _box(axes: Axes, box: FlowBox, left: float, right: float, top: float, height: float) -> _Place:
    colour = {None: MUTED, True: POSITIVE, False: NEGATIVE}[box.is_wrong]
    axes.add_patch(
        FancyBboxPatch(
            (left, top - height),
            right - left,
            height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=SURFACE,
            edgecolor=colour,
            linewidth=1.0 if box.is_wrong is None else 1.6,
            linestyle="dashed" if box.is_wrong else "solid",
        )
    )
    for k, line in enumerate(box.lines):
        axes.text(
            (left + right) / 2,
            top - _PAD / 2 - _LINE * (k + 0.5) - (height - _height([box])) / 2,
            line,
            ha="center",
            va="center",
            fontsize=_SIZE,
            color=INK,
            fontweight="bold" if k == 0 else "normal",
        )
    return _Place(left, right, top, top - height)


def _connect(axes: Axes, above: _Place, below: _Place) -> None:
    middle = (above.bottom + below.top) / 2
    _line(axes, above.middle, above.bottom, above.middle, middle)
    _line(axes, above.middle, middle, below.middle, middle)
    _line(axes, below.middle, middle, below.middle, below.top)


def _line(axes: Axes, x0: float, y0: float, x1: float, y1: float) -> None:
    axes.plot([x0, x1], [y0, y1], color=MUTED, linewidth=1.0, zorder=0)


def _arrow(axes: Axes, x0: float, y: float, x1: float) -> None:
    _line(axes, x0, y, x1, y)
    axes.plot([x1], [y], marker=">", markersize=3.5, color=MUTED, zorder=0)
    axes.plot([x0], [y], marker="o", markersize=2.5, color=GRID, zorder=0)
