"""The exceptions of groupcm: what the user can put right, and what only we can."""

from __future__ import annotations

<<<<<<< HEAD
__all__ = ["CertificateError", "InputError"]
=======
from groupcm.words import printable

__all__ = ["InputError"]
>>>>>>> w-files


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

<<<<<<< HEAD

class CertificateError(RuntimeError):
    """A lower bound of the optimum lies above an objective that was reached: a bug of groupcm.

    Rounding alone cannot explain it, so neither of the two numbers can be trusted. Please report
    it, with the data if possible.
    """
=======
    def __init__(self, message: object = "") -> None:
        super().__init__(printable(message))
>>>>>>> w-files
