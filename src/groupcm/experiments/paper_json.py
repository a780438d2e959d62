"""The numbers of the paper's experiment, for other programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from groupcm import __version__
from groupcm.experiments.claims import Finding
from groupcm.experiments.paper import LEVELS, PaperResults
from groupcm.experiments.trial import Trial, trials_of
from groupcm.metrics import Interval

__all__ = ["paper_json"]


def paper_json(results: PaperResults) -> str:
    """Write sizes, every model and every claim; nothing in it depends on the clock."""
    found = {
        "version": __version__,
        "seed": results.seed,
        "sizes": asdict(results.sizes),
        "test": dict(results.n_test),
        "models": [_model(results, trial, k) for k, trial in enumerate(trials_of(results.sizes))],
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "verdict": claim.verdict,
                "differences": [_difference(finding) for finding in claim.findings],
            }
            for claim in results.claims
        ],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _model(results: PaperResults, trial: Trial, number: int) -> dict[str, Any]:
    repeats = [models[number] for models in results.models]
    return {
        **asdict(trial),
        "settings": [model.setting for model in repeats],
        "coef": [model.coef.tolist() for model in repeats],
        "intercept": [model.intercept for model in repeats],
        **{
            f"{level}_auc": {
                **_interval(results.areas[level].of(trial)),
                "repeats": results.areas[level].repeats(trial).tolist(),
            }
            for level in LEVELS
        },
    }


def _difference(finding: Finding) -> dict[str, Any]:
    return {
        "a": asdict(finding.a),
        "b": asdict(finding.b),
        "auc_of": finding.of,
        "claimed": finding.claimed,
        "verdict": finding.verdict,
        "margin": finding.margin,
        **_interval(finding.comparison.difference),
        "p_value": _known(finding.comparison.p_value),
        "repeats": list(finding.repeats),
    }


def _interval(value: Interval) -> dict[str, float | None]:
    return {name: _known(number) for name, number in value._asdict().items()}


def _known(value: float) -> float | None:
    """Return None for NaN, for which JSON has no word."""
    return None if math.isnan(value) else value
