"""What a model file notes of the fit that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.commands.trained import name_of
from groupcm.cli.output import Display
from groupcm.report.model_card import held_out_of, training_notes

__all__ = ["fit_notes", "fold_notes"]


def fit_notes(
    fitted: Any,
    candidates: Candidates,
    columns: Mapping[str, str | None],
    tables: Sequence[str | Path],
) -> dict[str, Any]:
    """Which columns meant what, how much was trained on, when, and with which tools."""
    return {
        "columns": dict(columns),
        "trained_on": _counts(candidates, tables),
        **training_notes(fitted, tables),
    }


def fold_notes(model: Any, candidates: Candidates, display: Display) -> dict[str, Any]:
    """Return how well the model ranks groups that folds left out."""
    drawn = "groups" if candidates.n_patients is None else "patients"
    display.status(f"drawing {drawn} again for an interval")
    patients = candidates.patient_of_groups()
    if patients is not None:
        patients = patients[candidates.groups_that_count()]
    held_out = held_out_of(model, model.threshold_, patients)
    return {"held_out": asdict(held_out)}


def _counts(candidates: Candidates, tables: Sequence[str | Path]) -> dict[str, Any] | None:
    """None for more than two classes."""
    classes = candidates.classes
    if len(classes) > 2:
        return None
    is_positive = candidates.groups_with(candidates.positive)
    return {
        "name": name_of(tables),
        "n_candidates": int(candidates.n_rows),
        "n_positive_groups": int(is_positive.sum()),
        "n_negative_groups": int((~is_positive).sum()),
        "n_patients": candidates.n_patients,
    }
