"""Mistakes in options, told in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from numpy.typing import NDArray

from groupcm.cli.output import mistakes
from groupcm.data.labels import class_order, label_named
from groupcm.errors import InputError

__all__ = ["mistakes_in_options", "mistakes_in_positive", "positive_label"]


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


def mistakes_in_positive() -> AbstractContextManager[None]:
    """Within the block, a mistake in ``pos_label`` is one in ``--positive``."""
    return mistakes_in_options({"with pos_label=": "with --positive ", "pos_label": "--positive"})


def positive_label(given: str | None, classes: NDArray[Any], column: str) -> Any:
    """Return the label that ``--positive`` names, or None where it is not given.

    Parameters
    ----------
    given : str or None
        The value of the option.
    classes : ndarray
        The labels that occur.
    column : str
        The column that holds them.

    Examples
    --------
    >>> import numpy
    >>> positive_label("0", numpy.array([0, 1]), "polyp")
    0
    >>> positive_label("Call", numpy.array(["call", "noise"]), "sound")
    Traceback (most recent call last):
    groupcm.errors.InputError: --positive is 'Call', which does not occur: the label column 'sound'
    holds 'call' and 'noise'.
    """
    if given is None:
        return None
    label = label_named(given, classes.tolist())
    with mistakes_in_positive():
        class_order(classes, label, where=f"the label column {column!r}")
    return label
