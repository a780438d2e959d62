"""Mistakes in options, told in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from groupcm.commands.display import mistakes
from groupcm.errors import InputError

__all__ = ["mistakes_in_options"]


@contextmanager
def mistakes_in_options(option_of: Mapping[str, str]) -> Iterator[None]:
    """Within the block, a mistake is a user's, and names options instead of parameters.

    Examples
    --------
    >>> with mistakes_in_options({"n_settings": "--settings"}):
    ...     raise ValueError("n_settings must be at least 1; got 0.")
    Traceback (most recent call last):
    groupcm.errors.InputError: --settings must be at least 1; got 0.
    """
    try:
        with mistakes():
            yield
    except InputError as error:
        message = str(error)
        for parameter, option in option_of.items():
            message = message.replace(parameter, option)
        raise InputError(message) from error
