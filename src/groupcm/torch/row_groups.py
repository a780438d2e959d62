"""Groups whose rows may stand anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from groupcm.torch.precision import wide_dtype
from groupcm.torch.true_rows import true_rows

__all__ = ["RowGroups"]

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
        """The groups of some rows."""
        return self.of_row[rows]

    def maxima(self, values: Tensor) -> Tensor:
        """The largest value of each group, −∞ for a group of no row."""
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
        """The rows that are the ``largest`` of their groups, or NaN like it, and these groups."""
        # In place and then to bool: several times faster than torch's comparison to bool.
        reached = largest.index_select(0, self.of_row).eq_(values).bool()
        if largest.isnan().any():  # NaN equals nothing, and shall be seen
            reached |= values.isnan()
        rows = true_rows(reached)
        return rows, self.of_row[rows]

    def sums(self, values: Tensor) -> Tensor:
        """The sum of each group, in float64 where there is such a thing."""
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


def _folded(strands: Tensor, fold: Callable[[Tensor, int], Tensor]) -> Tensor:
    return strands[0] if len(strands) == 1 else fold(strands, 0)
