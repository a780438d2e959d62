"""Classify groups of candidates, trained to a certified optimum.

Names are imported when they are first used, so that ``import groupcm`` is instant. The module
`groupcm.torch` needs the extra of that name; without it the attribute is missing.
"""

from importlib import import_module

__version__ = "0.1.0"

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from groupcm import boosting, errors, features, metrics, simulate, sources, torch
    from groupcm.boosting import GroupBoostingClassifier
    from groupcm.estimators import path as selection
    from groupcm.estimators.calibration import CalibratedGroupClassifier
    from groupcm.estimators.classifier import GroupClassifier
    from groupcm.estimators.classifier_cv import GroupClassifierCV
    from groupcm.estimators.misvm import MISVMClassifier
    from groupcm.estimators.scoring import GroupScores
    from groupcm.estimators.tables import fit_tables
    from groupcm.evaluation.comparison.tables import compare_tables
    from groupcm.evaluation.table_evaluation import evaluate_tables
    from groupcm.evaluation.table_scores import score_tables
    from groupcm.persistence.model_file import load, save
    from groupcm.persistence.onnx import export_onnx
    from groupcm.sources.tables import read_candidates

__all__ = [
    "CalibratedGroupClassifier",
    "GroupBoostingClassifier",
    "GroupClassifier",
    "GroupClassifierCV",
    "GroupScores",
    "MISVMClassifier",
    "boosting",
    "compare_tables",
    "errors",
    "evaluate_tables",
    "export_onnx",
    "features",
    "fit_tables",
    "load",
    "metrics",
    "read_candidates",
    "save",
    "score_tables",
    "selection",
    "simulate",
    "sources",
]

_HOME = {
    "CalibratedGroupClassifier": "groupcm.estimators.calibration",
    "GroupBoostingClassifier": "groupcm.boosting.classifier",
    "GroupClassifier": "groupcm.estimators.classifier",
    "GroupClassifierCV": "groupcm.estimators.classifier_cv",
    "GroupScores": "groupcm.estimators.scoring",
    "MISVMClassifier": "groupcm.estimators.misvm",
    "compare_tables": "groupcm.evaluation.comparison.tables",
    "evaluate_tables": "groupcm.evaluation.table_evaluation",
    "export_onnx": "groupcm.persistence.onnx",
    "fit_tables": "groupcm.estimators.tables",
    "load": "groupcm.persistence.model_file",
    "read_candidates": "groupcm.sources.tables",
    "save": "groupcm.persistence.model_file",
    "score_tables": "groupcm.evaluation.table_scores",
}
_MODULES = ("boosting", "errors", "features", "metrics", "selection", "simulate", "sources")
# Not in ``__all__``: an import of all names must work, and be quick, without these.
_EXTRAS = ("torch",)


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"groupcm.{name}")
    if name in _EXTRAS:
        try:
            return import_module(f"groupcm.{name}")
        except ImportError as error:  # hasattr and inspect expect this of a missing name
            raise AttributeError(f"module 'groupcm' has no attribute {name!r}: {error}") from error
    raise AttributeError(f"module 'groupcm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_EXTRAS, "__version__"])
