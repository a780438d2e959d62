"""The performance along the path of λ, and the λ that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics import Metric, bootstrap_interval, metric_named
from groupcm.metrics.registry import metric_label
from groupcm.plots.axes import plain_ticks
from groupcm.plots.base import Band, Display, draw_band, labelled
from groupcm.plots.style import MUTED, frame, ink, looks, n_curves, next_look, surface
from groupcm.utils.formatting import number
from groupcm.utils.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LambdaPathDisplay"]

_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)


@dataclass(eq=False)
class LambdaPathDisplay(Display):
    """A metric against λ, on an axis that is even in the logarithm of ``λ / (1 − λ)``.

    Create it with `from_estimator`, which draws the folds of a cross-validation, or with
    `from_predictions`.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        In increasing order.
    values : ndarray of shape (n_lams,)
        The metric of each λ.
    metric : str
        The name of the metric, for the label of the axis.
    band : Band, optional
        Bounds of the values.
    folds : ndarray of shape (n_folds, n_lams), optional
        The metric of each fold, drawn as thin lines.
    chosen : float, optional
        The λ to mark.
    label : str, optional
        The label of the line in the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm import GroupClassifierCV
    >>> from groupcm.plots import LambdaPathDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(100, n_positive=30, group_size=10)
    >>> model = GroupClassifierCV(lams=[0.01, 0.5]).fit(data.X, data.y, data.groups)
    >>> display = LambdaPathDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel(), display.chosen == model.lam_
    ('Group ROC AUC', True)
    """

    lams: Vector
    values: Vector
    metric: str = "Group ROC AUC"
    band: Band | None = None
    folds: Vector | None = None
    chosen: float | None = None
    label: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> LambdaPathDisplay:
        """Draw the λ path of a fitted `groupcm.GroupClassifierCV`.

        Thin lines are the folds. The band is the mean over the folds ± its standard error, which
        describes how much the folds differ; it is not a confidence interval.

        Parameters
        ----------
        estimator : GroupClassifierCV
            Fitted; also a calibrated one, or the last step of a pipeline.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure.
        name : str, optional
            The name of the model, for the legend.
        **options
            Those of `plot`, and properties of the line such as ``color``.

        Returns
        -------
        LambdaPathDisplay
        """
        model = estimator[-1] if hasattr(estimator, "steps") else estimator
        while model is not None and not hasattr(model, "lams_"):
            model = getattr(model, "estimator_", None)
        if model is None:
            raise ValueError(
                f"this {type(estimator).__name__} has no λ path; fit a GroupClassifierCV."
            )
        scores = np.asarray(model.scores_, dtype=np.float64)
        mean, n_folds = scores.mean(axis=0), len(scores)
        band, text = None, f"mean over {n_folds} folds"
        if n_folds > 1:
            error = scores.std(axis=0, ddof=1) / np.sqrt(n_folds)
            band = Band(model.lams_, mean - error, mean + error)
            text = f"{text} ± standard error"
        return cls(
            model.lams_,
            mean,
            _metric_label(model.scoring),
            band,
            scores,
            float(model.lam_),
            labelled(name, text),
        ).plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        lams: ArrayLike,
        y: ArrayLike,
        scores_per_lam: Sequence[ArrayLike] | ArrayLike,
        groups: ArrayLike | None = None,
        *,
        metric: str | Metric = "group_roc_auc",
        clusters: ArrayLike | None = None,
        level: float = 0.95,
        n_resamples: int = 2000,
        random_state: Any = 0,
        pos_label: Any = None,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> LambdaPathDisplay:
        """Draw a metric of the scores that each λ gives; the λ of the largest value is marked.

        Parameters
        ----------
        lams : array-like of shape (n_lams,)
        y : array-like of shape (n,)
            One label per candidate.
        scores_per_lam : array-like of shape (n_lams, n)
            The scores of the candidates by the model of each λ.
        groups : array-like of shape (n,), optional
            The group of each candidate.
        metric : str or callable(y, scores, groups), default="group_roc_auc"
            As for `groupcm.metrics.bootstrap_interval`.
        clusters : array-like of shape (n,), optional
            What is resampled together, such as the patient of each candidate; with it there is a
            confidence band by the bootstrap over clusters.
        level, n_resamples, random_state, pos_label
            As for `GroupRocDisplay.from_predictions`.
        ax, name, **options
            As for `from_estimator`.

        Returns
        -------
        LambdaPathDisplay

        Examples
        --------
        >>> y, groups = [0, 1, 0, 0], ["a", "a", "b", "c"]
        >>> scores = [[0.1, 0.8, 0.9, 0.2], [0.1, 0.8, 0.3, 0.2]]
        >>> display = LambdaPathDisplay.from_predictions([0.1, 0.5], y, scores, groups)
        >>> display.values.tolist(), display.chosen
        ([0.5, 1.0], 0.5)
        """
        lams = np.asarray(lams, dtype=np.float64)
        several = [np.asarray(scores) for scores in scores_per_lam]  # type: ignore[union-attr]
        if lams.ndim != 1 or len(several) != len(lams) or not len(lams):
            raise ValueError(
                f"scores_per_lam has {len(several)} sets of scores; lams must hold as many λ."
            )
        order = np.argsort(lams, kind="stable")
        lams, several = lams[order], [several[k] for k in order]
        function, band = metric_named(metric), None
        # Functions of users need not know pos_label.
        labels = np.asarray(y) if pos_label is None else np.asarray(y) == pos_label
        if clusters is None:
            values = np.array([float(function(labels, each, groups)) for each in several])
        else:
            found = [
                bootstrap_interval(
                    labels,
                    each,
                    groups,
                    metric=function,
                    clusters=clusters,
                    level=level,
                    n_resamples=n_resamples,
                    random_state=random_state,
                )
                for each in several
            ]
            values, low, high = np.transpose(found)
            band = Band(lams, low, high, level)
        known = np.where(np.isnan(values), -np.inf, values)
        chosen = float(lams[np.argmax(known)])
        label = _metric_label(metric)
        return cls(lams, values, label, band, None, chosen, name).plot(ax, **options)

    def _draw(self, axes: Axes, **line: Any) -> str:
        is_first, marker = n_curves(axes) == 0, looks(n_curves(axes)).marker
        self._frame(axes, is_first)
        look = next_look(axes, {"marker": marker, "markersize": 4.5, **line})
        for fold in () if self.folds is None else self.folds:
            axes.plot(self.lams, fold, color=MUTED, linewidth=0.7, alpha=0.6)
        draw_band(axes, self.band, look["color"])
        axes.plot(self.lams, self.values, **{"label": self.label, **look})
        if self.chosen is not None:
            at = int(np.argmin(np.abs(self.lams - self.chosen)))
            axes.axvline(self.chosen, color=ink(axes), linewidth=0.9, linestyle=(0, (4, 2)))
            axes.plot(
                self.chosen,
                self.values[at],
                marker="o",
                markersize=8,
                markerfacecolor=ink(axes),
                markeredgecolor=surface(axes),
                markeredgewidth=1.2,
                linestyle="none",
                zorder=5,
                label=f"chosen λ = {number(self.chosen)}",
            )
        return "best"

    def _frame(self, axes: Axes, is_first: bool) -> None:
        from matplotlib.ticker import FixedLocator

        low, high = float(self.lams.min()), float(self.lams.max())
        frame(axes, "Regularisation λ", self.metric)
        plain_ticks(axes.yaxis, 6)
        if low <= 0 or high >= 1:  # infinitely far on the axis of odds
            return
        margin = 1.5
        low, high = (_of_odds(low / (1 - low) / margin), _of_odds(high / (1 - high) * margin))
        if not is_first:
            low, high = min(low, axes.get_xlim()[0]), max(high, axes.get_xlim()[1])
        axes.set_xscale("logit")
        axes.set_xlim(low, high)
        shown = [tick for tick in _TICKS if low <= tick <= high]
        plain_ticks(axes.xaxis, FixedLocator(shown if len(shown) > 1 else self.lams.tolist()))


def _of_odds(odds: float) -> float:
    return odds / (1.0 + odds)


def _metric_label(metric: str | Metric) -> str:
    label = metric_label(metric_named(metric))
    return label[:1].upper() + label[1:]
