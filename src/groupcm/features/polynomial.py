"""Provides `Polynomial`, all products of features up to a degree, and the trie they form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import comb, inf
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from groupcm.features.base import FeatureMap, Matrix, Rows, require_count
from groupcm.kernels.polynomial import TILE, monomials, polynomial
from groupcm.utils.fitted_state import Expected, Flag, Number, StateError, TupleOf

__all__ = ["Polynomial", "Trie", "count_monomials", "monomial_trie", "monomials_of"]

Monomial = tuple[int, ...]

# Beyond this no solver would get anywhere, and the monomials alone fill the memory, as do those of
# a huge degree: each is stored with all its factors.
MAX_MONOMIALS = 1_000_000
MAX_FACTORS = 20_000_000


class Polynomial(FeatureMap):
    """``φ(x) = (x_0, x_1, …, x_0², x_0 x_1, …, x_0³, …)``: all monomials of degree 1 to ``degree``.

    A linear score of these is a polynomial of the features, the paper's own example of a
    classifier that is not linear. `dot` evaluates it by Horner's rule, one product for each
    monomial.

    Parameters
    ----------
    degree : int, default=2
        The largest degree.
    interaction_only : bool, default=False
        Leave out powers: no feature occurs twice in a product.
    max_factors : int, optional
        Only products of at most so many different features. With 1 there are only powers.

    Attributes
    ----------
    n_features_in_, n_features_out_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.features import Polynomial
    >>> cubic = Polynomial(3).fit(np.zeros((1, 2)))
    >>> cubic.transform(np.array([[2.0, 3.0]]))
    array([[ 2.,  3.,  4.,  6.,  9.,  8., 12., 18., 27.]])
    >>> cubic.get_feature_names_out().tolist()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2', 'x0^3', 'x0^2 x1', 'x0 x1^2', 'x1^3']
    >>> cubic.dot(np.array([[2.0, 3.0]]), np.ones(9))
    array([89.])
    """

    # Degree, interaction_only and max_factors as fitted. The table of monomials is not stored
    # but made from these, so that no file can send the kernels astray.
    _family: tuple[int, bool, int]
    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **FeatureMap._fitted_state,
        "_family": TupleOf(Number(low=1, whole=True), Flag(), Number(low=1, whole=True)),
    }

    def __init__(
        self, degree: int = 2, *, interaction_only: bool = False, max_factors: int | None = None
    ):
        self.degree = degree
        self.interaction_only = interaction_only
        self.max_factors = max_factors

    @property
    def n_features_out_(self) -> int:
        """How many monomials there are."""
        check_is_fitted(self, "n_features_in_")
        return count_monomials(self.n_features_in_, *self._family)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Name the monomials, such as ``x1^2 x3``.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the features; else those seen in `fit`, else x0, x1, …

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self, "n_features_in_")
        names = self._input_names(input_features)

        def factor(feature: int, power: int) -> str:
            return names[feature] if power == 1 else f"{names[feature]}^{power}"

        return np.array(
            [
                " ".join(factor(j, len(list(same))) for j, same in groupby(monomial))
                for monomial in self._trie().monomials
            ],
            dtype=object,
        )

    def _check_parameters(self) -> None:
        require_count("degree", self.degree)
        if self.max_factors is not None:
            require_count("max_factors", self.max_factors)
        if not isinstance(self.interaction_only, Integral | np.bool_):
            raise ValueError(
                f"interaction_only is {self.interaction_only!r}; it must be True or False"
            )

    def _learn(self, rows: Rows) -> None:
        degree = int(self.degree)
        factors = min(rows.shape[1], degree if self.max_factors is None else int(self.max_factors))
        self._family = (degree, bool(self.interaction_only), factors)
        self._check_state()

    def _check_state(self) -> None:
        """Check that there are not too many monomials; a larger family is not even counted."""
        d, (degree, _, factors) = self.n_features_in_, self._family
        if factors > d:
            raise StateError(f"_family has products of {factors} different features of {d}")
        count = count_monomials(d, *self._family, most=MAX_MONOMIALS)
        if count > MAX_MONOMIALS:
            raise ValueError(
                f"{d} features have too many monomials up to degree {degree}, more than the "
                f"{MAX_MONOMIALS:,} allowed; lower the degree or max_factors"
            )
        if count * degree > MAX_FACTORS:
            raise ValueError(
                f"the {count:,} monomials up to degree {degree} have more than the "
                f"{MAX_FACTORS:,} factors allowed; lower the degree"
            )

    def _trie(self) -> Trie:
        return monomial_trie(self.n_features_in_, *self._family)

    def _map(self, rows: Rows, out: Matrix) -> None:
        monomials(rows, self._nodes_for(rows, out), out)

    def _product(self, rows: Rows, weights: Matrix, out: Matrix) -> None:
        polynomial(rows, self._nodes_for(rows, weights), weights, out)

    def _nodes_for(self, rows: Rows, columns: Matrix) -> NDArray[np.int64]:
        """Return the table of the kernels, which trust it, for arrays of the right widths only."""
        trie = self._trie()
        widths = (rows.shape[1], columns.shape[1])
        if widths != (self.n_features_in_, len(trie.monomials)):
            raise ValueError(
                f"{widths[0]} features and {widths[1]} monomials do not fit a map from "
                f"{self.n_features_in_} features to {len(trie.monomials)} monomials"
            )
        return trie.nodes

    def _rows_per_block(self) -> int:
        # The kernels hold no more than a tile.
        return 64 * TILE


def monomials_of(feature_map: Polynomial) -> list[tuple[int, ...]]:
    """Return the features that each output of a fitted map multiplies.

    Examples
    --------
    >>> monomials_of(Polynomial(2).fit(np.zeros((1, 2))))
    [(0,), (1,), (0, 0), (0, 1), (1, 1)]
    """
    return feature_map._trie().monomials


@dataclass(frozen=True)
class Trie:
    """Monomials in the order of their columns, each as its features: ``x1² x3`` is (1, 1, 3).

    ``nodes`` is the table that `groupcm.kernels.polynomial` describes.
    """

    monomials: list[Monomial]
    nodes: NDArray[np.int64]


def count_monomials(
    d: int, degree: int, interaction_only: bool, max_factors: int, most: float = inf
) -> int:
    """``Σ_k Σ_f C(d, f) C(k − 1, f − 1)``: ``k`` the degree, ``f`` how many features it has.

    Once there are more than ``most``, the others are not counted.

    Examples
    --------
    >>> count_monomials(2, 3, False, 3), count_monomials(13, 3, False, 3)
    (9, 559)
    >>> count_monomials(10**9, 10**9, False, 10**9, most=100) > 100
    True
    """
    count = 0
    for f in range(1, min(d, degree, max_factors) + 1):
        # Σ_k C(k − 1, f − 1) up to the degree is C(degree, f).
        count += comb(d, f) * (1 if interaction_only else comb(degree, f))
        if count > most:
            break
    return count


@lru_cache(maxsize=4)
def monomial_trie(d: int, degree: int, interaction_only: bool, max_factors: int) -> Trie:
    """Build the trie of the monomials of ``d`` features, by degree and then by features.

    Examples
    --------
    >>> monomial_trie(2, 2, False, 2).monomials
    [(0,), (1,), (0, 0), (0, 1), (1, 1)]
    """

    def extensions(monomial: Monomial) -> range:
        if len(monomial) >= degree:
            return range(0)
        if not monomial:
            return range(d)
        last, is_full = monomial[-1], len(set(monomial)) == max_factors
        if interaction_only:
            return range(0) if is_full else range(last + 1, d)
        return range(last, last + 1) if is_full else range(last, d)

    monomials: list[Monomial] = []
    columns: dict[Monomial, int] = {(): -1}
    level: list[Monomial] = [()]
    for _ in range(degree):
        level = [(*monomial, j) for monomial in level for j in extensions(monomial)]
        columns.update(zip(level, range(len(monomials), len(monomials) + len(level)), strict=True))
        monomials += level

    nodes = []
    # Sorted by their features, parents come right before their children: preorder.
    for monomial in sorted(columns):
        features = extensions(monomial)
        if features:
            children = [(*monomial, j) for j in features]
            nodes.append(
                (
                    len(monomial),
                    monomial[-1] if monomial else -1,
                    columns[monomial],
                    features.start,
                    columns[children[0]],
                    len(children),
                    sum(len(extensions(child)) > 0 for child in children),
                )
            )
    return Trie(monomials, np.array(nodes, dtype=np.int64))
