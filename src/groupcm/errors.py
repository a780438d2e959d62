"""The exceptions of groupcm: what the user can put right, and what only we can."""

from __future__ import annotations

from groupcm.words import printable

__all__ = ["CertificateError", "ClusterError", "InputError", "LambdaAtEndWarning", "LeakageWarning"]


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


class ClusterError(InputError, RuntimeError):
    """A Dask cluster that cannot do the work: one sentence with the cause and the remedy.

    It is raised for a cluster without workers, a scheduler that does not answer, and a
    partition whose workers die while they read it or work on it.

    Examples
    --------
    >>> raise ClusterError("the Dask cluster has had no worker for 120 seconds; start one")
    Traceback (most recent call last):
    groupcm.errors.ClusterError: the Dask cluster has had no worker for 120 seconds; start one
    """


class CertificateError(RuntimeError):
    """A lower bound of the optimum lies above an objective that was reached: a bug of groupcm.

    Rounding alone cannot explain it, so neither of the two numbers can be trusted. Please report
    it, with the data if possible.
    """


class LambdaAtEndWarning(UserWarning):
    """The best λ is the smallest or the largest of those tried, so that a better one may exist."""


class LeakageWarning(UserWarning):
    """A feature is named like a label, or alone separates the candidates of the classes."""
