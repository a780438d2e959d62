"""All monomials up to a degree, and the trie that they form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, inf

import numpy as np
from numpy.typing import NDArray

__all__ = ["Trie", "count_monomials", "monomial_trie"]

Monomial = tuple[int, ...]


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
    # Sorted by their features, parents stand right before their children: preorder.
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
