"""Warnings of a block: ignored, recorded, or merged where they are alike."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock

from groupcm.errors import MessageWarning

__all__ = ["WARNINGS_LOCK", "ignore_warnings", "merge_warnings", "record_warnings"]

# The filters of warnings belong to the process: two threads that change and restore them in turn
# would leave the filters of one in force for the other. Every block that changes them holds this
# lock, except those around work that may itself start threads that need it, such as whole fits;
# these run in the thread of the caller.
WARNINGS_LOCK = RLock()


@contextmanager
def ignore_warnings(
    category: type[Warning] = Warning, *, message: str = "", module: str = ""
) -> Iterator[None]:
    """Ignore some warnings within the block, one thread at a time.

    Parameters
    ----------
    category
        The class of the warnings.
    message
        A regular expression that the texts of the warnings begin with.
    module
        A regular expression that the names of the modules begin with that issue them.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as issued:
    ...     with ignore_warnings(UserWarning):
    ...         warnings.warn("expected", stacklevel=1)
    ...     warnings.warn("unexpected", stacklevel=1)
    >>> [str(warning.message) for warning in issued]
    ['unexpected']
    """
    with WARNINGS_LOCK, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message, category, module)
        yield


@contextmanager
def record_warnings(category: type[Warning] = Warning) -> Iterator[list[warnings.WarningMessage]]:
    """Yield the list of the warnings of the block, one thread at a time; none of them is shown.

    Repeated warnings of the category are recorded each time.

    Examples
    --------
    >>> with record_warnings() as recorded:
    ...     warnings.warn("unexpected", stacklevel=1)
    >>> [str(each.message) for each in recorded]
    ['unexpected']
    """
    with WARNINGS_LOCK, warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always", category)
        yield recorded


@contextmanager
def merge_warnings() -> Iterator[None]:
    """Issue the warnings of the block after it, and those that are alike once.

    Warnings are alike if they have the same class and the same text, or the same field ``alike``
    (see `groupcm.errors.MessageWarning`). They are issued, too, if the block raises
    an exception.

    Examples
    --------
    >>> always = warnings.catch_warnings(record=True, action="always")
    >>> with always as issued, merge_warnings():
    ...     for gap in (0.1, 0.2, 3e-4):
    ...         warning = MessageWarning(f"stopped at a gap of {gap}.", alike="gap")
    ...         warnings.warn(warning, stacklevel=1)
    >>> [str(warning.message) for warning in issued]
    ['stopped at a gap of 0.1. (3 such warnings)']
    """
    caught: list[warnings.WarningMessage] = []
    try:
        # Without the lock: the block may be an evaluation of many fits.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except BaseException:
        with suppress(Warning):  # if warnings are errors, the exception of the block has precedence
            _issue(caught)
        raise
    _issue(caught)


def _issue(caught: Sequence[warnings.WarningMessage]) -> None:
    alike: dict[tuple[type[Warning], str], list[Warning | str]] = {}
    for warning in caught:
        text = " ".join(str(warning.message).split())
        field = getattr(warning.message, "alike", None)
        alike.setdefault((warning.category, field or text), []).append(warning.message)
    for (category, _), messages in alike.items():
        times = f" ({len(messages)} such warnings)" if len(messages) > 1 else ""
        first = messages[0]
        merged = (
            category(first, times)
            if isinstance(first, MessageWarning)
            else category(f"{' '.join(str(first).split())}{times}")
        )
        warnings.warn(merged, stacklevel=4)
