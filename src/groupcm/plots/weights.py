"""The largest weights of a linear model, the importances of trees, or those of a surrogate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from groupcm.data.frames import as_frame, frame_to_matrix, is_frame
from groupcm.data.frames import feature_names as column_names
from groupcm.errors import InputError
from groupcm.estimators.weights import feature_names, feature_weights, linear_part
from groupcm.plots.axes import plain_ticks, shorten_apart
from groupcm.plots.base import Display, labelled
from groupcm.plots.style import NEGATIVE, POSITIVE, empty_axes, frame, ink
from groupcm.utils.formatting import fraction, number
from groupcm.utils.typing import Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["WeightsDisplay"]

_LONGEST_NAME = 25
_PER_DEVIATION = "Weight for one standard deviation"
_PER_UNIT = "Weight for one unit (features not standardised)"
_IMPORTANCE = "Importance (share of the total gain)"


@dataclass(eq=False)
class WeightsDisplay(Display):
    """One bar per feature, the largest weight of either sign on top.

    A weight above 0 (orange) raises the score where the feature is large; one below 0 (blue)
    lowers it. Create the display with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    names : sequence of str
        The features.
    values : array-like
        Their weights, in the same order.
    label : str
        What the values are, for the label of the axis.
    top : int, default=15
        The number of features shown, those of the largest absolute values.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.plots import WeightsDisplay
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups)
    >>> display = WeightsDisplay.from_estimator(model, top=5)
    >>> display.ax_.get_xlabel(), len(display.ax_.patches)
    ('Weight for one standard deviation', 5)
    """

    names: Sequence[str]
    values: Vector
    label: str = _PER_DEVIATION
    top: int = 15

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        label: Any = None,
        top: int = 15,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> WeightsDisplay:
        """Draw the largest weights of a fitted model, or the importances of trees.

        Parameters
        ----------
        estimator : classifier
            A linear model of groupcm, also a calibrated one or the last step of a pipeline; or
            any estimator with ``feature_importances_``. The weights are those of standardised
            features, which can be compared with each other, unless the model was fitted with
            ``standardize=False``: then they are per unit of the feature.
        label : label, optional
            The class whose score the weights are of; needed for more than two classes.
        top : int, default=15
            The number of features shown.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default those of a new figure.
        name : str, optional
            The name of the model, for the label of the axis.
        **options
            Those of `plot`.

        Returns
        -------
        WeightsDisplay
        """
        model = _last_step(estimator)
        linear = linear_part(model)
        if linear is not None:
            of_class = _of_class(linear, label)
            # A constant feature has no influence, even if the solver left a weight there.
            values = np.where(of_class.per_unit == 0.0, 0.0, of_class.trained)
            names = of_class.names
            text = _PER_DEVIATION if of_class.is_standardized else _PER_UNIT
        else:
            trees = _with_importances(model)
            names = feature_names(trees)
            values, text = np.asarray(trees.feature_importances_, dtype=np.float64), _IMPORTANCE
        return cls(names, values, labelled(name, text), top).plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        X: Any,
        scores: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        top: int = 15,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> WeightsDisplay:
        """Draw the weights of a linear surrogate: least squares of scores on standardised features.

        The label of the axis states it, and how much of the variance of the scores the surrogate
        explains (R²). Where that is little, its weights say little about the scores.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            The features, without missing values.
        scores : array-like of shape (n,)
            The scores of any model on these rows.
        feature_names : sequence of str, optional
            By default the columns of a data frame, else ``x0``, ``x1``, ….
        top, ax, name, **options
            As for `from_estimator`.

        Returns
        -------
        WeightsDisplay

        Examples
        --------
        >>> X = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])
        >>> display = WeightsDisplay.from_predictions(X, [3, -1, 1, -3])
        >>> display.values.round(9).tolist(), display.label
        ([2.0, 1.0], 'Weight of a linear surrogate for one standard deviation (R² 1.000)')
        """
        rows, names = _matrix(X, feature_names)
        weights, explained = _surrogate(rows, np.asarray(scores, dtype=np.float64))
        text = f"Weight of a linear surrogate for one standard deviation (R² {fraction(explained)})"
        return cls(names, weights, labelled(name, text), top).plot(ax, **options)

    def _figure_size(self) -> tuple[float, float]:
        return 6.4, 1.0 + 0.26 * max(min(len(self.names), self.top), 3)

    def _draw(self, axes: Axes, **bars: Any) -> str | None:
        order = np.argsort(-np.abs(self.values), kind="stable")[: self.top]
        values = np.asarray(self.values)[order]
        if not len(values):
            empty_axes(axes, "no weights")
            return None
        rows = np.arange(len(values))
        colours = [POSITIVE if value > 0 else NEGATIVE for value in values]
        axes.barh(rows, values, **{"color": colours, "height": 0.66, **bars})
        axes.axvline(0, color=ink(axes), linewidth=0.9)
        for row, value in zip(rows, values, strict=True):
            is_right = value >= 0
            axes.annotate(
                number(value, 2),
                (value, row),
                xytext=(3 if is_right else -3, 0),
                textcoords="offset points",
                ha="left" if is_right else "right",
                va="center",
                fontsize="small",
            )
        largest = [str(self.names[int(j)]) for j in order]
        names = shorten_apart(largest, _LONGEST_NAME)
        self._frame(axes, names, values)
        return None

    def _frame(self, axes: Axes, names: Sequence[str], values: Vector) -> None:
        # Room at the bars' ends for their numbers.
        reach = float(np.abs(values).max()) or 1.0
        left = -1.38 * reach if (values < 0).any() else -0.04 * reach
        right = 1.38 * reach if (values > 0).any() else 0.04 * reach
        axes.set_xlim(min(left, 1.38 * values.min()), max(right, 1.38 * values.max()))
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_yticks(range(len(names)), names, parse_math=False)
        axes.tick_params(axis="y", length=0)
        frame(axes, self.label)
        axes.spines["left"].set_visible(False)
        axes.grid(False, axis="y")
        plain_ticks(axes.xaxis, 5)


def _last_step(estimator: Any) -> Any:
    """Return the model within a search or at the end of a pipeline."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def _of_class(linear: Any, label: Any) -> Any:
    found = feature_weights(linear)
    if label is None and len(found) == 1:
        return found[0]
    known = [each.label for each in found]
    for each in found:
        if label is not None and each.label == label:
            return each
    raise ValueError(
        f"label is {label!r}; the weights are those of one class: give one of "
        f"{', '.join(map(str, known))}."
    )


def _with_importances(model: Any) -> Any:
    while model is not None and not hasattr(model, "feature_importances_"):
        model = getattr(model, "estimator_", None)
    if model is None:
        raise InputError(
            "the estimator has neither the weights of a linear model of groupcm nor "
            "feature_importances_; draw a linear surrogate of its scores with from_predictions"
        )
    return model


def _matrix(X: Any, names: Any) -> tuple[Vector, list[str]]:
    frame_or_rows: Any = as_frame(X)
    if is_frame(frame_or_rows):
        names = column_names(frame_or_rows) if names is None else names
        frame_or_rows = frame_to_matrix(frame_or_rows)
    rows = frame_or_rows.toarray() if sp.issparse(frame_or_rows) else frame_or_rows
    rows = np.asarray(rows, dtype=np.float64)
    if rows.ndim != 2 or not np.all(np.isfinite(rows)):
        raise ValueError("X must hold one row of finite numbers per candidate.")
    listed = [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(n) for n in names]
    if len(listed) != rows.shape[1]:
        raise ValueError(f"feature_names has {len(listed)} names; X has {rows.shape[1]} columns.")
    return rows, listed


def _surrogate(rows: Vector, scores: Vector) -> tuple[Vector, float]:
    """Compute the weights of least squares on standardised features, and R².

    min_w ‖ Z w − (s − mean s) ‖²,    Z_ij = (x_ij − mean_j) / deviation_j
    """
    if scores.shape != (len(rows),) or not np.all(np.isfinite(scores)):
        raise ValueError(f"scores must hold {len(rows)} finite numbers, one per row of X.")
    deviation = rows.std(axis=0)
    # Rounding leaves a constant column a deviation of about this.
    varies = deviation > 1e-12 * np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1e-300)
    z = (rows - rows.mean(axis=0)) / np.where(varies, deviation, 1.0) * varies
    centred = scores - scores.mean()
    weights = np.linalg.lstsq(z, centred, rcond=None)[0]
    total = float(centred @ centred)
    residual = centred - z @ weights
    return weights, 1.0 - float(residual @ residual) / total if total > 0 else 1.0
