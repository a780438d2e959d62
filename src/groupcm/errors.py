"""The one exception for what a user can put right."""

from __future__ import annotations

from groupcm.words import printable

__all__ = ["InputError"]


class InputError(ValueError):
    r"""A mistake in what was given: one sentence saying what, where, and what would be right.

    The command line shows the sentence alone, without a traceback, and ends
    with status 2. Names from files may hold anything: what a terminal would obey instead of
    showing it is escaped (`groupcm.words.printable`).

    Examples
    --------
    >>> raise InputError("frames.csv has no column 'frame'; did you mean 'Frame'?")
    Traceback (most recent call last):
    groupcm.errors.InputError: frames.csv has no column 'frame'; did you mean 'Frame'?
    >>> print(InputError("two\nlines.csv is empty"))
    two\nlines.csv is empty
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(message))
