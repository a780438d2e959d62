"""Trees on the group objective, and the objective for those who grow their own."""

from groupcm.boosting.classifier import GroupBoostingClassifier
from groupcm.boosting.objective import GroupEvaluation, GroupObjective

__all__ = ["GroupBoostingClassifier", "GroupEvaluation", "GroupObjective"]
