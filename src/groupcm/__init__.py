"""Classify groups of candidates, trained to a certified optimum.

Names are imported when they are first used, so that ``import groupcm`` is instant.
"""

from importlib import import_module

__version__ = "0.1.0"

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from groupcm import boosting, features, metrics, selection, simulate, sources, torch
    from groupcm.boosting import GroupBoostingClassifier
    from groupcm.calibration import CalibratedGroupClassifier
    from groupcm.classifier import GroupClassifier
    from groupcm.classifier_cv import GroupClassifierCV
    from groupcm.misvm import MISVMClassifier
    from groupcm.onnx_export import export_onnx
    from groupcm.persistence import load, save
    from groupcm.scoring import GroupScores

__all__ = [
    "CalibratedGroupClassifier",
    "GroupBoostingClassifier",
    "GroupClassifier",
    "GroupClassifierCV",
    "GroupScores",
    "MISVMClassifier",
    "boosting",
    "export_onnx",
    "features",
    "load",
    "metrics",
    "save",
    "selection",
    "simulate",
    "sources",
    "torch",
]

_HOME = {
    "CalibratedGroupClassifier": "groupcm.calibration",
    "GroupBoostingClassifier": "groupcm.boosting.classifier",
    "GroupClassifier": "groupcm.classifier",
    "GroupClassifierCV": "groupcm.classifier_cv",
    "GroupScores": "groupcm.scoring",
    "MISVMClassifier": "groupcm.misvm",
    "export_onnx": "groupcm.onnx_export",
    "load": "groupcm.persistence",
    "save": "groupcm.persistence",
}
_MODULES = ("boosting", "features", "metrics", "selection", "simulate", "sources", "torch")


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"groupcm.{name}")
    raise AttributeError(f"module 'groupcm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
