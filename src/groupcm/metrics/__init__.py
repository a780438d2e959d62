"""How well groups, and candidates, are told apart."""

from __future__ import annotations

from groupcm.group_index import GroupIndex, index_groups
from groupcm.metrics.roc import candidate_roc_auc, group_roc_auc, group_roc_auc_scorer

__all__ = [
    "GroupIndex",
    "candidate_roc_auc",
    "group_roc_auc",
    "group_roc_auc_scorer",
    "index_groups",
]
