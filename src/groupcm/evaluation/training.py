"""What was trained, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from groupcm.calibration import CalibratedGroupClassifier
from groupcm.evaluation.model_name import calibrated_part, model_name
from groupcm.evaluation.numbers import DataCounts, Training
from groupcm.weights import linear_part

__all__ = ["training_of"]

_ALWAYS = ("lam", "C")
# How it was computed, not what was.
_NEVER = {"verbose", "memory", "checkpoint", "estimator"}


def training_of(model: Any, trained_on: DataCounts | None = None) -> Training:
    """A fitted model's name, the parameters that matter, and its certificate.

    Parameters
    ----------
    model : estimator
    trained_on : DataCounts, optional
        Where somebody noted it.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier(0.9, tol=1e-6).fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> training_of(model).model, training_of(model).parameters
    ('GCM', {'lam': '0.9', 'tol': '1e-06'})
    """
    certified = linear_part(model)
    return Training(
        model=model_name(model),
        parameters=_parameters(model),
        trained_on=trained_on,
        objective=_number(certified, "objective_"),
        lower_bound=_number(certified, "lower_bound_"),
        gap=_number(certified, "gap_"),
        tol=_number(certified, "tol"),
        passes=_number(certified, "n_passes_"),
    )


def _parameters(model: Any) -> Mapping[str, str]:
    """λ or C, and whatever else is not as the estimator has it by default."""
    if isinstance(model, CalibratedGroupClassifier):
        return {**_parameters(calibrated_part(model)), "probabilities": f"{model.method} curve"}
    given: dict[str, str] = {}
    inner = getattr(model, "estimator", None)
    if inner is not None and hasattr(inner, "get_params"):
        given |= {"estimator": type(inner).__name__, **_parameters(inner)}
    return given | _own(model)


def _own(model: Any) -> dict[str, str]:
    """The parameters of a model itself, without those of a model within."""
    given: dict[str, str] = {}
    defaults = signature(type(model).__init__).parameters
    for name, value in model.get_params(deep=False).items():
        if name in _NEVER:
            continue
        is_shown = name in _ALWAYS and value is not None
        if is_shown or repr(value) != repr(defaults[name].default):
            given[name] = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    if given.get("C") is not None:
        given.pop("lam", None)  # not used beside C
    chosen = getattr(model, "lam_", None)
    if chosen is not None:
        given["lam"] = f"{chosen:.4g}, chosen by cross-validation"
    return given


def _number(model: Any, name: str) -> float | None:
    value = getattr(model, name, None)
    return None if value is None else float(value)
