"""Sums of a loss over all pairs of a positive and a negative margin, without listing the pairs.

::

    t_kl = x_k + y_l
    V_l  = Σ_k v_k L(t_kl)         S_l = Σ_k v_k a_kl,   a = −L'(t)         B_l = Σ_k v_k L''(t_kl)

and the same sums over ``l`` for each ``k``. Where the loss consists of polynomials of degree two,
``L(t) = c₀ + c₁ t + c₂ t²`` up to the margin ``e``, the pairs of one piece are a range of the
sorted margins, and each sum is that of three prefix sums (`SortedPairs`):

::

    Σ_k v_k L(x_k + y) = c₀ V₀ + c₁ (V₁ + y V₀) + c₂ (V₂ + 2 y V₁ + y² V₀),   V_j = Σ_k v_k x_kʲ

which takes ``O((n+ + n−) log n)`` operations. For any other loss, such as the logistic, the pairs
are looked at block by block (`DensePairs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groupcm.objective.losses.base import Loss, Piece
from groupcm.utils.parallel import thread_map
from groupcm.utils.typing import Index, Vector

__all__ = ["DensePairs", "PairGains", "Pairs", "SortedPairs", "make_pairs"]

# Pairs that are looked at at once, and so many whose derivatives are kept.
_BLOCK_PAIRS = 1 << 19
_KEPT_PAIRS = 1 << 23


@dataclass(frozen=True)
class PairGains:
    """For each negative margin, the sums over the positive ones that a certificate needs.

    ``value`` is ``Σ_k v_k L(t_kl)``; ``linear`` and ``square`` are the parts of
    ``−Σ_k v_k L*(−a_kl)``, as the loss's `DualGain` divides it.
    """

    value: Vector
    linear: Vector
    square: Vector


class Pairs(Protocol):
    """All pairs of some positive margins ``x`` and negative margins ``y``.

    ``v`` has one entry, or one row of entries, per margin that is summed over.
    """

    def gains(self, v: Vector) -> PairGains: ...
    def slopes_over_positive(self, v: Vector) -> Vector: ...
    def slopes_over_negative(self, v: Vector) -> Vector: ...
    def bends_over_positive(self, v: Vector) -> Vector: ...
    def bends_over_negative(self, v: Vector) -> Vector: ...


def make_pairs(x: Vector, y: Vector, loss: Loss) -> Pairs:
    """Return the pairs of a loss: sorted where it consists of polynomials, else listed.

    Examples
    --------
    >>> from groupcm.objective.losses import make_loss
    >>> x, y = np.array([0.5, -1.0]), np.array([0.0, 0.25])
    >>> pairs = make_pairs(x, y, make_loss("smoothed_hinge"))
    >>> pairs.gains(np.array([1.0, 1.0])).value
    array([1.625  , 1.28125])
    """
    return SortedPairs(x, y, loss.pieces) if loss.pieces else DensePairs(x, y, loss)


class _Sorted:
    """Margins in rising order, and the pieces of the loss that pairs with others are on."""

    def __init__(self, values: Vector, others: Vector, ends: list[float]) -> None:
        self._order = np.argsort(values, kind="stable")
        self._values = values[self._order]
        self._others = others
        inside = [np.searchsorted(self._values, end - others, side="left") for end in ends]
        n = len(others)
        self._cuts: list[Index] = [
            np.zeros(n, dtype=np.int64),
            *inside,
            np.full(n, len(values), dtype=np.int64),
        ]

    def sums(self, v: Vector, polynomials: list[tuple[float, float, float]]) -> Vector:
        """``Σ_k v_k (c₀ + c₁ t_kl + c₂ t_kl²)`` for each of the others, by their pieces."""
        v = v[self._order]
        column = (slice(None),) + (None,) * (v.ndim - 1)
        values, others = self._values[column], self._others[column]
        moments: list[Vector] = []
        total = np.zeros((len(self._others), *v.shape[1:]))
        for (c0, c1, c2), low, high in zip(
            polynomials, self._cuts[:-1], self._cuts[1:], strict=True
        ):
            degree = 2 if c2 else 1 if c1 else 0 if c0 else -1
            while len(moments) <= degree:
                moments.append(_prefix(v * values ** len(moments)))
            parts = [moment[high] - moment[low] for moment in moments[: degree + 1]]
            if degree >= 0:
                total += (c0 + others * (c1 + c2 * others)) * parts[0]
            if degree >= 1:
                total += (c1 + 2.0 * c2 * others) * parts[1]
            if degree == 2:
                total += c2 * parts[2]
        return total


def _prefix(values: Vector) -> Vector:
    out = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=out[1:])
    return out


class SortedPairs:
    """The pairs of a loss that consists of polynomials of degree two."""

    def __init__(self, x: Vector, y: Vector, pieces: tuple[Piece, ...]) -> None:
        # Sums of squares lose fewer digits where the margins are near zero.
        middle = 0.5 * (float(np.mean(y)) - float(np.mean(x))) if len(x) and len(y) else 0.0
        x, y = x + middle, y - middle
        ends = [piece.end for piece in pieces[:-1]]
        self._positive, self._negative = _Sorted(x, y, ends), _Sorted(y, x, ends)
        self._value = [(p.constant, p.linear, p.square) for p in pieces]
        self._slope = [(-p.linear, -2.0 * p.square, 0.0) for p in pieces]
        self._bend = [(2.0 * p.square, 0.0, 0.0) for p in pieces]
        # −L*(−a) = L(t) + a t, and the linear part of it is a itself.
        self._square = [(-p.linear - p.constant, -2.0 * p.square, p.square) for p in pieces]

    def gains(self, v: Vector) -> PairGains:
        sums = self._positive.sums
        return PairGains(sums(v, self._value), sums(v, self._slope), sums(v, self._square))

    def slopes_over_positive(self, v: Vector) -> Vector:
        return self._positive.sums(v, self._slope)

    def slopes_over_negative(self, v: Vector) -> Vector:
        return self._negative.sums(v, self._slope)

    def bends_over_positive(self, v: Vector) -> Vector:
        return self._positive.sums(v, self._bend)

    def bends_over_negative(self, v: Vector) -> Vector:
        return self._negative.sums(v, self._bend)


class DensePairs:
    """The pairs of any loss: every pair is looked at, a block of positive margins at a time."""

    def __init__(self, x: Vector, y: Vector, loss: Loss) -> None:
        self._x, self._y, self._loss = x, y, loss
        size = max(1, _BLOCK_PAIRS // max(1, len(y)))
        self._parts = [slice(lo, lo + size) for lo in range(0, len(x), size)]
        self._kept: dict[int, tuple[Vector, Vector]] = {}
        self._keeps = len(x) * len(y) <= _KEPT_PAIRS

    def gains(self, v: Vector) -> PairGains:
        def of_part(part: slice) -> NDArray[np.float64]:
            t = self._x[part, None] + self._y
            jet = self._loss.jet(t)
            gain = self._loss.dual_gain(-jet.slope)
            return np.stack([v[part] @ each for each in (jet.value, gain.linear, gain.square)])

        return PairGains(*sum(thread_map(of_part, self._parts), np.zeros((3, len(self._y)))))

    def slopes_over_positive(self, v: Vector) -> Vector:
        return self._over_positive(v, 0)

    def slopes_over_negative(self, v: Vector) -> Vector:
        return self._over_negative(v, 0)

    def bends_over_positive(self, v: Vector) -> Vector:
        return self._over_positive(v, 1)

    def bends_over_negative(self, v: Vector) -> Vector:
        return self._over_negative(v, 1)

    def _derivatives(self, number: int) -> tuple[Vector, Vector]:
        """``a`` and ``L''`` of the pairs of a block."""
        if number in self._kept:
            return self._kept[number]
        jet = self._loss.jet(self._x[self._parts[number], None] + self._y)
        found = -jet.slope, jet.curvature
        if self._keeps:
            self._kept[number] = found
        return found

    def _over_positive(self, v: Vector, which: int) -> Vector:
        def of_part(number: int) -> Vector:
            return self._derivatives(number)[which].T @ v[self._parts[number]]

        found = thread_map(of_part, range(len(self._parts)))
        return sum(found, np.zeros((len(self._y), *v.shape[1:])))

    def _over_negative(self, v: Vector, which: int) -> Vector:
        def of_part(number: int) -> Vector:
            return self._derivatives(number)[which] @ v

        found = thread_map(of_part, range(len(self._parts)))
        return np.concatenate([np.empty((0, *v.shape[1:])), *found])
