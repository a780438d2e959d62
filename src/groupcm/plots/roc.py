"""The ROC curve of groups, with its confidence band and an operating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.evaluation.curves import roc_of, thinned
from groupcm.metrics import (
    Interval,
    RocCurve,
    group_roc_auc,
    group_roc_curve,
)
from groupcm.plots.axes import log_left, log_x, many, share_x, share_y
from groupcm.plots.base import (
    OUTSIDE,
    Band,
    MarkedPoint,
    ScoreDisplay,
    draw_band,
    interval_text,
    labelled,
    mark_point,
)
from groupcm.plots.style import CHANCE, frame, n_curves, next_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GroupRocDisplay"]


@dataclass(eq=False)
class GroupRocDisplay(ScoreDisplay):
    """The ROC curve of groups: positive groups found against negative ones called positive.

    Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : RocCurve
    auc : Interval or float
        The area under the curve, with its confidence interval where it is known.
    band : Band, optional
        Bounds of the sensitivity at each false positive rate.
    point : MarkedPoint, optional
        The operating point to mark.
    of : str, default="group"
        What is counted, for the labels of the axes: group or candidate.
    name : str, optional
        The name of the model, for the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.plots import GroupRocDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = GroupRocDisplay.from_estimator(model, data.X, data.y, data.groups, name="GCM")
    >>> display.ax_.get_xlabel()
    'Negative groups called positive (1 − specificity)'
    """

    curve: RocCurve
    auc: Interval | float
    band: Band | None = None
    point: MarkedPoint | None = None
    of: str = "group"
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        clusters: ArrayLike | None = None,
        threshold: float | None = None,
        level: float = 0.95,
        n_resamples: int = 2000,
        random_state: Any = 0,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> GroupRocDisplay:
        """Draw the ROC curve of scores.

        Parameters
        ----------
        y, scores : array-like of shape (n,)
            One label and one score per candidate. A group is positive if any of its candidates
            is, and its score is the largest of its candidates.
        groups : array-like of shape (n,), optional
            The group of each candidate. Without it every row is a group of its own, and the axes
            are those of candidates.
        clusters : array-like of shape (n,), optional
            What is resampled together, such as the patient of each candidate; ``groups`` where
            groups are independent. With it the area has a confidence interval, the curve a
            band, and the operating point intervals, all by the bootstrap over clusters.
        threshold : float, optional
            The threshold whose operating point is marked.
        level : float, default=0.95
            The confidence level.
        n_resamples : int, default=2000
        random_state : int, default=0
            The seed of the bootstrap.
        pos_label : label, optional
            The positive one of the two labels; None is the larger.
        name : str, optional
            The name of the model, for the legend.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure.
        **options
            Those of `plot`: ``legend=False``, ``log=True`` for a logarithmic axis that spreads
            out high specificity, and properties of the line such as ``color``.

        Returns
        -------
        GroupRocDisplay

        Examples
        --------
        >>> y, scores, groups = [0, 1, 0, 0], [0.1, 0.8, 0.9, 0.2], ["a", "a", "b", "c"]
        >>> display = GroupRocDisplay.from_predictions(y, scores, groups, threshold=0.5)
        >>> display.auc, display.point.point.sensitivity
        (0.5, 1.0)
        """
        resampling = {
            "clusters": clusters,
            "level": level,
            "n_resamples": n_resamples,
            "random_state": random_state,
        }
        curve = thinned(group_roc_curve(y, scores, groups, pos_label=pos_label))
        auc: Interval | float = group_roc_auc(y, scores, groups, pos_label=pos_label)
        band = None
        if clusters is not None:
            roc = roc_of(y, scores, groups, pos_label=pos_label, **resampling)
            auc, band = roc.auc, Band(roc.band_fpr, roc.band_low, roc.band_high, level)
        point = MarkedPoint.of_predictions(
            y, scores, groups, threshold, pos_label=pos_label, **resampling
        )
        of = "candidate" if groups is None else "group"
        return cls(curve, auc, band, point, of, name).plot(ax, **options)

    def _draw(self, axes: Axes, *, log: bool = False, **line: Any) -> str:
        is_first = n_curves(axes) == 0
        left = self._frame(axes, is_first, log=log)
        look = next_look(axes, line)
        draw_band(axes, self.band, look["color"], OUTSIDE if log else 0.0)
        fpr = np.maximum(self.curve.fpr, OUTSIDE) if log else self.curve.fpr
        label = labelled(self.name, f"AUC {interval_text(self.auc)}")
        axes.plot(fpr, self.curve.tpr, **{"label": label, **look})
        if self.point is not None:
            self._mark(axes, self.point, left)
        return "lower right"

    def _frame(self, axes: Axes, is_first: bool, *, log: bool) -> float:
        """Label the axes, draw the line of chance, and return the smallest x that is shown."""
        share_y(axes)
        frame(
            axes,
            f"Negative {many(self.of)} called positive (1 − specificity)",
            f"Positive {many(self.of)} found (sensitivity)",
        )
        if not log:
            share_x(axes)
            axes.set_aspect("equal")
            if is_first:
                axes.plot([0, 1], [0, 1], **CHANCE)
            return 0.0
        left = log_left(self.curve.fpr)
        left = left if is_first else min(left, axes.get_xlim()[0])
        log_x(axes, left, 1.0)
        if is_first:
            grid = np.geomspace(OUTSIDE, 1, 400)
            axes.plot(grid, grid, **CHANCE)
        return left

    @staticmethod
    def _mark(axes: Axes, marked: MarkedPoint, left: float) -> None:
        sensitivity, specificity = marked.sensitivity, marked.specificity
        mark_point(
            axes,
            marked,
            max(1 - marked.point.specificity, left),
            marked.point.sensitivity,
            x_range=None
            if specificity is None
            else (max(1 - specificity.high, left), max(1 - specificity.low, left)),
            y_range=None if sensitivity is None else (sensitivity.low, sensitivity.high),
        )
