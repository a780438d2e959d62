"""What each feature adds to the score of a candidate, where the score is a sum over features.

    score  =  base + Σ_j contribution_j
    linear:  contribution_j = coef_j (x_j − typical_j),    base = Σ_j coef_j typical_j + intercept
    trees:   contribution_j = φ_j(x) − φ_j(typical),       base = Σ_j φ_j(typical) + expected

``base`` is the score of the typical candidate, such as the average one. Where nobody says what is
typical, ``typical`` is 0 and ``base`` the intercept; of trees, ``φ(typical)`` is 0 and ``base`` the
mean score in training. ``coef`` is in the units of the features, so that it does not matter
whether training put them on one scale. ``φ_j`` are the exact Shapley values of the trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from groupcm.errors import InputError
from groupcm.frames import as_frame, frame_to_matrix, is_frame
from groupcm.frames import feature_names as column_names
from groupcm.weights import feature_names, linear_part, tree_part

__all__ = ["ScoreExplanation", "explain_scores", "require_explainable"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreExplanation:
    """The score of one candidate as a sum over features.

    Attributes
    ----------
    score
        Of the candidate.
    base
        Score of the typical candidate; where that is not known the intercept, or of trees the
        mean score in training.
    names, values
        The features, in the model's order.
    typical
        Their values in the typical candidate; None where that is not known.
    contributions
        What each adds; together with ``base`` they are the score.
    """

    score: float
    base: float
    names: tuple[str, ...]
    values: Vector
    typical: Vector | None
    contributions: Vector

    def largest_first(self) -> NDArray[np.intp]:
        """Places of the features, the largest contribution, up or down, first."""
        return np.argsort(-np.abs(self.contributions), kind="stable")


def explain_scores(
    model: Any,
    rows: Any,
    *,
    names: Sequence[str] | NDArray[Any] | None = None,
    typical: ArrayLike | None = None,
) -> list[ScoreExplanation]:
    """Split the scores of candidates into what their features add.

    Parameters
    ----------
    model
        A fitted model of two classes: a linear one without feature map, such as
        `GroupClassifier`, or trees, `GroupBoostingClassifier`; also a calibrated one.
    rows
        Features of candidates, shape (n, d). A data frame is matched by the names of its columns.
    names
        Names of the columns of ``rows`` and ``typical``, in any order and with others among them;
        left out, the columns are those of the model in its order.
    typical
        Features of the typical candidate, shape (d,).

    Returns
    -------
    list of ScoreExplanation
        One a row.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [0.2, 7.0], [0.9, 7.0]])
    >>> model = GroupClassifier().fit(X, [0, 1, 0, 1])
    >>> (found,) = explain_scores(model, X[:1], typical=X.mean(axis=0))
    >>> bool(np.isclose(found.base + found.contributions.sum(), model.decision_function(X[:1])[0]))
    True
    >>> found.names, found.largest_first().tolist()
    (('x0', 'x1'), [0, 1])
    """
    part = require_explainable(model)
    trained = feature_names(part)
    rows = as_frame(rows)
    if is_frame(rows):
        if names is None and hasattr(part, "feature_names_in_"):
            names = column_names(rows)
        rows = frame_to_matrix(rows)
    rows = rows.toarray() if sp.issparse(rows) else rows
    values = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    centre = None if typical is None else np.atleast_1d(np.asarray(typical, dtype=np.float64))
    if names is not None:
        columns = _columns(trained, names)
        values = values[:, columns]
        centre = None if centre is None else centre[columns]
    for what, shape in (
        ("rows", values.shape[1:] if len(values) else (len(trained),)),
        ("typical", (len(trained),) if centre is None else centre.shape),
    ):
        if shape != (len(trained),):
            raise ValueError(f"{what} have {shape[0]} features; the model has {len(trained)}")
    split = _split_by_trees if tree_part(part) is not None else _split_by_weights
    scores, base, contributions = split(part, values, centre)
    return [
        ScoreExplanation(float(score), base, tuple(trained), row, centre, adds)
        for score, row, adds in zip(scores, values, contributions, strict=True)
    ]


def _split_by_weights(
    linear: Any, values: Vector, centre: Vector | None
) -> tuple[Vector, float, Vector]:
    """Scores, base and contributions."""
    coef, intercept = linear.coef_[0], float(linear.intercept_[0])
    base = intercept if centre is None else float(coef @ centre + intercept)
    contributions = coef * (values if centre is None else values - centre)
    return values @ coef + intercept, base, contributions


def _split_by_trees(
    trees: Any, values: Vector, centre: Vector | None
) -> tuple[Vector, float, Vector]:
    """Scores, base and contributions."""
    scorer = trees._scorer
    contributions, base = scorer.contributions(values)
    if centre is not None:
        of_centre, _ = scorer.contributions(centre[None])
        contributions = contributions - of_centre
        base = float(scorer.of_rows(centre[None])[0, 0])
    return scorer.of_rows(values)[:, 0], base, contributions


def require_explainable(model: Any) -> Any:
    """Return the linear model, or the trees, within a model; say why its scores are no such sums.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> require_explainable(DecisionTreeClassifier())
    Traceback (most recent call last):
    groupcm.errors.InputError: the scores of a DecisionTreeClassifier are not sums over features;
    only those of a linear model or of trees of groupcm can be explained by features
    """
    linear, trees = linear_part(model), tree_part(model)
    if linear is None and trees is None:
        raise InputError(
            f"the scores of a {type(model).__name__} are not sums over features; "
            "only those of a linear model or of trees of groupcm can be explained by features"
        )
    if linear is not None and linear.feature_map_ is not None:
        raise InputError(
            f"the model weighs what the map {type(linear.feature_map_).__name__} makes of the "
            "features; only the scores of a model without map can be explained by features"
        )
    if len(model.classes_) != 2:
        raise InputError(
            f"the model tells {len(model.classes_)} classes apart; "
            "only the scores of a model of two are explained"
        )
    return trees if linear is None else linear


def _columns(wanted: Sequence[str], names: Sequence[str] | NDArray[Any]) -> NDArray[np.intp]:
    place = {str(name): at for at, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}, which the model was trained with")
    return np.array([place[name] for name in wanted], dtype=np.intp)
