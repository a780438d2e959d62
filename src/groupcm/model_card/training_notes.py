"""What a model file notes of its training beside the model: when, on what, and with which tools."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from groupcm.weights import tree_part

__all__ = ["training_notes"]


def training_notes(model: Any, tables: Sequence[str | Path]) -> dict[str, Any]:
    """Notes for `groupcm.save`, which `groupcm.model_card.model_card` reads.

    Parameters
    ----------
    model : estimator
        As fitted.
    tables : sequence of str or Path
        What it was trained on; their names are noted, not their folders.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> notes = training_notes(model, ["here/train.parquet"])
    >>> notes["tables"], notes["n_unannotated_groups"], sorted(notes["versions"])
    (['train.parquet'], 0, ['numpy', 'python', 'scikit-learn'])
    """
    packages = ["numpy", "scikit-learn"]
    if tree_part(model) is not None:
        packages.append("lightgbm")
    return {
        "tables": [Path(table).name for table in tables],
        "n_unannotated_groups": len(getattr(model, "witnesses_", ())),
        "trained_at": datetime.now(UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
    }
