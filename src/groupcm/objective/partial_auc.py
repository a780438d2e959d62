"""The part of the ROC curve that matters: the convex group partial AUC, its dual and certificate.

::

    minimise  ρ Σ_j h(f_j w_j) + (2λ / φ) Σ_k p_k  max over q of  Σ_l q_l L(x_k + y_l)

    x_k = min over i in term k of s_i,   y_l = −max over i in term l of s_i,   s_i = w·x_i
    0 ≤ q_l ≤ u_l,   Σ_l q_l = φ,        Σ_k p_k = Σ_l u_l = 1

With equal weights ``φ = m / n−``, ``m = ⌈β n−⌉``, and the maximum is the mean over the pairs of
each positive group with the ``m`` negative groups of the largest scores: ``L`` never increases, so
these are the same for every ``k``. ``β`` (``max_fpr``) of 1 is the AUC; with 0.1 the objective is a
convex bound of the partial AUC up to a false-positive rate of 0.1. There is no intercept.

Any ``q`` within its limits and any ``0 ≤ a_kl ≤ −L'`` bound the optimum from below::

    D = (2λ / φ) Σ_kl p_k q_l (−L*(−a_kl)) − ρ Σ_j h*(v_j / (ρ f_j))
    v = (2λ / φ) Σ_kl p_k q_l a_kl (x̃_k − z̃_l)

where ``x̃_k`` and ``z̃_l`` are convex combinations of the rows of a term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groupcm.kernels.pairs import soft_top
from groupcm.objective.losses.base import Loss
from groupcm.objective.pairs import Pairs, make_pairs
from groupcm.objective.problem import DualSums, Problem
from groupcm.objective.terms import Terms
from groupcm.utils.typing import Vector

__all__ = ["PairWeights", "PartialAuc", "SoftPairs", "top_share"]

# A sum over pairs may be wrong by this share of the squares of its margins, for each that is added.
_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
# Ratios of weights that are so near a whole number are one.
_WHOLE = 1e-9
# So close to the whole weight of all negative terms there is nothing to choose.
_ALL = 1.0 - 1e-12


@dataclass(frozen=True)
class PartialAuc(Problem):
    """Loss, penalty, ``ρ`` and ``f``, with ``β`` (``max_fpr``) and the ``2λ`` of the pairs.

    Examples
    --------
    >>> from groupcm.objective.losses import make_loss
    >>> from groupcm.objective.penalties import make_penalty
    >>> problem = PartialAuc(make_loss("hinge"), make_penalty("l2"), 1.0, max_fpr=0.5, cost=1.0)
    >>> weights = PairWeights(1.0, 4.0, 0.5)
    >>> x, y = np.array([1.0]), np.array([-2.0, 0.5, -1.0, 3.0])
    >>> problem.pairs_value(weights, x, np.ones(1), y, np.ones(4))
    1.5
    """

    max_fpr: float = 1.0
    cost: float = 1.0
    known: PairWeights | None = None

    def weights_of(self, terms: Sequence[Terms]) -> PairWeights:
        """Return what all terms weigh together; ``known`` where these are only some of them."""
        return PairWeights.of(terms, self.max_fpr) if self.known is None else self.known

    def best_constant(self, positive: float, negative: float) -> tuple[float, float]:
        """Return 0, since there is no intercept, and the objective at ``w = 0``."""
        return 0.0, self.cost * float(self.loss.value(0.0))

    def pairs_value(
        self, weights: PairWeights, x: Vector, p: Vector, y: Vector, u: Vector
    ) -> float:
        """Return the loss of the pairs at hard margins ``x`` and ``y``, without the penalty.

        ``p`` and ``u`` are the weights of the terms, of all of which ``weights`` has the sums.
        """
        u = u / weights.negative
        chosen, q = top_share(y, u, weights.share)
        pairs = make_pairs(x, y[chosen], self.loss)
        value = pairs.gains(p / weights.positive).value
        return self.cost / weights.share * float(value @ q)


@dataclass(frozen=True)
class PairWeights:
    """What the positive and the negative terms weigh together, and ``φ``."""

    positive: float
    negative: float
    share: float

    @classmethod
    def of(cls, terms: Sequence[Terms], max_fpr: float) -> PairWeights:
        """Sum the weights of all terms.

        Where all negative terms weigh the same, ``φ n− = ⌈β n−⌉``. Where their weights are whole
        multiples of the smallest one, each counts as so many terms; else ``φ = β``.
        """
        total = {
            sign: sum(part.total_weight for part in terms if part.sign == sign) for sign in (1, -1)
        }
        negative = [part for part in terms if part.sign < 0]
        least = min(float(np.min(part.weight)) for part in negative)
        n = 0.0
        for part in negative:
            times = np.ravel(part.weight) / least
            if np.any(np.abs(times - np.rint(times)) > _WHOLE * times):
                return cls(total[1], total[-1], max_fpr)
            n += float(np.sum(np.rint(times))) * len(part) / len(times)
        return cls(total[1], total[-1], min(1.0, np.ceil(max_fpr * n * (1.0 - 1e-12)) / n))


def top_share(y: Vector, u: Vector, share: float) -> tuple[np.ndarray, Vector]:
    """Return which terms are among the largest scores, smallest ``y`` first, and their ``q``.

    Their weights are ``u`` but for the last one, of which as much is taken as is left.

    Examples
    --------
    >>> top_share(np.array([0.3, -1.0, 0.1]), np.full(3, 1 / 3), 0.5)
    (array([1, 2]), array([0.33333333, 0.16666667]))
    """
    chosen = np.arange(len(y))
    if len(y) > 1 and share < _ALL and np.ptp(u) == 0.0:
        # One more than needed, so that rounding of the share cannot leave any out.
        n = min(len(y) - 1, int(share / u[0]) + 1)
        chosen = np.argpartition(y, n)[: n + 1]
    chosen = chosen[np.argsort(y[chosen], kind="stable")]
    q = u[chosen]
    left = share - (np.cumsum(q) - q)
    q = np.clip(left, 0.0, q)
    # What is left by the rounding of a sum is nothing.
    kept = q > 1e-12 * u[chosen]
    return chosen[kept], q[kept]


class SoftPairs:
    """The loss of the pairs at soft margins, where the choice of the largest is soft as well.

    ::

        V_l = Σ_k p_k L(x_k + y_l)
        F   = (2λ / φ) · min over ν of  φ ν + Σ_l u_l T log(1 + exp((V_l − ν) / T))
        q_l = u_l / (1 + exp((ν − V_l) / T))

    ``F`` is convex in the weights of the model and above the loss by at most ``(2λ / φ) T log 2``.
    A loss without curvature is first replaced by one that has some (`Loss.curved`).

    Parameters
    ----------
    problem : PartialAuc
    weights : PairWeights
    x, y : ndarray
        The (soft) margins of the positive and of the negative terms.
    p, u : ndarray
        The weights of these terms; terms that are left out have ``q_l = 0``.
    temperature : float
        ``T``.
    """

    def __init__(
        self,
        problem: PartialAuc,
        weights: PairWeights,
        x: Vector,
        p: Vector,
        y: Vector,
        u: Vector,
        temperature: float,
    ) -> None:
        self._x, self._y, self._temperature = x, y, temperature
        self._p, self._u = p / weights.positive, u / weights.negative
        self._share = weights.share
        self._factor = problem.cost / weights.share
        self._loss: Loss = problem.loss.curved(temperature)
        self._is_curved = self._loss is problem.loss
        self._pairs: Pairs = make_pairs(x, y, self._loss)
        self._gains = self._pairs.gains(self._p)
        self.q, self.value = self._choose(self._gains.value)

    def _choose(self, value: Vector) -> tuple[Vector, float]:
        """Return ``q`` and ``F``."""
        u, T = self._u, self._temperature
        if len(u) == 0 or float(np.sum(u)) * _ALL <= self._share:
            return u, self._factor * float(u @ value)
        chosen, _ = top_share(-value, u, self._share)
        q = np.empty_like(u)
        nu = soft_top(value, u, self._share, T, float(value[chosen[-1]]), q)
        soft = T * np.logaddexp(0.0, (value - nu) / T)
        total = float(np.sum(q))
        if total > self._share:
            q *= self._share / total
        return q, self._factor * (self._share * nu + float(u @ soft))

    @cached_property
    def _slopes(self) -> Vector:
        """``Σ_k p_k a_kl``."""
        if self._loss.pieces:
            return self._gains.linear
        return self._pairs.slopes_over_positive(self._p)

    @cached_property
    def positive_mass(self) -> Vector:
        """``−∂F/∂x_k``: what each positive term weighs in the dual."""
        return self._factor * self._p * self._pairs.slopes_over_negative(self.q)

    @cached_property
    def negative_mass(self) -> Vector:
        """``−∂F/∂y_l``."""
        return self._factor * self.q * self._slopes

    def duals(self, positive: Vector, negative: Vector) -> tuple[DualSums, DualSums]:
        """Return the sums of the certificate; the arguments are the moments of both sides.

        The gain is made smaller by what rounding of the sums over pairs may have added.
        """
        linear = self._factor * float(self.q @ self._gains.linear)
        # Of a loss without curvature −L*(−a) is linear, with any substitute here.
        square = self._factor * float(self.q @ self._gains.square) * self._is_curved
        lost = 1.0 + float(self._p @ (self._x * self._x))
        lost = lost * float(np.sum(self.q)) + float(self.q @ (self._y * self._y))
        bend = max((abs(piece.square) for piece in self._loss.pieces), default=0.0)
        n = len(self._x) + len(self._y)
        lost *= _ROUNDING * n * (1.0 + bend) * self._factor
        linear = max(0.0, linear - lost)
        return DualSums(positive, linear, square + lost), DualSums(negative, 0.0, 0.0)

    def curvature(self, of_x: Vector, of_y: Vector) -> tuple[Vector, Vector]:
        """Return the second derivative of ``F`` by the margins, times changes of both.

        The changes may be vectors, or matrices with one column per change.
        """
        column = (slice(None),) + (None,) * (of_x.ndim - 1)
        p, q = self._p[column], self.q[column]
        pairs, bends = self._pairs, self._bends
        to_x = p * (bends[0][column] * of_x + pairs.bends_over_negative(q * of_y))
        to_y = q * (bends[1][column] * of_y + pairs.bends_over_positive(p * of_x))
        r = self.q * (1.0 - self.q / np.maximum(self._u, 1e-300)) / self._temperature
        moving = float(np.sum(r))
        if self.q is not self._u and moving > 0.0:
            change = -(pairs.slopes_over_positive(p * of_x) + self._slopes[column] * of_y)
            change = r[column] * (change - (r @ change) / moving)
            to_x -= p * pairs.slopes_over_negative(change)
            to_y -= self._slopes[column] * change
        return self._factor * to_x, self._factor * to_y

    @cached_property
    def _bends(self) -> tuple[Vector, Vector]:
        """``Σ_l q_l L''`` for each positive term, and ``Σ_k p_k L''`` for each negative one."""
        return (
            self._pairs.bends_over_negative(self.q),
            self._pairs.bends_over_positive(self._p),
        )
