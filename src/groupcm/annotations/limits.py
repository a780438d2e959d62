"""Limits on what a file of annotations, or a picture, may cost to read.

A file of a few hundred bytes can ask for gigabytes: a picture of 65,000 × 65,000 pixels, a mask
that is one run, a compressed picture of one colour. Every reader asks here before it makes room.
What a limit refuses is one sentence with the file and the place, as any other mistake.

=============================== ============ ====================================================
limit                           default
=============================== ============ ====================================================
pixels of a picture that is     50 million   ``GROUPCM_MOST_PIXELS``; of pictures themselves also
decoded, or of a mask picture                the argument ``most_pixels``
bytes of one file of text       1 GiB        ``GROUPCM_MOST_BYTES``
pixels of a picture whose       2³² − 1      fixed: COCO counts them in 32 bits. Masks are kept as
annotations are read                         runs, so such a picture takes no memory by itself
runs of one mask                2²²          fixed; 2²³ of a mask picture
runs of all masks of one file   2²⁴ and 8    fixed
                                for a byte
pixels of all mask pictures     2²⁹ and 128  fixed
within one file                 for a byte
columns of pixels that the      2²²          fixed
edges of a polygon pass
columns of all polygons of one  2²⁵ and 32   fixed
file                            for a byte
nesting of JSON and XML         100          fixed
elements of one XML file        2 million    fixed
objects of one mask picture     50,000       fixed
pages of one stack              100,000      fixed
=============================== ============ ====================================================

The environment variables are for people whose pictures are larger than that.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from groupcm.errors import FileName, InputError

__all__ = [
    "DEEPEST",
    "LONGEST_CATEGORY",
    "LONGEST_NAME",
    "MOST_COLUMNS",
    "MOST_ELEMENTS",
    "MOST_OBJECTS",
    "MOST_PAGES",
    "MOST_PICTURE_PIXELS",
    "MOST_RUNS",
    "Budget",
    "check_columns",
    "check_pixels",
    "check_regular",
    "check_runs",
    "most_bytes",
    "most_pixels",
    "read_bytes",
]

MOST_PICTURE_PIXELS = 2**32 - 1
MOST_RUNS = 2**22
MOST_COLUMNS = 2**22
DEEPEST = 100
MOST_ELEMENTS = 2_000_000
MOST_OBJECTS = 50_000
MOST_PAGES = 100_000
LONGEST_NAME = 4_096
LONGEST_CATEGORY = 1_000

_PIXELS = ("GROUPCM_MOST_PIXELS", 50_000_000)
_BYTES = ("GROUPCM_MOST_BYTES", 2**30)


def most_pixels() -> int:
    """Return how many pixels a picture may have whose pixels are decoded.

    Examples
    --------
    >>> most_pixels()
    50000000
    """
    return _limit(*_PIXELS)


def most_bytes() -> int:
    """Return how many bytes a file of text may have."""
    return _limit(*_BYTES)


def _limit(variable: str, default: int) -> int:
    written = os.environ.get(variable, "").replace("_", "").strip()
    if not written:
        return default
    if not (written.isascii() and written.isdigit() and 0 < int(written[:20]) < 2**62):
        raise InputError(f"{variable} is {written!r}; it must be a whole number, such as {default}")
    return int(written)


def check_pixels(width: int, height: int, what: str) -> None:
    """Refuse pixels for which there is to be no room.

    Examples
    --------
    >>> check_pixels(65_000, 65_000, "the mask")
    Traceback (most recent call last):
    ValueError: the mask has 65000 × 65000 pixels, more than 50,000,000; set GROUPCM_MOST_PIXELS
    to allow them
    """
    most = most_pixels()
    if width * height > most:
        raise ValueError(
            f"{what} has {width} × {height} pixels, more than {most:,}; set {_PIXELS[0]} to allow "
            "them"
        )


def check_runs(n_runs: int, most: int = MOST_RUNS) -> None:
    """Refuse a mask of more runs than a mask may have.

    Examples
    --------
    >>> check_runs(2**24)
    Traceback (most recent call last):
    ValueError: the mask has 16,777,216 runs of pixels; at most 4,194,304 are read
    """
    if n_runs > most:
        raise ValueError(f"the mask has {n_runs:,} runs of pixels; at most {most:,} are read")


def check_columns(n_columns: int) -> None:
    """Refuse edges that pass more columns of pixels than can be filled.

    Those of a polygon with whole corners pass at most one more than it is wide, each.
    """
    if n_columns > 2 * MOST_COLUMNS:
        raise ValueError(
            f"the edges pass {n_columns:,} columns of pixels; at most {2 * MOST_COLUMNS:,} are "
            "filled"
        )


class Budget:
    """What the masks and polygons of one file may cost together, in proportion to its bytes.

    Examples
    --------
    >>> budget = Budget(n_bytes=200)
    >>> for _ in range(5):
    ...     budget.spend_runs(2**22)
    Traceback (most recent call last):
    ValueError: the masks of this file have more than 16,778,816 runs of pixels together
    """

    def __init__(self, n_bytes: int) -> None:
        self.most_runs = 2**24 + 8 * n_bytes
        self.most_pixels = 2**29 + 128 * n_bytes
        self.most_columns = 2**25 + 32 * n_bytes
        self._runs = self._pixels = 0
        self._columns = 0.0

    def spend_runs(self, n_runs: int) -> None:
        """Count the runs of one more mask, before there is room made for them."""
        check_runs(n_runs)
        self._runs += n_runs
        if self._runs > self.most_runs:
            raise ValueError(
                f"the masks of this file have more than {self.most_runs:,} runs of pixels together"
            )

    def spend_columns(self, n_columns: float) -> None:
        """Count the columns of pixels that the edges of one more polygon pass."""
        self._columns += n_columns
        if self._columns > self.most_columns:
            raise ValueError(
                f"the edges of this file's polygons pass more than {self.most_columns:,} columns "
                "of pixels together"
            )

    def spend_pixels(self, width: int, height: int) -> None:
        """Count the pixels of one more mask picture, before it is decoded."""
        check_pixels(width, height, "the mask")
        self._pixels += width * height
        if self._pixels > self.most_pixels:
            raise ValueError(
                f"the masks of this file have more than {self.most_pixels:,} pixels together"
            )


def check_regular(path: str | os.PathLike[str]) -> int:
    """Return the size of a file in bytes; refuse what is no plain file, such as a device or pipe.

    Examples
    --------
    >>> check_regular("/dev/null")
    Traceback (most recent call last):
    groupcm.errors.InputError: /dev/null cannot be read: it is not a plain file
    """
    about = os.stat(path)
    if stat.S_ISDIR(about.st_mode):
        raise InputError(FileName(path), " cannot be read: it is a folder, not a file")
    if not stat.S_ISREG(about.st_mode):
        raise InputError(FileName(path), " cannot be read: it is not a plain file")
    return about.st_size


def read_bytes(path: Path) -> bytes:
    """Read a whole file of text, unless it is larger than such a file may be."""
    most = most_bytes()
    try:
        size = check_regular(path)
        if size > most:
            raise InputError(
                FileName(path),
                f" has {size:,} bytes; at most {most:,} are read, unless {_BYTES[0]} allows more",
            )
        with open(path, "rb") as file:
            return file.read(size)
    except OSError as error:
        raise InputError(FileName(path), f" cannot be read: {error.strerror}") from error
