"""The name, the hyperparameters and the certificate of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.classifier import GroupClassifier
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.estimators.misvm import MISVMClassifier
from groupcm.evaluation.explanation import linear_part
from groupcm.evaluation.results import DataCounts, Training

__all__ = ["calibrated_part", "model_name", "training_of"]

_ALWAYS_SHOWN = ("lam", "C")
# These control how a model is computed, not which one.
_NEVER_SHOWN = {"verbose", "memory", "checkpoint", "estimator"}
_GCM = {
    "negative": "GCM",
    "none": "GCM without grouping",
    "both": "GCM, both classes grouped",
}


def model_name(model: Any) -> str:
    """Return the common name of a model; for models from elsewhere, the name of their class.

    Examples
    --------
    >>> model_name(GroupClassifier()), model_name(GroupClassifier(grouping="none"))
    ('GCM', 'GCM without grouping')
    >>> model_name(CalibratedGroupClassifier(GroupClassifierCV()))
    'GCM, λ chosen by folds, calibrated'
    >>> model_name(MISVMClassifier())
    'MI-SVM'
    """
    if isinstance(model, CalibratedGroupClassifier):
        return f"{model_name(calibrated_part(model))}, calibrated"
    if isinstance(model, GroupClassifier | GroupClassifierCV):
        chosen = ", λ chosen by folds" if isinstance(model, GroupClassifierCV) else ""
        return f"{_GCM[model.grouping]}{chosen}"
    if isinstance(model, MISVMClassifier):
        return "MI-SVM"
    return type(model).__name__


def calibrated_part(model: CalibratedGroupClassifier) -> Any:
    """Return the model whose scores are calibrated, the fitted one if there is one.

    Examples
    --------
    >>> calibrated_part(CalibratedGroupClassifier(GroupClassifier(0.9)))
    GroupClassifier(lam=0.9)
    """
    return getattr(model, "estimator_", model.estimator)


def training_of(model: Any, trained_on: DataCounts | None = None) -> Training:
    """Return the name of a fitted model, its hyperparameters, and its certificate.

    Parameters
    ----------
    model : estimator
    trained_on : DataCounts, optional
        The training data, where it is known.

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
    """Return λ or C, and all parameters that differ from their defaults."""
    if isinstance(model, CalibratedGroupClassifier):
        return {**_parameters(calibrated_part(model)), "probabilities": f"{model.method} curve"}
    given: dict[str, str] = {}
    inner = getattr(model, "estimator", None)
    if inner is not None and hasattr(inner, "get_params"):
        given |= {"estimator": type(inner).__name__, **_parameters(inner)}
    return given | _own(model)


def _own(model: Any) -> dict[str, str]:
    """Return the parameters of a model itself, without those of a model inside it."""
    given: dict[str, str] = {}
    defaults = signature(type(model).__init__).parameters
    for name, value in model.get_params(deep=False).items():
        if name in _NEVER_SHOWN:
            continue
        is_shown = name in _ALWAYS_SHOWN and value is not None
        if is_shown or repr(value) != repr(defaults[name].default):
            given[name] = f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())
    if given.get("C") is not None:
        given.pop("lam", None)  # C replaces it
    chosen = getattr(model, "lam_", None)
    if chosen is not None:
        given["lam"] = f"{chosen:.4g}, chosen by cross-validation"
    return given


def _number(model: Any, name: str) -> float | None:
    value = getattr(model, name, None)
    return None if value is None else float(value)
