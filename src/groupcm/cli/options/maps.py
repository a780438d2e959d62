"""Feature maps by the names they have on the command line."""

from __future__ import annotations

from typing import Any

from groupcm.errors import InputError
from groupcm.features import AdditiveChi2, Nystroem, Polynomial, RandomFourier

__all__ = ["feature_map_of"]

_MAPS: dict[str, tuple[Any, str | None]] = {
    "polynomial": (Polynomial, "degree"),
    "fourier": (RandomFourier, "components"),
    "nystroem": (Nystroem, "components"),
    "chi2": (AdditiveChi2, None),
}


def feature_map_of(name: str | None, degree: int | None, components: int | None) -> Any:
    """Make the map of a name, of a degree or with some components where it has them.

    Examples
    --------
    >>> feature_map_of("polynomial", 3, None)
    Polynomial(degree=3)
    >>> feature_map_of("fourier", 3, None)
    Traceback (most recent call last):
    groupcm.errors.InputError: --degree goes with --map polynomial
    """
    make, takes = _MAPS[name] if name is not None else (None, None)
    given = {"degree": degree, "components": components}
    for option, value in given.items():
        if value is not None and option != takes:
            right = [f"--map {other}" for other, (_, size) in _MAPS.items() if size == option]
            raise InputError(f"--{option} goes with {' or '.join(right)}")
        if value is not None and value < 1:
            raise InputError(f"--{option} is {value}; it must be 1 or more")
    if make is None:
        return None
    size = given[takes] if takes is not None else None
    return make() if size is None else make(size)
