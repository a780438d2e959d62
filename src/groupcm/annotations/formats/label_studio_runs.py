"""Label Studio's run-length code of a brush mask.

A stream of bits: the number of values (32 bits), the bits of a value less 1 (5), four sizes less 1
(4 each). Then blocks: one bit says whether one value is repeated, two bits choose one of the four
sizes, that many bits tell the length less 1; one value follows, or as many as the length says. The
values are the picture's, row by row, four to a pixel: red, green, blue and the opacity, which is
the mask.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def decode(code: list[int], height: int, width: int) -> NDArray[np.bool_]:
    """Read a brush mask; a pixel that is at least half opaque belongs to it.

    Examples
    --------
    >>> mask = np.array([[False, True, True], [False, False, True]])
    >>> bool((decode(encode(mask), 2, 3) == mask).all())
    True
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
    values = np.zeros(size, dtype=np.uint32 if word > 8 else np.uint8)
    at = 0
    while at < size:
        repeated = bits.read(1)
        length = bits.read(sizes[bits.read(2)]) + 1
        if length > size - at:
            raise ValueError("the brush mask goes on beyond the picture; it is damaged")
        values[at : at + length] = bits.read(word) if repeated else bits.read_many(length, word)
        at += length
    return values.reshape(height, width, _CHANNELS)[:, :, 3] >= _HALF_OPAQUE


def encode(mask: NDArray[np.bool_]) -> list[int]:
    """Write a brush mask.

    Examples
    --------
    >>> encode(np.array([[True, False]]))
    [0, 0, 0, 8, 57, 27, 252, 127, 241, 128, 0]
    """
    flat = np.asarray(mask, dtype=bool).ravel()
    code = [format(flat.size * _CHANNELS, "032b"), format(8 - 1, "05b")]
    code += [format(size - 1, "04b") for size in _SIZES]
    edges = np.flatnonzero(np.diff(flat)) + 1
    begins = np.concatenate([[0], edges])
    lengths = np.diff(begins, append=flat.size) * _CHANNELS
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        value = "11111111" if flat[begin] else "00000000"
        while length > 0:
            part = min(length, 1 << _SIZES[-1])
            chosen = next(i for i, size in enumerate(_SIZES) if part <= 1 << size)
            code.append(f"1{chosen:02b}{part - 1:0{_SIZES[chosen]}b}{value}")
            length -= part
    bits = "".join(code)
    bits += "0" * (-len(bits) % 8)
    return list(int(bits, 2).to_bytes(len(bits) // 8, "big"))
