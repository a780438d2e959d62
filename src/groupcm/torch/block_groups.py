"""Long groups whose rows are contiguous, processed in blocks of rows.

A block within one group is treated as a unit, which keeps torch on straight loops
and on all cores. The rows of the other blocks, a few for each place where a group ends, are
looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from groupcm.torch.row_groups import true_rows, wide_dtype
from torch import Tensor

__all__ = ["BlockGroups"]

# The narrowest that torch reduces with all lanes of a core.
_BLOCK = 32
# From so many rows in all to one row, finding groups by bisection is the slower way.
_FEW = 64


@dataclass(frozen=True, eq=False)
class BlockGroups:
    """As `RowGroups`, from where groups begin.

    Attributes
    ----------
    offsets : Tensor of shape (n_groups + 1,), int64
        Where each group begins and, last, the number of rows.
    n_rows : int

    Examples
    --------
    >>> groups = BlockGroups(torch.tensor([0, 40, 100]), 100)
    >>> groups.maxima(torch.arange(100.0))
    tensor([39., 99.])
    """

    offsets: Tensor
    n_rows: int

    @staticmethod
    def suits(n_groups: int, n_rows: int) -> bool:
        """Return whether most rows are in blocks within a group.

        Examples
        --------
        >>> BlockGroups.suits(10, 10_000), BlockGroups.suits(10, 100)
        (True, False)
        """
        return n_rows >= 2 * _BLOCK * n_groups

    @property
    def n_groups(self) -> int:
        """How many groups there are, those of no row among them."""
        return len(self.offsets) - 1

    @cached_property
    def size(self) -> Tensor:
        """How many rows each group has."""
        return self.offsets.diff()

    def of(self, rows: Tensor) -> Tensor:
        """Return the groups of some rows."""
        if len(rows) > self.n_rows // _FEW:
            return torch.repeat_interleave(self.size, output_size=self.n_rows)[rows]
        return torch.searchsorted(self.offsets, rows, right=True) - 1

    def maxima(self, values: Tensor) -> Tensor:
        """Return the largest value of each group, −∞ for a group of no row."""
        lowest = torch.full((self.n_groups,), -torch.inf, dtype=values.dtype, device=values.device)
        lowest.scatter_reduce_(0, self._of_block, self._block_maxima(values), "amax")
        return lowest.scatter_reduce_(0, self._of_edge, self._at_edges(values), "amax")

    def reaching(self, values: Tensor, largest: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows that are the ``largest`` of their groups, or NaN, and these groups."""
        same = _same_or_nan if largest.isnan().any() else torch.eq
        reached = largest.index_select(0, self._of_block)
        reach = same(self._block_maxima(values), reached).index_fill_(0, self._cut, False)
        blocks = true_rows(reach)
        inside = self._in_blocks(values).index_select(0, blocks)
        found = true_rows(same(inside, reached[blocks][:, None]).flatten())
        of_found, place = blocks[found // _BLOCK], found % _BLOCK
        reached = largest.index_select(0, self._of_edge)
        at_edge = true_rows(same(self._at_edges(values), reached))
        return (
            torch.cat([of_found * _BLOCK + place, self._edge_rows(at_edge)]),
            torch.cat([self._of_block[of_found], self._of_edge[at_edge]]),
        )

    def sums(self, values: Tensor) -> Tensor:
        """Return the sum of each group, in float64 where there is such a thing."""
        wide = wide_dtype(values.device)
        blocks = self._in_blocks(values).sum(1).to(wide).index_fill_(0, self._cut, 0.0)
        total = torch.zeros(self.n_groups, dtype=wide, device=values.device)
        total.scatter_add_(0, self._of_block, blocks)
        return total.scatter_add_(0, self._of_edge, self._at_edges(values).to(wide))

    def combined(self, operation: Callable[..., Any], values: Tensor, of_group: Tensor) -> Tensor:
        """``operation`` on each value and on what its group has."""
        found = torch.empty_like(values)
        of_block = of_group.index_select(0, self._of_block)[:, None]
        operation(self._in_blocks(values), of_block, out=self._in_blocks(found))
        of_edge = of_group.index_select(0, self._of_edge)
        edge = operation(self._at_edges(values), of_edge, out=of_edge)
        in_cut = len(self._cut) * _BLOCK
        self._in_blocks(found).index_copy_(0, self._cut, edge[:in_cut].view(-1, _BLOCK))
        found[self._n_blocks * _BLOCK :] = edge[in_cut:]
        return found

    def _block_maxima(self, values: Tensor) -> Tensor:
        return self._in_blocks(values).amax(1).index_fill_(0, self._cut, -torch.inf)

    def _in_blocks(self, values: Tensor) -> Tensor:
        return values[: self._n_blocks * _BLOCK].view(self._n_blocks, _BLOCK)

    def _at_edges(self, values: Tensor) -> Tensor:
        """Return the values of all rows of cut blocks, and of the rows after the last block."""
        in_cut = self._in_blocks(values).index_select(0, self._cut).flatten()
        return torch.cat([in_cut, values[self._n_blocks * _BLOCK :]])

    def _edge_rows(self, places: Tensor) -> Tensor:
        """Return the rows at these places of `_at_edges`."""
        blocks = torch.cat([self._cut, self._cut.new_full((1,), self._n_blocks)])
        return blocks[places // _BLOCK] * _BLOCK + places % _BLOCK

    @property
    def _n_blocks(self) -> int:
        return self.n_rows // _BLOCK

    @cached_property
    def _of_block(self) -> Tensor:
        """The group of each block's first row."""
        first = ((self.offsets + (_BLOCK - 1)) // _BLOCK).clamp_(max=self._n_blocks)
        return torch.repeat_interleave(first.diff(), output_size=self._n_blocks)

    @cached_property
    def _cut(self) -> Tensor:
        """The blocks of more than one group."""
        ends = self.offsets[self.offsets % _BLOCK != 0] // _BLOCK
        return ends[ends < self._n_blocks].unique_consecutive()

    @cached_property
    def _of_edge(self) -> Tensor:
        """The groups of the rows of `_at_edges`."""
        cut_before = torch.searchsorted(self._cut, self.offsets // _BLOCK)
        first = cut_before * _BLOCK + self.offsets % _BLOCK
        n_rows = len(self._cut) * _BLOCK + self.n_rows % _BLOCK
        return torch.repeat_interleave(first.diff(), output_size=n_rows)


def _same_or_nan(values: Tensor, others: Tensor) -> Tensor:
    """NaN equals nothing, and shall be seen."""
    return (values == others) | values.isnan()
