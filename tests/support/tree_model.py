"""The least that a model of trees is: boosters, and what every group model can do."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pytest

from groupcm.boosting.forest import Forest
from groupcm.boosting.lightgbm_text import read_forest
from groupcm.boosting.scorer import TreeScorer
from groupcm.data.frames import feature_names
from groupcm.data.validation import as_matrix
from groupcm.estimators.group_model import GroupModel

lightgbm: Any = pytest.importorskip("lightgbm")

SETTINGS = {
    "objective": "binary",
    "num_leaves": 7,
    "min_data_in_leaf": 3,
    "verbose": -1,
    "num_threads": 1,
    "seed": 0,
}


class TreeModel(GroupModel):
    """Trees that tell candidates apart, one text a column of scores."""

    _fitted_state = (
        "trees_",
        "classes_",
        "background_",
        "n_features_in_",
        "feature_names_in_",
        "threshold_",
        "decision_",
    )

    trees_: list[str]

    def __init__(self, n_trees: int = 12) -> None:
        self.n_trees = n_trees

    @cached_property
    def boosters_(self) -> list[Any]:
        return [lightgbm.Booster(model_str=text) for text in self.trees_]

    @property
    def forests_(self) -> list[Forest]:
        return [read_forest(text, self.n_features_in_) for text in self.trees_]

    @property
    def _scorer(self) -> TreeScorer:
        return TreeScorer(self.forests_)

    def fit(self, X: Any, y: Any, groups: Any = None) -> TreeModel:
        names, X, y = feature_names(X), as_matrix(X), np.asarray(y)
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        if names is not None:
            self.feature_names_in_ = names
        vars(self).pop("boosters_", None)
        binary = len(self.classes_) == 2
        self.background_ = np.array([True, False]) if binary else np.zeros(len(self.classes_), bool)
        labels = self.classes_[1:] if binary else self.classes_
        self.trees_ = [self._grow(X, y == label) for label in labels]
        self._reset_threshold()
        return self

    def _grow(self, X: Any, positive: Any) -> str:
        data = lightgbm.Dataset(X, positive.astype(float))
        return lightgbm.train(SETTINGS, data, self.n_trees).model_to_string()
