"""Metrics of groups and of candidates, with bootstrap confidence intervals."""

from __future__ import annotations

from groupcm.data.groups import GroupIndex, index_groups
from groupcm.metrics.afroc import (
    AfrocCurve,
    afroc_auc,
    afroc_curve,
    afroc_interval,
    afroc_test,
    wafroc_auc,
    wafroc_curve,
)
from groupcm.metrics.auc_variance import (
    delong_interval,
    delong_test,
    obuchowski_interval,
    obuchowski_test,
)
from groupcm.metrics.bootstrap import bootstrap_interval
from groupcm.metrics.clusters import FewClustersWarning
from groupcm.metrics.comparison import compare, compare_levels
from groupcm.metrics.curves import (
    candidate_roc_curve,
    group_average_precision,
    group_precision_recall_curve,
    group_roc_curve,
)
from groupcm.metrics.free_response import hits
from groupcm.metrics.froc import FrocSensitivity, froc_curve, froc_sensitivity
from groupcm.metrics.guarantees import Guarantee, TooFewCasesWarning, required_cases
from groupcm.metrics.levels import Level, Levels, level_scores, read_levels
from groupcm.metrics.operating import (
    OperatingPoint,
    at_threshold,
    operating_point,
    sensitivity_at_specificity,
    sensitivity_at_threshold,
    specificity_at_threshold,
)
from groupcm.metrics.predictive import PredictiveValues, predictive_values
from groupcm.metrics.ranking_intervals import roc_band
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
from groupcm.metrics.roc import candidate_roc_auc, group_partial_auc, group_roc_auc
from groupcm.metrics.sample_size import SampleSize, sample_size
from groupcm.metrics.scorers import (
    GroupScorer,
    group_average_precision_scorer,
    group_partial_auc_scorer,
    group_roc_auc_scorer,
    sensitivity_at_specificity_scorer,
)
from groupcm.metrics.yields import YieldCurve, YieldPoint, yield_curve, yield_interval

__all__ = [
    "METRICS",
    "AfrocCurve",
    "Comparison",
    "FewClustersWarning",
    "FrocCurve",
    "FrocSensitivity",
    "GroupIndex",
    "GroupScorer",
    "Guarantee",
    "Interval",
    "Level",
    "Levels",
    "Metric",
    "OperatingPoint",
    "PrecisionRecallCurve",
    "PredictiveValues",
    "ReliabilityCurve",
    "RocCurve",
    "SampleSize",
    "SensitivityBand",
    "TooFewCasesWarning",
    "YieldCurve",
    "YieldPoint",
    "afroc_auc",
    "afroc_curve",
    "afroc_interval",
    "afroc_test",
    "at_threshold",
    "bootstrap_interval",
    "candidate_roc_auc",
    "candidate_roc_curve",
    "compare",
    "compare_levels",
    "delong_interval",
    "delong_test",
    "froc_curve",
    "froc_sensitivity",
    "group_average_precision",
    "group_average_precision_scorer",
    "group_brier_score",
    "group_partial_auc",
    "group_partial_auc_scorer",
    "group_precision_recall_curve",
    "group_roc_auc",
    "group_roc_auc_scorer",
    "group_roc_curve",
    "hits",
    "index_groups",
    "level_scores",
    "metric_name",
    "metric_named",
    "obuchowski_interval",
    "obuchowski_test",
    "operating_point",
    "predictive_values",
    "read_levels",
    "reliability_curve",
    "required_cases",
    "roc_band",
    "sample_size",
    "sensitivity_at_specificity",
    "sensitivity_at_specificity_scorer",
    "sensitivity_at_threshold",
    "specificity_at_threshold",
    "wafroc_auc",
    "wafroc_curve",
    "yield_curve",
    "yield_interval",
]
