"""The loss of a group of candidates as a norm of their losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.group_derivatives import LOSSES, derivatives_of_groups
from groupcm.candidates import NO_ORDER, Index, Terms
from groupcm.kernels.screen import run_maxima
from groupcm.parallel import n_threads, thread_map

__all__ = ["Groupwise", "PowerLoss", "Slopes", "Vector"]

Vector = NDArray[np.float64]
Slopes = NDArray[np.floating]

# Newton's steps need some curvature where the smoothed hinge has none.
_LEAST_CURVATURE = {"logistic": 1e-3, "smoothed_hinge": 0.1}
_ROWS_A_THREAD = 50_000


@dataclass(frozen=True)
class Groupwise:
    """Rows in groups: group ``k`` holds ``rows[ptr[k]:ptr[k+1]]``."""

    rows: Index
    ptr: Index

    @classmethod
    def of_terms(cls, terms: Sequence[Terms]) -> Groupwise:
        rows = [each.rows(np.arange(each.n_rows)) for each in terms]
        sizes = [np.ones(each.n_rows) if each.alone else each.stop - each.start for each in terms]
        ptr = np.cumsum(np.concatenate([[0], *sizes])).astype(np.int64)
        return cls(np.concatenate([NO_ORDER, *rows]), ptr)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def at(self, rows: Index) -> Groupwise:
        """The same groups when only these rows, ascending, are there."""
        return Groupwise(np.searchsorted(rows, self.rows), self.ptr)

    def winners(self, scores: Vector) -> Index:
        """The row of largest score of each group."""
        best, place = np.empty(len(self)), np.empty(len(self), dtype=np.int64)
        run_maxima(scores[self.rows], self.ptr[:-1], best, place)
        return self.rows[place]

    def pieces(self) -> list[tuple[int, int]]:
        """Runs of groups with about the same number of rows, one for each thread."""
        n = max(1, min(n_threads(), len(self.rows) // _ROWS_A_THREAD))
        cuts = np.searchsorted(self.ptr, np.linspace(0, len(self.rows), n + 1)[1:-1])
        ends = np.unique(np.concatenate([[0], cuts, [len(self)]]))
        return [(int(lo), int(hi)) for lo, hi in pairwise(ends)]


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
        if self.loss not in LOSSES:
            listed = ", ".join(map(repr, LOSSES))
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
        alone = Groupwise(np.arange(len(rows)), np.arange(len(rows) + 1))
        slope, curvature = np.zeros(len(rows)), np.zeros(len(rows))
        value = self._set_alone(-scores[rows], alone, weight, slope, curvature)
        np.add.at(gradient, rows, -slope)
        np.add.at(hessian, rows, curvature)
        return value

    def set_negative(
        self, scores: Vector, groups: Groupwise, weight: float, gradient: Slopes, hessian: Slopes
    ) -> float:
        """Write the derivatives of ``weight Σ_k ‖(L(−s_i))_{i in k}‖_p``, and return its value."""
        return self._set(scores, groups, np.full(len(groups), weight), gradient, hessian)

    def _set_alone(
        self, scores: Vector, groups: Groupwise, weight: Vector, gradient: Slopes, hessian: Slopes
    ) -> float:
        """Of groups of one candidate: every norm is its loss."""
        return replace(self, power=1.0)._set(scores, groups, weight, gradient, hessian)

    def _set(
        self, scores: Vector, groups: Groupwise, weight: Vector, gradient: Slopes, hessian: Slopes
    ) -> float:
        if self.power == np.inf:
            # The largest loss is that of the largest score, alone.
            alone = groups.winners(scores)
            winners = Groupwise(alone, np.arange(len(alone) + 1))
            return self._set_alone(scores, winners, weight, gradient, hessian)

        def work(piece: tuple[int, int]) -> float:
            lo, hi = piece
            return derivatives_of_groups(
                scores,
                groups.rows,
                groups.ptr[lo : hi + 1],
                weight[lo:hi],
                loss=self.loss,
                delta=float(self.delta),
                power=float(self.power),
                least_curvature=_LEAST_CURVATURE[self.loss],
                gradient=gradient,
                hessian=hessian,
            )

        return float(sum(thread_map(work, groups.pieces())))
