"""The free-response ROC curve, with its confidence band and an operating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.evaluation.curves import thinned
from groupcm.metrics import (
    FrocCurve,
    froc_curve,
    froc_sensitivity,
)
from groupcm.plots.axes import log_left, log_x, one, share_y, shorten
from groupcm.plots.base import (
    OUTSIDE,
    Band,
    MarkedPoint,
    ScoreDisplay,
    draw_band,
    mark_point,
)
from groupcm.plots.style import frame, n_curves, next_look
from groupcm.utils.formatting import capitalised, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FrocDisplay"]

_FEW_ALARMS = 0.1  # always on the axis
_N_ALARM_RATES = 80


@dataclass(eq=False)
class FrocDisplay(ScoreDisplay):
    """The free-response ROC curve: objects found against false alarms per group.

    Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : FrocCurve
    band : Band, optional
        Bounds of the share of objects found at each rate of false alarms.
    point : MarkedPoint, optional
        The operating point to mark.
    object_word : str, default="object"
        What an object is called in the label of the axis.
    name : str, optional
        The name of the model, for the legend.
    of : str, default="group"
        What a group is called in the label of the axis, such as "frame".

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.plots import FrocDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = FrocDisplay.from_estimator(model, data.X, data.y, data.groups)
    >>> display.ax_.get_xlabel()
    'False alarms per group (mean)'
    """

    curve: FrocCurve
    band: Band | None = None
    point: MarkedPoint | None = None
    object_word: str = "object"
    name: str | None = None
    of: str = "group"

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        objects: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        threshold: float | None = None,
        level: float = 0.95,
        n_resamples: int = 2000,
        random_state: Any = 0,
        pos_label: Any = None,
        object_word: str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> FrocDisplay:
        """Draw the FROC curve of scores.

        Parameters
        ----------
        y, scores, groups, clusters, threshold, level, n_resamples, random_state, pos_label, \
name, ax
            As for `GroupRocDisplay.from_predictions`.
        objects : array-like of shape (n,), optional
            The id of the object that a candidate is on, read only where ``y`` is positive.
            Without it every positive group holds one object.
        object_word : str, optional
            What an object is called, such as "polyp".
        **options
            Those of `plot`: ``legend=False``, and properties of the line such as ``color``.

        Returns
        -------
        FrocDisplay

        Examples
        --------
        >>> y, scores, groups = [1, 0, 1, 0, 0], [0.3, 0.5, 0.9, 0.1, 0.6], list("aabbc")
        >>> display = FrocDisplay.from_predictions(y, scores, groups, objects=[7, 0, 7, 0, 0])
        >>> display.curve.sensitivity.tolist()
        [0.0, 1.0, 1.0]
        """
        # Without groups every row is a group of its own, as in the other displays.
        groups = "none" if groups is None else groups
        resampling: dict[str, Any] = {
            "level": level,
            "n_resamples": n_resamples,
            "random_state": random_state,
        }
        curve = thinned(froc_curve(y, scores, groups, objects, pos_label=pos_label))
        band = None
        if clusters is not None:
            most = max(float(curve.false_alarms.max()), 10 * _FEW_ALARMS)
            left = min(log_left(curve.false_alarms), _FEW_ALARMS)
            at = np.concatenate([[0.0], np.geomspace(left, most, _N_ALARM_RATES)])
            found = froc_sensitivity(
                y,
                scores,
                groups,
                objects,
                false_alarms=at,
                clusters=clusters,
                pos_label=pos_label,
                **resampling,
            )
            band = Band(at, found.low, found.high, level)
        point = MarkedPoint.of_predictions(
            y, scores, groups, threshold, objects=objects, pos_label=pos_label
        )
        word = object_word or ("positive group" if objects is None else "object")
        return cls(curve, band, point, word, name).plot(ax, **options)

    def _draw(self, axes: Axes, **line: Any) -> str:
        alarms = self.curve.false_alarms
        left = min(log_left(alarms), _FEW_ALARMS)
        right = max(float(alarms.max()), 10 * left)
        if n_curves(axes):
            left, right = min(left, axes.get_xlim()[0]), max(right, axes.get_xlim()[1])
        log_x(axes, left, right)
        share_y(axes)
        things = shorten(plural(self.object_word), 24)
        frame(
            axes,
            f"False alarms per {one(self.of)} (mean)",
            f"{capitalised(things)} found (share of all)",
        )
        look = next_look(axes, line)
        draw_band(axes, self.band, look["color"], OUTSIDE)
        x = np.maximum(alarms, OUTSIDE)
        axes.plot(x, self.curve.sensitivity, **{"label": self.name, **look})
        if self.point is not None:
            point = self.point.point
            found = point.objects_found / max(point.n_objects, 1)
            mark_point(axes, self.point, max(point.false_alarms, left), found)
        return "lower right"
