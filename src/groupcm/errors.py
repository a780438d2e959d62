"""The exceptions for what a user can put right."""

from __future__ import annotations

__all__ = ["ClusterError", "InputError"]


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
