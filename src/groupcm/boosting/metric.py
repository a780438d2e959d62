"""A metric of groups that boosting can watch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.group_index import index_groups, no_groups
from groupcm.metrics import metric_named
from groupcm.metrics.truth import positive_rows
from groupcm.validation import as_labels, check_length

__all__ = ["GroupEvaluation"]


class GroupEvaluation:
    """How good scores of candidates are for their groups, as boosting libraries ask.

    Parameters
    ----------
    y : array-like of shape (n,)
        One label per candidate of the data set that is watched.
    groups : array-like of shape (n,), or "none", optional
        The group of each candidate, in any order; without it every row is its own group.
    metric : str, default="group_roc_auc"
        Or "group_average_precision", or "sensitivity_at_specificity".
    pos_label : label, optional
        The positive one of the two labels; None is the larger.

    Examples
    --------
    ``lightgbm.train`` takes ``feval=watch.lightgbm``, its scikit-learn estimators
    ``eval_metric=watch.lightgbm``; ``xgboost.train`` takes ``custom_metric=watch.xgboost``,
    its scikit-learn estimators, which minimise, ``eval_metric=watch.cost``.

    >>> watch = GroupEvaluation([0, 1, 0, 0], groups=["a", "a", "b", "b"])
    >>> watch([0.1, 0.9, 0.2, 0.3])
    1.0
    >>> watch.lightgbm([0.1, 0.9, 0.2, 0.3])
    ('group_roc_auc', 1.0, True)
    >>> watch.xgboost([0.1, 0.9, 0.2, 0.3])
    ('group_roc_auc', 1.0)
    >>> watch.cost([0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4])
    1.0
    """

    def __init__(
        self,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        metric: str = "group_roc_auc",
        *,
        pos_label: Any = None,
    ) -> None:
        self._y = positive_rows(as_labels(y, len(np.asarray(y))), pos_label)
        self._groups = None
        if groups is not None and not no_groups(groups):
            check_length("groups", groups, len(self._y), whole="y")
            self._groups = index_groups(groups).codes
        self._metric = metric_named(metric)
        self.name = metric

    def __call__(self, scores: ArrayLike) -> float:
        """The metric of these scores, one a candidate."""
        return float(self._metric(self._y, scores, self._groups))

    def lightgbm(self, scores: Any, dataset: Any = None) -> tuple[str, float, bool]:
        """Name, value, and that larger is better.

        The scikit-learn estimators of LightGBM call it with labels and scores.
        """
        return self.name, self(dataset if isinstance(dataset, np.ndarray) else scores), True

    def xgboost(self, scores: Any, matrix: Any = None) -> tuple[str, float]:
        """Name and value, for ``xgboost.train``; tell it to maximise."""
        if isinstance(matrix, np.ndarray):
            raise TypeError(
                "the scikit-learn estimators of XGBoost minimise one number; pass the method "
                "`cost` as eval_metric, and `xgboost` to xgboost.train alone."
            )
        return self.name, self(scores)

    def cost(self, _labels: Any, scores: ArrayLike) -> float:
        """``1 − metric``, for the scikit-learn estimators of XGBoost."""
        return 1.0 - self(scores)
