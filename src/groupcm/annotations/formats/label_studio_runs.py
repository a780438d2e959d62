"""Label Studio's run-length code of a brush mask.

A stream of bits: the number of values (32 bits), the bits of a value less 1 (5), four sizes less 1
(4 each). Then blocks: one bit says whether one value is repeated, two bits choose one of the four
sizes, that many bits tell the length less 1; one value follows, or as many as the length says. The
values are the picture's, row by row, four to a pixel: red, green, blue and the opacity, which is
the mask.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.annotations.runs import Runs, from_edges

__all__ = ["decode", "encode"]

_SIZES = (3, 4, 8, 16)
_CHANNELS = 4
_HALF_OPAQUE = 128


class _Bits:
    """Bits read one number after another."""

    def __init__(self, content: bytes) -> None:
        self._bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8))
        self._content = content + bytes(8)
        self._at = 0

    def read(self, size: int) -> int:
        byte, offset = divmod(self._at, 8)
        self._move(size)
        window = int.from_bytes(self._content[byte : byte + 8], "big")
        return (window >> (64 - offset - size)) & ((1 << size) - 1)

    def read_many(self, count: int, size: int) -> NDArray[np.int64]:
        begin = self._at
        self._move(count * size)
        bits = self._bits[begin : self._at].reshape(count, size)
        return bits @ (1 << np.arange(size - 1, -1, -1, dtype=np.int64))

    def _move(self, size: int) -> None:
        self._at += size
        if self._at > self._bits.size:
            raise ValueError("the brush mask ends too early; it is cut short or damaged")


def decode(code: list[int], height: int, width: int) -> Runs:
    """Read a brush mask; return its runs row by row. A pixel belongs to it that is at least half
    opaque.

    Examples
    --------
    >>> decode(encode([1, 2, 2, 1]), 2, 3)
    array([1, 2, 2, 1])
    >>> decode([0, 0, 0, 8], 2, 3)
    Traceback (most recent call last):
    ValueError: the brush mask has 2 pixels and the picture 3 × 2
    """
    if not all(type(value) is int and 0 <= value <= 255 for value in code):
        raise ValueError("the brush mask must be a list of whole numbers from 0 to 255")
    bits = _Bits(bytes(code))
    size = bits.read(32)
    if size != height * width * _CHANNELS:
        raise ValueError(
            f"the brush mask has {size // _CHANNELS} pixels and the picture {width} × {height}"
        )
    word = bits.read(5) + 1
    sizes = [bits.read(4) + 1 for _ in range(4)]
    edges: list[int] = []
    at, inside = 0, False
    while at < size:
        repeated = bits.read(1)
        length = bits.read(sizes[bits.read(2)]) + 1
        if length > size - at:
            raise ValueError("the brush mask goes on beyond the picture; it is damaged")
        # The opacity of pixel p is the value 4p + 3.
        first, end = at // _CHANNELS, (at + length) // _CHANNELS
        if repeated:
            opaque = bits.read(word) >= _HALF_OPAQUE
            if first < end and opaque != inside:
                edges.append(first)
                inside = opaque
        else:
            values = bits.read_many(length, word)
            opaque = values[_CHANNELS - 1 - at % _CHANNELS :: _CHANNELS] >= _HALF_OPAQUE
            changes = np.flatnonzero(np.diff(opaque, prepend=inside))
            edges += (first + changes).tolist()
            inside ^= bool(changes.size % 2)
        at += length
    return from_edges(edges, height * width)


def encode(rows: ArrayLike) -> list[int]:
    """Write a brush mask, given by its runs row by row.

    Examples
    --------
    >>> encode([0, 1, 1])
    [0, 0, 0, 8, 57, 27, 252, 127, 241, 128, 0]
    """
    runs = np.asarray(rows, dtype=np.int64)
    code = [format(int(runs.sum()) * _CHANNELS, "032b"), format(8 - 1, "05b")]
    code += [format(size - 1, "04b") for size in _SIZES]
    for turn, length in enumerate((runs * _CHANNELS).tolist()):
        value = "11111111" if turn % 2 else "00000000"
        while length > 0:
            part = min(length, 1 << _SIZES[-1])
            chosen = next(i for i, size in enumerate(_SIZES) if part <= 1 << size)
            code.append(f"1{chosen:02b}{part - 1:0{_SIZES[chosen]}b}{value}")
            length -= part
    bits = "".join(code)
    bits += "0" * (-len(bits) % 8)
    return list(int(bits, 2).to_bytes(len(bits) // 8, "big"))
