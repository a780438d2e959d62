"""COCO's compressed string of a mask's runs.

From the fourth run on, a run is told by its difference to the run two before it. Each number is
cut into groups of five bits, the lowest first; a sixth bit says that more follow; the fifth bit of
the last group is the sign. 48 is added to make each group a printable character.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["compress", "compress_many", "decompress"]

_LOW, _SIGN, _MORE, _FIRST_CHARACTER = 0x1F, 0x10, 0x20, 48
_LONGEST = 12  # groups: sixty bits are enough for any picture


def compress(runs: ArrayLike) -> str:
    """Return the string of the runs.

    Examples
    --------
    >>> compress([6, 1, 40, 4, 5, 4, 5, 4, 21])
    '61X13mN000`0'
    """
    values = np.asarray(runs, dtype=np.int64)
    return compress_many(values, [0, values.size])[0]


def compress_many(runs: ArrayLike, ptr: ArrayLike) -> list[str]:
    """Return the strings of many masks at once; the runs of mask i are ptr[i] to ptr[i + 1].

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


def decompress(text: str) -> NDArray[np.int64]:
    """Return the runs of the string.

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
