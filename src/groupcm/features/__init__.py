"""Fixed maps of the features: not linear, still convex, applied block by block, never stored."""

from __future__ import annotations

from typing import Any

from groupcm.errors import Argument, InputError
from groupcm.features.fitted import Fitted, as_feature_map
from groupcm.features.kernel_approximation import AdditiveChi2, Nystroem, RandomFourier
from groupcm.features.polynomial import Polynomial

__all__ = [
    "AdditiveChi2",
    "Fitted",
    "Nystroem",
    "Polynomial",
    "RandomFourier",
    "as_feature_map",
    "feature_map_named",
]

# The class of each name, and the size that it has.
_NAMED: dict[str, tuple[Any, str | None]] = {
    "polynomial": (Polynomial, "degree"),
    "fourier": (RandomFourier, "components"),
    "nystroem": (Nystroem, "components"),
    "chi2": (AdditiveChi2, None),
}


def feature_map_named(
    map: str | None, degree: int | None = None, components: int | None = None
) -> Any:
    """Return the feature map of a name, as ``groupcm fit --map`` does.

    Parameters
    ----------
    map : {"polynomial", "fourier", "nystroem", "chi2"} or None
        The name; None for no map.
    degree : int, optional
        The degree of the polynomial.
    components : int, optional
        The number of outputs of "fourier" or "nystroem".

    Examples
    --------
    >>> feature_map_named("polynomial", degree=3)
    Polynomial(degree=3)
    >>> feature_map_named("fourier", degree=3)
    Traceback (most recent call last):
    groupcm.errors.InputError: degree goes with map="polynomial"
    """
    if map is not None and map not in _NAMED:
        raise InputError(Argument("map"), f" is {map!r}; it must be one of {', '.join(_NAMED)}")
    make, size = (None, None) if map is None else _NAMED[map]
    given = {"degree": degree, "components": components}
    for name, value in given.items():
        if value is not None and name != size:
            right = [Argument("map", other) for other, each in _NAMED.items() if each[1] == name]
            alternatives = [part for each in right for part in (" or ", each)][1:]
            raise InputError(Argument(name), " goes with ", *alternatives)
        if value is not None and value < 1:
            raise InputError(Argument(name), f" is {value}; it must be 1 or more")
    if make is None:
        return None
    value = None if size is None else given[size]
    return make() if value is None else make(value)
