"""The largest score of each group, hard and soft, with no padding and no sort.

::

    hard:   m_k = max_{i∈G_k} s_i                        slope 1 at the first winner
    soft:   m_k = T log Σ_{i∈G_k} exp(s_i / T)           slope p_i = exp(s_i / T) / Σ exp(s / T)

The soft one is that of `groupcm.smoothing`; there it is the soft minimum of margins ``−s_i``.
The maximum of a group of no row is −∞.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from groupcm.torch.precision import wide_dtype
from groupcm.torch.row_groups import RowGroups
from groupcm.torch.true_rows import true_rows

__all__ = ["first_winners", "hard_maxima", "soft_maxima"]

# What float32 may add up, and what torch does on one core and in its cache.
_FEW_ROWS = 256
_MANY_ROWS = 32_768


def hard_maxima(scores: Tensor, groups: RowGroups) -> Tensor:
    """The largest score of each group, without a slope.

    Examples
    --------
    >>> hard_maxima(torch.tensor([1.0, 3.0, 2.0]), RowGroups(torch.tensor([2, 0, 0]), 3))
    tensor([3., -inf, 1.])
    """
    lowest = torch.full((groups.n_groups,), -torch.inf, dtype=scores.dtype, device=scores.device)
    return lowest.scatter_reduce_(0, groups.of_row, scores.detach(), "amax")


def first_winners(
    scores: Tensor, groups: RowGroups, largest: Tensor, never: Tensor | None = None
) -> Tensor:
    """The row of each group's winner, the first where several tie; n for a group of no row.

    ``largest`` is what `hard_maxima` found. The rows ``never``, which had −∞ there, do not win.

    Examples
    --------
    >>> scores, groups = torch.tensor([1.0, 3.0, 3.0]), RowGroups(torch.tensor([2, 0, 0]), 3)
    >>> first_winners(scores, groups, hard_maxima(scores, groups))
    tensor([1, 3, 0])
    """
    scores = scores.detach()
    # In place and then to bool: several times faster than torch's comparison to bool.
    wins = largest.index_select(0, groups.of_row).eq_(scores).bool()
    if largest.isnan().any():  # NaN equals nothing, and shall be seen
        wins |= scores.isnan()
    if never is not None:
        wins.index_fill_(0, never, False)
    rows = true_rows(wins)
    none = torch.full((groups.n_groups,), len(scores), device=scores.device)
    return none.scatter_reduce_(0, groups.of_row[rows], rows, "amin")


def soft_maxima(
    scores: Tensor,
    groups: RowGroups,
    largest: Tensor,
    temperature: float,
    *,
    alone: Tensor,
    never: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The scores of the rows ``alone``, and the soft maximum of each group.

    ``largest`` is what `hard_maxima` found; a soft maximum is above it by ``T log n_k`` at most.
    The rows ``never``, which had −∞ there, have no share. Both in one, because the slope of each
    by all scores costs as much as the rest.

    Examples
    --------
    >>> scores = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> groups = RowGroups(torch.tensor([1, 0, 0]), 2)
    >>> largest = hard_maxima(scores, groups)
    >>> _, soft = soft_maxima(scores, groups, largest, 0.1, alone=torch.tensor([0]))
    >>> soft.sum().backward()
    >>> scores.grad
    tensor([1.0000, 0.5000, 0.5000])
    """
    return _SoftMaxima.apply(scores, groups, largest, temperature, alone, never)


class _SoftMaxima(torch.autograd.Function):
    """Written out, so that backward costs two passes and keeps one number a candidate."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        groups: RowGroups,
        largest: Tensor,
        T: float,
        alone: Tensor,
        never: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        # Where a maximum is −∞, anything finite keeps ∞ − ∞ away.
        part = largest.masked_fill(largest == -torch.inf, 0.0).index_select(0, groups.of_row)
        torch.sub(scores, part, out=part).div_(T).exp_()
        if never is not None:
            part.index_fill_(0, never, 0.0)
        # The winner alone is 1: less is a group of no row, or of −∞ alone.
        total = _sums(part, groups).clamp_(min=1.0)
        ctx.save_for_backward(part, groups.of_row, total.to(scores.dtype), alone)
        return scores.index_select(0, alone), largest + (T * total.log()).to(scores.dtype)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, by_alone: Tensor, by_soft: Tensor
    ) -> tuple[Tensor | None, ...]:
        part, of_row, total, alone = ctx.saved_tensors
        slope = (by_soft / total).index_select(0, of_row).mul_(part)
        return slope.index_add_(0, alone, by_alone), None, None, None, None, None


def _sums(values: Tensor, groups: RowGroups) -> Tensor:
    """Sums in float64 where there is such a thing, however long a group is."""
    wide = wide_dtype(values.device)
    total = torch.zeros(groups.n_groups, dtype=wide, device=values.device)
    if groups.offsets is not None and values.device.type == "cpu":
        # Many additions to one place, one right after another, would wait for each other.
        steps = torch.arange(0, len(values), _FEW_ROWS)
        pieces = torch.cat([groups.offsets, steps]).unique()
        sums = torch.segment_reduce(values, "sum", offsets=pieces, unsafe=True)
        return total.scatter_add_(0, groups.of_row[pieces[:-1]], sums.to(wide))
    # A copy of all rows would cost more than the sums.
    for piece, of_row in zip(
        values.split(_MANY_ROWS), groups.of_row.split(_MANY_ROWS), strict=True
    ):
        total.scatter_add_(0, of_row, piece.to(wide))
    return total
