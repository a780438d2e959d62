"""One small fitted model of every kind that a model file can hold, from synthetic candidates."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import sklearn.preprocessing as skp
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import AdditiveChi2Sampler, RBFSampler
from sklearn.kernel_approximation import Nystroem as SklearnNystroem
from sklearn.pipeline import make_pipeline

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    GroupClassifierCV,
    MISVMClassifier,
    features,
)

N_GROUPS, GROUP_SIZE = 24, 5
NAMES = ["area", "contrast", "edge"]


def candidates(seed: int = 0) -> tuple[Any, Any, Any]:
    """Rows of three positive features, a label for each, and their groups; half are positive."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(N_GROUPS), GROUP_SIZE)
    y = np.zeros(len(groups), dtype=np.int64)
    y[:: 2 * GROUP_SIZE] = 1
    X = random.gamma(2.0, 1.0, (len(groups), 3))
    X[y == 1] += [1.5, 1.0, 0.0]
    return X, y, groups


def _linear(**options: Any) -> Callable[[], Any]:
    def fit() -> Any:
        X, y, groups = candidates()
        return GroupClassifier(random_state=0, **options).fit(X, y, groups)

    return fit


def _named() -> Any:
    X, y, groups = candidates()
    return GroupClassifier(random_state=0, pos_label="polyp").fit(
        pd.DataFrame(X, columns=NAMES), np.array(["clear", "polyp"])[y], groups
    )


def _float32() -> Any:
    X, y, groups = candidates()
    return GroupClassifier(random_state=0).fit(X.astype(np.float32), y == 1, groups)


def _three_classes() -> Any:
    X, y, groups = candidates()
    y = np.where(y == 1, 1 + groups // 2 % 2, 0)
    X[y == 2, 2] += 3.0
    return GroupClassifier(random_state=0).fit(X, y.astype(np.float64), groups)


def _unannotated(kind: Any) -> Callable[[], Any]:
    def fit() -> Any:
        X, y, groups = candidates()
        return kind.fit(X, y, groups, annotated=groups % 6 != 0)

    return fit


def _cross_validated() -> Any:
    X, y, groups = candidates()
    return GroupClassifierCV(lams=[0.3, 0.7], cv=3).fit(pd.DataFrame(X, columns=NAMES), y, groups)


def _misvm() -> Any:
    X, y, groups = candidates()
    return MISVMClassifier(lam=0.7).fit(X, np.repeat(y[::GROUP_SIZE], GROUP_SIZE), groups)


def _calibrated(method: str, estimator: Any) -> Callable[[], Any]:
    def fit() -> Any:
        X, y, groups = candidates()
        return CalibratedGroupClassifier(estimator, method=method, cv=3).fit(X, y, groups)

    return fit


def _calibrated_by_its_folds() -> Any:
    return CalibratedGroupClassifier.of_held_out(_cross_validated())


def _prefit() -> Any:
    X, y, groups = candidates()
    fitted = _linear(feature_map=features.Polynomial(2))()
    return CalibratedGroupClassifier(fitted, cv="prefit").fit(X, y, groups)


def _trees(**options: Any) -> Callable[[], Any]:
    def fit() -> Any:
        X, y, groups = candidates()
        model = GroupBoostingClassifier(
            4, num_leaves=4, min_child_samples=3, n_annealed=2, n_warm_up=2, **options
        )
        return model.fit(pd.DataFrame(X, columns=NAMES), y, groups)

    return fit


def _with(transformer: Any, *, named: bool = False) -> Callable[[], Any]:
    """A linear model of what a fitted transformer of scikit-learn makes of the features."""

    def fit() -> Any:
        X, y, groups = candidates()
        rows: Any = pd.DataFrame(X, columns=NAMES) if named else X
        return GroupClassifier(random_state=0, feature_map=transformer.fit(rows)).fit(
            rows, y, groups
        )

    return fit


KINDS: dict[str, Callable[[], Any]] = {
    "linear": _linear(),
    "linear_named": _named,
    "linear_float32": _float32,
    "linear_l1": _linear(penalty="l1", loss="hinge", C=2.0),
    "three_classes": _three_classes,
    "unannotated": _unannotated(GroupClassifier(random_state=0)),
    "cross_validated": _cross_validated,
    "misvm": _misvm,
    "calibrated_sigmoid": _calibrated("sigmoid", GroupClassifier(random_state=0)),
    "calibrated_isotonic": _calibrated("isotonic", MISVMClassifier()),
    "calibrated_cross_validated": _calibrated_by_its_folds,
    "calibrated_prefit": _prefit,
    "trees": _trees(early_stopping=False),
    "trees_validated": _trees(early_stopping=True, validation=2),
    "calibrated_trees": _calibrated("sigmoid", GroupBoostingClassifier(3, early_stopping=False)),
    "polynomial": _linear(feature_map=features.Polynomial(3, max_factors=2)),
    "random_fourier": _linear(feature_map=features.RandomFourier(6)),
    "nystroem": _linear(feature_map=features.Nystroem(5, kernel="poly", degree=2, coef0=1.0)),
    "additive_chi2": _linear(feature_map=features.AdditiveChi2(2)),
    "standard_scaler": _with(skp.StandardScaler(), named=True),
    "min_max_scaler": _with(skp.MinMaxScaler((-1, 2), clip=True)),
    "max_abs_scaler": _with(skp.MaxAbsScaler()),
    "robust_scaler": _with(skp.RobustScaler(quantile_range=(10.0, 90.0))),
    "normalizer": _with(skp.Normalizer("l1")),
    "quantile_transformer": _with(skp.QuantileTransformer(n_quantiles=8)),
    "power_transformer": _with(skp.PowerTransformer()),
    "polynomial_features": _with(skp.PolynomialFeatures(2)),
    "spline_transformer": _with(skp.SplineTransformer(n_knots=3, degree=2)),
    "bins_one_hot": _with(
        skp.KBinsDiscretizer(3, encode="onehot", strategy="uniform", dtype=np.float32)
    ),
    "bins_ordinal": _with(skp.KBinsDiscretizer([2, 3, 4], encode="ordinal", strategy="uniform")),
    "one_hot": _with(
        make_pipeline(
            skp.KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
            skp.OneHotEncoder(handle_unknown="ignore"),
        )
    ),
    "pca": _with(PCA(2, whiten=True)),
    "rbf_sampler": _with(RBFSampler(n_components=5, random_state=0)),
    "nystroem_sampler": _with(SklearnNystroem(gamma=0.3, n_components=5, random_state=0)),
    "chi2_sampler": _with(AdditiveChi2Sampler()),
    "pipeline": _with(
        make_pipeline(
            skp.StandardScaler(),
            "passthrough",
            make_pipeline(PCA(2), features.RandomFourier(4)),
        ),
        named=True,
    ),
}


def fitted(kind: str) -> Any:
    """The model of a kind, without the warnings that so few candidates cause."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KINDS[kind]()
