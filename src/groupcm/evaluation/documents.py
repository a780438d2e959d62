"""Every number of an evaluation as one JSON document, and what all documents share.

The layout is that of ``schemas/evaluation-1.json`` and ``schemas/comparison-1.json``, JSON Schemas
that the package contains (`document_schema`). Numbers that are not known are null; infinite ones,
such as the threshold at which nothing alarms, are the texts "Infinity" and "-Infinity".
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.evaluation.metric_table import metric_values
from groupcm.evaluation.results import (
    Case,
    Decision,
    Evaluation,
    Froc,
    LearningCurve,
    LevelResult,
    ObjectResult,
    Roc,
    Subgroups,
)
from groupcm.metrics import Interval, YieldCurve
from groupcm.utils.files import check_output, whole_file

__all__ = [
    "SCHEMAS",
    "check_document",
    "document_schema",
    "evaluation_document",
    "interval_values",
    "learning_values",
    "plain_values",
    "roc_values",
    "save_document",
]

#: The layout of the documents; it changes where a reader would have to change too.
SCHEMAS = {
    "evaluation": "groupcm/evaluation/1",
    "comparison": "groupcm/comparison/1",
}
YIELDS = (0.9, 0.95, 0.99, 1.0)


def evaluation_document(evaluation: Evaluation) -> dict[str, Any]:
    """Return every number of an evaluation as plain values, for JSON.

    Parameters
    ----------
    evaluation : Evaluation

    Returns
    -------
    dict
        Of the layout ``groupcm/evaluation/1``; see `document_schema`.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation import evaluate
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=20, group_size=10)
    >>> model = GroupClassifier(0.9).fit(data.X, data.y, data.groups)
    >>> found = evaluate(model, data.X, data.y, data.groups, unit="frame", n_resamples=50)
    >>> document = evaluation_document(found)
    >>> document["schema"], document["unit"], document["data"]["n_positive_groups"]
    ('groupcm/evaluation/1', 'frame', 20)
    """
    found = evaluation
    return plain_values(
        {
            "schema": SCHEMAS["evaluation"],
            "title": found.title,
            "groupcm_version": found.version,
            "unit": found.unit,
            "object_word": found.object_word,
            "confidence_level": found.level,
            "prevalence": found.prevalence,
            "model": _model(found),
            "data": {**asdict(found.data), "n_unannotated_groups": found.n_unannotated},
            "flow": [asdict(each) for each in found.flow],
            "operating_point": _decision(found.decision),
            "metrics": metric_values(found),
            "group_roc": roc_values(found.group_roc),
            "candidate_roc": None
            if found.candidate_roc is None
            else roc_values(found.candidate_roc),
            "precision_recall": found.precision_recall._asdict(),
            "levels": [_level(each) for each in found.levels],
            "objects": None if found.objects is None else _objects(found.objects, found.froc),
            "objects_by_rule": [_objects(each) for each in found.objects_by_rule],
            "localisations": [
                {**asdict(each), "share": interval_values(each.share)}
                for each in _localisations(found)
            ],
            "yields": None if found.yields is None else _yields(found.yields, found),
            "subgroups": [_subgroups(each) for each in found.subgroups],
            "reliability": None if found.reliability is None else vars(found.reliability),
            "learning_curve": None if found.learning is None else learning_values(found.learning),
            "cases": {
                "typical": {name: _case(each) for name, each in found.typical.items()},
                "highest_positives": [_case(each) for each in found.highest_positives],
                "lowest_positives": [_case(each) for each in found.lowest_positives],
                "highest_negatives": [_case(each) for each in found.highest_negatives],
            },
            "computation": None if found.computation is None else asdict(found.computation),
            "cautions": list(found.cautions),
            "notes": {name: str(value) for name, value in found.notes.items()},
        }
    )


def document_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a document.

    Parameters
    ----------
    kind : {"evaluation", "comparison"}

    Examples
    --------
    >>> document_schema("evaluation")["properties"]["schema"]
    {'const': 'groupcm/evaluation/1'}
    """
    if kind not in SCHEMAS:
        raise ValueError(f"kind={kind!r} is not known; use 'evaluation' or 'comparison'.")
    text = (files("groupcm.evaluation") / "schemas" / f"{kind}-1.json").read_text(encoding="utf-8")
    return json.loads(text)


def check_document(path: str | os.PathLike[str]) -> Path:
    """Raise, before long work begins, where a document cannot be written.

    Examples
    --------
    >>> check_document("numbers.txt")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write numbers.txt: end its name in .json
    """
    return check_output(path, endings=[".json"])


def save_document(document: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a document as JSON; the file is complete or not there.

    Examples
    --------
    >>> import tempfile
    >>> path = save_document({"unit": "frame"}, Path(tempfile.mkdtemp()) / "numbers.json")
    >>> json.loads(path.read_text())
    {'unit': 'frame'}
    """
    file = Path(path)
    with whole_file(file) as temporary:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        temporary.write_text(f"{text}\n", encoding="utf-8")
    return file


def plain_values(value: Any) -> Any:
    """Return a value in which arrays are lists, and numbers are what JSON can hold.

    Examples
    --------
    >>> plain_values({"areas": np.array([0.5, np.nan, np.inf])})
    {'areas': [0.5, None, 'Infinity']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_values(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain_values(value.tolist())
    if isinstance(value, list | tuple):
        return [plain_values(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str):
        # A lone surrogate, of a damaged file name, cannot be written as UTF-8.
        return value.encode("utf-8", "replace").decode("utf-8")
    return value


def interval_values(value: Interval | None) -> dict[str, float] | None:
    """Return an interval as the documents hold it.

    Examples
    --------
    >>> interval_values(Interval(0.9, 0.8, 0.95))
    {'value': 0.9, 'low': 0.8, 'high': 0.95}
    """
    if value is None:
        return None
    return {"value": value.estimate, "low": value.low, "high": value.high}


def _model(found: Evaluation) -> dict[str, Any]:
    training = found.training
    return {
        "name": training.model,
        "hyperparameters": dict(training.parameters),
        "trained_on": None if training.trained_on is None else asdict(training.trained_on),
        "objective": training.objective,
        "lower_bound": training.lower_bound,
        "gap": training.gap,
        "tol": training.tol,
        "passes": training.passes,
        "weights": [asdict(each) for each in found.weights],
        "importances": [asdict(each) for each in found.importances],
    }


def _decision(decision: Decision) -> dict[str, Any]:
    point, rule = decision.point, decision.rule
    return {
        "threshold": point.threshold,
        "chosen": decision.chosen,
        "is_chosen_here": decision.is_chosen_here,
        "target": None if rule is None else rule.target,
        "target_value": None if rule is None else rule.value,
        "target_level": None if rule is None else rule.level,
        "k": None if rule is None else rule.k,
        "guarantee": None if rule is None else rule.guarantee,
        "contradiction": decision.contradiction,
        "true_positives": point.true_positives,
        "false_negatives": point.false_negatives,
        "false_positives": point.false_positives,
        "true_negatives": point.true_negatives,
        "sensitivity": interval_values(decision.sensitivity),
        "specificity": interval_values(decision.specificity),
        "n_winners_on_object": decision.n_winners_on_object,
        "n_winners_judged": decision.n_winners_judged,
    }


def roc_values(roc: Roc) -> dict[str, Any]:
    """Return a ROC curve, its area and its band as the documents hold them."""
    band = {"fpr": roc.band_fpr, "low": roc.band_low, "high": roc.band_high}
    return {"auc": interval_values(roc.auc), **roc.curve._asdict(), "band": band}


def _level(level: LevelResult) -> dict[str, Any]:
    return {
        "name": level.name,
        "aggregate": level.aggregate,
        "k": level.k,
        "n_positive": level.n_positive,
        "n_negative": level.n_negative,
        "roc": None if level.roc is None else roc_values(level.roc),
        "metrics": {name: interval_values(each) for name, each in level.metrics.items()},
        "operating_point": None if level.decision is None else _decision(level.decision),
        "reliability": None if level.reliability is None else vars(level.reliability),
        "probability": level.probability,
        "note": level.note,
    }


def _objects(found: ObjectResult, froc: Froc | None = None) -> dict[str, Any]:
    at, band = found.sensitivity_at, found.band
    return {
        "rule": found.rule,
        "hit": found.hit,
        "n_objects": found.n_objects,
        "n_found": found.n_found,
        "n_without_candidates": found.n_without_candidates,
        "found": interval_values(found.found),
        "cpm": interval_values(at.mean),
        "sensitivity_at": {
            "false_alarms_per_group": at.false_alarms,
            "value": at.estimate,
            "low": at.low,
            "high": at.high,
        },
        "froc": None if froc is None else froc.curve._asdict(),
        "froc_band": {
            "false_alarms_per_group": band.false_alarms,
            "value": band.estimate,
            "low": band.low,
            "high": band.high,
        },
        "afroc_auc": interval_values(found.afroc_auc),
        "wafroc_auc": interval_values(found.wafroc_auc),
        "false_alarms_per_group": found.false_alarms_per_group,
        "false_alarms_per_negative": interval_values(found.false_alarms_per_negative),
        "false_alarms_per_patient": interval_values(found.false_alarms_per_patient),
    }


def _localisations(found: Evaluation) -> Sequence[Any]:
    return found.localisations or [each for each in (found.localisation,) if each is not None]


def _yields(curve: YieldCurve, found: Evaluation) -> dict[str, Any]:
    rate = found.groups_per_second
    kept = []
    for kind in curve.found:
        for share in YIELDS:
            point = curve.at_yield(share, kind)
            saved = None
            if rate is not None and math.isfinite(point.shown):
                saved = curve.time_saved(share, kind, groups_per_second=rate)
            kept.append({"kind": kind, "yield": share, **asdict(point), "seconds_saved": saved})
    return {
        "n_groups": curve.n_groups,
        "n_units": dict(curve.n_units),
        "groups_per_second": rate,
        "at_yield": kept,
        "thresholds": curve.thresholds,
        "shown": curve.shown,
        "found": dict(curve.found),
    }


def _subgroups(found: Subgroups) -> dict[str, Any]:
    shares = ("auc", "sensitivity", "specificity")
    return {
        "column": found.column,
        "is_of_objects": found.is_of_objects,
        "rows": [
            {**vars(row), **{name: interval_values(getattr(row, name)) for name in shares}}
            for row in found.rows
        ],
    }


def learning_values(found: LearningCurve) -> dict[str, Any]:
    """Return a learning curve as the documents hold it."""
    return {
        "sizes": list(found.sizes),
        "unit": found.unit,
        "lines": [
            {"model": line.model, "auc": [interval_values(each) for each in line.auc]}
            for line in found.lines
        ],
    }


def _case(case: Case) -> dict[str, Any]:
    return {**vars(case), "contributions": [asdict(each) for each in case.contributions]}
