"""How a hyperparameter is declared: its values, its help, and its option of ``groupcm fit``.

`groupcm.estimators.hyperparameters` declares those of the estimators, each once:
`check_parameters` checks the value from the declaration, and ``groupcm fit`` takes the option from
the same one. Only the standard library is imported here, so that ``groupcm fit --help`` answers at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real

from groupcm.errors import Argument, ParameterError

TYPE_CHECKING = False  # of `typing`, which takes long to import
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ABOVE_ZERO",
    "Parameter",
    "Values",
    "check_parameters",
    "is_whole",
    "number",
    "one_of",
    "or_none",
    "whole_number",
]


class Values:
    """The values that a parameter may have.

    Parameters
    ----------
    what : str
        The values in words, as they follow "must be".
    allow : callable
        Returns whether a value is one of them, or raises a more helpful sentence of its own.
    kind : str
        How the command line reads one: "text", "number", "whole", "choice", "flag", or the name
        of a reader of its own.
    choices : tuple of str
        All values, where they are few.
    """

    __slots__ = ("allow", "choices", "kind", "what")

    def __init__(
        self,
        what: str,
        allow: Callable[[Any], bool],
        kind: str = "text",
        choices: tuple[str, ...] = (),
    ) -> None:
        self.what = what
        self.allow = allow
        self.kind = kind
        self.choices = choices


class Parameter:
    """A hyperparameter of one or more estimators.

    Parameters
    ----------
    name : str
        Its name in Python.
    values : Values
        The values that it may have.
    default : object
        The default of the estimators; ``...`` where they differ, or where the help contains it.
    option : str, optional
        The option of ``groupcm fit`` that sets it; without it, the command line cannot.
    help : str
        The help of that option.
    section : str
        The part of the help in which the option is listed; by default that of its model.
    metavar : str
        The placeholder of the value in the help.
    """

    __slots__ = ("default", "help", "metavar", "name", "option", "section", "values")

    def __init__(
        self,
        name: str,
        values: Values,
        default: object = ...,
        *,
        option: str | None = None,
        help: str = "",
        section: str = "",
        metavar: str = "N",
    ) -> None:
        self.name = name
        self.values = values
        self.default = default
        self.option = option
        self.help = help
        self.section = section
        self.metavar = metavar

    def check(self, value: Any) -> None:
        """Raise one sentence where the parameter cannot have this value."""
        if not self.values.allow(value):
            raise ParameterError(
                Argument(self.name), f" must be {self.values.what}; got {value!r}."
            )


def check_parameters(given: Mapping[str, Any], declared: Iterable[Parameter]) -> None:
    """Raise one sentence about the first parameter that has an impossible value.

    Parameters
    ----------
    given : mapping
        The values of some of the parameters, by their names.
    declared : iterable of Parameter
        The parameters to check.

    Examples
    --------
    >>> penalty = Parameter("penalty", one_of("huber", "l2", "l1"))
    >>> check_parameters({"penalty": "l3"}, [penalty])
    Traceback (most recent call last):
    groupcm.errors.ParameterError: penalty must be one of 'huber', 'l2', 'l1'; got 'l3'.
    """
    for parameter in declared:
        if parameter.name in given:
            parameter.check(given[parameter.name])


def one_of(*choices: str) -> Values:
    """Return the values that are one of a few texts."""
    what = f"one of {', '.join(map(repr, choices))}"
    return Values(
        what, lambda value: isinstance(value, str) and value in choices, "choice", choices
    )


def number(what: str, holds: Callable[[float], bool]) -> Values:
    """Return the numbers for which ``holds`` is true, which ``what`` describes.

    Examples
    --------
    >>> share = number("a share", lambda x: 0.0 <= x <= 1.0)
    >>> share.allow(0.5), share.allow(2), share.allow(True), share.allow("0.5")
    (True, False, False, False)
    """

    def allow(value: Any) -> bool:
        try:
            return isinstance(value, Real) and not isinstance(value, bool) and holds(float(value))
        except OverflowError:  # a whole number beyond all floats
            return False

    return Values(what, allow, "number")


#: The numbers above 0.
ABOVE_ZERO = number("a number above 0", lambda x: 0.0 < x < float("inf"))


def whole_number(least: int) -> Values:
    """Return the whole numbers from ``least``."""
    what = f"a whole number of at least {least}"
    return Values(what, lambda value: is_whole(value) and value >= least, "whole")


def or_none(values: Values) -> Values:
    """Return the same values and None."""
    return Values(
        f"None or {values.what}",
        lambda value: value is None or values.allow(value),
        values.kind,
        values.choices,
    )


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, which True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
