"""What the file of a model notes of its training: tables, counts, date and versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from groupcm.sources.candidates import Candidates
from groupcm.sources.tables import Tables, name_of

__all__ = ["counts_of", "training_notes"]


def training_notes(model: Any, tables: Sequence[str | os.PathLike[str]]) -> dict[str, Any]:
    """Return notes for `groupcm.save`, which `groupcm.report.model_card.model_card` reads.

    Parameters
    ----------
    model : estimator
        A fitted model.
    tables : sequence of str or Path
        The training tables; their names are stored without folders.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> notes = training_notes(model, ["here/train.parquet"])
    >>> notes["tables"], notes["n_unannotated_groups"], sorted(notes["versions"])
    (['train.parquet'], 0, ['numpy', 'python', 'scikit-learn'])
    """
    packages = ["numpy", "scikit-learn"]
    if hasattr(getattr(model, "estimator_", model), "trees_"):
        packages.append("lightgbm")
    return {
        "tables": [Path(table).name for table in tables],
        "n_unannotated_groups": len(getattr(model, "witnesses_", ())),
        "trained_at": datetime.now(UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
    }


def counts_of(candidates: Candidates, tables: Tables) -> dict[str, Any] | None:
    """Count groups and candidates; None for more than two classes."""
    if len(candidates.classes) > 2:
        return None
    is_positive = candidates.groups_with(candidates.positive)
    return {
        "name": name_of(tables),
        "n_candidates": int(candidates.n_rows),
        "n_positive_groups": int(is_positive.sum()),
        "n_negative_groups": int((~is_positive).sum()),
        "n_patients": candidates.n_patients,
    }
