"""The exceptions of groupcm: what the user can put right, and what only we can."""

from __future__ import annotations

__all__ = ["CertificateError", "InputError"]


class InputError(ValueError):
    """A mistake in what was given: one sentence saying what, where, and what would be right.

    The command line shows the sentence alone, without a traceback, and ends
    with status 2.

    Examples
    --------
    >>> raise InputError("frames.csv has no column 'frame'; did you mean 'Frame'?")
    Traceback (most recent call last):
    groupcm.errors.InputError: frames.csv has no column 'frame'; did you mean 'Frame'?
    """


class CertificateError(RuntimeError):
    """A lower bound of the optimum lies above an objective that was reached: a bug of groupcm.

    Rounding alone cannot explain it, so neither of the two numbers can be trusted. Please report
    it, with the data if possible.
    """
