"""Every number of a comparison of models as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from groupcm.evaluation.comparison.results import LevelComparison, ModelComparison, Pair
from groupcm.evaluation.documents import (
    SCHEMAS,
    interval_values,
    learning_values,
    plain_values,
    roc_values,
)

__all__ = ["comparison_document"]


def comparison_document(comparison: ModelComparison) -> dict[str, Any]:
    """Return every number of a comparison of models as plain values, for JSON.

    Examples
    --------
    >>> from groupcm.evaluation import compare_models
    >>> from groupcm.simulate import capsule
    >>> data = capsule(40, n_positive=20, group_size=5)
    >>> found = compare_models(
    ...     data.X, data.y, data.groups, models=["svm", "gcm"], cv=2, n_settings=1,
    ...     learning=False, n_resamples=50,
    ... )
    >>> document = comparison_document(found)
    >>> [model["name"] for model in document["models"]], len(document["pairs"])
    (['SVM', 'GCM'], 1)
    """
    found = comparison
    labels = None if found.labels is None else [str(each) for each in found.labels]
    return plain_values(
        {
            "schema": SCHEMAS["comparison"],
            "title": found.title,
            "groupcm_version": found.version,
            "unit": found.unit,
            "confidence_level": found.level,
            "data": asdict(found.data),
            "labels": labels,
            "n_folds": found.n_folds,
            "folds_by": found.folds_by,
            "n_settings": found.n_settings,
            "models": [
                {
                    "name": model.name,
                    "about": model.about,
                    "group_roc": roc_values(model.group_roc),
                    "candidate_roc": None
                    if model.candidate_roc is None
                    else roc_values(model.candidate_roc),
                    "chosen": list(model.chosen),
                    "seconds": model.seconds,
                }
                for model in found.models
            ],
            "pairs": [_pair(each, found.level) for each in found.pairs],
            "levels": [_compared_level(each, found.level) for each in found.levels],
            "learning_curve": None if found.learning is None else learning_values(found.learning),
            "notes": list(found.notes),
        }
    )


def _compared_level(found: LevelComparison, level: float) -> dict[str, Any]:
    return {
        **vars(found),
        "rocs": {model: roc_values(roc) for model, roc in found.rocs.items()},
        "pairs": [_pair(each, level) for each in found.pairs],
    }


def _pair(pair: Pair, level: float) -> dict[str, Any]:
    result = pair.group
    return {
        "a": pair.a,
        "b": pair.b,
        "metric": result.metric,
        "difference": interval_values(result.difference),
        "p_value": result.p_value,
        "n_resamples": result.n_resamples,
        "is_tie": not pair.is_clear(level),
    }
