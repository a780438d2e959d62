"""A metric of groups that boosting can watch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groupcm.group_index import index_groups
from groupcm.metrics import metric_named
from groupcm.validation import as_labels, check_length

__all__ = ["GroupEvaluation"]


class GroupEvaluation:
    """How good scores of candidates are for their groups, as boosting libraries ask.

    Parameters
    ----------
    y : array-like of shape (n,)
        A label a candidate of the data set that is watched, the larger for positive ones.
    groups : array-like of shape (n,), optional
        The group of each candidate, in any order; without it every row is its own group.
    metric : str, default="group_roc_auc"
        Or "group_average_precision", or "sensitivity_at_specificity".

    Examples
    --------
    LightGBM takes ``feval=watch.lightgbm``, XGBoost ``custom_metric=watch.xgboost``.

    >>> watch = GroupEvaluation([0, 1, 0, 0], groups=["a", "a", "b", "b"])
    >>> watch([0.1, 0.9, 0.2, 0.3])
    1.0
    >>> watch.lightgbm([0.1, 0.9, 0.2, 0.3])
    ('group_roc_auc', 1.0, True)
    >>> watch.xgboost([0.1, 0.9, 0.2, 0.3])
    ('group_roc_auc', 1.0)
    """

    def __init__(
        self, y: ArrayLike, groups: ArrayLike | None = None, metric: str = "group_roc_auc"
    ) -> None:
        self._y = as_labels(y, len(np.asarray(y)))
        self._groups = None
        if groups is not None:
            check_length("groups", groups, len(self._y))
            self._groups = index_groups(groups).codes
        self._metric = metric_named(metric)
        self.name = metric

    def __call__(self, scores: ArrayLike) -> float:
        """The metric of these scores, one a candidate."""
        return float(self._metric(self._y, scores, self._groups))

    def lightgbm(self, scores: ArrayLike, _dataset: Any = None) -> tuple[str, float, bool]:
        """Name, value, and that larger is better."""
        return self.name, self(scores), True

    def xgboost(self, scores: ArrayLike, _matrix: Any = None) -> tuple[str, float]:
        """Name and value; tell XGBoost to maximise it."""
        return self.name, self(scores)
