"""Displays of results in the style of scikit-learn: curves, scores, weights and the λ path.

Each display has the class methods ``from_estimator`` and ``from_predictions``, draws into given
axes, and stores what it draws. They need matplotlib, the extra ``plots``.
"""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.plots.afroc import AfrocDisplay
    from groupcm.plots.froc import FrocDisplay
    from groupcm.plots.lambda_path import LambdaPathDisplay
    from groupcm.plots.precision_recall import PrecisionRecallDisplay
    from groupcm.plots.roc import GroupRocDisplay
    from groupcm.plots.sample_size import SampleSizeDisplay
    from groupcm.plots.scores import ReliabilityDisplay, ScoreDistributionDisplay
    from groupcm.plots.weights import WeightsDisplay
    from groupcm.plots.yields import YieldDisplay

__all__ = [
    "AfrocDisplay",
    "FrocDisplay",
    "GroupRocDisplay",
    "LambdaPathDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "SampleSizeDisplay",
    "ScoreDistributionDisplay",
    "WeightsDisplay",
    "YieldDisplay",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AfrocDisplay": "afroc",
        "FrocDisplay": "froc",
        "GroupRocDisplay": "roc",
        "LambdaPathDisplay": "lambda_path",
        "PrecisionRecallDisplay": "precision_recall",
        "ReliabilityDisplay": "scores",
        "SampleSizeDisplay": "sample_size",
        "ScoreDistributionDisplay": "scores",
        "WeightsDisplay": "weights",
        "YieldDisplay": "yields",
    },
)
