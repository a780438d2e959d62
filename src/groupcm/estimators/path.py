"""Regularisation paths: one certified fit per λ, each from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from groupcm.errors import Argument, ParameterError
from groupcm.estimators.classifier import GroupClassifier, fit_path
from groupcm.estimators.training.fit import Training

__all__ = [
    "LambdaPath",
    "beyond_grid",
    "chosen_lams",
    "is_count",
    "lambda_grid",
    "lambda_path",
    "lowest_lam",
]

_MOST_LAMS = 10_000
_GRID_ENDS = (0.001, 0.99)
# How far a grid is extended, and the largest ratio of two neighbours beyond its end.
_LIMITS = (1e-6, 0.9999)
_LARGEST_STEP = 10.0


@dataclass(frozen=True)
class LambdaPath:
    """Models along a path of λ.

    Attributes
    ----------
    lams : ndarray of shape (n,)
        In increasing order.
    models : list of GroupClassifier
        The fitted model of each λ, with its certificate.

    Examples
    --------
    >>> path = lambda_path([[0.0], [1.0], [2.0]], [0, 0, 1], lams=[0.5, 0.9])
    >>> path.lams.tolist(), len(path.models)
    ([0.5, 0.9], 2)
    """

    lams: NDArray[np.float64]
    models: list[GroupClassifier]

    @property
    def coef(self) -> NDArray[np.float64]:
        """The weights, one row per λ."""
        return np.concatenate([model.coef_ for model in self.models])

    @property
    def intercept(self) -> NDArray[np.float64]:
        """The intercepts."""
        return np.concatenate([model.intercept_ for model in self.models])

    @property
    def objective(self) -> NDArray[np.float64]:
        """The objectives."""
        return np.array([model.objective_ for model in self.models])

    @property
    def gap(self) -> NDArray[np.float64]:
        """The certified relative gaps."""
        return np.array([model.gap_ for model in self.models])


def lambda_grid(n: int = 10, lowest: float = 0.001) -> NDArray[np.float64]:
    """Return λ evenly in the logarithm of ``λ / (1 − λ)``; of one, λ = 0.5.

    From 0.001 they go to 0.99; from another smallest value as far in that logarithm.

    Examples
    --------
    >>> lambda_grid(3).round(3)
    array([0.001, 0.239, 0.99 ])
    >>> lambda_grid(3, 1e-5).round(5)
    array([1.0000e-05, 3.1400e-03, 4.9724e-01])
    """
    low, high = map(_odds, _GRID_ENDS)
    first = _odds(lowest)
    odds = np.geomspace(first, first * high / low, n) if n > 1 else np.ones(1)
    return odds / (1.0 + odds)


def lowest_lam(training: Training) -> float:
    """Return the smallest λ of the grid of `GroupClassifierCV` for the data of a training.

    ::

        λ / (1 − λ) = min(0.001 / 0.999, Σ_j h(f_j w_j) / (2 d)),   w = 2 m / ‖m‖²

    where ``m`` is the difference of the class means on ``d`` standardised features: where
    ``λ / (1 − λ)`` is ``Σ h / (2 d)``, the penalty of weights that put the class means at margins
    of ±1 is what their losses save. The more features tell the classes apart, the smaller it is.
    It is never below 1e-6.
    """
    low = _odds(_GRID_ENDS[0])
    odds = training.separating_odds()
    if not 0.0 < odds < low:
        return _GRID_ENDS[0]
    return max(odds / (1.0 + odds), _LIMITS[0])


def beyond_grid(lams: NDArray[np.float64], side: int, n: int) -> NDArray[np.float64]:
    """Return up to ``n`` further λ of a grid, the nearest first.

    ``λ / (1 − λ)`` goes on by the ratio of the grid's last step, which is at most 10, and λ stays
    between 1e-6 and 0.9999.

    Parameters
    ----------
    lams : ndarray
        In increasing order, at least two.
    side : {-1, 1}
        Below the smallest, or above the largest.
    n : int

    Examples
    --------
    >>> [float(f"{lam:.3g}") for lam in beyond_grid(lambda_grid(10), -1, 2)]
    [0.000279, 7.77e-05]
    """
    end, inner = (lams[0], lams[1]) if side < 0 else (lams[-1], lams[-2])
    ratio = np.clip(_odds(end) / _odds(inner), 1.0 / _LARGEST_STEP, _LARGEST_STEP)
    odds = _odds(end) * ratio ** np.arange(1, n + 1)
    more = odds / (1.0 + odds)
    return more[(more >= _LIMITS[0]) & (more <= _LIMITS[1])]


def _odds(lam: float) -> float:
    return lam / (1.0 - lam)


def lambda_path(
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    lams: int | ArrayLike = 10,
    estimator: GroupClassifier | None = None,
    **parameters: Any,
) -> LambdaPath:
    """Fit for each λ of a path, each warm from the one before.

    Of a source that does not fit the memory, all λ share each pass.

    Parameters
    ----------
    X, y, groups, overlap
        As for `GroupClassifier.fit`, of two classes; or a source.
    sample_weight : array-like of shape (n,), optional
        As for `GroupClassifier.fit`.
    lams : int or array-like
        The number of λ, spread as by `GroupClassifierCV`, or their values.
    estimator : GroupClassifier, optional
        The model whose parameters, all but ``lam``, are used.
    **parameters
        Parameters of `GroupClassifier`.

    Returns
    -------
    LambdaPath

    Examples
    --------
    >>> from groupcm.estimators.path import lambda_path
    >>> from groupcm.simulate import capsule
    >>> data = capsule(100, n_positive=30)
    >>> path = lambda_path(data.X, data.y, data.groups, data.overlap, lams=[0.5, 0.9])
    >>> path.coef.shape, bool((path.gap <= 1e-4).all())
    ((2, 13), True)
    """
    chosen = chosen_lams(lams)
    template: Any = clone(estimator or GroupClassifier())
    template.set_params(**parameters)
    if template.C is not None:
        raise ValueError("a path of λ has no C; leave C out.")
    template.set_params(lam=float(chosen[0]))  # to the last digit as checkpoints of version 0.1

    def of_data(training: Training) -> NDArray[np.float64]:
        return chosen_lams(lams, lowest_lam(training)) if is_count(lams) else chosen

    models = fit_path(template, of_data, X, y, groups, overlap, sample_weight)
    return LambdaPath(np.array([model.lam for model in models]), models)


def is_count(lams: int | ArrayLike) -> TypeGuard[int]:
    """Return whether ``lams`` is how many λ to try, rather than which."""
    return isinstance(lams, int | np.integer) and not isinstance(lams, bool)


def chosen_lams(lams: int | ArrayLike, lowest: float = _GRID_ENDS[0]) -> NDArray[np.float64]:
    """Return the λ of a path in increasing order: so many of `lambda_grid`, or those given."""
    if is_count(lams):
        if not 1 <= lams <= _MOST_LAMS:
            raise ParameterError(
                Argument("lams"), f" must be at least 1, and at most {_MOST_LAMS:,}; got {lams}."
            )
        return lambda_grid(int(lams), lowest)
    values: Sequence[float] | NDArray[np.float64] = np.unique(np.asarray(lams, dtype=np.float64))
    if len(values) == 0 or not np.all((values > 0.0) & (values < 1.0)):
        raise ParameterError(
            Argument("lams"), f" must lie between 0 and 1, both excluded; got {lams!r}."
        )
    return np.asarray(values)
