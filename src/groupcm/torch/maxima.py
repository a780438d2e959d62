"""The largest score of each group, hard and soft, with no padding and no sort.

::

    hard:   m_k = max_{i∈G_k} s_i                        slope 1 at the first winner
    soft:   m_k = T log Σ_{i∈G_k} exp(s_i / T)           slope p_i = exp(s_i / T) / Σ exp(s / T)

The soft maximum is that of `groupcm.objective.smoothed`, where it is the soft minimum of the
margins ``−s_i``. The maximum of a group without rows is −∞. Where scores are ∞, both are ∞, and the
rows that score ∞ share the soft slope.
"""

from __future__ import annotations

import math
from typing import Any

from torch.autograd.function import once_differentiable

import torch
from groupcm.torch.block_groups import BlockGroups
from groupcm.torch.row_groups import RowGroups
from torch import Tensor

__all__ = ["first_winners", "soft_maxima"]

# Maxima at most so many T apart can be taken from one shift: at exp(−56) a winner is so far above
# float32's smallest number, exp(−87), that a million rows below that one are negligible.
_REACH = 56.0


def first_winners(
    scores: Tensor,
    groups: RowGroups | BlockGroups,
    largest: Tensor,
    never: Tensor | None = None,
) -> Tensor:
    """Return the row of each group's winner, the first where several tie; n for a group of no row.

    ``largest`` has the groups' maxima. The rows ``never``, which had −∞ there, do not win.

    Examples
    --------
    >>> scores, groups = torch.tensor([1.0, 3.0, 3.0]), RowGroups(torch.tensor([2, 0, 0]), 3)
    >>> first_winners(scores, groups, groups.maxima(scores))
    tensor([1, 3, 0])
    """
    rows, of_rows = groups.reaching(scores, largest)
    if never is not None:
        may = torch.ones(len(scores), dtype=torch.bool, device=scores.device)
        kept = may.index_fill_(0, never, False)[rows]
        rows, of_rows = rows[kept], of_rows[kept]
    none = torch.full((groups.n_groups,), len(scores), device=scores.device)
    return none.scatter_reduce_(0, of_rows, rows, "amin")


def soft_maxima(
    scores: Tensor,
    groups: RowGroups | BlockGroups,
    largest: Tensor,
    temperature: float,
    *,
    takes_part: Tensor,
    alone: Tensor,
    never: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the scores of the rows ``alone``, and the soft maximum of each group that takes part.

    ``largest`` has the groups' maxima; a soft maximum is above it by ``T log n_k`` at most.
    The rows ``never``, which had −∞ there, have no share. Both in one, because the slope of each
    by all scores costs as much as the rest.

    Examples
    --------
    >>> scores = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> groups = RowGroups(torch.tensor([1, 0, 0]), 2)
    >>> largest, both = groups.maxima(scores.detach()), torch.tensor([True, True])
    >>> _, soft = soft_maxima(
    ...     scores, groups, largest, 0.1, takes_part=both, alone=torch.tensor([0])
    ... )
    >>> soft.sum().backward()
    >>> scores.grad
    tensor([1.0000, 0.5000, 0.5000])
    """
    found, _, _ = _SoftMaxima.apply(scores, groups, largest, temperature, takes_part, alone, never)
    return found[: len(alone)], found[len(alone) :][takes_part]


class _SoftMaxima(torch.autograd.Function):
    """Written out, so that backward costs one pass and keeps one number per candidate."""

    @staticmethod
    def forward(
        scores: Tensor,
        groups: RowGroups | BlockGroups,
        largest: Tensor,
        T: float,
        takes_part: Tensor,
        alone: Tensor,
        never: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        of_alone, is_infinite = scores.index_select(0, alone), largest == torch.inf
        if not (largest < torch.inf).all():
            scores, largest = _tamed(scores, groups, largest, takes_part)
        is_empty = largest == -torch.inf
        # Anything finite keeps ∞ − ∞ away.
        shift = largest.masked_fill(is_empty, 0.0)
        lowest, highest = shift.aminmax()
        if highest - lowest <= _REACH * T:
            shift = highest
            part = scores - shift
        else:
            part = groups.combined(torch.sub, scores, shift)
        part = _exponentials(part.div_(T))
        if never is not None:
            part.index_fill_(0, never, 0.0)
        total = groups.sums(part).masked_fill_(is_empty, 1.0)
        soft = (T * total.log()).add_(shift).to(scores.dtype).masked_fill_(is_empty, -torch.inf)
        soft.masked_fill_(is_infinite, torch.inf)
        return torch.cat([of_alone, soft]), part, total.to(scores.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.groups, alone = inputs[1], inputs[5]
        _, part, total = output
        ctx.mark_non_differentiable(part, total)
        ctx.set_materialize_grads(False)  # zeros for every candidate, which are not needed
        ctx.save_for_backward(part, total, alone)

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, by_found: Tensor | None, *_: None
    ) -> tuple[Tensor | None, ...]:
        part, total, alone = ctx.saved_tensors
        slope = None
        if by_found is not None:
            by_alone, by_soft = by_found.split([len(alone), len(total)])
            slope = ctx.groups.combined(torch.mul, part, by_soft / total)
            slope.index_add_(0, alone, by_alone)
        return slope, None, None, None, None, None, None


def _tamed(
    scores: Tensor, groups: RowGroups | BlockGroups, largest: Tensor, takes_part: Tensor
) -> tuple[Tensor, Tensor]:
    """Scores and maxima without ∞, and without NaN in groups that take no part.

    These groups are then empty. In a group of largest score ∞ those that have it are 0, others −∞.
    """
    is_left_out, is_infinite = ~takes_part, largest == torch.inf
    of_row = groups.of(torch.arange(len(scores), device=scores.device))
    winners = torch.where(scores == torch.inf, 0.0, -torch.inf).to(scores.dtype)
    scores = torch.where(is_infinite[of_row], winners, scores)
    scores = scores.masked_fill_(is_left_out[of_row], -torch.inf)
    return scores, largest.masked_fill(is_infinite, 0.0).masked_fill_(is_left_out, -torch.inf)


def _exponentials(exponents: Tensor) -> Tensor:
    """In their place, and 0 where they would be less than the smallest normal number.

    On the way to such numbers torch's exponential is more than ten times slower.
    """
    tiny = torch.finfo(exponents.dtype).tiny
    parts = exponents.clamp_(min=math.log(2.0 * tiny)).exp_()
    return torch.threshold_(parts, 3.0 * tiny, 0.0)
