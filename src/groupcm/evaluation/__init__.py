"""Evaluation, comparison and explanation of models: from labels and scores to named results."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.evaluation._evaluate import evaluate, evaluate_scored
    from groupcm.evaluation._learning_curve import learning_curve
    from groupcm.evaluation.comparison.compare_models import compare_models
    from groupcm.evaluation.explanation import explain_scores, feature_weights
    from groupcm.evaluation.metric_table import metric_values
    from groupcm.evaluation.scoring import score_candidates, score_source

__all__ = [
    "compare_models",
    "evaluate",
    "evaluate_scored",
    "explain_scores",
    "feature_weights",
    "learning_curve",
    "metric_values",
    "score_candidates",
    "score_source",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "compare_models": "comparison.compare_models",
        "evaluate": "_evaluate",
        "evaluate_scored": "_evaluate",
        "explain_scores": "explanation",
        "feature_weights": "explanation",
        "learning_curve": "_learning_curve",
        "metric_values": "metric_table",
        "score_candidates": "scoring",
        "score_source": "scoring",
    },
)
