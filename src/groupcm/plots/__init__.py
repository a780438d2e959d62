"""Displays of results in the style of scikit-learn: curves, scores, weights and the λ path.

Each display has the class methods ``from_estimator`` and ``from_predictions``, draws into given
axes, and stores what it draws. They need matplotlib, the extra ``plots``.
"""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.plots.froc import FrocDisplay
    from groupcm.plots.lambda_path import LambdaPathDisplay
    from groupcm.plots.precision_recall import PrecisionRecallDisplay
    from groupcm.plots.roc import GroupRocDisplay
    from groupcm.plots.scores import ReliabilityDisplay, ScoreDistributionDisplay
    from groupcm.plots.weights import WeightsDisplay

__all__ = [
    "FrocDisplay",
    "GroupRocDisplay",
    "LambdaPathDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "ScoreDistributionDisplay",
    "WeightsDisplay",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FrocDisplay": "froc",
        "GroupRocDisplay": "roc",
        "LambdaPathDisplay": "lambda_path",
        "PrecisionRecallDisplay": "precision_recall",
        "ReliabilityDisplay": "scores",
        "ScoreDistributionDisplay": "scores",
        "WeightsDisplay": "weights",
    },
)
