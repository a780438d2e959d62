"""The distribution of the scores of groups, and the reliability of their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics.reliability import ReliabilityCurve, group_brier_score, reliability_curve
from groupcm.metrics.truth import read_truth
from groupcm.plots.axes import many, one, plain, plain_ticks, share_x, share_y
from groupcm.plots.base import Display, ScoreDisplay, labelled, probabilities_of
from groupcm.plots.style import (
    CHANCE,
    NEGATIVE,
    POSITIVE,
    empty_axes,
    frame,
    ink,
    n_curves,
    next_look,
    surface,
)
from groupcm.utils.formatting import capitalised, count, fraction, number
from groupcm.utils.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ReliabilityDisplay", "ScoreDistributionDisplay"]

_MOST_TICKS = 150  # groups that are each drawn as a small tick as well
_SPREAD = 4.0
_LARGEST_AREA = 110.0


@dataclass(eq=False)
class ScoreDistributionDisplay(ScoreDisplay):
    """Histograms of the scores of positive and negative groups, each in shares of its own kind.

    Create it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    positive, negative : ndarray
        The scores of the groups of each kind.
    threshold : float, optional
        Marked by a vertical line.
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
    >>> from groupcm.plots import ScoreDistributionDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = ScoreDistributionDisplay.from_estimator(
    ...     model, data.X, data.y, data.groups, threshold="estimator"
    ... )
    >>> display.ax_.get_xlabel(), display.threshold
    ('Score of the group', 0.0)
    """

    _room_for_legend: ClassVar[float] = 1.32

    positive: Vector
    negative: Vector
    threshold: float | None = None
    of: str = "group"
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        threshold: float | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> ScoreDistributionDisplay:
        """Draw the distribution of scores.

        Parameters
        ----------
        y, scores : array-like of shape (n,)
            One label and one score per candidate. A group is positive if any of its candidates
            is, and its score is the largest of its candidates.
        groups : array-like of shape (n,), optional
            The group of each candidate. Without it every row is a group of its own.
        threshold : float, optional
            The score from which on a group raises an alarm, marked by a line.
        pos_label : label, optional
            The positive one of the two labels; None is the larger.
        name : str, optional
            The name of the model, for the legend.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure.
        **options
            Those of `plot`, and properties of the outlines such as ``linewidth``.

        Returns
        -------
        ScoreDistributionDisplay

        Examples
        --------
        >>> y, scores, groups = [0, 1, 0, 0], [0.1, 0.8, 0.9, 0.2], ["a", "a", "b", "c"]
        >>> display = ScoreDistributionDisplay.from_predictions(y, scores, groups)
        >>> display.positive.tolist(), display.negative.tolist()
        ([0.8], [0.9, 0.2])
        """
        truth = read_truth(y, scores, groups, pos_label=pos_label)
        positive, negative = truth.scores[truth.is_positive], truth.scores[~truth.is_positive]
        of = "candidate" if groups is None else "group"
        return cls(positive, negative, threshold, of, name).plot(ax, **options)

    def _draw(self, axes: Axes, **bars: Any) -> str | None:
        positive, negative = self.positive, self.negative
        threshold = np.nan if self.threshold is None else self.threshold
        everything = np.concatenate([positive, negative, [threshold]])
        everything = everything[np.isfinite(everything)]
        if not len(positive) + len(negative) or not len(everything):
            empty_axes(axes, f"no {many(self.of)}")
            return None
        low, high = _range(everything)
        edges = np.linspace(low, high, _n_bins(min(len(positive), len(negative))) + 1)
        kinds = (("negative", negative, NEGATIVE), ("positive", positive, POSITIVE))
        n_rows_of_ticks = 0
        for kind, scores, colour in kinds:
            label = labelled(self.name, f"{count(len(scores))} {kind}")
            _histogram(
                axes, np.clip(scores, low, high), edges, **{"color": colour, "label": label, **bars}
            )
            if len(scores) <= _MOST_TICKS:
                _ticks(axes, np.clip(scores, low, high), colour, row=n_rows_of_ticks)
                n_rows_of_ticks += 1
        if np.isfinite(threshold):
            label = f"threshold {number(threshold)}"
            axes.axvline(
                threshold, color=ink(axes), linewidth=1.3, linestyle=(0, (4, 2)), label=label
            )
        axes.set_xlim(low, high)
        self._label(axes)
        return "upper left"

    def _label(self, axes: Axes) -> None:
        from matplotlib.ticker import FuncFormatter

        groups = many(self.of)
        frame(
            axes,
            f"Score of the {one(self.of)}",
            f"{capitalised(groups)} of the same kind",
        )
        plain_ticks(axes.xaxis, 6)
        plain_ticks(axes.yaxis, 5)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{plain(value)} %"))


def _histogram(axes: Axes, scores: Vector, edges: Vector, **outline: Any) -> None:
    heights = 100 * np.histogram(scores, edges)[0] / max(len(scores), 1)
    axes.stairs(heights, edges, fill=True, color=outline["color"], alpha=0.25, linewidth=0)
    axes.stairs(heights, edges, **{"linewidth": 1.4, **outline})


def _ticks(axes: Axes, scores: Vector, colour: str, row: int) -> None:
    """Draw one small tick per group above the axis, because few groups make rough histograms."""
    bottom = 0.008 + 0.032 * row
    axes.vlines(
        scores,
        bottom,
        bottom + 0.026,
        transform=axes.get_xaxis_transform(),
        color=colour,
        linewidth=0.8,
    )


def _range(scores: Vector) -> tuple[float, float]:
    """Return the lowest and the highest score, without the few that are far from the others."""
    quarter, middle, three = np.quantile(scores, [0.02, 0.5, 0.98])
    low = max(scores.min(), middle - _SPREAD * max(middle - quarter, 1e-12))
    high = min(scores.max(), middle + _SPREAD * max(three - middle, 1e-12))
    margin = 0.03 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def _n_bins(n_groups: int) -> int:
    return int(np.clip(2 * np.sqrt(n_groups), 12, 40))


@dataclass(eq=False)
class ReliabilityDisplay(Display):
    """The observed share of positive groups against their predicted probability.

    The line at each point is the confidence interval of the observed share; larger points hold
    more groups. Create the display with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curve : ReliabilityCurve
    brier : float
        The Brier score: the mean squared difference of probabilities and labels.
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
    >>> from groupcm import CalibratedGroupClassifier, GroupClassifier
    >>> from groupcm.plots import ReliabilityDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = CalibratedGroupClassifier(GroupClassifier()).fit(data.X, data.y, data.groups)
    >>> display = ReliabilityDisplay.from_estimator(model, data.X, data.y, data.groups)
    >>> display.ax_.get_ylabel()
    'Groups that are positive'
    """

    curve: ReliabilityCurve
    brier: float
    of: str = "group"
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **parameters: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of a calibrated classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted, of two classes, with ``predict_proba_groups``, such as
            `groupcm.CalibratedGroupClassifier`; without ``groups``, with ``predict_proba``.
        X : array-like of shape (n, d)
            The features of the candidates.
        pos_label : label, optional
            By default the last of the estimator's ``classes_``.
        name : str, optional
            The name in the legend, by default that of the estimator's class.
        y, groups, ax, **parameters
            As for `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        probabilities, pos_label = probabilities_of(estimator, X, groups, pos_label)
        return cls.from_predictions(
            y,
            probabilities,
            groups,
            pos_label=pos_label,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **parameters,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        probabilities: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        clusters: ArrayLike | None = None,
        level: float = 0.95,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y : array-like of shape (n,)
            One label per candidate. A group is positive if any of its candidates is.
        probabilities : array-like of shape (m,)
            The probability that each group is positive, groups in order of first appearance, as
            ``predict_proba_groups(X, groups)[:, 1]`` returns them.
        groups : array-like of shape (n,), optional
            The group of each candidate. Without it every row is a group of its own.
        n_bins, strategy, clusters, level
            As for `groupcm.metrics.reliability_curve`.
        pos_label : label, optional
            The positive one of the two labels; None is the larger.
        name : str, optional
            The name of the model, for the legend.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure.
        **options
            Those of `plot`, and properties of the line such as ``color``.

        Returns
        -------
        ReliabilityDisplay

        Examples
        --------
        >>> y, p = [0, 1, 0, 0], [0.8, 0.4]
        >>> ReliabilityDisplay.from_predictions(y, p, groups=["a", "a", "b", "b"]).brier
        0.1
        """
        curve = reliability_curve(
            y,
            probabilities,
            groups,
            n_bins=n_bins,
            strategy=strategy,
            clusters=clusters,
            level=level,
            pos_label=pos_label,
        )
        brier = group_brier_score(y, probabilities, groups, pos_label=pos_label)
        of = "candidate" if groups is None else "group"
        return cls(curve, brier, of, name).plot(ax, **options)

    def _draw(self, axes: Axes, **line: Any) -> str:
        share_x(axes)
        share_y(axes)
        axes.set_aspect("equal")
        groups = many(self.of)
        frame(axes, "Predicted probability", f"{capitalised(groups)} that are positive")
        if not n_curves(axes):
            axes.plot([0, 1], [0, 1], **CHANCE)
        look, curve = next_look(axes, line), self.curve
        axes.vlines(curve.predicted, curve.low, curve.high, color=look["color"], linewidth=1.3)
        thin = {"linewidth": 1, "alpha": 0.5}
        axes.plot(curve.predicted, curve.observed, **{**look, **thin, **line})
        largest = max(int(np.max(curve.count, initial=1)), 1)
        axes.scatter(
            curve.predicted,
            curve.observed,
            s=18 + _LARGEST_AREA * curve.count / largest,
            color=look["color"],
            edgecolor=surface(axes),
            linewidth=0.8,
            zorder=3,
            clip_on=False,
            label=labelled(self.name, f"Brier score {fraction(self.brier)}"),
        )
        return "upper left"
