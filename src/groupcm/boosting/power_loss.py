"""The loss of a group of candidates as a norm of their losses, ``‖(L(−s_i))_i‖_p``.

Derivatives by the scores of the candidates are computed in single precision: boosting libraries
store them so, and NumPy's exponentials are many times faster in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groupcm.kernels.maxima import run_maxima
from groupcm.objective.losses import LOSSES, Loss, make_loss
from groupcm.objective.terms import NO_ORDER, Index, Terms
from groupcm.utils.parallel import n_threads, thread_map
from groupcm.utils.typing import Vector

__all__ = ["CURVED_LOSSES", "Groupwise", "PowerLoss", "Slopes", "derivatives_of_groups"]

# A candidate whose share in the slope of its group's loss is below this has none.
_NO_SHARE = 1e-4
# Of a ratio; single precision knows no larger one times a logarithm.
_LARGEST_EXPONENT = 1e30
# Rows at a time, so that what is computed of them stays in the cache.
_ROWS_AT_ONCE = 1 << 15
# Derivatives in either precision.
Slopes = NDArray[np.floating]
#: The losses that trees can be grown on: they are curved.
CURVED_LOSSES = tuple(sorted(name for name in LOSSES if make_loss(name).least_curvature > 0.0))
_ROWS_PER_THREAD = 50_000


@dataclass(frozen=True)
class PowerLoss:
    """``‖(L(−s_i))_i‖_p`` of a negative group, ``L(s)`` of a positive candidate.

    ``p = 1`` adds up the losses of all candidates; the larger ``p``, the more the largest loss
    counts, and at infinity it alone does, as in the GCM. The norm of convex losses is convex in
    the scores for every ``p``.

    Parameters
    ----------
    loss : {"logistic", "smoothed_hinge"}
        ``L(t) = log(1 + e^{−t})``, or the paper's loss.
    delta : float
        Half the length of the smoothed hinge's quadratic piece.
    power : float
        ``p``, at least 1.
    """

    loss: str = "logistic"
    delta: float = 0.5
    power: float = 5.0

    def __post_init__(self) -> None:
        if self.loss not in CURVED_LOSSES:
            listed = ", ".join(map(repr, CURVED_LOSSES))
            raise ValueError(f"loss must be one of {listed}; got {self.loss!r}.")
        if not self.delta > 0.0:
            raise ValueError(f"delta must be a number above 0; got {self.delta!r}.")
        if not self.power >= 1.0:
            raise ValueError(f"power must be a number of at least 1; got {self.power!r}.")

    def add_positive(
        self, scores: Vector, rows: Index, weight: Vector, gradient: Slopes, hessian: Slopes
    ) -> float:
        """Add the derivatives of ``Σ weight · L(s)`` over some rows, and return its value."""
        # L of a score is what a negative candidate alone pays for the score's opposite.
        alone = Groupwise.of_rows(np.arange(len(rows)))
        slope, curvature = np.zeros(len(rows)), np.zeros(len(rows))
        value = self._set_alone(-scores[rows], alone, weight, slope, curvature)
        np.add.at(gradient, rows, -slope)
        np.add.at(hessian, rows, curvature)
        return value

    def set_negative(
        self, scores: Vector, groups: Groupwise, weight: float, gradient: Slopes, hessian: Slopes
    ) -> float:
        """Write the derivatives of ``weight Σ_k ω_k ‖(L(−s_i))_{i in k}‖_p``; return its value.

        ``ω_k`` is the weight of group ``k``.
        """
        return self._set(scores, groups, weight * groups.weight, gradient, hessian)

    def _set_alone(
        self, scores: Vector, groups: Groupwise, weight: Vector, gradient: Slopes, hessian: Slopes
    ) -> float:
        """Write the derivatives of groups of one candidate, whose norm is its loss."""
        return replace(self, power=1.0)._set(scores, groups, weight, gradient, hessian)

    def _set(
        self, scores: Vector, groups: Groupwise, weight: Vector, gradient: Slopes, hessian: Slopes
    ) -> float:
        if self.power == np.inf:
            # The largest loss is that of the largest score, alone.
            winners = Groupwise.of_rows(groups.winners(scores))
            return self._set_alone(scores, winners, weight, gradient, hessian)

        loss = make_loss(self.loss, self.delta)

        def work(piece: tuple[int, int]) -> float:
            lo, hi = piece
            return derivatives_of_groups(
                scores,
                groups.rows,
                groups.ptr[lo : hi + 1],
                weight[lo:hi],
                loss=loss,
                power=float(self.power),
                gradient=gradient,
                hessian=hessian,
                counts=groups.counts,
            )

        return float(sum(thread_map(work, groups.pieces())))


@dataclass(frozen=True)
class Groupwise:
    """Rows in groups: group ``k`` holds ``rows[ptr[k]:ptr[k+1]]`` and weighs ``weight[k]``.

    Where not all rows of the groups are there, row ``rows[i]`` represents ``counts[i]`` of them.
    """

    rows: Index
    ptr: Index
    weight: Vector
    counts: Vector | None = None

    @classmethod
    def of_terms(cls, terms: Sequence[Terms]) -> Groupwise:
        rows = [each.rows(np.arange(each.n_rows)) for each in terms]
        sizes = [np.ones(each.n_rows) if each.alone else each.stop - each.start for each in terms]
        ptr = np.cumsum(np.concatenate([[0], *sizes])).astype(np.int64)
        weight = [np.broadcast_to(each.weight, len(each)) for each in terms]
        return cls(np.concatenate([NO_ORDER, *rows]), ptr, np.concatenate([np.empty(0), *weight]))

    @classmethod
    def of_rows(cls, rows: Index) -> Groupwise:
        """Return groups of one row each."""
        return cls(rows, np.arange(len(rows) + 1), np.ones(len(rows)))

    @classmethod
    def joined(cls, parts: Sequence[Groupwise]) -> Groupwise:
        """Return the groups of all parts, of which some have counts."""
        sizes = [np.diff(part.ptr) for part in parts]
        counts = [np.ones(len(part.rows)) if part.counts is None else part.counts for part in parts]
        return cls(
            np.concatenate([NO_ORDER, *(part.rows for part in parts)]),
            np.concatenate([[0], np.cumsum(np.concatenate([NO_ORDER, *sizes]))]),
            np.concatenate([np.empty(0), *(part.weight for part in parts)]),
            np.concatenate([np.empty(0), *counts]),
        )

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def at(self, rows: Index) -> Groupwise:
        """Return the same groups when only these rows, ascending, are there."""
        return replace(self, rows=np.searchsorted(rows, self.rows))

    def only(self, chosen: NDArray[np.bool_]) -> Groupwise:
        """Return some of the groups.

        Examples
        --------
        >>> groups = Groupwise(np.array([4, 5, 6]), np.array([0, 2, 3]), np.ones(2))
        >>> groups.only(np.array([False, True]))
        Groupwise(rows=array([6]), ptr=array([0, 1]), weight=array([1.]), counts=None)
        """
        size = np.diff(self.ptr)
        inside = np.repeat(chosen, size)
        return Groupwise(
            self.rows[inside],
            np.concatenate([[0], np.cumsum(size[chosen])]),
            self.weight[chosen],
            None if self.counts is None else self.counts[inside],
        )

    def winners(self, scores: Vector) -> Index:
        """Return the row of largest score of each group."""
        best, place = np.empty(len(self)), np.empty(len(self), dtype=np.int64)
        run_maxima(scores[self.rows], self.ptr[:-1], best, place)
        return self.rows[place]

    def pieces(self) -> list[tuple[int, int]]:
        """Runs of groups with about the same number of rows, one for each thread."""
        n = max(1, min(n_threads(), len(self.rows) // _ROWS_PER_THREAD))
        cuts = np.searchsorted(self.ptr, np.linspace(0, len(self.rows), n + 1)[1:-1])
        ends = np.unique(np.concatenate([[0], cuts, [len(self)]]))
        return [(int(lo), int(hi)) for lo, hi in pairwise(ends)]


def derivatives_of_groups(
    scores: NDArray[np.float64],
    rows: Index,
    ptr: Index,
    weight: NDArray[np.float64],
    *,
    loss: Loss,
    power: float,
    gradient: NDArray[np.floating],
    hessian: NDArray[np.floating],
    counts: Vector | None = None,
) -> float:
    """Value, slopes and curvatures of ``Σ_k weight_k (Σ_{i in k} count_i L(−s_i)^p)^{1/p}``.

    Group ``k`` holds ``rows[ptr[k]:ptr[k+1]]``, some rows at least, and no row is in two groups;
    ``counts`` are those of ``rows``, all 1 by default. The power ``p`` is finite. The derivatives
    of all these rows are written. A curvature is the share of a candidate in the norm times that of
    its own loss, or times the loss's ``least_curvature``. Returns the value.
    """
    total, first = 0.0, 0
    while first < len(ptr) - 1:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + _ROWS_AT_ONCE, "right")) - 1)
        inside = rows[ptr[first] : ptr[last]]
        begin, sizes = ptr[first:last] - ptr[first], np.diff(ptr[first : last + 1])
        of_row = loss.jet(-scores[inside].astype(np.float32))
        scale = weight[first:last]
        count = None if counts is None else counts[ptr[first] : ptr[last]].astype(np.float32)
        if power == 1.0:
            share = np.repeat(scale.astype(np.float32), sizes)
            value = of_row.value if count is None else of_row.value * count
            total += float(scale @ np.add.reduceat(value, begin, dtype=np.float64))
        else:
            largest = np.maximum.reduceat(of_row.value, begin)
            share, norm = _shares(of_row.value, largest, begin, sizes, power, count)
            total += float(scale @ (largest * norm))
            share *= np.repeat((scale / norm ** (power - 1.0)).astype(np.float32), sizes)
        if count is not None:
            share *= count
        gradient[inside] = share * -of_row.slope
        hessian[inside] = share * np.maximum(of_row.curvature, np.float32(loss.least_curvature))
        first = last
    return total


def _shares(
    value: Slopes,
    largest: Slopes,
    begin: Index,
    sizes: Index,
    power: float,
    count: Slopes | None,
) -> tuple[Slopes, NDArray[np.float64]]:
    """``(L_i / L_max)^{p−1}`` of every candidate, and ``‖L / L_max‖_p`` of every group."""
    # Where no candidate has a loss, none has a share.
    of_row = np.repeat(np.where(largest > 0.0, largest, np.float32(np.inf)), sizes)
    ratio = value / of_row
    with np.errstate(divide="ignore"):
        share = np.log(ratio)
    share *= np.float32(min(power - 1.0, _LARGEST_EXPONENT))
    np.exp(share, out=share)
    share[share < _NO_SHARE] = 0.0
    of_row = share * ratio if count is None else share * ratio * count
    powers = np.add.reduceat(of_row, begin, dtype=np.float64)
    return share, np.where(largest > 0.0, powers, 1.0) ** (1.0 / power)
