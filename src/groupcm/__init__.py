"""Classify groups of candidates, trained to a certified optimum.

Names are imported when they are first used, so that ``import groupcm`` is instant. The module
`groupcm.torch` needs the extra of that name; without it the attribute is missing.
"""

from importlib import import_module

from groupcm._compat import redirect_moved_modules

__version__ = "0.1.0"

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from groupcm import (
        annotations,
        boosting,
        data,
        datasets,
        diagnostics,
        errors,
        estimators,
        evaluation,
        features,
        images,
        metrics,
        persistence,
        plots,
        selection,
        simulate,
        sources,
        workflows,
    )
    from groupcm import torch as torch
    from groupcm.boosting import GroupBoostingClassifier
    from groupcm.estimators import (
        CalibratedGroupClassifier,
        GroupClassifier,
        GroupClassifierCV,
        GroupScores,
        MISVMClassifier,
        fit_tables,
    )
    from groupcm.evaluation import compare_tables, evaluate_tables, score_tables
    from groupcm.persistence import export_onnx, load, save
    from groupcm.sources import read_candidates
    from groupcm.workflows import train_folder

__all__ = [
    "CalibratedGroupClassifier",
    "GroupBoostingClassifier",
    "GroupClassifier",
    "GroupClassifierCV",
    "GroupScores",
    "MISVMClassifier",
    "annotations",
    "boosting",
    "compare_tables",
    "data",
    "datasets",
    "diagnostics",
    "errors",
    "estimators",
    "evaluate_tables",
    "evaluation",
    "export_onnx",
    "features",
    "fit_tables",
    "images",
    "load",
    "metrics",
    "persistence",
    "plots",
    "read_candidates",
    "save",
    "score_tables",
    "selection",
    "simulate",
    "sources",
    "train_folder",
    "workflows",
]

_HOMES = {
    "CalibratedGroupClassifier": "estimators",
    "GroupBoostingClassifier": "boosting",
    "GroupClassifier": "estimators",
    "GroupClassifierCV": "estimators",
    "GroupScores": "estimators",
    "MISVMClassifier": "estimators",
    "compare_tables": "evaluation",
    "evaluate_tables": "evaluation",
    "export_onnx": "persistence",
    "fit_tables": "estimators",
    "load": "persistence",
    "read_candidates": "sources",
    "save": "persistence",
    "score_tables": "evaluation",
    "train_folder": "workflows",
}
_MODULES = (
    "annotations",
    "boosting",
    "data",
    "datasets",
    "diagnostics",
    "errors",
    "estimators",
    "evaluation",
    "features",
    "images",
    "metrics",
    "persistence",
    "plots",
    "selection",
    "simulate",
    "sources",
    "workflows",
)
# Not in ``__all__``: an import of all names must work, and be quick, without these.
_EXTRAS = ("torch",)


redirect_moved_modules()


def __getattr__(name: str) -> "Any":
    if name in _HOMES:
        return getattr(import_module(f"groupcm.{_HOMES[name]}"), name)
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
