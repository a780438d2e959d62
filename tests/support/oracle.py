"""The group problem written out in full and handed to cvxpy: slow, plain, and independent.

    minimise  rho * sum_j h(w_j)  +  sum_terms weight * max_{i in rows} L(sign * (w . z_i + b))

Nothing here is shared with the library: the terms are built from the words of the contract, the
losses from their definitions, and the optimum comes from an interior-point method.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

DEFAULTS: dict[str, Any] = {
    "lam": 0.5,
    "C": None,
    "class_weight": "balanced",
    "loss": "smoothed_hinge",
    "delta": 0.5,
    "penalty": "huber",
    "epsilon": 1.0,
    "l1_ratio": 0.5,
    "grouping": "negative",
    "background": "ignore",
    "min_overlap": 0.0,
    "standardize": True,
}


@dataclass(frozen=True)
class Term:
    """`weight * max_{i in rows} L(sign * s_i)`."""

    weight: float
    sign: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Optimum:
    """What cvxpy found: its point (in standardised units) and the plain objective there."""

    value: float
    w: np.ndarray
    b: float


def kept_groups(positive, groups, overlap, min_overlap):
    """Rows of every group that counts, in order of first appearance, and how many were left out."""
    rows_of: dict[Any, list[int]] = {}
    for row, group in enumerate(groups):
        rows_of.setdefault(group, []).append(row)
    kept, left_out = [], 0
    for rows in rows_of.values():
        best = max((overlap[i] for i in rows if positive[i]), default=np.inf) if overlap else np.inf
        if best < min_overlap:
            left_out += 1
        else:
            kept.append(rows)
    return kept, left_out


def count_left_out(positive, groups, overlap, min_overlap) -> int:
    """How many positive groups have no positive candidate that fits well enough."""
    overlap = None if overlap is None else list(overlap)
    return kept_groups(positive, groups, overlap, min_overlap)[1]


def build_terms(
    positive, groups, overlap, settings, objects=None, witnesses=(), sample_weight=None
) -> list[Term]:
    """The terms of the objective, from the words of the contract and nothing else.

    A group that holds one of the ``witnesses`` is represented by that row alone, whatever the
    labels of its rows. The class weights of a dict are those of True and False.
    """
    omega = [1.0] * len(positive) if sample_weight is None else list(sample_weight)
    grouping, background = settings["grouping"], settings["background"]
    overlap = None if overlap is None else list(overlap)
    chosen = {groups[row]: int(row) for row in witnesses}
    annotated = [p and g not in chosen for p, g in zip(positive, groups, strict=True)]
    kept, _ = kept_groups(annotated, groups, overlap, settings["min_overlap"])

    # Each unit is one positive group (or row) as a list of (share of its weight, rows).
    positives: list[list[tuple[float, tuple[int, ...]]]] = []
    negatives: list[tuple[int, ...]] = []
    for rows in kept:
        if groups[rows[0]] in chosen:
            positives.append([(1.0, (chosen[groups[rows[0]]],))])
            continue
        pos = [i for i in rows if positive[i]]
        neg = [i for i in rows if not positive[i]]
        if pos:
            if grouping == "both":
                positives.append([(1.0, tuple(pos))])
            elif grouping == "none":
                if overlap is not None:
                    pos = [max(pos, key=lambda i: (overlap[i], -i))]
                positives.extend([(1.0, (i,))] for i in pos)
            else:
                positives.append(_shares(pos, overlap, objects, settings["min_overlap"]))
        if neg and (not pos or background == "negative"):
            negatives.extend([(i,) for i in neg] if grouping == "none" else [tuple(neg)])

    if not positives or not negatives:
        return []
    # All rows of a term weigh the same.
    positives = [[(share * omega[rows[0]], rows) for share, rows in unit] for unit in positives]
    w_pos = sum(weight for unit in positives for weight, _ in unit)
    w_neg = sum(omega[rows[0]] for rows in negatives)
    lam, C, of_class = settings["lam"], settings["C"], settings["class_weight"]
    if C is not None:
        c_pos = c_neg = C
    elif of_class == "balanced":
        c_pos, c_neg = lam / w_pos, lam / w_neg
    else:
        c_pos = c_neg = 2 * lam / (w_pos + w_neg)
    if isinstance(of_class, dict):
        c_pos, c_neg = c_pos * of_class[True], c_neg * of_class[False]
    terms = [Term(c_pos * weight, +1, rows) for unit in positives for weight, rows in unit]
    terms += [Term(c_neg * omega[rows[0]], -1, rows) for rows in negatives]
    return terms


def _shares(pos, overlap, objects, min_overlap):
    """Objects share a group's weight; candidates share an object's, or its best one has it."""
    rows_of: dict[Any, list[int]] = {}
    for row in pos:
        rows_of.setdefault(None if objects is None else objects[row], []).append(row)
    if overlap is None:
        shown = list(rows_of.values())
    else:
        best = [max(rows, key=lambda i: (overlap[i], -i)) for rows in rows_of.values()]
        shown = [[row] for row in best if overlap[row] >= min_overlap]
    return [(1.0 / len(shown) / len(rows), (i,)) for rows in shown for i in rows]


def scaling_of(X, weight=None):
    """(Weighted) mean, deviation and which columns scikit-learn's StandardScaler calls constant.

    In extended precision, so that rounding plays no part even where means are large.
    """
    X = X.astype(np.longdouble)
    mean = np.average(X, axis=0, weights=weight)
    variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    constant = variance <= rounding_of_variance(mean, variance, len(X))
    return mean, np.sqrt(variance), constant


def rounding_of_variance(mean, variance, n):
    """The variance up to which StandardScaler calls a column of n rows constant."""
    eps = np.finfo(np.float64).eps
    return n * eps * variance + (n * mean * eps) ** 2


class GroupProblem:
    """One problem, from the same arguments as `GroupClassifier(**settings).fit`.

    Parameters
    ----------
    positive_label : the label of the class that is trained against the rest
    objects : which object of its group a positive row shows
    witnesses : the rows that were chosen in groups without annotation
    sample_weight : one weight above 0 per row
    constant : which columns are set aside; by default those that StandardScaler calls constant
    """

    def __init__(
        self,
        X,
        y,
        groups=None,
        overlap=None,
        *,
        positive_label,
        objects=None,
        witnesses=(),
        constant=None,
        sample_weight=None,
        **settings,
    ):
        unknown = set(settings) - set(DEFAULTS)
        if unknown:
            raise TypeError(f"the oracle does not know {unknown}")
        self.settings = DEFAULTS | settings
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        self.X = X = X.astype(np.float64)
        positive = [label == positive_label for label in y]
        groups = list(range(len(X))) if groups is None else list(groups)
        self.terms = build_terms(
            positive, groups, overlap, self.settings, objects, witnesses, sample_weight
        )
        # The columns' own location and scale; those of the objective are one of the two.
        centre, spread, called_constant = scaling_of(X, sample_weight)
        if self.settings["standardize"]:
            self.constant = called_constant if constant is None else constant
            self.mean, self.scale = centre, np.where(self.constant, 1.0, spread)
        else:
            self.constant = np.zeros(X.shape[1], dtype=bool)
            self.mean, self.scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        Z = (X - self.mean) / self.scale
        Z[:, self.constant] = 0.0
        # What an interior-point method likes to see: columns around 0, of deviation 1.
        self.shift = np.asarray(Z.mean(axis=0), dtype=np.float64)
        self.unit = np.where(self.constant | (spread == 0), 1.0, spread / self.scale)
        self.unit = self.unit.astype(np.float64)
        self.Z = Z.astype(np.float64)
        self.mean, self.scale = self.mean.astype(np.float64), self.scale.astype(np.float64)
        self.rho = 1.0 if self.settings["C"] is not None else (1 - self.settings["lam"]) / len(X.T)

    def loss(self, t):
        """L(t): the hinge, the smoothed hinge of width 2 * delta, or the logistic loss."""
        if self.settings["loss"] == "logistic":
            return np.logaddexp(0.0, -t)
        if self.settings["loss"] == "hinge":
            return np.maximum(0.0, 1.0 - t)
        delta = self.settings["delta"]
        bowl = (1.0 - t) ** 2 / (4 * delta)
        return np.where(t >= 1, 0.0, np.where(t >= 1 - 2 * delta, bowl, 1 - t - delta))

    def penalty(self, w) -> float:
        """sum_j h(w_j)."""
        if self.settings["penalty"] == "l2":
            return float(np.sum(w**2))
        if self.settings["penalty"] == "l1":
            return float(np.sum(np.abs(w)))
        if self.settings["penalty"] == "elasticnet":
            ratio = self.settings["l1_ratio"]
            return float(np.sum(ratio * np.abs(w) + (1 - ratio) * w**2))
        epsilon = self.settings["epsilon"]
        inside = np.abs(w) <= epsilon
        return float(np.sum(np.where(inside, w**2 / (2 * epsilon), np.abs(w) - epsilon / 2)))

    def objective(self, w, b) -> float:
        """The objective at a point in standardised units, by plain numpy."""
        s = self.Z @ w + b
        losses = sum(t.weight * self.loss(t.sign * s[list(t.rows)]).max() for t in self.terms)
        return float(self.rho * self.penalty(w) + losses)

    def to_standardised(self, coef, intercept):
        """The point in standardised units that a model's `coef_` and `intercept_` describe."""
        coef = np.asarray(coef, dtype=np.float64).ravel()
        return coef * self.scale, float(np.ravel(intercept)[0] + coef @ self.mean)

    def objective_of(self, coef, intercept) -> float:
        """The objective at a point in the user's units."""
        return self.objective(*self.to_standardised(coef, intercept))

    def solve(self) -> Optimum:
        """The optimum by cvxpy and Clarabel, as a quadratic program in its smallest form.

        L(t) = min p²/4δ + q with p, q ≥ 0 and p + q ≥ 1 − t, and in the same way
        h(w) = min p²/2ε + |q| with p + q = w.
        """
        u, level = cp.Variable(self.Z.shape[1]), cp.Variable()
        w = cp.multiply(u, 1.0 / self.unit)
        members = [(k, t.sign, i) for k, t in enumerate(self.terms) for i in t.rows]
        term, sign, row = (np.array(column) for column in zip(*members, strict=True))
        weight = np.array([t.weight for t in self.terms])
        linear = cp.Variable(len(weight), nonneg=True)
        cost, reach = weight @ linear, linear
        if self.settings["loss"] == "smoothed_hinge":
            quadratic = cp.Variable(len(weight), nonneg=True)
            root = np.sqrt(weight / (4 * self.settings["delta"]))
            cost, reach = cost + cp.sum_squares(cp.multiply(root, quadratic)), linear + quadratic
        signed = sign[:, None] * ((self.Z[row] - self.shift) / self.unit)
        margin, digits = signed @ u + cp.multiply(sign, level), 1e-10
        constraints: list[Any] = [reach[term] >= 1 - margin]
        if self.settings["loss"] == "logistic":  # one exponential cone per term, and fewer digits
            worst, digits = cp.Variable(len(weight)), 1e-8
            constraints = [worst[term] <= margin, linear >= cp.logistic(-worst)]
        if self.settings["penalty"] == "l2":
            h = cp.sum_squares(w)
        elif self.settings["penalty"] == "l1":
            h = cp.norm1(w)
        elif self.settings["penalty"] == "elasticnet":
            ratio = self.settings["l1_ratio"]
            h = ratio * cp.norm1(w) + (1 - ratio) * cp.sum_squares(w)
        else:
            inner = cp.Variable(u.size)
            h = cp.sum_squares(inner) / (2 * self.settings["epsilon"]) + cp.norm1(w - inner)
        program = cp.Problem(cp.Minimize(cost + self.rho * h), constraints)
        tolerances = {f"tol_{name}": digits for name in ("gap_abs", "gap_rel", "feas")}
        almost = {f"reduced_{name}": 10 * digits for name in tolerances}
        with warnings.catch_warnings():
            # A cone may cost the last digit: "almost solved", to the reduced tolerances.
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            program.solve(solver=cp.CLARABEL, **tolerances, **almost)
        assert u.value is not None
        assert level.value is not None
        weights = u.value / self.unit
        intercept = float(level.value - weights @ self.shift)
        value = self.objective(weights, intercept)
        # The oracle checks itself: the program and the plain objective are one function.
        np.testing.assert_allclose(program.value, value, rtol=1e-6, atol=10 * digits)
        return Optimum(value, weights, intercept)
