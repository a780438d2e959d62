"""The base of all feature maps: fit, transform, and products that store no mapped features.

Maps that wrap a transformer of scikit-learn apply it to one block of rows at a time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from groupcm.data.frames import as_frame
from groupcm.utils.fitted_state import Count, Expected, Maybe, Names
from groupcm.utils.typing import Matrix

__all__ = ["FeatureMap", "Rows", "for_arrays", "require_count", "transform_dense", "transform_into"]

Rows = NDArray[np.float32 | np.float64]

# Mapped values that are held at once: 2 MB, so that they stay in cache.
BLOCK_VALUES = 2**18
_FLOATS = [np.float64, np.float32]


def require_count(name: str, value: Any) -> None:
    """Refuse a parameter that is not a whole number from 1 on."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, 1 or more")


class FeatureMap(TransformerMixin, BaseEstimator):
    """``φ(x)``: from the ``n_features_in_`` values of a row to ``n_features_out_`` others.

    A map learns from a sample of rows, without labels. After that it is fixed, and
    several threads may use it at once. A row with a NaN or an infinity is not an error: what
    comes out is not finite either, and the pass that reads it reports the row.

    A subclass has `_check_parameters`, `_learn`, `_map` and, where it can do better, `_product`.
    """

    n_features_in_: int

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "n_features_in_": Count("features"),
        "feature_names_in_": Maybe(Names("features")),
    }

    @property
    @abstractmethod
    def n_features_out_(self) -> int:
        """How many features the map gives."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise one sentence about the first parameter that is not possible."""

    @abstractmethod
    def _learn(self, rows: Rows) -> None:
        """Learn from a sample of finite rows."""

    @abstractmethod
    def _map(self, rows: Rows, out: Matrix) -> None:
        """Write ``φ(rows)`` to ``out``; both are C-ordered, and of the rows of one block."""

    def _product(self, rows: Rows, weights: Matrix, out: Matrix) -> None:
        """Write ``φ(rows) weightsᵀ`` to ``out``, for one block."""
        mapped = np.empty((len(rows), self.n_features_out_))
        self._map(rows, mapped)
        # A NaN or an infinity is passed on in silence.
        with np.errstate(invalid="ignore", over="ignore"):
            np.matmul(mapped, weights.T, out=out)

    def _rows_per_block(self) -> int:
        return max(1, BLOCK_VALUES // max(1, self.n_features_out_))

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from a sample of rows; ``y`` is not used.

        Parameters
        ----------
        X : array of shape (n, d)
            Finite values.
        y : ignored

        Returns
        -------
        self
        """
        rows: Any = validate_data(self, as_frame(X), dtype=_FLOATS)  # pyright: ignore[reportArgumentType]
        self._check_parameters()
        self._learn(rows)
        return self

    def transform(self, X: ArrayLike) -> Matrix:
        """Map rows.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_features_out)
            C-ordered float64.
        """
        rows = self._checked(X)
        out = np.empty((len(rows), self.n_features_out_))
        for block in self._blocks(len(rows)):
            self._map(np.ascontiguousarray(rows[block]), out[block])
        return out

    def dot(self, X: ArrayLike, weights: ArrayLike) -> Matrix:
        """``transform(X) @ weights``, a block of rows at a time.

        Parameters
        ----------
        X : array of shape (n, n_features)
        weights : array of shape (n_features_out,) or (n_features_out, k)

        Returns
        -------
        ndarray of shape (n,) or (n, k)
        """
        rows = self._checked(X)
        weights = np.asarray(weights, np.float64)
        if weights.ndim not in (1, 2) or len(weights) != self.n_features_out_:
            raise ValueError(
                f"weights have the shape {weights.shape}; "
                f"this map gives {self.n_features_out_} features, and each needs a weight"
            )
        columns = np.ascontiguousarray(weights.reshape(len(weights), -1).T)
        out = np.empty((len(rows), len(columns)))
        for block in self._blocks(len(rows)):
            self._product(np.ascontiguousarray(rows[block]), columns, out[block])
        return out[:, 0] if weights.ndim == 1 else out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Name what comes out: the map's own name and a number.

        Parameters
        ----------
        input_features : array of str, optional
            Names of what goes in; else those seen in `fit`, else x0, x1, …

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "n_features_in_")
        name = type(self).__name__.lower()
        return np.array([f"{name}{j}" for j in range(self.n_features_out_)], dtype=object)

    def _checked(self, X: ArrayLike) -> Rows:
        check_is_fitted(self, "n_features_in_")
        if (
            isinstance(X, np.ndarray)
            and X.dtype in _FLOATS
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
        ):
            return np.asarray(X)
        return validate_data(  # pyright: ignore[reportReturnType]
            self,
            as_frame(X),
            reset=False,
            dtype=_FLOATS,  # pyright: ignore[reportArgumentType]
            ensure_all_finite=False,
            ensure_min_samples=0,
        )

    def _input_names(self, given: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the inputs: as given, else as seen in `fit`, else x0, x1, …"""
        return _check_feature_names_in(self, given)  # pyright: ignore[reportReturnType]

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        size = self._rows_per_block()
        return (slice(start, start + size) for start in range(0, n_rows, size))


def for_arrays(transformer: Any) -> Any:
    """Return a fitted transformer that takes and returns arrays instead of data frames."""
    if transformer is None or isinstance(transformer, str):  # a step that passes rows through
        return transformer
    # Imported late: it brings most of scikit-learn with it, and few fits need it.
    from sklearn.pipeline import Pipeline

    bare = copy(transformer)
    if isinstance(transformer, Pipeline):
        bare.steps = [(name, for_arrays(step)) for name, step in transformer.steps]
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(bare).pop(name, None)
    return bare


def transform_dense(transformer: Any, rows: Matrix) -> Matrix:
    """Return the transformed rows as a dense array."""
    mapped = transformer.transform(rows)
    return np.asarray(mapped.toarray() if sp.issparse(mapped) else mapped, np.float64)


def transform_into(transformer: Any, rows: Rows, out: Matrix) -> None:
    """Write the transformed rows to ``out``.

    Most transformers refuse a block for one bad value. Here its row becomes NaN, so that
    the pass that reads it can report the row.
    """
    good = np.isfinite(rows).all(axis=1)
    if not good.all() and _takes_nan(transformer):
        good = ~np.isinf(rows).any(axis=1)
    out[~good] = np.nan
    if not good.any():
        return
    chosen = slice(None) if good.all() else good
    mapped = transform_dense(transformer, rows[chosen].astype(np.float64, copy=False))
    if mapped.shape != out[chosen].shape:  # one column would fill all
        raise ValueError(
            f"{type(transformer).__name__} makes an array of shape {mapped.shape} of "
            f"{np.count_nonzero(good)} rows; {out.shape[1]} features are expected"
        )
    out[chosen] = mapped


def _takes_nan(transformer: Any) -> bool:
    return hasattr(transformer, "__sklearn_tags__") and get_tags(transformer).input_tags.allow_nan
