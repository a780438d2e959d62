"""The candidates the benchmarks share: made once, kept while a later benchmark needs them."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.measure import say
from groupcm import simulate

__all__ = ["GROUP_SIZE", "Candidates", "Store", "short", "wide"]

GROUP_SIZE = 200


@dataclass(frozen=True)
class Candidates:
    """What a user hands to ``fit``, in the compact types of a large table."""

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    groups: NDArray[np.int32]
    overlap: NDArray[np.float32]

    @property
    def rows(self) -> int:
        """The number of candidates."""
        return self.X.shape[0]

    @property
    def nbytes(self) -> int:
        """What counts as the data when memory is measured."""
        return sum(part.nbytes for part in (self.X, self.y, self.groups, self.overlap))

    @property
    def fit_arguments(self) -> tuple[Any, ...]:
        """The arguments of ``GroupClassifier.fit``."""
        return self.X, self.y, self.groups, self.overlap


class Store:
    """Simulated capsule candidates by size and seed.

    Examples
    --------
    >>> store = Store()
    >>> train = store.capsule(100_000)          # made
    >>> train is store.capsule(100_000)         # kept
    True
    >>> store.keep_only(set())                  # forgotten
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], Candidates] = {}

    def capsule(self, rows: int, seed: int = 0) -> Candidates:
        """Return about `rows` negative candidates in groups of about 200, and the positives.

        The positive groups of `groupcm.simulate.capsule` come on top.
        """
        key = (rows, seed)
        if key not in self._made:
            say(f"  making {short(rows)} rows (seed {seed})")
            made = simulate.capsule(rows // GROUP_SIZE, seed=seed)
            self._made[key] = Candidates(
                np.ascontiguousarray(made.X, dtype=np.float32),
                np.ascontiguousarray(made.y, dtype=np.int8),
                np.ascontiguousarray(made.groups, dtype=np.int32),
                np.ascontiguousarray(made.overlap, dtype=np.float32),
            )
        return self._made[key]

    def keep_only(self, sizes: set[int]) -> None:
        """Free the sets of all other sizes."""
        self._made = {key: made for key, made in self._made.items() if key[0] in sizes}
        gc.collect()


def wide(rows: int = 100_000, features: int = 1024, *, seed: int = 0) -> Candidates:
    """Make wide candidates: a few shared factors, noise, and a planted direction.

        x_i = ½^½ (g_k + f_i) W + e_i + 7 overlap_i u

    with factors g (of the group) and f (the candidate's own), 32 of each, noise e and the
    planted unit vector u. Two groups in five are positive: ten of their candidates overlap
    the annotation, more or less. So many is kind to a candidate-wise SVM: its classes are
    not separable, and liblinear needs few iterations. With fewer positives than features
    they are, and it needs hundreds.
    """
    rng = np.random.default_rng(seed)
    factors, positives_a_group, n_groups = 32, 10, rows // GROUP_SIZE
    groups = np.repeat(np.arange(n_groups, dtype=np.int32), GROUP_SIZE)
    of_group = rng.standard_normal((n_groups, factors), dtype=np.float32)
    own = rng.standard_normal((groups.size, factors), dtype=np.float32)
    mixing = rng.standard_normal((factors, features), dtype=np.float32) / np.float32(factors**0.5)
    X = rng.standard_normal((groups.size, features), dtype=np.float32)
    X += ((of_group[groups] + own) * np.float32(0.5**0.5)) @ mixing

    positive = rng.choice(n_groups, 2 * n_groups // 5, replace=False)
    start = rng.integers(GROUP_SIZE - positives_a_group + 1, size=positive.size)
    lesion = ((positive * GROUP_SIZE + start)[:, None] + np.arange(positives_a_group)).ravel()
    overlap = np.zeros(groups.size, dtype=np.float32)
    overlap[lesion] = rng.uniform(0.2, 0.95, size=lesion.size)
    direction = rng.standard_normal(features).astype(np.float32)
    direction /= np.linalg.norm(direction)
    X[lesion] += 7 * overlap[lesion, None] * direction
    return Candidates(X, (overlap > 0).astype(np.int8), groups, overlap)


def wide_correlated(rows: int = 100_000, features: int = 1024, *, seed: int = 0) -> Candidates:
    """Make wide candidates whose columns are correlated, as those of a network are.

        x_i = W diag(s) (g_k / 2 + f_i + 4 overlap_i u),   s_j ∝ 1 / j

    with an orthogonal W, so that the standard deviations along the principal axes fall like 1 / j;
    g is of the group, f the candidate's own and u a unit vector along √s. As in `wide`, two groups
    in five are positive, and ten of their candidates overlap the annotation.
    """
    rng = np.random.default_rng(seed)
    positives_a_group, n_groups, rows_at_once = 10, rows // GROUP_SIZE, 20_000
    groups = np.repeat(np.arange(n_groups, dtype=np.int32), GROUP_SIZE)
    spectrum = 1.0 / np.arange(1.0, features + 1.0)
    spectrum = (spectrum / np.sqrt(np.mean(spectrum**2))).astype(np.float32)
    axes = np.linalg.qr(rng.standard_normal((features, features)))[0].astype(np.float32)
    of_group = rng.standard_normal((n_groups, features), dtype=np.float32)
    positive = rng.choice(n_groups, 2 * n_groups // 5, replace=False)
    start = rng.integers(GROUP_SIZE - positives_a_group + 1, size=positive.size)
    lesion = ((positive * GROUP_SIZE + start)[:, None] + np.arange(positives_a_group)).ravel()
    overlap = np.zeros(groups.size, dtype=np.float32)
    overlap[lesion] = rng.uniform(0.2, 0.95, size=lesion.size)
    direction = rng.standard_normal(features).astype(np.float32) * np.sqrt(spectrum)
    direction /= np.linalg.norm(direction)
    X = np.empty((groups.size, features), dtype=np.float32)
    for lo in range(0, len(X), rows_at_once):
        part = slice(lo, min(lo + rows_at_once, len(X)))
        own = rng.standard_normal((part.stop - lo, features), dtype=np.float32)
        own += np.float32(0.5) * of_group[groups[part]] + 4 * overlap[part, None] * direction
        X[part] = (own * spectrum) @ axes.T
    return Candidates(X, (overlap > 0).astype(np.int8), groups, overlap)


def few_wide(rows: int = 480, features: int = 20_000, *, seed: int = 0) -> Candidates:
    """Make a few rows of very many features: 48 groups, every other one positive."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    groups = np.arange(rows, dtype=np.int32) // 10
    y = ((groups % 2 == 0) & (np.arange(rows) % 10 == 0)).astype(np.int8)
    X[y == 1, :50] += np.float32(0.5)
    return Candidates(X, y, groups, y.astype(np.float32))


def short(rows: int) -> str:
    """Write a large number briefly.

    >>> short(10_000_000), short(2_500_000)
    ('1e7', '2.5e6')
    """
    mantissa, exponent = f"{rows:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
