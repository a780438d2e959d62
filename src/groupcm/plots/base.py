"""What all displays share: the axes they draw into, marked operating points and bands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from groupcm.estimators.adapters import candidate_scores
from groupcm.metrics import Interval, OperatingPoint, at_threshold, bootstrap_interval
from groupcm.metrics.operating import sensitivity_at_threshold, specificity_at_threshold
from groupcm.plots.style import ink, legend_inside, surface
from groupcm.utils.extras import PLOTS
from groupcm.utils.formatting import fraction, interval, number, percent
from groupcm.utils.typing import Vector

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = [
    "OUTSIDE",
    "Band",
    "Display",
    "MarkedPoint",
    "ScoreDisplay",
    "draw_band",
    "interval_text",
    "labelled",
    "mark_at",
    "mark_point",
    "positive_label",
    "probabilities_of",
    "scored",
]

OUTSIDE = 1e-9  # where 0 is drawn on a logarithmic axis: left of all that is shown


class Band(NamedTuple):
    """Bounds of a curve's height at each ``x``, and their confidence level where it is labelled."""

    x: Vector
    low: Vector
    high: Vector
    level: float | None = None


@dataclass(frozen=True)
class MarkedPoint:
    """The outcomes at a threshold, with confidence intervals where they are known.

    Attributes
    ----------
    point : OperatingPoint
        The threshold and the counts of groups that it gives.
    sensitivity, specificity : Interval, optional
    label : str, optional
        In the legend; by default the threshold.
    """

    point: OperatingPoint
    sensitivity: Interval | None = None
    specificity: Interval | None = None
    label: str | None = None

    @classmethod
    def of_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None,
        threshold: float | None,
        *,
        objects: ArrayLike | None = None,
        pos_label: Any = None,
        **resampling: Any,
    ) -> MarkedPoint | None:
        """Count the outcomes at a threshold; with ``clusters``, compute intervals by bootstrap."""
        if threshold is None:
            return None
        found = at_threshold(
            y, scores, groups, threshold=threshold, objects=objects, pos_label=pos_label
        )
        if resampling.get("clusters") is None:
            return cls(found)
        sensitivity, specificity = (
            bootstrap_interval(
                y,
                scores,
                groups,
                metric=partial(metric, threshold=threshold),
                pos_label=pos_label,
                **resampling,
            )
            for metric in (sensitivity_at_threshold, specificity_at_threshold)
        )
        return cls(found, sensitivity, specificity)


class Display(ABC):
    """A figure of results, which draws into given axes or into a figure of its own.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that `plot` has drawn into.
    figure_ : matplotlib.figure.Figure
        Their figure.
    """

    ax_: Axes
    figure_: Figure | SubFigure

    # By how much the axes grow upwards to have room for a legend.
    _room_for_legend: ClassVar[float] = 1.0

    def plot(self, ax: Axes | None = None, *, legend: bool = True, **options: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure. Several displays of one kind
            can share axes: each takes the next colour of a palette that is safe for colour-blind
            readers, and the next dash.
        legend : bool, default=True
            Whether to draw a legend.
        **options
            Those of the display, and properties of its line, such as ``color``.

        Returns
        -------
        self
        """
        PLOTS.require()
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=self._figure_size(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        location = self._draw(ax, **options)
        if legend and location is not None:
            if self._room_for_legend > 1.0:
                ax.set_ylim(top=self._room_for_legend * ax.get_ylim()[1])
            legend_inside(ax, location)
        return self

    @abstractmethod
    def _draw(self, axes: Axes, **options: Any) -> str | None:
        """Draw into axes, and return where there is room for a legend."""

    def _figure_size(self) -> tuple[float, float] | None:
        """Return the size in inches of a new figure; None for the user's default."""
        return None


class ScoreDisplay(Display):
    """A display of labels and scores of candidates."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        threshold: float | str | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> Self:
        """Draw the display of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes, with ``decision_function`` or ``predict_proba``; a pipeline
            too.
        X : array-like of shape (n, d)
            The features of the candidates.
        y, groups : array-like of shape (n,)
            The label and the group of each candidate, as for `from_predictions`.
        threshold : float or "estimator", optional
            The threshold to mark; "estimator" is the one that the model stores, ``threshold_``.
        pos_label : label, optional
            By default the last of the estimator's ``classes_``.
        name : str, optional
            The name in the legend, by default that of the estimator's class.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure.
        **parameters
            Any other parameter of `from_predictions`, such as ``clusters``.

        Returns
        -------
        self
        """
        scores, known = scored(estimator, X, threshold=threshold, pos_label=pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, scores, groups, name=name, ax=ax, **known, **parameters)

    @classmethod
    @abstractmethod
    def from_predictions(
        cls, y: ArrayLike, scores: ArrayLike, groups: Any = None, **parameters: Any
    ) -> Self:
        """Draw the display of scores."""


def scored(
    estimator: Any, X: Any, *, threshold: float | str | None, pos_label: Any
) -> tuple[Vector, dict[str, Any]]:
    """Return the score of each candidate, and what else a display knows from an estimator.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X = [[0.0], [1.0], [0.2], [0.9]]
    >>> model = GroupClassifier().fit(X, [0, 1, 0, 1])
    >>> scored(model, X, threshold="estimator", pos_label=None)[1]
    {'threshold': 0.0, 'pos_label': 1}
    """
    if threshold == "estimator":
        threshold = getattr(estimator, "threshold_", None)
        if threshold is None:
            raise ValueError(
                f"this {type(estimator).__name__} has no threshold_; give the threshold as a "
                "number."
            )
    elif isinstance(threshold, str):
        raise ValueError(f'threshold={threshold!r} is not known; use a number or "estimator".')
    pos_label = positive_label(estimator, pos_label)
    return candidate_scores(estimator, X), {"threshold": threshold, "pos_label": pos_label}


def interval_text(value: Interval | float) -> str:
    """Write a metric, with its interval where it has one.

    Examples
    --------
    >>> interval_text(0.9), interval_text(Interval(0.9, 0.8, 0.95))
    ('0.900', '0.900 (0.800 to 0.950)')
    """
    return interval(value) if isinstance(value, tuple) else fraction(value)


def labelled(name: str | None, text: str) -> str:
    """Put the name of a model in front of a text, where there is a name.

    Examples
    --------
    >>> labelled("GCM", "AUC 0.9"), labelled(None, "AUC 0.9")
    ('GCM: AUC 0.9', 'AUC 0.9')
    """
    return text if name is None else f"{name}: {text}"


def draw_band(axes: Axes, band: Band | None, colour: Any, left: float = 0.0) -> None:
    """Draw a confidence band, which begins at ``left``; only the first one is in the legend."""
    if band is None:
        return
    label = None
    if band.level is not None:
        label = f"{percent(band.level)} confidence band"
        label = None if label in axes.get_legend_handles_labels()[1] else label
    x = np.maximum(band.x, left)
    axes.fill_between(x, band.low, band.high, color=colour, alpha=0.18, linewidth=0, label=label)


def mark_point(
    axes: Axes,
    marked: MarkedPoint,
    x: float,
    y: float,
    *,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> None:
    """Mark an operating point, with the intervals of both its coordinates.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().add_subplot()
    >>> point = at_threshold([0, 1], [0.2, 0.7], threshold=0.5)
    >>> mark_point(axes, MarkedPoint(point), 0.1, 0.8)
    >>> axes.get_legend_handles_labels()[1]
    ['threshold 0.5']
    """
    thin = {"color": ink(axes), "linewidth": 1.1, "zorder": 4}
    if x_range is not None:
        axes.plot(x_range, (y, y), **thin)
    if y_range is not None:
        axes.plot((x, x), y_range, **thin)
    mark_at(axes, x, y, marked.label or f"threshold {number(marked.point.threshold)}")


def mark_at(axes: Axes, x: float, y: float, label: str | None = None, *, marker: str = "o") -> None:
    """Draw a dot, or another marker, at a point of a curve.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().add_subplot()
    >>> mark_at(axes, 0.1, 0.8, "threshold 0.5")
    >>> axes.get_legend_handles_labels()[1]
    ['threshold 0.5']
    """
    axes.plot(
        x,
        y,
        marker=marker,
        markersize=7,
        markerfacecolor=ink(axes),
        markeredgecolor=surface(axes),
        markeredgewidth=1.2,
        linestyle="none",
        zorder=5,
        clip_on=False,
        label=label,
    )


def probabilities_of(
    estimator: Any, X: Any, groups: ArrayLike | None, pos_label: Any
) -> tuple[Vector, Any]:
    """Return the probability of each group, and the label whose probability it is.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [1], [2], [3]], [0, 0, 0, 1])
    >>> probabilities_of(model, [[5]], None, None)
    (array([0.25]), 1)
    """
    pos_label = positive_label(estimator, pos_label)
    if groups is not None and hasattr(estimator, "predict_proba_groups"):
        return np.asarray(estimator.predict_proba_groups(X, groups))[:, -1], pos_label
    if groups is None and hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, -1], pos_label
    raise ValueError(
        f"{type(estimator).__name__} has no probabilities of groups; calibrate it with "
        "CalibratedGroupClassifier."
    )


def positive_label(estimator: Any, pos_label: Any = None) -> Any:
    """Return the label that the estimator's scores are larger for; raise for another one given."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return pos_label
    last = np.asarray(classes)[-1]
    if pos_label is not None and pos_label != last:
        raise ValueError(
            f"pos_label is {pos_label!r}, but the scores of this {type(estimator).__name__} are "
            f"larger for {last!s}; fit it with that pos_label."
        )
    return last.item() if isinstance(last, np.generic) else last
