"""Provides feature maps whose products approximate a kernel.

`Nystroem` approximates any kernel by its values at landmarks, `RandomFourier` the Gaussian kernel
by random waves, and `AdditiveChi2` the additive χ² kernel of histograms feature by feature.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from groupcm.features.base import FeatureMap, Matrix, Rows, require_count, transform_into
from groupcm.utils.fitted_state import Array, Expected, Number
from groupcm.utils.state_check import Part

if TYPE_CHECKING:
    from sklearn.kernel_approximation import AdditiveChi2Sampler
    from sklearn.kernel_approximation import Nystroem as Sampler

__all__ = ["AdditiveChi2", "Nystroem", "RandomFourier"]


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
    random_weights_ : ndarray of shape (n_features, m)
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
