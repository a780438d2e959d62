"""What an evaluation makes of positive groups nobody annotated, in words."""

from __future__ import annotations

__all__ = ["unannotated_words"]


def unannotated_words(n_unannotated: int, n_positive: int) -> str:
    """Say how many there are and which numbers have them.

    Examples
    --------
    >>> unannotated_words(5, 20)
    '5 of 20 positive groups; numbers of groups have them, numbers of candidates and of winners
    leave them out'
    """
    return (
        f"{n_unannotated:,} of {n_positive:,} positive groups; numbers of groups have them, "
        "numbers of candidates and of winners leave them out"
    )
