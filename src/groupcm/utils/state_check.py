"""The check of a fitted model against the declarations of its class.

Models are checked when they are loaded and when they are saved, so that a file from elsewhere
cannot make a kernel read past the end of an array, and a model that was modified in memory is
refused before it is written. The declarations are those of `groupcm.utils.fitted_state`; `Record`
and `Part` declare attributes that are themselves records or fitted models.

Two methods of a model check what a declaration cannot express. Both raise a `ValueError` with one
sentence:

``_check_parameters(self)``
    Check the hyperparameters. ``fit`` calls it, too.
``_check_state(self)``
    Check the fitted attributes against each other. It is called after the declared checks.

A subclass inherits the declarations of its bases. A class whose ``_fitted_state`` is a plain
sequence of names checks the attributes that it has not declared in ``_check_state``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar

from groupcm.utils.fitted_state import Expected, Sizes, StateError
from groupcm.utils.parameters import is_whole
from groupcm.utils.text import brief

__all__ = [
    "DeclaresState",
    "Part",
    "Record",
    "check_attributes",
    "check_model",
    "check_parameters_of",
    "declared_state",
    "require_threads",
    "run_check",
]

Result = TypeVar("Result")

_MOST_THREADS = 4096


class DeclaresState(Protocol):
    """The declarations that a class may have: no other private name of a class is read here."""

    _fitted_state: ClassVar[Mapping[str, Expected] | Sequence[str]]

    def _check_parameters(self) -> None:
        """Raise an error with one sentence about the first invalid hyperparameter."""

    def _check_state(self) -> None:
        """Raise an error with one sentence if fitted attributes contradict each other."""


@cache
def declared_state(cls: type) -> Mapping[str, Expected | None]:
    """Return the declarations of a class and its bases; None for names without a declaration.

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
        The object that has the attributes, for the error message.
    sizes : Sizes, optional
        The sizes that are already known.
    only : iterable of str, optional
        The attributes to check; by default all of them, and then ``_check_state``.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> check_model(model)
    >>> model.coef_ = np.ones((1, 7))
    >>> check_model(model)
    Traceback (most recent call last):
    groupcm.utils.fitted_state.StateError: coef_ has the shape (1, 7) instead of (1, 1): outputs
    from n_features_in_, scores from classes_
    """
    declared = declared_state(type(model))
    if only is not None:
        declared = {name: declared[name] for name in only}
    check_attributes(model, declared, where, Sizes() if sizes is None else sizes)
    own = getattr(model, "_check_state", None)
    if only is None and own is not None:
        run_check(own, where)


def check_attributes(
    model: Any, declared: Mapping[str, Expected | None], where: str, sizes: Sizes
) -> None:
    """Check the attributes of a model against declarations; those without one are skipped."""
    for name, expected in declared.items():
        place = f"{where}.{name}" if where else name
        if expected is not None and name in vars(model):
            expected.check(vars(model)[name], place, sizes)
        elif expected is not None and not expected.may_be_absent:
            raise StateError(f"{place} is missing")


def check_parameters_of(model: Any, where: str = "") -> None:
    """Check the hyperparameters of a model by its ``_check_parameters``, if it has one."""
    require_threads(model, where)
    own = getattr(model, "_check_parameters", None)
    if own is not None:
        run_check(own, where)


def require_threads(model: Any, where: str = "") -> None:
    """Check that the ``n_jobs`` of a model, if it has one, is a plausible number of threads.

    Examples
    --------
    >>> from groupcm import GroupBoostingClassifier
    >>> require_threads(GroupBoostingClassifier(n_jobs=10**9))
    Traceback (most recent call last):
    groupcm.utils.fitted_state.StateError: n_jobs is 1000000000; it must be None, or a whole number
    of threads other than 0, at most 4096
    """
    n_jobs = vars(model).get("n_jobs")
    if n_jobs is not None and (not is_whole(n_jobs) or not 0 < abs(n_jobs) <= _MOST_THREADS):
        place = f"{where}.n_jobs" if where else "n_jobs"
        raise StateError(
            f"{place} is {brief(n_jobs)}; it must be None, or a whole number of threads other than "
            f"0, at most {_MOST_THREADS}"
        )


def run_check(check: Callable[[], Result], where: str) -> Result:
    """Run a check of a model, and add the position of the model to its message."""
    try:
        return check()
    except ValueError as error:
        sentence = " ".join(str(error).split()).removesuffix(".")
        raise StateError(f"{where}: {sentence}" if where else sentence) from error


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
class Part(Expected):
    """A fitted estimator, map or transformer within the model, whose sizes fit the model's.

    Parameters
    ----------
    kind : type or str
        Its class, or the name of its class with its module.
    sizes : mapping
        From the name of a size to the attribute of the part that has it.
    otherwise : mapping, optional
        If the part may be None: from the name of a size to the one that it then equals.
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
            if not is_whole(size) or int(size) < 1:
                raise StateError(f"{where} is not fitted: it has no {attribute}")
            sizes.agree(name, int(size), f"{where}.{attribute}")

    def _is_right(self, value: Any) -> bool:
        if isinstance(self.kind, type):
            return isinstance(value, self.kind)
        return f"{type(value).__module__}.{type(value).__name__}" == self.kind
