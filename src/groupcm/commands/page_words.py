"""What the commands that serve a page say in the terminal."""

from __future__ import annotations

__all__ = ["counted", "say"]


def counted(n: int, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "picture"), counted(10_000, "picture")
    ('1 picture', '10,000 pictures')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def say(line: str) -> None:
    """Show a line at once, also in a pipe: whoever reads it waits for the address."""
    print(line, flush=True)
