"""Evaluation, comparison and explanation of models: from labels and scores to named results."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.evaluation._evaluate import evaluate, evaluate_scored
    from groupcm.evaluation._learning_curve import learning_curve
    from groupcm.evaluation.comparison.compare_models import compare_models
    from groupcm.evaluation.comparison.document import comparison_document
    from groupcm.evaluation.comparison.tables import compare_tables
    from groupcm.evaluation.documents import (
        document_schema,
        evaluation_document,
        save_document,
    )
    from groupcm.evaluation.explanation import explain_scores, feature_weights
    from groupcm.evaluation.folder_recalibration import recalibrate_folder
    from groupcm.evaluation.metric_table import metric_values
    from groupcm.evaluation.recalibration import (
        Recalibration,
        recalibrate,
        recalibrate_tables,
    )
    from groupcm.evaluation.scoring import score_candidates, score_source
    from groupcm.evaluation.table_evaluation import evaluate_tables
    from groupcm.evaluation.table_plan import plan_tables
    from groupcm.evaluation.table_scores import score_tables

__all__ = [
    "Recalibration",
    "compare_models",
    "compare_tables",
    "comparison_document",
    "document_schema",
    "evaluate",
    "evaluate_scored",
    "evaluate_tables",
    "evaluation_document",
    "explain_scores",
    "feature_weights",
    "learning_curve",
    "metric_values",
    "plan_tables",
    "recalibrate",
    "recalibrate_folder",
    "recalibrate_tables",
    "save_document",
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
        "comparison_document": "comparison.document",
        "document_schema": "documents",
        "evaluation_document": "documents",
        "save_document": "documents",
        "evaluate": "_evaluate",
        "evaluate_scored": "_evaluate",
        "explain_scores": "explanation",
        "feature_weights": "explanation",
        "learning_curve": "_learning_curve",
        "metric_values": "metric_table",
        "plan_tables": "table_plan",
        "Recalibration": "recalibration",
        "recalibrate": "recalibration",
        "recalibrate_folder": "folder_recalibration",
        "recalibrate_tables": "recalibration",
        "score_candidates": "scoring",
        "score_source": "scoring",
    },
)
