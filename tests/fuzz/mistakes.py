"""What a user may get wrong when calling ``fit``, each to be refused with one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.problem_data import Case, Rows

__all__ = ["with_mistake"]

PARAMETERS: dict[str, dict[str, Any]] = {
    "lam 0": {"lam": 0.0, "C": None},
    "lam 1": {"lam": 1.0, "C": None},
    "lam nan": {"lam": float("nan"), "C": None},
    "C negative": {"C": -1.0},
    "C infinite": {"C": float("inf")},
    "delta 0": {"delta": 0.0},
    "epsilon nan": {"epsilon": float("nan")},
    "tol 0": {"tol": 0.0},
    "no loss": {"loss": "squared"},
    "no penalty": {"penalty": "l3"},
    "max_passes 0": {"max_passes": 0},
}


def with_mistake(case: Case, rows: Rows) -> tuple[Case, Rows, dict[str, Any]] | None:
    """Return the case with its flaw and what `fit` is given instead; None where it has no room."""
    flaw, n = case["flaw"], len(rows.X)
    if flaw in PARAMETERS:
        return case | {"settings": case["settings"] | PARAMETERS[flaw]}, rows, {}
    if flaw == "memory":
        return case | {"memory": "much"}, rows, {}
    rng = np.random.default_rng([case["seed"], 99])
    X, row = rows.X.copy(), int(rng.integers(n))
    if flaw in ("nan", "infinity"):
        X[row, int(rng.integers(X.shape[1]))] = np.nan if flaw == "nan" else -np.inf
        # A row that takes part in no term may hold anything.
        return case, replace(rows, X=X), {}
    if flaw == "one class":
        return case, replace(rows, y=np.full(n, rows.y[0])), {}
    if flaw == "only positives":
        # Alone in its group, or as background, the first row is a negative that suffices.
        is_alone = rows.groups is None or np.sum(rows.groups == rows.groups[0]) == 1
        if is_alone or case["settings"].get("background") == "negative":
            return None
        high = np.unique(rows.y)[-1]
        return case, replace(rows, y=np.where(np.arange(n) == 0, rows.y, high)), {}
    if case["source"] != "memory":
        return None
    in_place: dict[str, Any] = {
        "short y": {"rest": {"y": rows.y[:-1]}},
        "short groups": {"rest": {"groups": np.arange(n)[:-1]}},
        "no rows": {"X": X[:0], "rest": {"y": rows.y[:0], "groups": None}},
        "no columns": {"X": X[:, :0]},
        "text": {"X": np.full(X.shape, "a few", dtype=object)},
        "complex": {"X": X + 1j},
        "flat": {"X": X[:, 0]},
        "missing group": {"rest": {"groups": np.where(np.arange(n) == row, np.nan, 1.0 * n)}},
        "missing label": {"rest": {"y": np.where(np.arange(n) == row, np.nan, np.arange(n) % 2)}},
    }
    if case["estimator"] == "gcm":
        gone = np.full(n, np.nan)
        in_place |= {
            "overlap nan": {"rest": {"overlap": gone}},
            "short overlap": {"rest": {"overlap": gone[:-1]}},
        }
    if flaw in in_place:
        return case, rows, in_place[flaw]
    settings = case["settings"]
    if flaw == "objects with both":
        settings = settings | {"grouping": "both"}
        return case | {"settings": settings}, rows, {"rest": {"objects": np.zeros(n, dtype=int)}}
    if rows.groups is None or len(np.unique(rows.y)) != 2:
        return None
    positive = rows.y == np.unique(rows.y)[1]
    annotated = ~np.isin(rows.groups, np.unique(rows.groups[positive]))
    if flaw == "mixed annotated":
        members = np.flatnonzero(np.isin(rows.groups, rows.groups[positive][:1]))
        if len(members) < 2:
            return None
        annotated[:] = True
        annotated[members[0]] = False
    return case, rows, {"rest": {"annotated": annotated}}
