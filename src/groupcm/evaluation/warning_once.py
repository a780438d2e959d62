"""The same warning once, however many numbers it is true of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["each_warning_once"]


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Within the block, warnings are kept; at its end those of the same words are told once.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     with each_warning_once():
    ...         for _ in range(3):
    ...             warnings.warn("few patients")
    >>> len(heard)
    1
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for message, category in {str(w.message): w.category for w in caught}.items():
        warnings.warn(message, category, stacklevel=4)
