"""Provides `Fitted`, a feature map of a transformer that is already fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from groupcm.features.base import (
    FeatureMap,
    Matrix,
    Rows,
    for_arrays,
    transform_dense,
    transform_into,
)
from groupcm.utils.fitted_state import Count, Expected, StateError
from groupcm.utils.merged_warnings import ignore_warnings

__all__ = ["Fitted", "as_feature_map"]


class Fitted(FeatureMap):
    """``φ(x) = transformer.transform(x)``, for a fitted transformer of scikit-learn's kind.

    It stays as it was fitted: `fit` only checks it, and a clone is the same object.

    Parameters
    ----------
    transformer : object
        Fitted, with ``transform`` and ``n_features_in_``. Sparse results are made dense, a
        block of rows at a time.

    Attributes
    ----------
    n_features_in_, n_features_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import SplineTransformer
    >>> from groupcm.features import Fitted
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> Fitted(SplineTransformer(n_knots=4).fit(X)).fit().transform(X).shape
    (20, 6)
    """

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **FeatureMap._fitted_state,
        "_n_features_out": Count("outputs"),
    }

    def __init__(self, transformer: Any):
        self.transformer = transformer

    @property
    def n_features_out_(self) -> int:
        """How many features the transformer gives."""
        check_is_fitted(self, "n_features_in_")
        return self._n_features_out

    def __sklearn_clone__(self) -> Self:
        return self

    def fit(self, X: ArrayLike | None = None, y: Any = None) -> Self:
        """Check that the transformer is fitted and, if rows are given, that they suit it.

        Parameters
        ----------
        X : array of shape (n, n_features), optional
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        transformer = self.transformer
        self.n_features_in_ = int(transformer.n_features_in_)
        if getattr(transformer, "feature_names_in_", None) is not None:
            self.feature_names_in_ = transformer.feature_names_in_
        if X is not None:
            self._checked(X)
        self._n_features_out = self._outputs_of_a_row()
        return self

    def _check_parameters(self) -> None:
        _require_fitted(self.transformer)

    def _check_state(self) -> None:
        """Check that the transformer takes and gives as many features as are stored."""
        if self.transformer.n_features_in_ != self.n_features_in_:
            raise StateError(
                f"n_features_in_ is {self.n_features_in_}, but the transformer takes "
                f"{self.transformer.n_features_in_} features"
            )
        try:
            n_outputs = self._outputs_of_a_row()
        except MemoryError:
            raise
        except Exception as error:  # such as one of another version of scikit-learn
            raise StateError(f"{_called(self.transformer)} cannot be used: {error}") from error
        if n_outputs != self._n_features_out:
            raise StateError(
                f"_n_features_out is {self._n_features_out}, but the transformer gives "
                f"{n_outputs} features"
            )

    def _outputs_of_a_row(self) -> int:
        with np.errstate(all="ignore"), ignore_warnings():  # about the values of this row
            mapped = transform_dense(
                for_arrays(self.transformer), np.ones((1, self.n_features_in_))
            )
        if mapped.ndim != 2 or len(mapped) != 1:
            raise ValueError(
                f"{_called(self.transformer)} makes an array of shape {mapped.shape} of one row; "
                "a feature map makes one row of features of each row"
            )
        return int(mapped.shape[1])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Name what comes out as the transformer does, else m0, m1, …

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features; else those that the transformer saw, else x0, x1, …

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "n_features_in_")
        try:
            names = self.transformer.get_feature_names_out(input_features)
        except AttributeError:  # a pipeline has the method even where one of its steps has not
            names = [f"m{j}" for j in range(self.n_features_out_)]
        return np.asarray(names, dtype=object)

    def _learn(self, rows: Rows) -> None:
        """Nothing: it is fitted."""

    def _map(self, rows: Rows, out: Matrix) -> None:
        transform_into(for_arrays(self.transformer), rows, out)


def as_feature_map(obj: Any) -> FeatureMap | None:
    """Return the feature map of the user as a `FeatureMap`.

    Parameters
    ----------
    obj : None, feature map, or fitted transformer
        A feature map of groupcm need not be fitted; any other transformer must be.

    Returns
    -------
    FeatureMap or None

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> as_feature_map(PCA(1).fit(np.eye(3))).n_features_out_
    1
    >>> as_feature_map(PCA(1))
    Traceback (most recent call last):
    ValueError: the PCA given as feature map is not fitted; fit it first...
    """
    if isinstance(obj, Fitted):
        return obj.fit()
    if obj is None or isinstance(obj, FeatureMap):
        return obj
    if isinstance(obj, FrozenEstimator):
        return as_feature_map(obj.estimator)
    return Fitted(obj).fit()


def _require_fitted(obj: Any) -> None:
    if isinstance(obj, type) or not callable(getattr(obj, "transform", None)):
        raise ValueError(
            f"{_called(obj)} has no transform; give a map of groupcm.features "
            "or a fitted transformer of scikit-learn"
        )
    try:
        if hasattr(obj, "fit"):
            check_is_fitted(obj)
        obj.n_features_in_  # noqa: B018
    except (NotFittedError, AttributeError) as error:
        raise ValueError(
            f"{_called(obj)} is not fitted; fit it first, on a sample of rows"
        ) from error


def _called(obj: Any) -> str:
    name = f"class {obj.__name__}" if isinstance(obj, type) else type(obj).__name__
    return f"the {name} given as feature map"
