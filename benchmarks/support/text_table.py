"""Text in columns."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["aligned"]


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Words of the first column on the left, the others on the right.

    >>> print(aligned([("", "AUC"), ("SVM", "0.9")]))
         AUC
    SVM  0.9
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
