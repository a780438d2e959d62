"""Target: problems of every kind, checked on the weights that a fit returns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from oracle import GroupProblem
from sklearn.exceptions import ConvergenceWarning
from streams import COLUMNS, Data

from fuzz.certificate import (
    Claim,
    Point,
    check_claim,
    columns_set_aside,
    folded_scores,
    score_rounding,
)
from fuzz.forking import Sandbox
from fuzz.mistakes import with_mistake
from fuzz.outcomes import Failed, Verdict, judge_refusal
from fuzz.problem_data import Case, Rows, as_container, cases, make_rows
from groupcm import GroupClassifier, MISVMClassifier, sources
from groupcm.features import Polynomial

__all__ = ["MEGABYTES", "cases", "run", "warm_up"]

MEGABYTES = 2000
# Processor time of one fit of at most a few hundred rows.
FIT_SECONDS = 8


def warm_up() -> None:
    """Load every kernel once, without a thread: rows in memory, sparse, mapped and streamed."""
    import tempfile

    import cvxpy  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 4)
    y = ((groups % 3 == 0) & (np.arange(48) % 4 == 0)).astype(int)
    plain: Case = {"estimator": "gcm", "feature_map": None, "settings": {}}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("float64", "float32", "csr64", "csr32"):
            X = rng.normal(size=(48, 3)).astype(np.float32 if "32" in kind else np.float64)
            rows = as_container(X, {"kind": kind})
            for grouping in ("negative", "both", "none"):
                settings = {"grouping": grouping, "lam": 0.9}
                model = _estimator(plain | {"settings": settings}).fit(rows, y, groups)
            model.group_scores(rows, groups)
            if kind.startswith("csr"):
                continue
            path = Path(folder) / f"{kind}.npy"
            np.save(path, X)
            source = sources.from_npy(path, group=groups, label=y, batch_rows=5)
            _estimator(plain | {"memory": 1}).fit(source).group_scores(source)
        _estimator(plain | {"feature_map": "polynomial"}).fit(X.astype(float), y, groups)


def run(case: Case, sandbox: Sandbox) -> Verdict:
    """Fit, and check everything that the model claims."""
    rows = make_rows(case)
    if case["flaw"]:
        return _run_flawed(case, rows, sandbox)
    problems = _problems(case, rows)
    given = _Given(case, rows, sandbox.folder)
    if problems is None:
        return _refusal_of("a problem without two sides", given, case, sandbox)
    with sandbox.budget(f"fitting ({_in_short(case)})", FIT_SECONDS):
        try:
            model, stopped = given.fit(case)
        except ValueError as error:
            raise Failed("unclean_error", "a possible problem is refused", str(error)) from error
    _check_scores(case, model, rows, given)
    others = list(_other_models(case, rows, given, sandbox, model))
    _check_certificates(case, rows, model, stopped, others)
    return Verdict("stopped" if stopped else "ok")


def _in_short(case: Case) -> str:
    """What kind of fit it is, for the name of a defect."""
    scaled = "standardised" if case["settings"].get("standardize", True) else "as it is"
    kind = "sparse" if case["kind"].startswith("csr") else "dense"
    return f"{case['settings'].get('solver', 'misvm')}, {kind}, {scaled}"


class _Given:
    """What a fit is given: arrays, or a source with the files behind it."""

    def __init__(self, case: Case, rows: Rows, folder: Path) -> None:
        self.rest: dict[str, Any] = rows.arrays()
        if case["source"] == "memory":
            self.X: Any = as_container(rows.X, case)
            return
        self.X = _source(case, rows, folder)
        self.rest = {k: v for k, v in self.rest.items() if k in ("objects", "annotated")}

    @property
    def groups(self) -> np.ndarray | None:
        return self.rest.get("groups")

    def fit(self, case: Case, **changed: Any) -> tuple[Any, bool]:
        """A fitted model, and whether it says that it did not converge."""
        model = _estimator(case)
        model.set_params(**changed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(self.X, **self.rest)
        for warning in caught:
            if not issubclass(warning.category, UserWarning):
                text = str(warning.message)
                raise Failed("unclean_error", f"{warning.category.__name__}: {text[:60]}", text)
        return model, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def _estimator(case: Case) -> Any:
    if case["estimator"] == "misvm":
        return MISVMClassifier(**case["settings"], memory=case.get("memory"))
    feature_map = Polynomial(2) if case.get("feature_map") else None
    return GroupClassifier(
        **case["settings"], feature_map=feature_map, memory=case.get("memory"), random_state=3
    )


def _source(case: Case, rows: Rows, folder: Path) -> Any:
    keys = {"group": rows.groups, "label": rows.y, "overlap": rows.overlap}
    batch = {"batch_rows": case["batch_rows"]}
    if case["source"] == "arrays":
        return sources.from_arrays(rows.X, **keys, **batch)
    if case["source"] == "npy":
        np.save(folder / "X.npy", rows.X)
        return sources.from_npy(folder / "X.npy", **keys, **batch)
    n = len(rows.X)
    groups = np.arange(n) if rows.groups is None else rows.groups
    overlap = np.zeros(n) if rows.overlap is None else rows.overlap
    path = Data(rows.X, rows.y, groups, overlap).write(
        folder / "rows.parquet",
        row_group=case["row_group"],
        n_files=case["n_files"] if n >= case["n_files"] else 1,
        layout=case["layout"],
    )
    roles = dict(COLUMNS)
    roles["patient" if rows.overlap is None else "overlap"] = "overlap"
    return sources.from_parquet(path, **roles, **batch)


def _features(case: Case, X: np.ndarray) -> np.ndarray:
    """The columns that are weighed: the features, or their products of degree two after them."""
    X = X.astype(np.float64)
    if not case.get("feature_map"):
        return X
    d = X.shape[1]
    products = [X[:, i] * X[:, j] for i in range(d) for j in range(i, d)]
    return np.column_stack([X, *products])


def _oracle_settings(case: Case) -> Case:
    used = ("lam", "C", "loss", "delta", "penalty", "epsilon", "l1_ratio", "standardize")
    known = (*used, "grouping", "background", "min_overlap")
    return {k: v for k, v in case["settings"].items() if k in known}


def _problems(
    case: Case, rows: Rows, model: Any = None, aside: np.ndarray | None = None
) -> list[GroupProblem | None] | None:
    """The convex problem of each class, None for one that every group holds.

    Returns None where a class has no terms on one side, so that the fit must be refused. Without
    a model, groups without annotation are left out.
    """
    classes = np.unique(rows.y)
    if len(classes) < 2:
        return None
    X = _features(case, rows.X)
    witnesses = getattr(model, "witnesses_", ())
    groups = np.arange(len(rows.y)) if rows.groups is None else rows.groups
    found: list[GroupProblem | None] = []
    for label in classes if len(classes) > 2 else classes[1:]:
        everywhere = len(np.unique(groups[rows.y == label])) == len(np.unique(groups))
        if len(classes) > 2 and everywhere and rows.groups is not None:
            found.append(None)
            continue
        problem = GroupProblem(
            X,
            rows.y,
            rows.groups,
            rows.overlap,
            positive_label=label,
            objects=None if rows.objects is None else rows.objects.tolist(),
            witnesses=witnesses,
            constant=aside,
            **_oracle_settings(case),
        )
        if not problem.terms:
            return None
        found.append(problem)
    return found


def _check_scores(case: Case, model: Any, rows: Rows, given: _Given) -> None:
    """Scores of candidates and groups are those of the weights, and winners have them."""
    X = _features(case, rows.X)
    exact = folded_scores(X, model.coef_, model.intercept_)
    rounding = score_rounding(X, np.zeros(X.shape[1]), model.coef_, model.intercept_)
    scores = np.asarray(model.decision_function(given.X)).reshape(exact.shape)
    _require_near("decision_function", scores, exact, rounding)
    if rows.groups is None and given.groups is None and case["source"] == "memory":
        return
    groups = np.arange(len(X)) if rows.groups is None else rows.groups
    found = model.group_scores(given.X, *([groups] if case["source"] == "memory" else []))
    ids = list(dict.fromkeys(groups.tolist()))
    n_columns = exact.shape[1]
    best, winner = (np.asarray(v).reshape(len(v), n_columns) for v in (found.score, found.winner))
    if rows.groups is not None and np.asarray(found.group).tolist() != ids:
        raise Failed("wrong_model", "groups are not in order of first appearance", "")
    for k, group in enumerate(ids):
        members = np.flatnonzero(groups == group)
        for c in range(n_columns):
            if winner[k, c] not in members:
                raise Failed("wrong_model", "a winner is not of its group", f"group {group}")
            allowed = rounding[members, c].max()
            largest = exact[members, c].max()
            _require_near("group_scores", best[k, c], largest, allowed)
            _require_near("winner", exact[winner[k, c], c], largest, 2 * allowed)


def _require_near(what: str, got: Any, expected: Any, rounding: Any) -> None:
    off = np.abs(np.asarray(got) - np.asarray(expected)) - rounding
    if not np.all(off <= 0):
        figures = f"off by {float(np.max(off)):.3g} more than rounding"
        raise Failed("wrong_model", f"{what} is not that of the weights", figures)


def _other_models(
    case: Case, rows: Rows, given: _Given, sandbox: Sandbox, model: Any
) -> Iterator[tuple[str, Any]]:
    """The same fit again, and the same problem from other containers and by other solvers."""
    os.environ["GROUPCM_NUM_THREADS"] = "2"
    if "max_time" not in case["settings"]:  # how far a fit comes in a time is a matter of chance
        with sandbox.budget("fitting again", FIT_SECONDS):
            _require_same(model, given.fit(case)[0])
    dense = case | {"source": "memory", "kind": "float64", "memory": None}
    plain = replace(rows, X=rows.X.astype(np.float64))
    with sandbox.budget("fitting rows in memory", FIT_SECONDS):
        yield "rows in memory", _Given(dense, plain, sandbox.folder).fit(dense)[0]
    if case["estimator"] == "gcm" and rows.annotated is None:
        other = {"lbfgs": "working_set"}.get(case["settings"]["solver"], "lbfgs")
        with sandbox.budget(f"fitting by {other}", FIT_SECONDS):
            found = _Given(dense, plain, sandbox.folder).fit(dense, solver=other, max_passes=100)
            yield other, found[0]


def _require_same(model: Any, again: Any) -> None:
    """The same fit gives the same bits, also with another number of threads."""
    for name in ("coef_", "intercept_", "objective_", "lower_bound_"):
        if not np.array_equal(getattr(model, name), getattr(again, name)):
            off = float(np.max(np.abs(model.coef_ - again.coef_)))
            what = f"{name}; coef_ differs by {off:.3g}"
            raise Failed("wrong_model", "the same fit gives other bits", what)


def _check_certificates(
    case: Case, rows: Rows, model: Any, stopped: bool, others: list[tuple[str, Any]]
) -> None:
    X = _features(case, rows.X)
    aside = None
    if case["settings"].get("standardize", True):
        aside = columns_set_aside(X, model.coef_)
    problems = _problems(case, rows, model, aside)
    assert problems is not None
    if len(problems) != len(model.coef_):
        raise Failed("wrong_model", "not one row of weights per class", f"{model.coef_.shape}")
    largest = 0.0
    for c, problem in enumerate(problems):
        claim = _claim(model, c)
        if problem is None:
            if np.any(claim.coef != 0.0):
                raise Failed("wrong_model", "a class that every group holds has weights", "")
            continue
        convex = case["estimator"] == "gcm" and rows.annotated is None
        elsewhere = others if convex else []  # choices of candidates may differ
        check_claim(problem, claim, _points(problem, claim, c, elsewhere))
        largest = max(largest, claim.gap)
    if largest > model.tol and not stopped:
        raise Failed("wrong_model", "a gap above tol without a warning", f"{largest!r}")


def _claim(model: Any, c: int) -> Claim:
    bracket = (np.atleast_1d(getattr(model, name))[c] for name in ("objective_", "lower_bound_"))
    objective, lower_bound = (float(value) for value in bracket)
    gap = float(np.atleast_1d(model.gap_)[c])
    numbers = [objective, lower_bound, gap, *model.coef_[c], model.intercept_[c]]
    if not np.all(np.isfinite(numbers)):
        raise Failed("wrong_model", "a number of the model is not finite", f"{numbers[:3]}")
    return Claim(model.coef_[c], float(model.intercept_[c]), objective, lower_bound, gap)


def _points(
    problem: GroupProblem, claim: Claim, c: int, others: list[tuple[str, Any]]
) -> Iterator[Point]:
    """Points whose objective no lower bound may pass: nearby, by other solvers, and the least."""
    w, b = problem.to_standardised(claim.coef, claim.intercept)
    yield Point("the model", w, b)
    yield Point("zero", np.zeros_like(w), 0.0)
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-4, 1e-6):
        shift = size * rng.normal(size=len(w) + 1)
        yield Point(f"the model moved by {size:g}", w * (1 + shift[:-1]), b + shift[-1])
        yield Point(f"the model shrunk by {size:g}", w * (1 - size), b)
    for name, other in others:
        yield Point(name, *problem.to_standardised(other.coef_[c], other.intercept_[c]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = problem.solve()
    except Exception:  # it is one point more, and its solver gives up on extreme problems
        return
    yield Point("an interior-point method", best.w, best.b)


def _run_flawed(case: Case, rows: Rows, sandbox: Sandbox) -> Verdict:
    """Check that a mistake of the user is refused."""
    applied = with_mistake(case, rows)
    if applied is None:
        return Verdict("ok")
    changed, rows, replaced = applied
    given = _Given(changed, rows, sandbox.folder)
    given.rest = given.rest | replaced.get("rest", {})
    given.X = replaced.get("X", given.X)
    return _refusal_of(f"the flaw {case['flaw']!r}", given, changed, sandbox)


def _refusal_of(what: str, given: _Given, case: Case, sandbox: Sandbox) -> Verdict:
    with sandbox.budget(f"fitting with {what}", FIT_SECONDS):
        try:
            given.fit(case)
        except Failed:
            raise
        except Exception as error:
            return judge_refusal(error)
    raise Failed("wrong_model", f"{what} was accepted", "no error was raised")
