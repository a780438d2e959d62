"""Random waves whose products approximate the Gaussian kernel."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from groupcm.features.base import FeatureMap, Matrix, Rows, require_count
from groupcm.model_state import Array, Expected, Number

__all__ = ["RandomFourier"]


class RandomFourier(FeatureMap):
    """``φ(x) = √(2/m) cos(x W + b)``, so that ``φ(x)·φ(y) ≈ exp(−γ |x − y|²)``.

    ``W`` is normal with variance ``2γ`` and ``b`` uniform on a circle (Rahimi and Recht, 2007).
    Put the features on one scale first: the kernel has one width for all of them.

    Parameters
    ----------
    n_components : int, default=100
        m, how many waves. The error shrinks as ``1/√m``.
    gamma : float or "scale", default="scale"
        γ; "scale" is ``1 / (d · variance of the sample)``.
    random_state : int, RandomState or None, default=0
        Which waves; None draws others at every fit.

    Attributes
    ----------
    gamma_ : float
        The γ that was used.
    random_weights_ : ndarray of shape (n_features_in_, m)
        W.
    random_offset_ : ndarray of shape (m,)
        b.
    n_features_in_, n_features_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.features import RandomFourier
    >>> X = np.array([[0.0, 0.0], [1.0, 0.5]])
    >>> waves = RandomFourier(20_000, gamma=0.8).fit(X)
    >>> mapped = waves.transform(X)
    >>> abs(float(mapped[0] @ mapped[1] - np.exp(-0.8 * 1.25))) < 0.02
    True
    """

    gamma_: float
    random_weights_: Matrix
    random_offset_: NDArray[np.float64]
    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **FeatureMap._fitted_state,
        "gamma_": Number(low=0.0),
        "random_weights_": Array("f", "features", "outputs"),
        "random_offset_": Array("f", "outputs"),
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        gamma: float | Literal["scale"] = "scale",
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.n_components = n_components
        self.gamma = gamma
        self.random_state = random_state

    @property
    def n_features_out_(self) -> int:
        """How many waves there are."""
        check_is_fitted(self, "n_features_in_")
        return len(self.random_offset_)

    def _check_parameters(self) -> None:
        require_count("n_components", self.n_components)
        check_random_state(self.random_state)
        gamma: Any = self.gamma
        is_scale = isinstance(gamma, str) and gamma == "scale"
        if not is_scale and not (isinstance(gamma, Real) and 0.0 < float(gamma) < np.inf):
            raise ValueError(f'gamma is {gamma!r}; it must be a positive number or "scale"')

    def _learn(self, rows: Rows) -> None:
        d, m = rows.shape[1], int(self.n_components)
        self.gamma_ = self._gamma_for(rows)
        rng = check_random_state(self.random_state)
        self.random_weights_ = np.sqrt(2.0 * self.gamma_) * rng.normal(size=(d, m))
        self.random_offset_ = rng.uniform(0.0, 2.0 * np.pi, size=m)

    def _gamma_for(self, rows: Rows) -> float:
        if isinstance(self.gamma, str):
            variance = float(np.var(rows, dtype=np.float64))
            return 1.0 / (rows.shape[1] * variance) if variance > 0.0 else 1.0
        return float(self.gamma)

    def _map(self, rows: Rows, out: Matrix) -> None:
        # The cosine of an infinity is NaN, and a row that holds one is meant to show it.
        with np.errstate(invalid="ignore", over="ignore"):
            np.matmul(rows.astype(np.float64, copy=False), self.random_weights_, out=out)
            out += self.random_offset_
            np.cos(out, out=out)
        out *= np.sqrt(2.0 / len(self.random_offset_))
