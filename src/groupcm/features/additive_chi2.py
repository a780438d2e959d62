"""The additive χ² kernel of histograms, approximated feature by feature."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from groupcm.features.base import FeatureMap, Matrix, Rows
from groupcm.features.foreign import transform_into
from groupcm.model_state import Expected, Part

if TYPE_CHECKING:
    from sklearn.kernel_approximation import AdditiveChi2Sampler

__all__ = ["AdditiveChi2"]


class AdditiveChi2(FeatureMap):
    """``φ(x)·φ(y) ≈ Σ_j 2 x_j y_j / (x_j + y_j)``, for histograms and other values of 0 or more.

    Each feature becomes ``2 · sample_steps − 1`` (Vedaldi and Zisserman, 2012). Built on
    `sklearn.kernel_approximation.AdditiveChi2Sampler`.

    Parameters
    ----------
    sample_steps : {1, 2, 3}, default=2
        How closely to follow the kernel.

    Attributes
    ----------
    sampler_ : sklearn.kernel_approximation.AdditiveChi2Sampler
    n_features_in_, n_features_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.features import AdditiveChi2
    >>> X = np.array([[0.2], [0.3]])
    >>> mapped = AdditiveChi2(3).fit(X).transform(X)
    >>> abs(float(mapped[0] @ mapped[1]) - 2 * 0.2 * 0.3 / 0.5) < 0.02
    True
    """

    sampler_: AdditiveChi2Sampler
    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **FeatureMap._fitted_state,
        "sampler_": Part(
            "sklearn.kernel_approximation.AdditiveChi2Sampler", {"features": "n_features_in_"}
        ),
    }

    def __init__(self, sample_steps: int = 2):
        self.sample_steps = sample_steps

    @property
    def n_features_out_(self) -> int:
        """Features times ``2 · sample_steps − 1``."""
        check_is_fitted(self, "n_features_in_")
        return self.n_features_in_ * (2 * self.sampler_.sample_steps - 1)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Name what comes out as scikit-learn does, such as ``x0_cos1``.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features; else those seen in `fit`, else x0, x1, …

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "n_features_in_")
        names = self.sampler_.get_feature_names_out(self._input_names(input_features))
        prefix = f"{type(self.sampler_).__name__.lower()}_"
        return np.array([name.removeprefix(prefix) for name in names], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _check_parameters(self) -> None:
        if not isinstance(self.sample_steps, Real) or self.sample_steps not in (1, 2, 3):
            raise ValueError(f"sample_steps is {self.sample_steps!r}; it must be 1, 2 or 3")

    def _learn(self, rows: Rows) -> None:
        # Imported late: it brings most of scikit-learn with it, and few fits need it.
        from sklearn.kernel_approximation import AdditiveChi2Sampler

        self._require_no_negative(rows)
        self.sampler_ = AdditiveChi2Sampler(sample_steps=int(self.sample_steps)).fit(rows)

    def _map(self, rows: Rows, out: Matrix) -> None:
        self._require_no_negative(rows)
        transform_into(self.sampler_, rows, out)

    def _require_no_negative(self, rows: Rows) -> None:
        columns = np.flatnonzero((rows < 0).any(axis=0))
        if len(columns):
            j = columns[0]
            name = self._input_names()[j]
            raise ValueError(
                f"Negative values in data: column {name!r} of X holds {rows[:, j].min():g}, but "
                "AdditiveChi2 takes values of 0 or more; scale the column or leave it out"
            )
