"""Groups whose rows may be anywhere in a batch, and their maxima and sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

__all__ = ["RowGroups", "true_rows", "wide_dtype"]

_BYTES_PER_WORD = 8
_FEW_ROWS = 10_000
# Rows that are widened at once, and those that make a strand worth its own sums.
_MANY_ROWS = 131_072


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Which group each row is in, and what groups find out of the values of their rows.

    Attributes
    ----------
    of_row : Tensor of shape (n,), int64
        The number of its group.
    n_groups : int
        All numbers are below it. Some may belong to no row.

    Examples
    --------
    >>> groups = RowGroups(torch.tensor([2, 0, 0]), 3)
    >>> groups.maxima(torch.tensor([1.0, 3.0, 2.0]))
    tensor([3., -inf, 1.])
    """

    of_row: Tensor
    n_groups: int

    @cached_property
    def size(self) -> Tensor:
        """How many rows each group has."""
        return torch.bincount(self.of_row, minlength=self.n_groups)

    def of(self, rows: Tensor) -> Tensor:
        """Return the groups of some rows."""
        return self.of_row[rows]

    def maxima(self, values: Tensor) -> Tensor:
        """Return the largest value of each group, −∞ for a group of no row."""
        in_strands, of_row = self._strands(values), self._strands(self.of_row)
        shape = (len(in_strands), self.n_groups)
        lowest = torch.full(shape, -torch.inf, dtype=values.dtype, device=values.device)
        largest = lowest.scatter_reduce_(1, of_row, in_strands, "amax")
        largest = _folded(largest, torch.amax)
        rest = in_strands.numel()
        if rest == len(values):
            return largest
        return largest.scatter_reduce_(0, self.of_row[rest:], values[rest:], "amax")

    def reaching(self, values: Tensor, largest: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows that are the ``largest`` of their groups, or NaN, and these groups."""
        # In place and then to bool: several times faster than torch's comparison to bool.
        reached = largest.index_select(0, self.of_row).eq_(values).bool()
        if largest.isnan().any():  # NaN equals nothing, and shall be seen
            reached |= values.isnan()
        rows = true_rows(reached)
        return rows, self.of_row[rows]

    def sums(self, values: Tensor) -> Tensor:
        """Return the sum of each group, in float64 where there is such a thing."""
        wide = wide_dtype(values.device)
        in_strands, of_row = self._strands(values), self._strands(self.of_row)
        shape = (len(in_strands), self.n_groups)
        total = torch.zeros(shape, dtype=wide, device=values.device)
        # A copy of all rows would cost more than the sums.
        for piece, of_piece in zip(
            in_strands.split(_MANY_ROWS, 1), of_row.split(_MANY_ROWS, 1), strict=True
        ):
            total.scatter_add_(1, of_piece, piece.to(wide))
        total = _folded(total, torch.sum)
        rest = in_strands.numel()
        if rest == len(values):
            return total
        return total.scatter_add_(0, self.of_row[rest:], values[rest:].to(wide))

    def combined(self, operation: Callable[..., Any], values: Tensor, of_group: Tensor) -> Tensor:
        """``operation`` on each value and on what its group has."""
        spread = of_group.index_select(0, self.of_row)
        return operation(values, spread, out=spread)

    def _strands(self, of_rows: Tensor) -> Tensor:
        """Nearly all rows, as so many long strands that every core has one.

        torch scatters one strand on one core.
        """
        n_rows = len(of_rows)
        cores = torch.get_num_threads() if of_rows.device.type == "cpu" else 1
        n_strands = max(1, min(cores, n_rows // max(4 * self.n_groups, _MANY_ROWS)))
        length = n_rows // n_strands
        return of_rows[: n_strands * length].view(n_strands, length)


def true_rows(mask: Tensor) -> Tensor:
    """Where ``mask`` holds; as `torch.nonzero`, but it looks at eight rows at once.

    Examples
    --------
    >>> true_rows(torch.arange(20) % 9 == 1)
    tensor([ 1, 10, 19])
    """
    if len(mask) < _FEW_ROWS:
        return mask.nonzero().squeeze(1)
    n_in_words = len(mask) // _BYTES_PER_WORD * _BYTES_PER_WORD
    words = mask[:n_in_words]
    begins = words.storage_offset() % _BYTES_PER_WORD or words.data_ptr() % _BYTES_PER_WORD
    if begins or words.stride(0) != 1:  # a slice, which words do not fit
        words = words.clone(memory_format=torch.contiguous_format)
    some = words.view(torch.int64).nonzero() * _BYTES_PER_WORD
    in_words = (some + torch.arange(_BYTES_PER_WORD, device=mask.device)).flatten()
    tail = torch.arange(n_in_words, len(mask), device=mask.device)
    rows = torch.cat([in_words, tail])
    return rows[mask[rows]]


def wide_dtype(device: torch.device) -> torch.dtype:
    """float64, where the device knows it.

    Examples
    --------
    >>> wide_dtype(torch.device("cpu")), wide_dtype(torch.device("mps"))
    (torch.float64, torch.float32)
    """
    return torch.float32 if device.type == "mps" else torch.float64


def _folded(strands: Tensor, fold: Callable[[Tensor, int], Tensor]) -> Tensor:
    return strands[0] if len(strands) == 1 else fold(strands, 0)
