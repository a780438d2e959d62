"""Any kernel, approximated by its values at a few landmarks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupcm.features.base import FeatureMap, Matrix, Rows, require_count
from groupcm.features.foreign import transform_into
from groupcm.model_state import Expected, Part

if TYPE_CHECKING:
    from sklearn.kernel_approximation import Nystroem as Sampler

__all__ = ["Nystroem"]


class Nystroem(FeatureMap):
    """``φ(x) = k(x, Z) K(Z, Z)^(−1/2)``, so that ``φ(x)·φ(y) ≈ k(x, y)``; exact on landmarks ``Z``.

    The landmarks are random rows of the sample. Built on
    `sklearn.kernel_approximation.Nystroem`.

    Parameters
    ----------
    n_components : int, default=100
        How many landmarks; no more than the sample has rows.
    kernel : str, default="rbf"
        A kernel of `sklearn.metrics.pairwise.pairwise_kernels`.
    gamma, degree, coef0 : float, optional
        Of kernels that have them; None is the kernel's own default.
    random_state : int, RandomState or None, default=0
        Which landmarks; None draws others at every fit.

    Attributes
    ----------
    sampler_ : sklearn.kernel_approximation.Nystroem
        It has the landmarks as ``components_``.
    n_features_in_, n_features_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.features import Nystroem
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> mapped = Nystroem(3, gamma=0.5).fit(X).transform(X)
    >>> bool(np.isclose(mapped[0] @ mapped[1], np.exp(-0.5)))
    True
    """

    sampler_: Sampler
    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **FeatureMap._fitted_state,
        "sampler_": Part("sklearn.kernel_approximation.Nystroem", {"features": "n_features_in_"}),
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Any = "rbf",
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.random_state = random_state

    @property
    def n_features_out_(self) -> int:
        """How many landmarks there are."""
        check_is_fitted(self, "n_features_in_")
        return len(self.sampler_.components_)

    def _check_parameters(self) -> None:
        require_count("n_components", self.n_components)
        self._make_sampler(1)._validate_params()  # pyright: ignore[reportAttributeAccessIssue]

    def _learn(self, rows: Rows) -> None:
        n_landmarks = min(int(self.n_components), len(rows))
        if n_landmarks < self.n_components:
            warnings.warn(
                f"Nystroem has {n_landmarks} landmarks instead of {self.n_components}: "
                "the sample has no more rows",
                stacklevel=3,
            )
        self.sampler_ = self._make_sampler(n_landmarks).fit(rows.astype(np.float64, copy=False))

    def _make_sampler(self, n_landmarks: int) -> Sampler:
        # Imported late: it brings most of scikit-learn with it, and few fits need it.
        from sklearn.kernel_approximation import Nystroem as Sampler

        return Sampler(
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            n_components=n_landmarks,
            random_state=self.random_state,
        )

    def _map(self, rows: Rows, out: Matrix) -> None:
        transform_into(self.sampler_, rows, out)
