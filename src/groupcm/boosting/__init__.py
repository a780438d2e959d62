"""Gradient-boosted trees on the group objective, and the objective for other boosting libraries."""

from groupcm.boosting.classifier import GroupBoostingClassifier
from groupcm.boosting.objective import GroupEvaluation, GroupObjective

__all__ = ["GroupBoostingClassifier", "GroupEvaluation", "GroupObjective"]
