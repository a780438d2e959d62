"""Classify groups of candidates, trained to a certified optimum.

Names are imported when they are first used, so that ``import groupcm`` is instant.
"""

from importlib import import_module

__version__ = "0.1.0"

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from groupcm import features, metrics, selection, simulate, sources
    from groupcm.calibration import CalibratedGroupClassifier
    from groupcm.classifier import GroupClassifier
    from groupcm.classifier_cv import GroupClassifierCV
    from groupcm.misvm import MISVMClassifier
    from groupcm.persistence import load, save
    from groupcm.scoring import GroupScores

__all__ = [
    "CalibratedGroupClassifier",
    "GroupClassifier",
    "GroupClassifierCV",
    "GroupScores",
    "MISVMClassifier",
    "features",
    "load",
    "metrics",
    "save",
    "selection",
    "simulate",
    "sources",
]

_HOME = {
    "CalibratedGroupClassifier": "groupcm.calibration",
    "GroupClassifier": "groupcm.classifier",
    "GroupClassifierCV": "groupcm.classifier_cv",
    "GroupScores": "groupcm.scoring",
    "MISVMClassifier": "groupcm.misvm",
    "load": "groupcm.persistence",
    "save": "groupcm.persistence",
}
_MODULES = ("features", "metrics", "selection", "simulate", "sources")


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"groupcm.{name}")
    raise AttributeError(f"module 'groupcm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
