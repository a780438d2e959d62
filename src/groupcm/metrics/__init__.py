"""Metrics of groups and of candidates, with bootstrap confidence intervals."""

from __future__ import annotations

from groupcm.data.groups import GroupIndex, index_groups
from groupcm.metrics.bands import froc_band, roc_band
from groupcm.metrics.bootstrap import bootstrap_interval
from groupcm.metrics.clusters import FewClustersWarning
from groupcm.metrics.comparison import compare
from groupcm.metrics.curves import (
    candidate_roc_curve,
    group_average_precision,
    group_precision_recall_curve,
    group_roc_curve,
)
from groupcm.metrics.froc import froc_curve
from groupcm.metrics.operating import (
    OperatingPoint,
    at_threshold,
    operating_point,
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.registry import METRICS, Metric, metric_name, metric_named
from groupcm.metrics.reliability import ReliabilityCurve, group_brier_score, reliability_curve
from groupcm.metrics.results import (
    Comparison,
    FrocCurve,
    Interval,
    PrecisionRecallCurve,
    RocCurve,
    SensitivityBand,
)
from groupcm.metrics.roc import candidate_roc_auc, group_roc_auc
from groupcm.metrics.scorers import (
    GroupScorer,
    group_average_precision_scorer,
    group_roc_auc_scorer,
    sensitivity_at_specificity_scorer,
)

__all__ = [
    "METRICS",
    "Comparison",
    "FewClustersWarning",
    "FrocCurve",
    "GroupIndex",
    "GroupScorer",
    "Interval",
    "Metric",
    "OperatingPoint",
    "PrecisionRecallCurve",
    "ReliabilityCurve",
    "RocCurve",
    "SensitivityBand",
    "at_threshold",
    "bootstrap_interval",
    "candidate_roc_auc",
    "candidate_roc_curve",
    "compare",
    "froc_band",
    "froc_curve",
    "group_average_precision",
    "group_average_precision_scorer",
    "group_brier_score",
    "group_precision_recall_curve",
    "group_roc_auc",
    "group_roc_auc_scorer",
    "group_roc_curve",
    "index_groups",
    "metric_name",
    "metric_named",
    "operating_point",
    "reliability_curve",
    "roc_band",
    "sensitivity_at_specificity",
    "sensitivity_at_specificity_scorer",
    "sensitivity_at_threshold",
    "specificity_at_threshold",
]
