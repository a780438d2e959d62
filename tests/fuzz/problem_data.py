"""Random small problems, awkward on purpose: how they are drawn, and the arrays they mean.

A case is a dictionary of plain values that fits in a line of JSON. The numbers of column ``j``
in group ``k`` depend on the seed, ``j`` and ``k`` alone, so that a problem from which a group or
a column is removed keeps the others, and shrinking works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from groupcm.objective.losses import LOSSES
from groupcm.objective.penalties import PENALTIES

__all__ = ["Case", "Rows", "as_container", "cases", "make_rows"]

Case = dict[str, Any]

LABELS: dict[str, list[Any]] = {
    "integers": [0, 1, 2, 3],
    "signs": [-1, 1, 5, 9],
    "floats": [0.0, 1.0, 2.0, 5.0],
    "names": ["clear", "polyp", "ulcer", "vein"],
}
# What a user may get wrong; see `fuzz.mistakes`.
FLAWS = (
    "nan", "infinity", "short y", "short groups", "no rows", "no columns", "one class",
    "missing group", "missing label", "overlap nan", "short overlap", "lam 0", "lam 1", "lam nan",
    "C negative", "C infinite", "delta 0", "epsilon nan", "tol 0", "no loss", "no penalty",
    "max_passes 0", "memory", "text", "complex", "flat", "only positives", "objects with both",
    "mixed annotated", "all unannotated",
)  # fmt: skip


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a problem."""
    estimator = draw(st.sampled_from(["gcm"] * 7 + ["misvm"]))
    source = draw(st.sampled_from(["memory"] * 4 + ["arrays", "npy", "parquet", "parquet"]))
    kinds = ["float64", "float32", "float16"] if source == "npy" else ["float64", "float32"]
    kinds = list(KINDS) if source == "memory" else kinds
    n_classes = 2 if estimator == "misvm" else draw(st.sampled_from([2, 2, 2, 2, 3, 4]))
    # Each class has a group of its own first, so that most problems have two sides.
    groups = [{"size": draw(SIZES), "label": k, "share": "all"} for k in range(n_classes)]
    groups += [draw(_group(n_classes)) for _ in range(draw(st.integers(0, 22)))]
    wild = draw(st.booleans())
    case: Case = {
        "estimator": estimator,
        "source": source,
        "kind": draw(st.sampled_from(kinds)),
        "seed": draw(st.integers(0, 9999)),
        "labels": draw(st.sampled_from(list(LABELS))),
        "groups": groups[draw(st.sampled_from([0] * 19 + [1])) :],
        "columns": [draw(_column(wild)) for _ in range(draw(st.integers(1, 7)))],
        "signal": draw(st.sampled_from([0.0, 0.5, 2.0, 20.0])),
        "ties": draw(st.sampled_from([False, False, True])),
        "twins": draw(st.sampled_from([False, False, True])),
        "grouped": draw(st.sampled_from([True] * 5 + [False])),
        "settings": draw(_settings(estimator, wild)),
    }
    if source != "memory":
        case["memory"] = draw(st.sampled_from([1, 1000, 30_000, 10**9]))
        case["batch_rows"] = draw(st.sampled_from([1, 3, 50, 10_000]))
        if source == "parquet":
            case["row_group"] = draw(st.sampled_from([1, 7, 1000]))
            case["n_files"] = draw(st.sampled_from([1, 1, 3]))
            case["layout"] = draw(st.sampled_from(["wide", "list"]))
    else:
        case["shuffled"] = draw(st.booleans())
    if estimator == "gcm":
        case["overlap"] = draw(st.sampled_from([None, None, "any", "tied"]))
        case["settings"]["min_overlap"] = draw(st.sampled_from([0.0, 0.0, 0.5]))
        case["objects"] = draw(st.sampled_from([False, False, False, True]))
        case["annotated"] = draw(st.sampled_from([1.0, 1.0, 1.0, 0.5]))
        case["feature_map"] = draw(st.sampled_from([None] * 9 + ["polynomial"]))
    case["flaw"] = draw(st.sampled_from([None] * 14 + [True]))
    if case["flaw"]:
        case["flaw"] = draw(st.sampled_from(FLAWS))
    return _possible(case, n_classes)


KINDS = (
    "float64",
    "float32",
    "float16",
    "csr64",
    "csr32",
    "fortran",
    "frame",
    "csr_unsorted",
    "csr_zeros",
)

SIZES = st.sampled_from([1, 1, 2, 3, 5, 12])
COLUMNS = ("normal", "ties", "binary", "sparse", "outlier", "constant", "ulp", "copy", "sum")


@st.composite
def _group(draw: st.DrawFn, n_classes: int) -> Case:
    label = draw(st.integers(0, n_classes - 1)) if draw(st.booleans()) else 0
    share = draw(st.sampled_from(["one", "some", "all"]))
    return {"size": draw(SIZES), "label": label, "share": share}


@st.composite
def _column(draw: st.DrawFn, wild: bool) -> Case:
    kind = draw(st.sampled_from([*COLUMNS, *["normal"] * 9]))
    scale = draw(st.sampled_from([0, 0, 0, -8, -4, -1, 1, 4, 8] if wild else [0, 0, -1, 1]))
    mean = draw(st.sampled_from([None, None, 0, 2, 4, 6, 8, 12] if wild else [None, 0]))
    return {"kind": kind, "scale": scale, "mean": mean}


@st.composite
def _settings(draw: st.DrawFn, estimator: str, wild: bool) -> Case:
    lams = [0.5, 0.9, 0.1, 1e-6, 0.99, 0.9999, 1 - 1e-9]
    costs = [1.0, 0.01, 30.0, 1e4, 1e-6, 1e8]
    widths = [0.5, 1.0, 0.1, 3.0, 1e-4, 1e3]
    if not wild:
        lams, costs, widths = lams[:3], costs[:3], widths[:4]
    found: Case = {
        "loss": draw(st.sampled_from([*LOSSES])),
        "delta": draw(st.sampled_from(widths)),
        "penalty": draw(st.sampled_from([*PENALTIES])),
        "epsilon": draw(st.sampled_from(widths)),
        "l1_ratio": draw(st.sampled_from([0.5, 0.1, 0.9, 0.0, 1.0])),
        "standardize": draw(st.sampled_from([True, True, True, False])),
        "tol": draw(st.sampled_from([1e-4, 1e-4, 1e-2, 1e-6, 1e-8])),
        "max_passes": draw(st.sampled_from([1000, 1000, 1000, 2])),
    }
    if draw(st.sampled_from([False, False, False, True])):
        found["C"] = draw(st.sampled_from(costs))
    else:
        found["lam"] = draw(st.sampled_from(lams))
    if draw(st.sampled_from([False] * 15 + [True])):
        found["max_time"] = draw(st.sampled_from([1e-6, 0.01]))
    if estimator == "gcm":
        found["grouping"] = draw(st.sampled_from(["negative", "negative", "both", "none"]))
        found["background"] = draw(st.sampled_from(["ignore", "ignore", "negative"]))
        found["solver"] = draw(st.sampled_from(["working_set"] * 4 + ["lbfgs"]))
    return found


def _possible(case: Case, n_classes: int) -> Case:
    """Take back what does not go together, by the words of the documentation."""
    settings = case["settings"]
    flaw = case["flaw"]
    if case["source"] != "memory":
        settings["solver"] = "working_set"  # a stream needs it
        case["annotated"] = 1.0
        if flaw in ("text", "complex", "flat", "no rows", "no columns"):
            case["flaw"] = None
    if case["kind"] != "float64":
        case["feature_map"] = None
    if case["estimator"] == "misvm":
        case.pop("annotated", None)
        settings.pop("solver", None)
        if case["source"] != "memory":
            case["memory"] = 10**9  # all candidates must fit
        if flaw in ("overlap nan", "short overlap") or (flaw or "").endswith(("both", "annotated")):
            case["flaw"] = None
        return case
    if settings["grouping"] != "negative":
        case["objects"] = False
    unannotated_goes = (
        settings["grouping"] == "negative" and settings["solver"] == "working_set"
    ) and (n_classes == 2 and case["source"] == "memory")
    if not unannotated_goes:
        case["annotated"] = 1.0
        if flaw in ("mixed annotated", "all unannotated"):
            case["flaw"] = None
    return case


@dataclass(frozen=True)
class Rows:
    """The arguments of a fit, as dense float arrays in plain order."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None
    overlap: np.ndarray | None
    objects: np.ndarray | None
    annotated: np.ndarray | None

    def arrays(self) -> dict[str, np.ndarray]:
        """What `fit` is given beside X, where there is any."""
        given = {
            "y": self.y,
            "groups": self.groups,
            "overlap": self.overlap,
            "objects": self.objects,
            "annotated": self.annotated,
        }
        return {name: values for name, values in given.items() if values is not None}


def make_rows(case: Case) -> Rows:
    """Return the arrays that a case means."""
    sizes = np.array([group["size"] for group in case["groups"]])
    group = np.repeat(np.arange(len(sizes)), sizes)
    code = np.concatenate([_codes(case, k) for k in range(len(sizes))])
    dtype = np.float32 if case["kind"] in ("float32", "float16", "csr32") else np.float64
    X = _columns(case, group, code, dtype).astype(dtype)
    if case["kind"] == "float16":
        X = np.clip(X, -6e4, 6e4).astype(np.float16)
    if case["twins"]:
        rng = np.random.default_rng([case["seed"], 77])
        twins = rng.integers(len(X), size=(2, 1 + len(X) // 5))
        X[twins[0]] = X[twins[1]]
    if case["kind"].startswith("csr"):
        rng = np.random.default_rng([case["seed"], 78])
        full = np.array([c["kind"] in ("constant", "ulp") for c in case["columns"]])
        X[(rng.random(X.shape) < 0.5) & ~full] = 0.0
    y = np.array(LABELS[case["labels"]], dtype=object)[code]
    y = np.array(y.tolist())
    rng = np.random.default_rng([case["seed"], 79])
    overlap = objects = annotated = None
    if case.get("overlap"):
        overlap = rng.random(len(X)).round(1 if case["overlap"] == "tied" else 12)
    if case.get("objects"):
        objects = rng.integers(3, size=len(X))
    if case.get("annotated", 1.0) < 1.0 and case["grouped"]:
        known = rng.random(len(sizes)) < case["annotated"]
        known[np.flatnonzero(_group_is_positive(group, code))[:1]] = True
        annotated = known[group]
    groups = group + 10
    order = np.arange(len(X))
    if case.get("shuffled"):
        order = rng.permutation(len(X))
    pick = lambda values: None if values is None else values[order]  # noqa: E731
    return Rows(
        X[order],
        y[order],
        groups[order] if case["grouped"] else None,
        pick(overlap),
        pick(objects),
        pick(annotated),
    )


def _group_is_positive(group: np.ndarray, code: np.ndarray) -> np.ndarray:
    return np.bincount(group, weights=code > 0) > 0


def _codes(case: Case, k: int) -> np.ndarray:
    """The class of each row of a group, as a number."""
    group = case["groups"][k]
    size = group["size"]
    on = np.zeros(size, dtype=bool)
    rng = np.random.default_rng([case["seed"], k, 1])
    if group["share"] == "all":
        on[:] = True
    else:
        on[rng.integers(size)] = True
        if group["share"] == "some":
            on |= rng.random(size) < 0.5
    return np.where(on, group["label"], 0)


def _columns(case: Case, group: np.ndarray, code: np.ndarray, dtype: Any) -> np.ndarray:
    n, seed = len(group), case["seed"]
    X = np.empty((n, len(case["columns"])))
    for j, column in enumerate(case["columns"]):
        parts = [
            _values(column["kind"], np.random.default_rng([seed, k, j, 2]), np.sum(group == k))
            for k in range(group[-1] + 1)
        ]
        values = np.concatenate(parts)
        if column["kind"] not in ("constant", "ulp"):
            slope = np.random.default_rng([seed, j, 3]).choice([0.0, 0.5, 1.0])
            values = values + case["signal"] * slope * code
        if case["ties"]:
            values = np.round(values)
        values = values * 10.0 ** column["scale"]
        if column["mean"] is not None:
            values = values + 10.0 ** (column["scale"] + column["mean"])
        if column["kind"] == "constant":
            values = np.full(n, values[0])
        elif column["kind"] == "ulp":  # one unit in the last place between the classes
            level = dtype(10.0 ** (column["scale"] + (column["mean"] or 0)))
            values = np.where(code > 0, np.nextafter(level, dtype(np.inf)), level)
        elif column["kind"] == "copy" and j:
            values = X[:, j - 1]
        elif column["kind"] == "sum" and j:
            values = X[:, :j].sum(axis=1)
        X[:, j] = values
    return X


def _values(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    values = rng.normal(size=n) + rng.normal()
    if kind == "ties":
        return values.round()
    if kind == "binary":
        return (values > 0).astype(float)
    if kind == "sparse":
        return np.where(rng.random(n) < 0.8, 0.0, values)
    if kind == "outlier":
        return np.where(rng.random(n) < 0.05, 1e6 * values, values)
    return values


def as_container(X: np.ndarray, case: Case) -> Any:
    """Return the rows as the kind of matrix or frame that the case names."""
    kind = case["kind"]
    if kind == "fortran":
        return np.asfortranarray(X)
    if kind == "frame":
        import pandas as pd

        return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    if not kind.startswith("csr"):
        return X
    matrix = sp.csr_array(X)
    if kind == "csr_zeros":  # every value stored, zeros too
        n, d = X.shape
        columns = np.tile(np.arange(d), n)
        matrix = sp.csr_array((X.ravel(), columns, np.arange(0, n * d + 1, d)), shape=X.shape)
    elif kind == "csr_unsorted":  # each row backwards, its first value in two halves
        coo = matrix.tocoo()
        first = np.concatenate([[True], np.diff(coo.row) > 0])[: len(coo.row)]
        data = np.concatenate([np.where(first, coo.data / 2, coo.data), coo.data[first] / 2])
        row = np.concatenate([coo.row, coo.row[first]])
        column = np.concatenate([coo.col, coo.col[first]])
        order = np.lexsort((-column, row))
        counts = np.bincount(row, minlength=X.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        matrix = sp.csr_array((data[order], column[order], starts), shape=X.shape)
    return matrix
