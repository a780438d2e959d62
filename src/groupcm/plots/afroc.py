"""The AFROC and wAFROC curves, with the area below them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.evaluation.curves import thinned
from groupcm.metrics import AfrocCurve, Interval, afroc_auc, afroc_curve, afroc_interval
from groupcm.plots.axes import share_x, share_y, shorten
from groupcm.plots.base import ScoreDisplay, interval_text, labelled, mark_at
from groupcm.plots.style import frame, next_look
from groupcm.utils.formatting import number, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AfrocDisplay"]


@dataclass(eq=False)
class AfrocDisplay(ScoreDisplay):
    """The AFROC curve: objects found against the share of negative groups with a false alarm.

    Create it with `from_estimator` or `from_predictions`. The last stretch, a straight line to the
    corner from where every candidate is an alarm, counts in the area.

    Parameters
    ----------
    curve : AfrocCurve
    auc : Interval or float
        The area under the curve, with its confidence interval where it is known.
    weighted : bool, default=False
        Whether every positive group has the same weight (wAFROC), instead of every object.
    threshold : float, optional
        The threshold whose point is marked.
    object_word : str, default="object"
        What an object is called in the label of the axis.
    false_alarms_in : {"negative", "all"}
        Which groups the x-axis counts.
    name : str, optional
        The name of the model, for the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.plots import AfrocDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = AfrocDisplay.from_estimator(model, data.X, data.y, data.groups)
    >>> display.ax_.get_xlabel()
    'Negative groups with a false alarm (share)'
    """

    curve: AfrocCurve
    auc: Interval | float
    weighted: bool = False
    threshold: float | None = None
    object_word: str = "object"
    false_alarms_in: str = "negative"
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        objects: ArrayLike | None = None,
        weighted: bool = False,
        false_alarms_in: str = "negative",
        clusters: ArrayLike | None = None,
        threshold: float | None = None,
        level: float = 0.95,
        pos_label: Any = None,
        object_word: str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        missed: ArrayLike | None = None,
        **options: Any,
    ) -> AfrocDisplay:
        """Draw the AFROC curve of scores.

        Parameters
        ----------
        y, scores, groups, threshold, pos_label, name, ax
            As for `GroupRocDisplay.from_predictions`.
        objects, object_word
            As for `FrocDisplay.from_predictions`.
        weighted : bool, default=False
            Draw the wAFROC curve.
        false_alarms_in : {"negative", "all"}
            Which groups the x-axis counts: the negative ones, or all of them.
        clusters : array-like of shape (n,), optional
            The cluster of each candidate, such as the patient; with it the area has a confidence
            interval (`groupcm.metrics.afroc_interval`).
        level : float, default=0.95
        missed : array-like, optional
            One group id for each object that no candidate is on.
        **options
            Those of `plot`: ``legend=False``, and properties of the line such as ``color``.

        Returns
        -------
        AfrocDisplay

        Examples
        --------
        >>> y, scores, groups = [1, 0, 0, 0], [0.6, 0.3, 0.7, 0.2], list("aabc")
        >>> AfrocDisplay.from_predictions(y, scores, groups, threshold=0.5).auc
        0.5
        """
        groups = "none" if groups is None else groups
        reading: dict[str, Any] = {
            "weighted": weighted,
            "false_alarms_in": false_alarms_in,
            "missed": missed,
            "pos_label": pos_label,
        }
        auc: Interval | float
        if clusters is None:
            auc = afroc_auc(y, scores, groups, objects, **reading)
        else:
            auc = afroc_interval(
                y, scores, groups, objects, clusters=clusters, level=level, **reading
            )
        return cls(
            thinned(afroc_curve(y, scores, groups, objects, **reading)),
            auc,
            weighted,
            threshold,
            object_word or ("positive group" if objects is None else "object"),
            false_alarms_in,
            name,
        ).plot(ax, **options)

    def _draw(self, axes: Axes, **line: Any) -> str:
        share_x(axes)
        share_y(axes)
        axes.set_aspect("equal")
        where = "Negative groups" if self.false_alarms_in == "negative" else "Groups"
        things = shorten(plural(self.object_word), 24)
        frame(
            axes,
            f"{where} with a false alarm (share)",
            f"{things[:1].upper()}{things[1:]} found (share)",
        )
        look = next_look(axes, line)
        curve = self.curve
        kind = "wAFROC" if self.weighted else "AFROC"
        label = labelled(self.name, f"{kind} area {interval_text(self.auc)}")
        x, y = curve.false_positive_fraction, curve.sensitivity
        axes.plot(x[:-1], y[:-1], **{"label": label, **look})
        # No threshold reaches the corner, to which the area is counted.
        axes.plot(x[-2:], y[-2:], color=look["color"], linewidth=1.0, linestyle=(0, (1, 2)))
        if self.threshold is not None:
            at = int(np.flatnonzero(curve.thresholds >= self.threshold)[-1])
            mark_at(axes, float(x[at]), float(y[at]), f"threshold {number(self.threshold)}")
        return "lower right"
