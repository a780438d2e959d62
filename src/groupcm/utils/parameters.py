"""What the hyperparameters of an estimator may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from groupcm.data.labels import require_pos_label
from groupcm.utils.memory import parse_memory

__all__ = ["check_parameters", "require_number", "require_seed"]

_CHOICES = {
    "loss": ("smoothed_hinge", "hinge"),
    "penalty": ("huber", "l2", "l1"),
    "grouping": ("negative", "both", "none"),
    "background": ("ignore", "negative"),
    "solver": ("working_set", "lbfgs"),
}
_POSITIVE = ("epsilon", "tol", "max_passes")


def check_parameters(given: Mapping[str, Any]) -> None:
    """Raise one sentence about the first option that is not possible.

    Examples
    --------
    >>> check_parameters({"penalty": "l3"})
    Traceback (most recent call last):
    ValueError: penalty must be one of 'huber', 'l2', 'l1'; got 'l3'.
    """
    for name, choices in _CHOICES.items():
        if name in given and not (isinstance(given[name], str) and given[name] in choices):
            listed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {listed}; got {given[name]!r}.")
    require_number(given, "lam", "a number between 0 and 1, both excluded", lambda x: 0.0 < x < 1.0)
    require_number(given, "delta", "a number above 0", lambda x: 0.0 < x < float("inf"))
    for name in _POSITIVE:
        require_number(given, name, "a number above 0", lambda x: 0.0 < x < float("inf"))
    for name in ("C", "max_time"):
        if given.get(name) is not None:
            what = "None or a number above 0"
            require_number(given, name, what, lambda x: 0.0 < x < float("inf"))
    require_number(given, "min_overlap", "a number", lambda x: x == x)
    for name, what, kinds in (
        ("verbose", "a whole number", Integral),
        ("standardize", "True or False", Integral | np.bool_),
        ("checkpoint", "None or a path", str | os.PathLike | None),
    ):
        if name in given and not isinstance(given[name], kinds):
            raise ValueError(f"{name} must be {what}; got {given[name]!r}.")
    require_seed(given.get("random_state"))
    require_pos_label(given.get("pos_label"))
    feature_map = given.get("feature_map")
    if feature_map is not None and not callable(getattr(feature_map, "transform", None)):
        raise ValueError(
            "feature_map must be None, a map of groupcm.features or a fitted transformer of "
            f"scikit-learn; {feature_map!r} has no transform."
        )
    if given.get("memory") is not None:
        parse_memory(given["memory"])


def require_seed(random_state: Any) -> None:
    """Raise one sentence where ``random_state`` is nothing that scikit-learn takes.

    Examples
    --------
    >>> require_seed(-1)
    Traceback (most recent call last):
    ValueError: random_state must be None, a whole number from 0 to 4294967295 or a RandomState;
    got -1.
    """
    try:
        check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state must be None, a whole number from 0 to {2**32 - 1} or a RandomState; "
            f"got {random_state!r}."
        ) from None


def require_number(
    given: Mapping[str, Any], name: str, what: str, holds: Callable[[float], bool]
) -> None:
    """Raise one sentence where the option is given and is no number for which ``holds``."""
    if name not in given:
        return
    value = given[name]
    try:
        number = None if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:  # a whole number beyond all floats
        number = None
    if number is None or not holds(number):
        raise ValueError(f"{name} must be {what}; got {value!r}.")
