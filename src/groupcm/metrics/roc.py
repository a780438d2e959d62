"""The area under the ROC curve, for candidates and for groups.

    AUC = ( #{s+ > s-} + ½ #{s+ = s-} ) / (n+ n-)

over all pairs of a positive and a negative. For groups, ``s_k = max_{i∈G_k} s_i``
and group k is positive if any of its candidates is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from groupcm.group_index import index_groups, require_present

__all__ = ["candidate_roc_auc", "group_roc_auc", "group_roc_auc_scorer"]


def group_roc_auc(y: ArrayLike, scores: ArrayLike, groups: ArrayLike | None = None) -> float:
    """Area under the ROC curve of groups, each scored by its winner.

        AUC = ( #{s_k > s_l} + ½ #{s_k = s_l} ) / (m+ m-),    s_k = max_{i∈G_k} s_i

    over all positive groups k and negative groups l.

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; the larger of its two values is the positive one.
        A group is positive if any of its candidates is.
    scores : array-like of shape (n,)
        The score of every candidate, larger for more positive.
    groups : array-like of shape (n,), optional
        The group id of every candidate, in any order. Without it every row is a group.

    Returns
    -------
    float
        Between 0 and 1; one half for scores that tell nothing.

    Examples
    --------
    >>> y = [0, 0, 1, 0, 0, 0]
    >>> scores = [0.1, 0.9, 0.8, 0.2, 0.3, 0.4]
    >>> group_roc_auc(y, scores, groups=["a", "a", "b", "b", "c", "c"])
    0.5
    """
    is_positive = _positive_rows(y)
    scores = _valid_scores(scores, len(is_positive))
    if groups is None:
        return _auc(is_positive, scores, "candidate")
    index = index_groups(groups)
    if index.n_rows != len(is_positive):
        raise ValueError(
            f"y has {len(is_positive)} rows but groups has {index.n_rows}; "
            "both need one value a candidate."
        )
    return _auc(index.maxima(is_positive), index.maxima(scores), "group")


def candidate_roc_auc(y: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve of candidates, whatever their groups.

        AUC = ( #{s_i > s_j} + ½ #{s_i = s_j} ) / (n+ n-)

    over all positive candidates i and negative candidates j.

    Parameters
    ----------
    y : array-like of shape (n,)
        The label of every candidate; the larger of its two values is the positive one.
    scores : array-like of shape (n,)
        The score of every candidate, larger for more positive.

    Returns
    -------
    float

    Examples
    --------
    >>> candidate_roc_auc([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return group_roc_auc(y, scores)


class _GroupRocAucScorer:
    """A scikit-learn scorer that asks for ``groups``; see `group_roc_auc_scorer`.

    It states its request itself: ``make_scorer(...).set_score_request(groups=True)`` raises
    while metadata routing is off, as it usually is when this module is imported.
    """

    def __init__(self, groups: bool | str = True) -> None:
        self._groups_request = groups

    def set_score_request(self, *, groups: bool | str) -> _GroupRocAucScorer:
        """A scorer that takes its groups from metadata of another name, say ``"frame"``."""
        return _GroupRocAucScorer(groups)

    def get_metadata_routing(self) -> MetadataRequest:
        """What scikit-learn should pass on when it scores."""
        request = MetadataRequest(owner=repr(self))
        request.score.add_request(  # pyright: ignore[reportAttributeAccessIssue]
            param="groups", alias=self._groups_request
        )
        return request

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None
    ) -> float:
        if groups is None:
            raise ValueError(
                "group_roc_auc_scorer got no groups; call "
                "sklearn.set_config(enable_metadata_routing=True) and pass groups as metadata, "
                "such as cross_val_score(..., params={'groups': groups})."
            )
        if hasattr(estimator, "decision_function"):
            scores = estimator.decision_function(X)
        else:
            scores = estimator.predict_proba(X)[:, 1]
        return group_roc_auc(y, scores, groups)

    def __repr__(self) -> str:
        return "group_roc_auc_scorer"


#: Scores an estimator by `group_roc_auc`, for scikit-learn's ``scoring=``. It asks the
#: estimator for candidate scores (``decision_function``, else ``predict_proba``), so any
#: pipeline works, and scikit-learn's metadata routing for ``groups``.
group_roc_auc_scorer = _GroupRocAucScorer()


def _auc(is_positive: NDArray[np.bool_], scores: NDArray[Any], unit: str) -> float:
    """The share of pairs in the right order, ties half, by one sort and one search."""
    positives = scores[is_positive]
    negatives = np.sort(scores[~is_positive])
    if len(positives) == 0 or len(negatives) == 0:
        found = "positive" if len(positives) else "negative"
        raise ValueError(
            f"every {unit} is {found}; the area under a ROC curve needs at least one positive "
            f"and one negative {unit}."
        )
    # Counting in integers makes the result exact, and independent of the order of rows.
    below = np.searchsorted(negatives, positives, side="left").sum(dtype=np.int64)
    not_above = np.searchsorted(negatives, positives, side="right").sum(dtype=np.int64)
    return float((int(below) + int(not_above)) / (2 * len(positives) * len(negatives)))


def _positive_rows(y: ArrayLike) -> NDArray[np.bool_]:
    """Which rows carry the larger of two labels, without sorting numbers."""
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise ValueError(f"y must hold one label a candidate, at least one; got shape {y.shape}.")
    require_present(y, "y has no label at row {}; every candidate needs one.")
    labels = np.array([y.min(), y.max()]) if y.dtype.kind in "biuf" else np.unique(y)
    is_positive = y == labels[-1]
    if len(labels) > 2 or not np.all(is_positive | (y == labels[0])):
        raise ValueError("y holds more than two labels; a ROC curve needs exactly two.")
    if labels[0] == labels[-1]:
        raise ValueError(
            f"y holds only the label {labels[0]!s}; the area under a ROC curve needs both classes."
        )
    return is_positive


def _valid_scores(scores: ArrayLike, n_rows: int) -> NDArray[Any]:
    scores = np.asarray(scores)
    if scores.shape != (n_rows,):
        raise ValueError(
            f"scores must hold one number a candidate, shape ({n_rows},) to match y; "
            f"got shape {scores.shape}."
        )
    require_present(scores, "scores is NaN at row {}; every candidate needs a number.")
    return scores
