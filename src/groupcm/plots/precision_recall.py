"""The precision-recall curve of groups, with an operating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.evaluation.curves import thinned
from groupcm.metrics import (
    Interval,
    PrecisionRecallCurve,
    bootstrap_interval,
    group_average_precision,
    group_precision_recall_curve,
)
from groupcm.metrics.truth import read_truth
from groupcm.plots.axes import many, share_x, share_y
from groupcm.plots.base import (
    MarkedPoint,
    ScoreDisplay,
    interval_text,
    labelled,
    mark_point,
)
from groupcm.plots.style import CHANCE, frame, n_curves, next_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PrecisionRecallDisplay"]


@dataclass(eq=False)
class PrecisionRecallDisplay(ScoreDisplay):
    """Precision against recall of groups, with the precision of guessing as a dashed line.

    Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : PrecisionRecallCurve
    average_precision : Interval or float
    positive_share : float
        The share of positive groups: the precision of guessing.
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
    >>> from groupcm.plots import PrecisionRecallDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = PrecisionRecallDisplay.from_estimator(model, data.X, data.y, data.groups)
    >>> display.ax_.get_ylabel()
    'Alarms that are right (precision)'
    """

    curve: PrecisionRecallCurve
    average_precision: Interval | float
    positive_share: float
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
    ) -> PrecisionRecallDisplay:
        """Draw the precision-recall curve of scores.

        The parameters are those of `GroupRocDisplay.from_predictions`; with ``clusters`` the
        average precision has a confidence interval.

        Returns
        -------
        PrecisionRecallDisplay

        Examples
        --------
        >>> y, scores, groups = [0, 1, 0, 0], [0.1, 0.8, 0.9, 0.2], ["a", "a", "b", "c"]
        >>> display = PrecisionRecallDisplay.from_predictions(y, scores, groups)
        >>> display.average_precision
        0.5
        """
        precision: Interval | float = group_average_precision(
            y, scores, groups, pos_label=pos_label
        )
        if clusters is not None:
            precision = bootstrap_interval(
                y,
                scores,
                groups,
                metric="group_average_precision",
                clusters=clusters,
                level=level,
                n_resamples=n_resamples,
                random_state=random_state,
                pos_label=pos_label,
            )
        truth = read_truth(y, scores, groups, pos_label=pos_label)
        return cls(
            thinned(group_precision_recall_curve(y, scores, groups, pos_label=pos_label)),
            precision,
            truth.n_positive / len(truth.is_positive),
            MarkedPoint.of_predictions(y, scores, groups, threshold, pos_label=pos_label),
            "candidate" if groups is None else "group",
            name,
        ).plot(ax, **options)

    def _draw(self, axes: Axes, **line: Any) -> str:
        share_x(axes)
        share_y(axes)
        axes.set_aspect("equal")
        found = f"Positive {many(self.of)} found (sensitivity)"
        frame(axes, found, "Alarms that are right (precision)")
        if not n_curves(axes):
            axes.axhline(self.positive_share, **CHANCE)
        label = labelled(self.name, f"average precision {interval_text(self.average_precision)}")
        recall, precision = self.curve.recall, self.curve.precision
        # Before a positive group is found, the precision is 0, or 1 by convention: not a result.
        shown = recall > 0.0 if np.any(recall > 0.0) else np.ones(len(recall), dtype=bool)
        axes.plot(recall[shown], precision[shown], **{"label": label, **next_look(axes, line)})
        if self.point is not None:
            point = self.point.point
            mark_point(axes, self.point, point.sensitivity, point.precision)
        return "lower left"
