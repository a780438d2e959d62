"""What people call a model."""

from __future__ import annotations

from typing import Any

from groupcm.calibration import CalibratedGroupClassifier
from groupcm.classifier import GroupClassifier
from groupcm.classifier_cv import GroupClassifierCV
from groupcm.misvm import MISVMClassifier

__all__ = ["calibrated_part", "model_name"]

_GCM = {
    "negative": "GCM",
    "none": "GCM without grouping",
    "both": "GCM, both classes grouped",
}


def model_name(model: Any) -> str:
    """A model's plain name; of models that are not groupcm's, the name of their class.

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
    """The model whose scores are calibrated, trained where it is.

    Examples
    --------
    >>> calibrated_part(CalibratedGroupClassifier(GroupClassifier(0.9)))
    GroupClassifier(lam=0.9)
    """
    return getattr(model, "estimator_", model.estimator)
