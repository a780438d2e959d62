"""The largest score of each group, hard and soft, with no padding and no sort.

::

    hard:   m_k = max_{i∈G_k} s_i                        slope 1 at the first winner
    soft:   m_k = T log Σ_{i∈G_k} exp(s_i / T)           slope p_i = exp(s_i / T) / Σ exp(s / T)

The soft one is that of `groupcm.smoothing`; there it is the soft minimum of margins ``−s_i``.
The maximum of a group of no row is −∞. Where scores are ∞, both are ∞, and the soft slope is
shared by the rows that have it.

Which candidates stand for the positive groups, and what each weighs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from torch.autograd.function import once_differentiable

import torch
from groupcm.torch.block_groups import BlockGroups
from groupcm.torch.row_groups import RowGroups, wide_dtype
from torch import Tensor

__all__ = ["PositiveTerms", "first_winners", "positive_terms", "soft_maxima"]

# Maxima at most so many T apart can be taken from one shift: at exp(−56) a winner is so far above
# float32's smallest number, exp(−87), that a million rows below that one are nothing beside it.
_REACH = 56.0


def first_winners(
    scores: Tensor,
    groups: RowGroups | BlockGroups,
    largest: Tensor,
    never: Tensor | None = None,
) -> Tensor:
    """The row of each group's winner, the first where several tie; n for a group of no row.

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
    """The scores of the rows ``alone``, and the soft maximum of each group that takes part.

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
    """Written out, so that backward costs one pass and keeps one number a candidate."""

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
        nobody = largest == -torch.inf
        # Anything finite keeps ∞ − ∞ away.
        shift = largest.masked_fill(nobody, 0.0)
        lowest, highest = shift.aminmax()
        if highest - lowest <= _REACH * T:
            shift = highest
            part = scores - shift
        else:
            part = groups.combined(torch.sub, scores, shift)
        part = _exponentials(part.div_(T))
        if never is not None:
            part.index_fill_(0, never, 0.0)
        total = groups.sums(part).masked_fill_(nobody, 1.0)
        soft = (T * total.log()).add_(shift).to(scores.dtype).masked_fill_(nobody, -torch.inf)
        soft.masked_fill_(is_infinite, torch.inf)
        return torch.cat([of_alone, soft]), part, total.to(scores.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.groups, alone = inputs[1], inputs[5]
        _, part, total = output
        ctx.mark_non_differentiable(part, total)
        ctx.set_materialize_grads(False)  # zeros for every candidate, which nobody needs
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

    These have nobody then. In a group of largest score ∞ those that have it are 0, others −∞.
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


@dataclass(frozen=True, eq=False)
class PositiveTerms:
    """Candidates that stand for positive groups.

    Attributes
    ----------
    row, group : Tensor of shape (k,), int64
        The candidate, and the number of its group.
    weight : Tensor of shape (k,)
        All groups weigh the same, and the weights add up to 1.
    """

    row: Tensor
    group: Tensor
    weight: Tensor


def positive_terms(
    row: Tensor,
    group: Tensor,
    objects: Tensor | None = None,
    overlap: Tensor | None = None,
    min_overlap: float = 0.0,
) -> PositiveTerms:
    """Choose among the positive candidates ``row`` of the groups ``group``, rows in their order.

    ``objects`` and ``overlap`` are those of these candidates. Without ``objects`` every group
    shows one object.

    Examples
    --------
    Group 0 shows one object, of which candidate 3 fits best; group 1 shows two.

    >>> terms = positive_terms(
    ...     row=torch.tensor([2, 3, 7, 8]),
    ...     group=torch.tensor([0, 0, 1, 1]),
    ...     objects=torch.tensor([5, 5, 0, 1]),
    ...     overlap=torch.tensor([0.4, 0.9, 0.5, 0.6]),
    ... )
    >>> terms.row, terms.weight
    (tensor([3, 7, 8]), tensor([0.5000, 0.2500, 0.2500], dtype=torch.float64))
    """
    dtype = wide_dtype(row.device)
    of_object = group if objects is None else _object_numbers(group, objects)
    if overlap is None:
        count = torch.bincount(of_object)
        share = 1.0 / count[of_object].to(dtype)
    else:
        overlap = overlap.to(dtype)
        _require_finite(overlap, row)
        best = _best_fitting(of_object, overlap)
        best = best[overlap[best] >= min_overlap]
        row, group = row[best], group[best]
        share = torch.ones(len(row), dtype=dtype, device=row.device)
    n_objects = torch.zeros(_n_numbers(group), dtype=dtype, device=row.device)
    n_objects.index_add_(0, group, share)
    n_groups = torch.count_nonzero(n_objects)
    return PositiveTerms(row, group, share / (n_objects[group] * n_groups))


def _object_numbers(group: Tensor, objects: Tensor) -> Tensor:
    """One number for each object of each group: ids of objects mean nothing across groups."""
    if len(group) == 0:
        return group
    ids, number = torch.unique(objects, return_inverse=True)
    return torch.unique(group * len(ids) + number, return_inverse=True)[1]


def _best_fitting(of_object: Tensor, overlap: Tensor) -> Tensor:
    """Where each object has its largest overlap, the first where several do."""
    objects = RowGroups(of_object, _n_numbers(of_object))
    best = first_winners(overlap, objects, objects.maxima(overlap))
    return best[best < len(overlap)]


def _n_numbers(numbers: Tensor) -> int:
    return int(numbers.max()) + 1 if len(numbers) else 0


def _require_finite(overlap: Tensor, row: Tensor) -> None:
    finite = torch.isfinite(overlap)
    if not finite.all():
        raise ValueError(
            f"overlap is not a finite number at row {int(row[~finite][0])}; "
            "every positive candidate needs one."
        )
