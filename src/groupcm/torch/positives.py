"""Which candidates stand for the positive groups, and what each weighs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from groupcm.torch.maxima import first_winners
from groupcm.torch.precision import wide_dtype
from groupcm.torch.row_groups import RowGroups

__all__ = ["PositiveTerms", "positive_terms"]


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
