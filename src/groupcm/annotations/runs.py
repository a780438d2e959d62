"""Run-length encoded masks: lengths of background and object in turn, background first.

A picture is scanned column by column (``order="F"``, as in COCO) unless stated otherwise. Runs are
canonical when only the first may be 0: `from_edges` and `from_mask` return such runs, so that equal
masks have equal runs. Area, box, position in a larger picture and the runs of the other scan order
are computed from the runs, without an array of pixels.

`compress` and `decompress` implement COCO's string of the runs. From the fourth run on, it stores
the difference to the run two before. Each number is split into groups of five bits, the lowest
first; a sixth bit marks that more follow; the fifth bit of the last group is the sign. 48 is added
to make each group a printable character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations.limits import check_runs
from groupcm.utils.typing import Flags, Index

__all__ = [
    "Strips",
    "bounds",
    "canonical",
    "compress",
    "compress_many",
    "cut_at_columns",
    "decompress",
    "expand",
    "from_edges",
    "from_mask",
    "from_part",
    "from_rows",
    "objects_of",
    "to_mask",
    "to_rows",
    "union",
]

Order = Literal["C", "F"]
Runs = NDArray[np.int64]
Spend = Callable[[int], None]  # raises for too many runs
_LOW, _SIGN, _MORE, _FIRST_CHARACTER = 0x1F, 0x10, 0x20, 48
_LONGEST = 12  # groups: sixty bits are enough for any picture


class Strips(NamedTuple):
    """Runs split at the ends of columns: strip i is a part of run ``run[i]`` in ``column[i]``."""

    run: Index
    column: Index
    top: Index
    bottom: Index


def expand(first: Index, counts: Index) -> tuple[Index, Index]:
    """Return each i ``counts[i]`` times, and the consecutive integers from ``first[i]`` on.

    Examples
    --------
    >>> expand(np.array([7, 1]), np.array([2, 3]))
    (array([0, 0, 1, 1, 1]), array([7, 8, 1, 2, 3]))
    """
    owner = np.repeat(np.arange(counts.size), counts)
    shift = first - np.cumsum(counts) + counts
    return owner, np.arange(owner.size) + np.repeat(shift, counts)


def from_edges(edges: ArrayLike, size: int) -> Runs:
    """Return the runs of ``size`` pixels that change at every edge; two edges in one place cancel.

    Examples
    --------
    >>> from_edges([5, 2, 8, 8], size=10)
    array([2, 3, 5])
    """
    # Faster than np.unique and np.diff: a mask may have ten thousand small objects.
    places = np.sort(np.asarray(edges, dtype=np.int64))
    first = np.ones(places.size + 1, dtype=bool)
    np.not_equal(places[1:], places[:-1], out=first[1:-1])
    begins = np.flatnonzero(first)
    is_odd = (begins[1:] - begins[:-1]) % 2 == 1
    places = places[begins[:-1][is_odd]]
    ends = np.full(np.searchsorted(places, size) + 1, size)
    ends[:-1] = places[: ends.size - 1]
    ends[1:] -= ends[:-1]
    return ends


def from_mask(mask: ArrayLike, order: Order = "F") -> Runs:
    """Return the runs of a mask.

    Examples
    --------
    >>> from_mask([[0, 1, 1], [0, 0, 1]])
    array([2, 1, 1, 2])
    >>> from_mask([[0, 1, 1], [0, 0, 1]], order="C")
    array([1, 2, 2, 1])
    """
    flat = np.asarray(mask, dtype=bool).ravel(order=order)
    edges = np.flatnonzero(np.diff(flat, prepend=False))
    return np.diff(edges, prepend=0, append=flat.size)


def to_mask(runs: ArrayLike, height: int, width: int, order: Order = "F") -> Flags:
    """Return the mask of ``height`` rows and ``width`` columns that the runs describe.

    Examples
    --------
    >>> to_mask([2, 1, 1, 2], height=2, width=3).astype(int)
    array([[0, 1, 1],
           [0, 0, 1]])
    """
    runs = np.asarray(runs, dtype=np.int64)
    flat = np.repeat(np.arange(runs.size) % 2 == 1, runs)
    return np.ascontiguousarray(flat.reshape((height, width), order=order))


def canonical(runs: ArrayLike, size: int) -> Runs:
    """Check runs from a file and return their canonical form.

    Runs may end early: the rest is background.

    Examples
    --------
    >>> canonical([2, 0, 1, 4], size=8), canonical([2, 3, 1], size=8)
    (array([3, 4, 1]), array([2, 3, 3]))
    >>> canonical([5, 6], size=8)
    Traceback (most recent call last):
    ValueError: the mask's runs cover 11 pixels and the mask has 8
    """
    values = np.asarray(runs)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ValueError("the mask's runs must be a list of whole numbers")
    values = values.astype(np.int64)
    if values.size and (values.min() < 0 or values.max() > size):
        wrong = values.min() if values.min() < 0 else values.max()
        raise ValueError(f"the mask has a run of {wrong} pixels and must have 0 to {size}")
    total = int(values.sum())
    if total > size:
        raise ValueError(f"the mask's runs cover {total} pixels and the mask has {size}")
    # Without the end of a trailing background run, which is not an edge.
    return from_edges(np.cumsum(values)[: values.size // 2 * 2], size)


def objects_of(runs: ArrayLike) -> tuple[Runs, Runs]:
    """Return where the runs of the object begin and end, without empty runs.

    Examples
    --------
    >>> objects_of([2, 3, 1, 0, 4, 2])
    (array([ 2, 10]), array([ 5, 12]))
    """
    ends = np.cumsum(np.asarray(runs, dtype=np.int64))
    ends = ends[: ends.size // 2 * 2]
    begin, end = ends[::2], ends[1::2]
    is_filled = end > begin
    return begin[is_filled], end[is_filled]


def cut_at_columns(begin: Runs, end: Runs, height: int, spend: Spend = check_runs) -> Strips:
    """Split runs that continue from one column into the next.

    Examples
    --------
    >>> cut_at_columns(np.array([1, 8]), np.array([5, 9]), height=3)
    Strips(run=array([0, 0, 1]), column=array([0, 1, 2]), top=array([1, 0, 2]),
           bottom=array([3, 2, 3]))
    """
    height = max(height, 1)
    first, last = begin // height, (end - 1) // height
    pieces = last - first + 1
    spend(int(pieces.sum()))
    run, column = expand(first, pieces)
    top = np.maximum(begin[run] - column * height, 0)
    bottom = np.minimum(end[run] - column * height, height)
    return Strips(run, column, top, bottom)


def from_rows(
    runs: ArrayLike,
    part: tuple[int, int],
    place: tuple[int, int] = (0, 0),
    size: tuple[int, int] | None = None,
    spend: Spend = check_runs,
) -> Runs:
    """Return the runs, column by column, of a part of a picture given by its runs row by row.

    From one row to the next, a pixel changes where exactly one of the two rows has an edge, so the
    changes within all columns follow from the ends of the runs, without an array of pixels.

    Parameters
    ----------
    runs
        Canonical runs of the part, row by row.
    part
        Height and width of the part.
    place
        Row and column of the picture at which the part begins.
    size
        Height and width of the picture; by default those of the part.
    spend
        Called with the number of changes before they are allocated; raises for too many.

    Examples
    --------
    >>> from_rows([1, 2, 2, 1], part=(2, 3))
    array([2, 1, 1, 2])
    >>> from_rows([0, 4], part=(2, 2), place=(1, 1), size=(4, 4))
    array([5, 2, 2, 2, 5])
    """
    height, width = size or part
    row, left, right = _changes_between_rows(runs, part[1])
    count = right - left
    spend(int(count.sum()))
    change, column = expand(left, count)
    return from_edges((column + place[1]) * height + row[change] + place[0], height * width)


def to_rows(runs: ArrayLike, height: int, width: int, spend: Spend = check_runs) -> Runs:
    """Return the runs of a picture row by row.

    Examples
    --------
    >>> to_rows([2, 1, 1, 2], height=2, width=3)
    array([1, 2, 2, 1])
    """
    # The rows of the transposed mask are the columns.
    return from_rows(runs, (width, height), spend=spend)


def _changes_between_rows(runs: ArrayLike, width: int) -> tuple[Runs, Runs, Runs]:
    """Return the changes from one row to the next: row, first column and end column."""
    begin, end = objects_of(np.asarray(runs, dtype=np.int64))
    (first, left), (last, right) = np.divmod(begin, width), np.divmod(end - 1, width)
    right = right + 1
    one_row, several, block = first == last, first < last, last > first + 1
    # A run is part of one row, or the rest of a row, whole rows, and the beginning of a row.
    top = np.concatenate([first[one_row], first[several], first[block] + 1, last[several]])
    bottom = np.concatenate([first[one_row], first[several], last[block] - 1, last[several]]) + 1
    begins = np.concatenate(
        [left[one_row], left[several], np.zeros(block.sum() + several.sum(), dtype=np.int64)]
    )
    ends = np.concatenate(
        [right[one_row], np.full(several.sum() + block.sum(), width), right[several]]
    )
    rows = np.concatenate([top, top, bottom, bottom])
    columns = np.tile(np.concatenate([begins, ends]), 2)
    keys, times = np.unique(rows * (width + 1) + columns, return_counts=True)
    row, column = np.divmod(keys[times % 2 == 1], width + 1)
    return row[::2], column[::2], column[1::2]


def from_part(part: ArrayLike, place: tuple[int, int], size: tuple[int, int]) -> Runs:
    """Return the runs of a picture in which a part has these pixels.

    Examples
    --------
    >>> from_part([[1, 1]], place=(2, 1), size=(3, 3))
    array([5, 1, 2, 1])
    """
    pixels = np.asarray(part, dtype=bool)
    changes = np.zeros((pixels.shape[0] + 1, pixels.shape[1]), dtype=bool)
    changes[:-1] = pixels
    changes[1:] ^= pixels
    row, column = np.nonzero(changes)
    return from_edges((column + place[1]) * size[0] + row + place[0], size[0] * size[1])


def union(parts: Iterable[Runs], size: int, spend: Spend = check_runs) -> Runs:
    """Return the runs of the pixels that belong to any of the parts.

    Examples
    --------
    >>> union([np.array([2, 3, 5]), np.array([4, 4, 2])], size=10)
    array([2, 6, 2])
    """
    edges = []
    for part in parts:
        spend(part.size)
        edges.append(np.cumsum(part)[: part.size // 2 * 2])
    steps = [np.where(np.arange(ends.size) % 2 == 0, 1, -1) for ends in edges]
    places = np.concatenate([np.empty(0, dtype=np.int64), *edges])
    step = np.concatenate([np.empty(0, dtype=np.int64), *steps])
    # Where one part ends and another begins, the depth must not reach 0: begin first.
    order = np.lexsort((-step, places))
    inside = np.cumsum(step[order]) > 0
    change = np.diff(inside, prepend=False)
    return from_edges(places[order][change], size)


def bounds(runs: ArrayLike, height: int) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom (one past the last) of the object's pixels.

    Examples
    --------
    >>> bounds([2, 1, 1, 2], height=2)
    (1, 0, 3, 2)
    """
    first, end = objects_of(runs)
    last = end - 1
    if not first.size:
        raise ValueError("the mask is empty")
    left, right = first // height, last // height
    # A run that continues into the next column reaches both ends of a column.
    whole = bool(np.any(left < right))
    top = 0 if whole else int((first % height).min())
    bottom = height if whole else int((last % height).max()) + 1
    return int(left.min()), top, int(right.max()) + 1, bottom


def compress(runs: ArrayLike) -> str:
    """Return COCO's string of the runs.

    Examples
    --------
    >>> compress([6, 1, 40, 4, 5, 4, 5, 4, 21])
    '61X13mN000`0'
    """
    values = np.asarray(runs, dtype=np.int64)
    return compress_many(values, [0, values.size])[0]


def compress_many(runs: ArrayLike, ptr: ArrayLike) -> list[str]:
    """Return the strings of many masks at once; mask i has the runs ptr[i] to ptr[i + 1].

    Examples
    --------
    >>> compress_many([6, 1, 40, 4, 5, 2, 2, 2], [0, 5, 8])
    ['61X13mN', '222']
    """
    runs, ptr = np.asarray(runs, dtype=np.int64), np.asarray(ptr, dtype=np.int64)
    place = np.arange(runs.size) - np.repeat(ptr[:-1], np.diff(ptr))
    late = np.flatnonzero(place >= 3)
    values = runs.copy()
    values[late] -= runs[late - 2]
    groups = []
    going = np.ones(values.size, dtype=bool)
    while going.any():
        low = values & _LOW
        values >>= 5
        more = going & np.where(low & _SIGN, values != -1, values != 0)
        groups.append(np.where(going, low + _MORE * more + _FIRST_CHARACTER, 0))
        going = more
    if not groups:
        return [""] * (ptr.size - 1)
    characters = np.stack(groups, axis=1)
    ends = np.concatenate([[0], np.cumsum(np.count_nonzero(characters, axis=1))])[ptr].tolist()
    text = characters[characters > 0].astype(np.uint8).tobytes().decode("ascii")
    return [text[start:end] for start, end in pairwise(ends)]


def decompress(text: str) -> Index:
    """Return the runs of COCO's string.

    Examples
    --------
    >>> decompress("61X13mN000`0")
    array([ 6,  1, 40,  4,  5,  4,  5,  4, 21])
    >>> decompress("61X")
    Traceback (most recent call last):
    ValueError: the compressed mask ends in the middle of a number
    """
    if not text:
        return np.empty(0, dtype=np.int64)
    try:
        codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8).astype(np.int64)
    except UnicodeEncodeError:
        codes = np.array([-1])
    codes = codes - _FIRST_CHARACTER
    if codes.min() < 0 or codes.max() > _MORE + _LOW:
        raise ValueError("the compressed mask has a character that COCO does not use")
    last = codes & _MORE == 0
    if not last[-1]:
        raise ValueError("the compressed mask ends in the middle of a number")
    ends = np.flatnonzero(last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    if lengths.max() > _LONGEST:
        raise ValueError("the compressed mask has a number that is too large for any picture")
    shifts = 5 * (np.arange(codes.size) - np.repeat(starts, lengths))
    values = np.add.reduceat((codes & _LOW) << shifts, starts)
    values -= np.where(codes[ends] & _SIGN, np.int64(1) << (5 * lengths), 0)
    values[1::2] = np.cumsum(values[1::2])
    values[2::2] = np.cumsum(values[2::2])
    return values
