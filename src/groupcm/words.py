"""Words that the command line and reports share."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed", "seconds"]


def listed(words: Sequence[str]) -> str:
    """Say several words in a sentence.

    Examples
    --------
    >>> listed(["SVM"]), listed(["SVM", "MI-SVM", "GCM"])
    ('SVM', 'SVM, MI-SVM and GCM')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def seconds(value: float) -> str:
    """Say a time in as many digits as matter.

    Examples
    --------
    >>> seconds(0.0123), seconds(75.2), seconds(200), seconds(2 * 3600 + 310)
    ('0.012 s', '75 s', '3 min 20 s', '2 h 5 min')
    """
    if value < 9.95:
        return f"{value:.2g} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 2:
        return f"{round(value)} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
