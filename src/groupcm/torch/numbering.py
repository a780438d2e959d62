"""Groups of rows, from ids in any order or from where groups begin."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from groupcm.torch.batch import as_numbers, require_whole, whole_a_candidate
from groupcm.torch.block_groups import BlockGroups
from groupcm.torch.row_groups import RowGroups

__all__ = ["number_groups"]

# Ids that lie this close together are group numbers already; others are sorted first.
_NUMBERS_A_ROW = 4
_FEW_NUMBERS = 1024
_FEW_ROWS = 1000


def number_groups(groups: Any, offsets: Any, scores: Tensor) -> RowGroups | BlockGroups:
    """Number the groups of the rows of ``scores``; without ids and offsets every row is one.

    Examples
    --------
    >>> number_groups(None, [0, 2, 3], torch.zeros(3))
    RowGroups(of_row=tensor([0, 0, 1]), n_groups=2)
    >>> number_groups([8, 5, 8], None, torch.zeros(3)).of(torch.tensor([0, 1]))
    tensor([3, 0])
    """
    if groups is not None and offsets is not None:
        raise ValueError("groups and offsets are both given; give one of the two.")
    if groups is not None:
        return _from_ids(whole_a_candidate(groups, "groups", scores))
    if offsets is not None:
        return _from_offsets(as_numbers(offsets, "offsets", scores.device), len(scores))
    return RowGroups(torch.arange(len(scores), device=scores.device), len(scores))


def _from_ids(ids: Tensor) -> RowGroups | BlockGroups:
    low, high = (int(end) for end in ids.aminmax())
    n_numbers = high - low + 1
    if n_numbers > max(_NUMBERS_A_ROW * len(ids), _FEW_NUMBERS):
        distinct, number = torch.unique(ids, return_inverse=True)
        return RowGroups(number.contiguous(), len(distinct))
    number = (ids - low if low else ids).contiguous()
    if BlockGroups.suits(n_numbers, len(ids)) and _is_sorted(number):
        ends = torch.arange(n_numbers + 1, device=ids.device)
        return BlockGroups(torch.searchsorted(number, ends), len(ids))
    return RowGroups(number, n_numbers)


def _is_sorted(numbers: Tensor) -> bool:
    """Whether they never fall; the first few tell it of most that do."""
    return all(bool((part[1:] >= part[:-1]).all()) for part in (numbers[:_FEW_ROWS], numbers))


def _from_offsets(offsets: Tensor, n_rows: int) -> RowGroups | BlockGroups:
    require_whole(offsets, "offsets")
    if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != n_rows:
        raise ValueError(
            "offsets must hold where each group begins and, last, where the last one ends: "
            f"from 0 to {n_rows}, the number of candidates; got {_ends_of(offsets)}."
        )
    offsets = offsets.long().contiguous()
    size = offsets.diff()
    if (size < 0).any():
        place = int((size < 0).nonzero()[0]) + 1
        raise ValueError(
            f"offsets falls from {int(offsets[place - 1])} to {int(offsets[place])} at place "
            f"{place}; a group ends where the next begins, so it must never fall."
        )
    if BlockGroups.suits(len(size), n_rows):
        return BlockGroups(offsets, n_rows)
    return RowGroups(torch.repeat_interleave(size, output_size=n_rows), len(size))


def _ends_of(offsets: Tensor) -> str:
    if offsets.ndim != 1 or len(offsets) < 2:
        return f"shape {tuple(offsets.shape)}"
    return f"{int(offsets[0])} to {int(offsets[-1])}"
