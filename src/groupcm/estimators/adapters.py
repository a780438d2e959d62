"""Any classifier of scikit-learn, or of groupcm, fitted and scored by groups."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object

from groupcm.data.frames import as_frame
from groupcm.data.groups import no_groups
from groupcm.estimators.scoring import GroupScores, among_all_groups, best_of_groups

__all__ = [
    "candidate_scores",
    "fit_with",
    "group_scores_of",
    "pos_label_of",
    "require_finished",
    "takes",
    "takes_missing",
]


def fit_with(estimator: Any, X: Any, y: ArrayLike, **metadata: Any) -> Any:
    """Fit an estimator with as much of what is known of the candidates as it asks for.

    Its ``fit`` gets what it names among its arguments, and what scikit-learn's metadata
    routing says it uses: a pipeline, or a search, hands ``groups`` on to the step that does.

    Parameters
    ----------
    estimator : estimator
        Is fitted in place.
    X, y
        Candidates and their labels.
    **metadata
        One value per candidate, such as ``groups`` and ``annotated``; None is left out.

    Returns
    -------
    estimator

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X, y, groups = [[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 0], [1, 1, 2, 2]
    >>> fit_with(GroupClassifier(), X, y, groups=groups, overlap=None).classes_
    array([0, 1])
    """
    known = {name: value for name, value in metadata.items() if value is not None}
    named = inspect.signature(estimator.fit).parameters
    if any(name in named for name in known):
        return estimator.fit(X, y, **{k: v for k, v in known.items() if k in named})
    used = get_routing_for_object(estimator).consumes("fit", known.keys())
    if not used:
        return estimator.fit(X, y)
    with config_context(enable_metadata_routing=True):
        return estimator.fit(X, y, **{name: known[name] for name in used})


def takes(estimator: Any, name: str) -> bool:
    """Return whether an estimator's ``fit`` asks for something that is known of the candidates.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> takes(GroupClassifier(), "annotated"), takes(GroupClassifier(), "patients")
    (True, False)
    """
    is_named = name in inspect.signature(estimator.fit).parameters
    return is_named or bool(get_routing_for_object(estimator).consumes("fit", [name]))


def pos_label_of(estimator: Any) -> Any:
    """Return the ``pos_label`` of an estimator, or of the one within a pipeline or a search.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> pos_label_of(make_pipeline("passthrough", GroupClassifier(pos_label="polyp")))
    'polyp'
    """
    given = estimator.get_params() if hasattr(estimator, "get_params") else {}
    found = [
        value
        for name, value in given.items()
        if name.rpartition("__")[2] == "pos_label" and value is not None
    ]
    return found[0] if found else None


def takes_missing(estimator: Any) -> bool:
    """Return whether an estimator learns from rows with missing values (NaN), and scores them.

    Examples
    --------
    >>> from groupcm import GroupBoostingClassifier, GroupClassifier
    >>> takes_missing(GroupBoostingClassifier()), takes_missing(GroupClassifier())
    (True, False)
    """
    return bool(get_tags(estimator).input_tags.allow_nan)


def require_finished(model: Any) -> Any:
    """Return the model, unless Ctrl-C cut its training short: then work of many fits ends here.

    A fit that is interrupted gives the best model so far, which a fold must not take for whole.
    """
    solutions = getattr(model, "solution_", None)
    parts = solutions if isinstance(solutions, list) else [solutions]
    is_cut_short = any(getattr(solution, "interrupted", False) for solution in parts)
    if is_cut_short or np.any(np.asarray(getattr(model, "outcome_", "")) == "interrupted"):
        raise KeyboardInterrupt
    return model


def candidate_scores(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return the score of each candidate.

    It is ``decision_function`` where the estimator has one, else the larger class's probability.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> candidate_scores(DummyClassifier().fit([[0], [1], [2], [3]], [0, 0, 0, 1]), [[5]])
    array([0.25])
    """
    X = as_frame(X)
    if _is_empty(X) and not hasattr(estimator, "group_scores"):
        return np.empty(0)  # scikit-learn's own classifiers refuse to score no rows
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    elif hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, -1]
    else:
        raise ValueError(
            f"{type(estimator).__name__} has no scores; a classifier with decision_function or "
            "predict_proba is needed."
        )
    if scores.ndim != 1:
        raise ValueError(
            f"{type(estimator).__name__} gives {scores.shape[1]} scores per candidate; "
            "one, of two classes, is needed."
        )
    return scores


def _is_empty(X: Any) -> bool:
    return getattr(X, "shape", (1,))[0] == 0


def group_scores_of(
    estimator: Any, X: Any, groups: ArrayLike | None, all_groups: ArrayLike | None = None
) -> GroupScores:
    """Return the largest score of each group, by the estimator's ``group_scores`` where it has one.

    ``all_groups`` lists every group, those without candidates included; see
    `groupcm.estimators.scoring.among_all_groups`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> group_scores_of(model, [[0.0], [2.0], [1.0]], ["a", "a", "b"]).winner
    array([1, 2])
    """
    if hasattr(estimator, "group_scores"):
        return among_all_groups(estimator.group_scores(X, groups), all_groups)
    scores = candidate_scores(estimator, X)
    if groups is None:
        raise ValueError("groups is needed: the group of each candidate.")
    groups = np.arange(len(scores)) if no_groups(groups) else groups
    return among_all_groups(best_of_groups(scores, groups), all_groups)
