"""The loss of pairs of groups, for trees: the partial area under the ROC curve of groups.

::

    c Σ_k p_k Σ_l q_l L(s_k* − M_l) / Σ_l q_l,   M_l = (1/p) log Σ_{i in l} exp(p s_i)

where ``q_l`` is the weight ``u_l`` of the negative groups of the largest ``M_l``, up to the share
``max_fpr`` of all, and ``c`` the weight of all groups together. The larger ``p``, the more ``M_l``
is the largest score of its group. The choice of the groups, too, becomes sharper from tree to tree:
it starts with all of them, since before the first tree all scores are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.boosting.power_loss import Groupwise, PowerLoss, Slopes
from groupcm.objective.losses import make_loss
from groupcm.objective.pairs import make_pairs
from groupcm.objective.partial_auc import top_share
from groupcm.objective.terms import Index
from groupcm.utils.typing import Vector

__all__ = ["PairLoss"]


@dataclass(frozen=True)
class PairLoss(PowerLoss):
    """`PowerLoss` of pairs of a positive and a negative group.

    Parameters
    ----------
    max_fpr : float
        The share of the negative groups that count, above 0.

    Examples
    --------
    >>> groups = Groupwise(np.array([1, 2]), np.array([0, 1, 2]), np.ones(2))
    >>> scores, slopes, curvatures = np.array([0.0, 1.0, -1.0]), np.zeros(3), np.zeros(3)
    >>> loss = PairLoss("smoothed_hinge", max_fpr=0.5)
    >>> loss.set_pairs(scores, np.array([0]), np.ones(1), groups, slopes, curvatures)
    4.5
    >>> slopes
    array([-3.,  3.,  0.])
    """

    max_fpr: float = 1.0

    def set_pairs(
        self,
        scores: Vector,
        rows: Index,
        weight: Vector,
        groups: Groupwise,
        gradient: Slopes,
        hessian: Slopes,
    ) -> float:
        """Add the derivatives of the loss by the scores, and return its value.

        ``rows`` are the positive ones, with their weights; the negative ones are those of
        ``groups``. A curvature is the share of a candidate in ``M_l`` times that of its group.
        """
        total = float(np.sum(weight) + np.sum(groups.weight))
        p, u = weight / np.sum(weight), groups.weight / np.sum(groups.weight)
        largest, share = self._largest(scores, groups)
        chosen, q = top_share(-largest, u, self._share(u))
        q *= total / np.sum(q)
        loss = make_loss(self.loss, self.delta)
        pairs = make_pairs(scores[rows], -largest[chosen], loss)
        value = float(pairs.gains(p).value @ q)
        least = loss.least_curvature
        np.add.at(gradient, rows, -p * pairs.slopes_over_negative(q))
        np.add.at(hessian, rows, p * np.maximum(pairs.bends_over_negative(q), least * total))
        slope, bend = np.zeros((2, len(groups)))
        slope[chosen] = q * pairs.slopes_over_positive(p)
        bend[chosen] = q * np.maximum(pairs.bends_over_positive(p), least)
        sizes = np.diff(groups.ptr)
        gradient[groups.rows] += share * np.repeat(slope, sizes)
        hessian[groups.rows] += share * np.repeat(bend, sizes)
        return value

    def _share(self, u: Vector) -> float:
        """Return the weight of the groups that count; a whole number of groups of equal ones."""
        if np.ptp(u) > 1e-12 * np.max(u):
            return self.max_fpr
        return float(np.ceil(self.max_fpr * len(u) * (1.0 - 1e-12)) / len(u))

    def _largest(self, scores: Vector, groups: Groupwise) -> tuple[Vector, Vector]:
        """Return the (soft) maximum of each group, and the share of each of its rows."""
        begin, sizes = groups.ptr[:-1], np.diff(groups.ptr)
        of_row = scores[groups.rows].astype(np.float64)
        top = np.maximum.reduceat(of_row, begin)
        behind = of_row - np.repeat(top, sizes)
        if self.power == np.inf:
            share = (behind == 0.0).astype(np.float64)
        else:
            share = np.exp(self.power * behind)
        if groups.counts is not None:
            share *= groups.counts
        total = np.add.reduceat(share, begin)
        share /= np.repeat(total, sizes)
        return top + (0.0 if self.power == np.inf else np.log(total) / self.power), share
