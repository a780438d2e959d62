"""Evaluation, comparison and explanation of models: from labels and scores to named results."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.evaluation._evaluate import evaluate, evaluate_scored
    from groupcm.evaluation._learning_curve import learning_curve
    from groupcm.evaluation.comparison.compare_models import compare_models
    from groupcm.evaluation.comparison.tables import compare_tables
    from groupcm.evaluation.explanation import explain_scores, feature_weights
    from groupcm.evaluation.metric_table import metric_values
    from groupcm.evaluation.scoring import score_candidates, score_source
    from groupcm.evaluation.table_evaluation import evaluate_tables
    from groupcm.evaluation.table_scores import score_tables

__all__ = [
    "compare_models",
    "compare_tables",
    "evaluate",
    "evaluate_scored",
    "evaluate_tables",
    "explain_scores",
    "feature_weights",
    "learning_curve",
    "metric_values",
    "score_candidates",
    "score_source",
    "score_tables",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "compare_tables": "comparison.tables",
        "score_tables": "table_scores",
        "evaluate_tables": "table_evaluation",
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
