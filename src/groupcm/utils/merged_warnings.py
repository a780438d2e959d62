"""Warnings of many fits or many numbers, each told once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

__all__ = ["gathered_warnings"]

_NUMBER = re.compile(r"\d[\d.,e+-]*")


@contextmanager
def gathered_warnings() -> Iterator[None]:
    """Within the block warnings wait; after it those that differ in numbers only are told once.

    They are told, too, where the block ends in an error.

    Examples
    --------
    >>> always = warnings.catch_warnings(record=True, action="always")
    >>> with always as told, gathered_warnings():
    ...     for gap in (0.1, 0.2, 3e-4):
    ...         warnings.warn(f"stopped at a gap of {gap}.", stacklevel=1)
    >>> [str(warning.message) for warning in told]
    ['stopped at a gap of 0.1. (3 such warnings)']
    """
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except BaseException:
        with suppress(Warning):  # where warnings are errors, the block's own error comes first
            _tell(caught)
        raise
    _tell(caught)


def _tell(caught: Sequence[warnings.WarningMessage]) -> None:
    alike: dict[tuple[type[Warning], str], list[str]] = {}
    for warning in caught:
        words = " ".join(str(warning.message).split())
        alike.setdefault((warning.category, _NUMBER.sub("", words)), []).append(words)
    for (category, _), messages in alike.items():
        times = f" ({len(messages)} such warnings)" if len(messages) > 1 else ""
        warnings.warn(f"{messages[0]}{times}", category, stacklevel=4)
