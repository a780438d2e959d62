"""Metrics by name, for ``scoring=`` and ``metric=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from groupcm.metrics.curves import group_average_precision
from groupcm.metrics.operating import sensitivity_at_specificity
from groupcm.metrics.roc import candidate_roc_auc, group_roc_auc

__all__ = ["METRICS", "Metric", "metric_name", "metric_named"]

#: ``callable(y, scores, groups) -> float``, larger for better scores.
Metric = Callable[[ArrayLike, ArrayLike, ArrayLike | None], float]

METRICS: dict[str, Metric] = {
    "group_roc_auc": group_roc_auc,
    "candidate_roc_auc": candidate_roc_auc,
    "group_average_precision": group_average_precision,
    "sensitivity_at_specificity": sensitivity_at_specificity,
}


def metric_named(metric: str | Metric) -> Metric:
    """The callable(y, scores, groups) behind a name; a callable is itself.

    Examples
    --------
    >>> metric_named("group_roc_auc")([0, 1], [0.1, 0.2], None)
    1.0
    """
    if callable(metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        names = ", ".join(f'"{name}"' for name in METRICS)
        raise ValueError(f"{metric!r} is no metric; use {names}, or a callable(y, scores, groups).")
    return METRICS[metric]


def metric_name(metric: str | Metric) -> str:
    """What to call a metric, whichever way it was given.

    Examples
    --------
    >>> from functools import partial
    >>> metric_name(partial(sensitivity_at_specificity, specificity=0.95))
    'sensitivity_at_specificity(specificity=0.95)'
    """
    if isinstance(metric, str):
        return metric
    parameters: dict[str, Any] = getattr(metric, "keywords", {})
    given = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    function = getattr(metric, "func", metric)
    name = getattr(function, "__name__", type(function).__name__)
    return f"{name}({given})" if given else name
