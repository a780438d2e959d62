"""Settings of proposals that make sense."""

from __future__ import annotations

__all__ = ["check_positive", "check_whole", "check_widths"]


def check_whole(**settings: int) -> None:
    """Refuse what is no whole number, 1 or more.

    Examples
    --------
    >>> check_whole(smallest=0)
    Traceback (most recent call last):
    ValueError: smallest is 0; it must be a whole number, 1 or more
    """
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is {value!r}; it must be a whole number, 1 or more")


# A width in pixels; beyond it, smoothing takes minutes and leaves nothing of a picture.
_WIDEST = 1_000


def check_widths(**settings: float | tuple[float, ...]) -> None:
    """Refuse what is no positive number of pixels, or holds one that is not.

    Examples
    --------
    >>> check_widths(smooth=1e9)
    Traceback (most recent call last):
    ValueError: smooth is 1000000000.0; it must be 1,000 pixels at most
    """
    check_positive(**settings)
    for name, value in settings.items():
        if max(value if isinstance(value, tuple) else (value,), default=0.0) > _WIDEST:
            raise ValueError(f"{name} is {value!r}; it must be {_WIDEST:,} pixels at most")


def check_positive(**settings: float | tuple[float, ...]) -> None:
    """Refuse what is no positive number, or holds one that is not.

    Examples
    --------
    >>> check_positive(widths=(1.0, -1.0))
    Traceback (most recent call last):
    ValueError: widths is (1.0, -1.0); it must be positive
    """
    for name, value in settings.items():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, bool) or not isinstance(each, int | float) or not each > 0:
                raise ValueError(f"{name} is {value!r}; it must be positive")
