"""Repeated warnings, such as those of many fits, merged into one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

__all__ = ["merge_warnings"]

_NUMBER = re.compile(r"\d[\d.,e+-]*")


@contextmanager
def merge_warnings() -> Iterator[None]:
    """Issue the warnings of the block after it, and those that differ only in numbers once.

    They are issued, too, if the block raises an exception.

    Examples
    --------
    >>> always = warnings.catch_warnings(record=True, action="always")
    >>> with always as issued, merge_warnings():
    ...     for gap in (0.1, 0.2, 3e-4):
    ...         warnings.warn(f"stopped at a gap of {gap}.", stacklevel=1)
    >>> [str(warning.message) for warning in issued]
    ['stopped at a gap of 0.1. (3 such warnings)']
    """
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except BaseException:
        with suppress(Warning):  # if warnings are errors, the exception of the block has precedence
            _issue(caught)
        raise
    _issue(caught)


def _issue(caught: Sequence[warnings.WarningMessage]) -> None:
    alike: dict[tuple[type[Warning], str], list[str]] = {}
    for warning in caught:
        text = " ".join(str(warning.message).split())
        alike.setdefault((warning.category, _NUMBER.sub("", text)), []).append(text)
    for (category, _), messages in alike.items():
        times = f" ({len(messages)} such warnings)" if len(messages) > 1 else ""
        warnings.warn(f"{messages[0]}{times}", category, stacklevel=4)
