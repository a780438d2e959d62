"""What a fitted model stores: declared by its class, checked in one place.

A class declares its fitted attributes in ``_fitted_state``, a mapping from the name of each
attribute to what it must be::

    _fitted_state = {
        "n_features_in_": Count("features"),
        "classes_": Labels(),
        "coef_": Array("f", "scores", "features"),
    }

Shapes are written in named sizes. In the order of the mapping, the first attribute that has a
size determines it, and all others must agree. Models are checked when they are loaded and when
they are saved, so that a file that comes from elsewhere cannot make a kernel read past the end
of an array, and a model that was modified in memory is refused before it is written.

Two methods add what a declaration cannot express. Both raise a `ValueError` with one sentence:

``_check_parameters(self)``
    Check the hyperparameters. ``fit`` calls it, too.
``_check_state(self)``
    Check the fitted attributes against each other. It is called after the declared checks.

A subclass inherits the declarations of its bases. A class whose ``_fitted_state`` is a plain
sequence of names checks the attributes that it has not declared in ``_check_state``.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

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
    "Part",
    "PerClass",
    "Record",
    "Sizes",
    "StateError",
    "Text",
    "TupleOf",
    "check_model",
    "check_parameters_of",
    "declared_state",
    "require_threads",
    "run_check",
    "shown",
]

Result = TypeVar("Result")

_MOST_CHARACTERS = 60
_MOST_THREADS = 4096


class StateError(ValueError):
    """An attribute that is not what its class declares, or does not fit the others."""


def shown(value: Any) -> str:
    r"""Return a value of unknown origin as short text without control characters.

    Examples
    --------
    >>> shown("coef_"), shown("a\x1b[2J"), shown("x" * 100)[-5:]
    ('coef_', "'a\\x1b[2J'", 'xx...')
    """
    if isinstance(value, str) and re.fullmatch(rf"[A-Za-z0-9_.$]{{1,{_MOST_CHARACTERS}}}", value):
        return value
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge whole number"
    text = ascii(value[: 2 * _MOST_CHARACTERS] if isinstance(value, str | list | tuple) else value)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."


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
        """Set a size that is not known yet; refuse another one than is known."""
        if size > self.most:
            raise StateError(f"{where} has {shown(size)} {name}, more than its file can describe")
        if self.known.setdefault(name, size) != size:
            raise StateError(
                f"{where} has {size} {name}, but {self.origin[name]} says {self.known[name]}"
            )
        self.origin.setdefault(name, where)

    def shape(self, wanted: tuple[str | int | None, ...]) -> str:
        """The wanted shape as text, with the sizes that are known."""
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
        """Raise `StateError` where the value is something else; ``where`` names it."""


@dataclass(frozen=True)
class Count(Expected):
    """A whole number that is also one of the sizes, such as the number of features."""

    size: str
    least: int = 1

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not _is_whole(value) or int(value) < self.least:
            raise StateError(
                f"{where} must be a whole number from {self.least}, not {shown(value)}"
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
        if not is_number or (self.whole and not _is_whole(value)):
            kind = "whole number" if self.whole else "number"
            raise StateError(f"{where} must be a {kind}, not {shown(value)}")
        number = _as_float(value)
        if self.finite and not math.isfinite(number):
            raise StateError(f"{where} must be finite, not {shown(value)}")
        if math.isnan(number) and not self.nan:
            raise StateError(f"{where} must be a number, not NaN")
        if number < self.low or number > self.high:
            raise StateError(
                f"{where} is {shown(value)}, outside the range from {self.low:g} to {self.high:g}"
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
            raise StateError(f"{where} must be true or false, not {shown(value)}")


@dataclass(frozen=True)
class Text(Expected):
    """A text, one of the ``choices`` where there are any."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str):
            raise StateError(f"{where} must be a text, not {shown(value)}")
        if self.choices and value not in self.choices:
            listed = ", ".join(map(repr, self.choices))
            raise StateError(f"{where} must be one of {listed}, not {shown(value)}")


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
            raise StateError(f"{where} must be an array, not {shown(value)}")
        if value.dtype.kind not in self.kinds:
            raise StateError(f"{where} is an array of {shown(value.dtype.name)}, which cannot be")
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
    """An array of texts, one for each of a size."""

    size: str

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        is_array = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "OU"
        if not is_array or not all(isinstance(name, str) for name in value.tolist()):
            raise StateError(f"{where} must be a list of names")
        sizes.agree(self.size, len(value), where)


class Labels(Expected):
    """The labels of the classes: two, the positive one last, have one score; more have one each.

    More than two are sorted. The order of two is that of ``pos_label``, which the model checks.
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
    """A list of values of one kind, of a named size where one is given."""

    each: Expected
    size: str | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, list):
            raise StateError(f"{where} must be a list, not {shown(value)}")
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
class Record(Expected):
    """A record of one of some classes, whose fields are declared in their ``_fitted_state``."""

    kinds: tuple[type, ...]

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) not in self.kinds:
            listed = " or ".join(kind.__name__ for kind in self.kinds)
            raise StateError(f"{where} must be a {listed}, not a {type(value).__name__}")
        check_model(value, where, sizes)


@dataclass(frozen=True)
class Fields(Expected):
    """A mapping from texts to what each must be; ``others`` is for those not named."""

    fields: Mapping[str, Expected] = field(default_factory=dict)
    others: Expected | None = None
    required: tuple[str, ...] = ()

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise StateError(f"{where} must hold names with values, not {shown(value)}")
        for name in self.required:
            if name not in value:
                raise StateError(f"{where} lacks {name!r}")
        for name, item in value.items():
            expected = self.fields.get(name, self.others)
            if expected is None:
                raise StateError(f"{where} holds {shown(name)}, which is not known")
            expected.check(item, f"{where}.{shown(name)}", sizes)


@dataclass(frozen=True)
class Part(Expected):
    """A fitted estimator, map or transformer within the model, whose sizes fit the model's.

    Parameters
    ----------
    kind : type or str
        Its class, or the name of its class with its module.
    sizes : mapping
        From the name of a size to the attribute of the part that has it.
    otherwise : mapping, optional
        Where the part may be None: from a size to the one that it then equals.
    """

    kind: type | str
    sizes: Mapping[str, str] = field(default_factory=dict)
    otherwise: Mapping[str, str] | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is None and self.otherwise is not None:
            for name, same in self.otherwise.items():
                sizes.agree(name, sizes.known[same], sizes.origin[same])
            return
        if not self._is_right(value):
            name = (
                self.kind.rpartition(".")[2] if isinstance(self.kind, str) else self.kind.__name__
            )
            raise StateError(f"{where} must be a {name}, not a {type(value).__name__}")
        for name, attribute in self.sizes.items():
            size: Any = getattr(value, attribute, None)
            if not _is_whole(size) or int(size) < 1:
                raise StateError(f"{where} is not fitted: it has no {attribute}")
            sizes.agree(name, int(size), f"{where}.{attribute}")

    def _is_right(self, value: Any) -> bool:
        if isinstance(self.kind, type):
            return isinstance(value, self.kind)
        return f"{type(value).__module__}.{type(value).__name__}" == self.kind


class DeclaresState(Protocol):
    """What a class may declare of its state: no other private name of a class is read here."""

    _fitted_state: ClassVar[Mapping[str, Expected] | Sequence[str]]

    def _check_parameters(self) -> None:
        """Raise one sentence about the first hyperparameter that is not possible."""

    def _check_state(self) -> None:
        """Raise one sentence where fitted attributes contradict each other."""


@cache
def declared_state(cls: type) -> Mapping[str, Expected | None]:
    """Return what a class and its bases declare; None for names without a declaration.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> "coef_" in declared_state(GroupClassifier)
    True
    """
    declared: dict[str, Expected | None] = {}
    for base in reversed(cls.__mro__):
        own = vars(base).get("_fitted_state", ())
        if isinstance(own, Mapping):
            declared |= own
        else:
            declared |= {name: declared.get(name) for name in own}
    return declared


def check_model(
    model: Any, where: str = "", sizes: Sizes | None = None, only: Iterable[str] | None = None
) -> None:
    """Check the fitted attributes of a model, or the fields of a record, against each other.

    Parameters
    ----------
    model : object
        Its class has ``_fitted_state``.
    where : str
        What the attributes belong to, for the sentence about a wrong one.
    sizes : Sizes, optional
        The sizes that are known before.
    only : iterable of str, optional
        The attributes to check; by default all of them, and then ``_check_state``.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> check_model(model)
    >>> model.coef_ = np.ones((1, 7))
    >>> check_model(model)
    Traceback (most recent call last):
    groupcm.utils.fitted_state.StateError: coef_ has the shape (1, 7) instead of (1, 1): outputs
    from n_features_in_, scores from classes_
    """
    sizes = Sizes() if sizes is None else sizes
    declared = declared_state(type(model))
    for name in declared if only is None else only:
        expected = declared[name]
        if expected is None:
            continue
        place = f"{where}.{name}" if where else name
        if name not in vars(model):
            if expected.may_be_absent:
                continue
            raise StateError(f"{place} is missing")
        expected.check(vars(model)[name], place, sizes)
    own = getattr(model, "_check_state", None)
    if only is None and own is not None:
        run_check(own, where)


def check_parameters_of(model: Any, where: str = "") -> None:
    """Check the hyperparameters of a model by its ``_check_parameters``, where it has one."""
    require_threads(model, where)
    own = getattr(model, "_check_parameters", None)
    if own is not None:
        run_check(own, where)


def require_threads(model: Any, where: str = "") -> None:
    """Check that the ``n_jobs`` of any model, where it has that, is a plausible number of threads.

    Examples
    --------
    >>> from groupcm import GroupBoostingClassifier
    >>> require_threads(GroupBoostingClassifier(n_jobs=10**9))
    Traceback (most recent call last):
    groupcm.utils.fitted_state.StateError: n_jobs is 1000000000; it must be None, or a whole number
    of threads other than 0, at most 4096
    """
    n_jobs = vars(model).get("n_jobs")
    if n_jobs is not None and (not _is_whole(n_jobs) or not 0 < abs(n_jobs) <= _MOST_THREADS):
        place = f"{where}.n_jobs" if where else "n_jobs"
        raise StateError(
            f"{place} is {shown(n_jobs)}; it must be None, or a whole number of threads other than "
            f"0, at most {_MOST_THREADS}"
        )


def run_check(check: Callable[[], Result], where: str) -> Result:
    """Run a check of a model's own, and add to its sentence where the model is."""
    try:
        return check()
    except ValueError as error:
        sentence = " ".join(str(error).split()).removesuffix(".")
        raise StateError(f"{where}: {sentence}" if where else sentence) from error


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
