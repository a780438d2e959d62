"""Scorers for scikit-learn's ``scoring=``, with ``groups`` routed to them as metadata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from groupcm.data.frames import as_frame
from groupcm.metrics.curves import group_average_precision
from groupcm.metrics.operating import sensitivity_at_specificity
from groupcm.metrics.roc import group_partial_auc, group_roc_auc

__all__ = [
    "GroupScorer",
    "group_average_precision_scorer",
    "group_partial_auc_scorer",
    "group_roc_auc_scorer",
    "sensitivity_at_specificity_scorer",
]


class GroupScorer:
    """A scorer that evaluates an estimator by a metric of groups.

    It takes candidate scores from the estimator (``decision_function``, else ``predict_proba``),
    so that any pipeline works, and ``groups`` from scikit-learn's metadata routing. The positive
    class is the second of the estimator's ``classes_``. The scorer declares its metadata request
    itself, because ``make_scorer(...).set_score_request(groups=True)`` raises while metadata
    routing is off, as it usually is when this module is imported.

    Parameters
    ----------
    metric : callable(y, scores, groups, …) -> float
        Larger is better. A module-level function, so that the scorer can be pickled.
    groups : bool or str
        The name of the metadata that holds the groups, True for ``"groups"``.
    **parameters
        Passed on to the metric, such as ``specificity=0.95``.

    Examples
    --------
    >>> GroupScorer(sensitivity_at_specificity, specificity=0.95)
    sensitivity_at_specificity_scorer(specificity=0.95)
    """

    def __init__(
        self, metric: Callable[..., float], groups: bool | str = True, **parameters: Any
    ) -> None:
        self._metric = metric
        self._groups_request = groups
        self._parameters = parameters

    def set_score_request(self, *, groups: bool | str) -> GroupScorer:
        """Return a scorer that takes its groups from metadata of another name, say ``"frame"``."""
        return GroupScorer(self._metric, groups, **self._parameters)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that scikit-learn should pass on when it scores."""
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
                f"{self!r} got no groups; call "
                "sklearn.set_config(enable_metadata_routing=True) and pass groups as metadata, "
                "such as cross_val_score(..., params={'groups': groups}), or pass groups='none'."
            )
        X = as_frame(X)
        if hasattr(estimator, "decision_function"):
            scores = estimator.decision_function(X)
        else:
            scores = estimator.predict_proba(X)[:, 1]
        return self._metric(_truth(estimator, y), scores, groups, **self._parameters)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{self._metric.__name__}_scorer" + (f"({given})" if given else "")


def _truth(estimator: Any, y: ArrayLike) -> ArrayLike:
    """Return True where the label is the estimator's positive class; keep unknown labels."""
    labels, classes = np.asarray(y), getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2 or not np.all(np.isin(labels, classes)):
        return y
    is_positive = np.asarray(labels == classes[1])
    # Where there is one class alone, the metric's error names its label.
    return y if is_positive.all() or not is_positive.any() else is_positive


#: By `group_roc_auc`.
group_roc_auc_scorer = GroupScorer(group_roc_auc)
#: By `group_average_precision`.
group_average_precision_scorer = GroupScorer(group_average_precision)
#: By `group_partial_auc` up to a false-positive rate of 0.1; for another,
#: ``GroupScorer(group_partial_auc, max_fpr=0.05)``.
group_partial_auc_scorer = GroupScorer(group_partial_auc)
#: By `sensitivity_at_specificity` at a specificity of 0.9; for another,
#: ``GroupScorer(sensitivity_at_specificity, specificity=0.95)``.
sensitivity_at_specificity_scorer = GroupScorer(sensitivity_at_specificity)
