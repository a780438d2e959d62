"""Declarations of what a fitted model stores: the types, shapes and bounds of its attributes.

A class declares its fitted attributes in ``_fitted_state``, a mapping from the name of each
attribute to what it must be::

    _fitted_state = {
        "n_features_in_": Count("features"),
        "classes_": Labels(),
        "coef_": Array("f", "scores", "features"),
    }

Shapes are written in named sizes. In the order of the mapping, the first attribute that has a
size determines it, and all others must agree. `groupcm.utils.state_check` checks models against
their declarations.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.utils.parameters import is_whole
from groupcm.utils.text import brief

__all__ = [
    "Anything",
    "Array",
    "Count",
    "Expected",
    "Fields",
    "Flag",
    "Labels",
    "ListOf",
    "Maybe",
    "Names",
    "Nullable",
    "Number",
    "PerClass",
    "Sizes",
    "StateError",
    "Text",
    "TupleOf",
]


class StateError(ValueError):
    """An attribute that is not what its class declares, or does not fit the others."""


@dataclass
class Sizes:
    """The named sizes of one model, each with the attribute that determined it.

    Attributes
    ----------
    most : float
        The largest size that is plausible, such as a multiple of the bytes of the file.

    Examples
    --------
    >>> sizes = Sizes()
    >>> sizes.agree("features", 5, "n_features_in_")
    >>> sizes.agree("features", 7, "coef_")
    Traceback (most recent call last):
    groupcm.utils.fitted_state.StateError: coef_ has 7 features, but n_features_in_ says 5
    """

    most: float = math.inf
    known: dict[str, int] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)

    def agree(self, name: str, size: int, where: str) -> None:
        """Set a size, or raise if another value of it is known."""
        if size > self.most:
            raise StateError(f"{where} has {brief(size)} {name}, more than its file can describe")
        if self.known.setdefault(name, size) != size:
            raise StateError(
                f"{where} has {size} {name}, but {self.origin[name]} says {self.known[name]}"
            )
        self.origin.setdefault(name, where)

    def shape(self, wanted: tuple[str | int | None, ...]) -> str:
        """Return the wanted shape as text, with the sizes that are known."""
        sizes = [
            str(self.known.get(each, each)) if isinstance(each, str) else str(each or "any")
            for each in wanted
        ]
        reasons = {
            f"{each} from {self.origin[each]}"
            for each in wanted
            if isinstance(each, str) and each in self.origin
        }
        text = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
        return f"{text}: {', '.join(sorted(reasons))}" if reasons else text


class Expected(ABC):
    """What one attribute must be."""

    #: Whether a fitted model may lack the attribute.
    may_be_absent = False

    @abstractmethod
    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Raise `StateError` if the value is something else; ``where`` names it."""


@dataclass(frozen=True)
class Count(Expected):
    """A whole number that is also one of the sizes, such as the number of features."""

    size: str
    least: int = 1

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not is_whole(value) or int(value) < self.least:
            raise StateError(
                f"{where} must be a whole number from {self.least}, not {brief(value)}"
            )
        sizes.agree(self.size, int(value), where)


@dataclass(frozen=True)
class Number(Expected):
    """A real number within bounds; infinite only if not ``finite``, NaN only if ``nan``, too."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = True
    whole: bool = False
    nan: bool = True

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        if not is_number or (self.whole and not is_whole(value)):
            kind = "whole number" if self.whole else "number"
            raise StateError(f"{where} must be a {kind}, not {brief(value)}")
        number = _as_float(value)
        if self.finite and not math.isfinite(number):
            raise StateError(f"{where} must be finite, not {brief(value)}")
        if math.isnan(number) and not self.nan:
            raise StateError(f"{where} must be a number, not NaN")
        if number < self.low or number > self.high:
            raise StateError(
                f"{where} is {brief(value)}, outside the range from {self.low:g} to {self.high:g}"
            )


class Anything(Expected):
    """Any value: the code that uses it checks it."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Accept it."""


@dataclass(frozen=True)
class Flag(Expected):
    """True or False."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, bool | np.bool_):
            raise StateError(f"{where} must be true or false, not {brief(value)}")


@dataclass(frozen=True)
class Text(Expected):
    """A string, one of the ``choices`` if there are any."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str):
            raise StateError(f"{where} must be a text, not {brief(value)}")
        if self.choices and value not in self.choices:
            listed = ", ".join(map(repr, self.choices))
            raise StateError(f"{where} must be one of {listed}, not {brief(value)}")


class Array(Expected):
    """An array of some kinds of numbers (the letters of NumPy: b, i, u, f) and of a shape.

    Parameters
    ----------
    kinds : str
        The letters of the kinds that are allowed.
    *shape : str, int or None
        For each dimension the name of a size, a number, or None for any size.
    low, high : float
        Bounds of the values.
    finite : bool, default=True
        Whether NaN and infinity are refused.
    increasing : bool, default=False
        Whether each value of the only dimension must be larger than the one before.
    """

    def __init__(
        self,
        kinds: str,
        *shape: str | int | None,
        low: float = -math.inf,
        high: float = math.inf,
        finite: bool = True,
        increasing: bool = False,
    ) -> None:
        self.kinds, self.shape = kinds, shape
        self.low, self.high = low, high
        self.finite, self.increasing = finite, increasing

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray):
            raise StateError(f"{where} must be an array, not {brief(value)}")
        if value.dtype.kind not in self.kinds:
            raise StateError(f"{where} is an array of {brief(value.dtype.name)}, which cannot be")
        self._check_shape(value, where, sizes)
        self._check_values(value, where)

    def _check_shape(self, value: NDArray[Any], where: str, sizes: Sizes) -> None:
        fits = value.ndim == len(self.shape) and all(
            name is None or size == (sizes.known.get(name, size) if isinstance(name, str) else name)
            for name, size in zip(self.shape, value.shape, strict=True)
        )
        if not fits:
            raise StateError(
                f"{where} has the shape {value.shape} instead of {sizes.shape(self.shape)}"
            )
        for name, size in zip(self.shape, value.shape, strict=True):
            if isinstance(name, str):
                sizes.agree(name, size, where)

    def _check_values(self, value: NDArray[Any], where: str) -> None:
        if self.finite and value.dtype.kind == "f" and not np.isfinite(value).all():
            raise StateError(f"{where} holds a NaN or an infinity")
        if (value < self.low).any() or (value > self.high).any():
            raise StateError(
                f"{where} holds a value outside the range from {self.low:g} to {self.high:g}"
            )
        if self.increasing and not (value[1:] > value[:-1]).all():
            raise StateError(f"the values of {where} do not increase")


@dataclass(frozen=True)
class Names(Expected):
    """An array of strings, as many as a named size."""

    size: str

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        is_array = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "OU"
        if not is_array or not all(isinstance(name, str) for name in value.tolist()):
            raise StateError(f"{where} must be a list of names")
        sizes.agree(self.size, len(value), where)


class Labels(Expected):
    """The labels of the classes: one score for two labels, one score each for more.

    More than two labels are sorted. Of two labels, ``pos_label`` is the last, which the model
    checks.
    """

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "biufUO":
            raise StateError(f"{where} must be an array of labels")
        if len(value) < 2:
            raise StateError(f"{where} has {len(value)} labels; two or more are needed")
        labels = value.tolist()
        is_text = {isinstance(label, str) for label in labels}
        is_number = all(
            isinstance(label, Real) and math.isfinite(_as_float(label)) for label in labels
        )
        if is_text != {True} and not is_number:
            raise StateError(f"{where} must hold texts or finite numbers")
        is_ordered = all(a < b for a, b in pairwise(labels))
        if not is_ordered and (len(labels) > 2 or labels[0] == labels[1]):
            raise StateError(f"the labels of {where} are not sorted, or not distinct")
        sizes.agree("classes", len(value), where)
        sizes.agree("scores", 1 if len(value) == 2 else len(value), where)


@dataclass(frozen=True)
class ListOf(Expected):
    """A list of values of one kind, and of a named size if one is given."""

    each: Expected
    size: str | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, list):
            raise StateError(f"{where} must be a list, not {brief(value)}")
        if self.size is not None:
            sizes.agree(self.size, len(value), where)
        for i, item in enumerate(value):
            self.each.check(item, f"{where}[{i}]", sizes)


class TupleOf(Expected):
    """A tuple of values, each of its own kind."""

    def __init__(self, *each: Expected) -> None:
        self.each = each

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != len(self.each):
            raise StateError(f"{where} must be a tuple of {len(self.each)} values")
        for i, (item, expected) in enumerate(zip(value, self.each, strict=True)):
            expected.check(item, f"{where}[{i}]", sizes)


@dataclass(frozen=True)
class Nullable(Expected):
    """None, or something else."""

    other: Expected

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is not None:
            self.other.check(value, where, sizes)


@dataclass(frozen=True)
class Maybe(Expected):
    """Something that a fitted model may lack."""

    other: Expected
    may_be_absent = True

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        self.other.check(value, where, sizes)


@dataclass(frozen=True)
class PerClass(Expected):
    """One value for two classes; for more classes, what holds one value for each."""

    one: Expected
    many: Expected

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        expected = self.one if sizes.known.get("scores", 1) == 1 else self.many
        expected.check(value, where, sizes)


@dataclass(frozen=True)
class Fields(Expected):
    """A mapping from strings to what each value must be; ``others`` is for names not listed."""

    fields: Mapping[str, Expected] = field(default_factory=dict)
    others: Expected | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise StateError(f"{where} must hold names with values, not {brief(value)}")
        for name, expected in self.fields.items():
            if name not in value and not expected.may_be_absent:
                raise StateError(f"{where} lacks {name!r}")
        for name, item in value.items():
            expected = self.fields.get(name, self.others)
            if expected is None:
                raise StateError(f"{where} holds {brief(name)}, which is not known")
            expected.check(item, f"{where}.{brief(name)}", sizes)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
