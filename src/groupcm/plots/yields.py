"""The yield curve: objects, videos and patients found against the share of groups shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics import YieldCurve, yield_curve
from groupcm.plots.axes import log_left, log_x, many, share_x, share_y, shorten
from groupcm.plots.base import OUTSIDE, ScoreDisplay, labelled, mark_at
from groupcm.plots.style import CHANCE, frame, n_curves, next_look
from groupcm.utils.formatting import capitalised, number, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["YieldDisplay"]

_MARKED = (0.95, 0.99, 1.0)
_MARKERS = ("o", "D", "s", "^")


@dataclass(eq=False)
class YieldDisplay(ScoreDisplay):
    """The yield curve: units found against the share of groups shown.

    Create it with `from_estimator` or `from_predictions`, or from the ``yields`` of an evaluation.
    There is one line per kind of unit. The smallest share of groups that keeps each marked yield of
    the first kind is marked, with its value in the legend. The dashed line is the yield of single
    groups shown at random.

    Parameters
    ----------
    curve : YieldCurve
    marked : sequence of float, default=(0.95, 0.99, 1.0)
        The yields to mark.
    units : sequence of str, optional
        The kinds of unit to draw; by default all.
    unit : str, default="group"
        What a group is called in the label of the axis, such as "frame".
    object_word : str, default="object"
        What an object is called in the legend.
    threshold : float, optional
        The threshold whose share of groups shown is drawn as a vertical line.
    name : str, optional
        The name of the model, for the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.plots import YieldDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = YieldDisplay.from_estimator(
    ...     model, data.X, data.y, data.groups, objects=data.polyp, unit="frame"
    ... )
    >>> display.ax_.get_xlabel()
    'Frames shown (share of all)'
    """

    curve: YieldCurve
    marked: Sequence[float] = _MARKED
    units: Sequence[str] | None = None
    unit: str = "group"
    object_word: str = "object"
    threshold: float | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        objects: ArrayLike | None = None,
        levels: Mapping[str, ArrayLike] | None = None,
        marked: Sequence[float] = _MARKED,
        threshold: float | None = None,
        pos_label: Any = None,
        unit: str = "group",
        object_word: str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> YieldDisplay:
        """Draw the yield curve of scores.

        Parameters
        ----------
        y, scores, groups, objects, levels, pos_label
            As for `groupcm.metrics.yield_curve`; without ``groups`` every row is one.
        marked : sequence of float, default=(0.95, 0.99, 1.0)
            The yields to mark.
        threshold : float, optional
            The threshold whose share of groups shown is drawn.
        unit, object_word : str
            What a group and an object are called, such as "frame" and "polyp".
        name, ax
            As for `GroupRocDisplay.from_predictions`.
        **options
            Those of `plot`: ``legend=False``, ``log=True`` for a logarithmic axis that spreads out
            small shares, and properties of the lines such as ``linewidth``.

        Returns
        -------
        YieldDisplay

        Examples
        --------
        >>> y, scores = [1, 1, 0, 0], [0.2, 0.9, 0.5, 0.1]
        >>> display = YieldDisplay.from_predictions(y, scores, objects=[7, 7, 0, 0])
        >>> display.curve.at_yield(1.0).shown
        0.25
        """
        rows = np.arange(len(np.asarray(scores))) if groups is None else groups
        curve = yield_curve(
            y, scores, rows, objects=objects, levels=levels, pos_label=pos_label
        ).thinned()
        word = object_word or (f"positive {unit}" if objects is None else "object")
        return cls(curve, marked, None, unit, word, threshold, name).plot(ax, **options)

    def _draw(self, axes: Axes, *, log: bool = False, **line: Any) -> str:
        curve, is_first = self.curve, n_curves(axes) == 0
        share_y(axes)
        things = many(self.unit)
        frame(axes, f"{capitalised(things)} shown (share of all)", "Found (share of all)")
        left = 0.0
        if log:
            left = log_left(curve.shown)
            left = left if is_first else min(left, axes.get_xlim()[0])
            log_x(axes, left, 1.0)
        else:
            share_x(axes)
        if is_first:
            grid = np.geomspace(OUTSIDE, 1, 400)
            axes.plot(grid, grid, **CHANCE)
        shown = list(curve.found) if self.units is None else list(self.units)
        for kind in shown:
            word = self.object_word if kind == "objects" else kind
            label = labelled(self.name, f"{curve.n_units[kind]:,} {shorten(_many(word), 24)}")
            # Groups at the same yield add nothing: the curve is a staircase.
            axes.plot(
                np.maximum(curve.shown, OUTSIDE) if log else curve.shown,
                curve.found[kind],
                **{"label": label, "drawstyle": "steps-post", **next_look(axes, line)},
            )
        self._mark(axes, shown[0], left)
        if self.threshold is not None:
            at = np.flatnonzero(curve.thresholds >= self.threshold)[-1]
            axes.axvline(
                max(float(curve.shown[at]), left),
                label=f"threshold {number(self.threshold)}",
                **{**CHANCE, "linestyle": "solid"},
            )
        return "lower right"

    def _mark(self, axes: Axes, kind: str, left: float) -> None:
        """Mark the smallest share shown that keeps each yield; those at one place once."""
        labels: dict[tuple[float, float], list[str]] = {}
        for share in self.marked:
            point = self.curve.at_yield(share, kind)
            if np.isfinite(point.shown):
                labels.setdefault((point.shown, point.found), []).append(f"{100 * share:g} %")
        for k, ((shown, found), yields) in enumerate(labels.items()):
            text = f"{' and '.join(yields)} at {100 * shown:.3g} % shown"
            mark_at(axes, max(shown, left), found, text, marker=_MARKERS[k % len(_MARKERS)])


def _many(word: str) -> str:
    return word if word.endswith("s") and "/" not in word else plural(word)
