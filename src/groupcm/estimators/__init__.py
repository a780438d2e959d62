"""Estimators with the interface of scikit-learn: validate, train, store."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.estimators.calibration import CalibratedGroupClassifier
    from groupcm.estimators.classifier import GroupClassifier
    from groupcm.estimators.classifier_cv import GroupClassifierCV
    from groupcm.estimators.misvm import MISVMClassifier
    from groupcm.estimators.path import lambda_grid, lambda_path
    from groupcm.estimators.scoring import GroupScores
    from groupcm.estimators.tables import fit_tables
    from groupcm.estimators.threshold_choice import choose_threshold

__all__ = [
    "CalibratedGroupClassifier",
    "GroupClassifier",
    "GroupClassifierCV",
    "GroupScores",
    "MISVMClassifier",
    "choose_threshold",
    "fit_tables",
    "lambda_grid",
    "lambda_path",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "fit_tables": "tables",
        "CalibratedGroupClassifier": "calibration",
        "GroupClassifier": "classifier",
        "GroupClassifierCV": "classifier_cv",
        "GroupScores": "scoring",
        "MISVMClassifier": "misvm",
        "choose_threshold": "threshold_choice",
        "lambda_grid": "path",
        "lambda_path": "path",
    },
)
