"""Made candidates as a table with column names of a user's own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from groupcm.simulate import Capsule


def as_table(made: Capsule, **changed: Any) -> pa.Table:
    """A table of made candidates, with some columns changed or added."""
    columns = {
        "frame": [f"frame {g}" for g in made.groups],
        "polyp": made.y,
        "fit": made.overlap,
        "who": [f"P{p}" for p in made.patient],
    }
    columns |= {name: made.X[:, j].copy() for j, name in enumerate(made.feature_names)}
    return pa.table({**columns, **changed})


def as_plain_table(made: Capsule) -> pa.Table:
    """A table of made candidates, groups and patients by their numbers."""
    columns = {
        "frame": made.groups,
        "patient": made.patient,
        "polyp": made.y,
        "overlap": made.overlap,
    }
    columns |= {name: made.X[:, j].copy() for j, name in enumerate(made.feature_names)}
    return pa.table(columns)
