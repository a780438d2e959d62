"""The linear model or the trees within a model, their features, and the weights of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from groupcm.utils.typing import Vector

__all__ = [
    "FeatureWeights",
    "feature_names",
    "feature_weights",
    "input_names",
    "linear_part",
    "tree_part",
]


@dataclass(frozen=True)
class FeatureWeights:
    """The weights of all features in the score of one class.

    Attributes
    ----------
    label : object
        The class.
    names : list of str
        The features; with a feature map, its outputs.
    trained : ndarray
        The weights as trained: per standard deviation where the features were standardised,
        else per unit of the feature.
    per_unit : ndarray
        The weights per unit of the feature.
    is_standardized : bool
    """

    label: Any
    names: list[str]
    trained: Vector
    per_unit: Vector
    is_standardized: bool


def linear_part(model: Any) -> Any | None:
    """Return the linear model of groupcm within a model, such as a calibrated one, or None.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> linear_part(model) is model
    True
    """
    return _part_with(model, "coef_", "solution_")


def tree_part(model: Any) -> Any | None:
    """Return the trees of groupcm within a model, such as a calibrated one, or None.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> tree_part(GroupClassifier()) is None
    True
    """
    return _part_with(model, "trees_")


def _part_with(model: Any, *attributes: str) -> Any | None:
    while model is not None and not all(hasattr(model, name) for name in attributes):
        model = getattr(model, "estimator_", None)
    return model


def feature_weights(model: Any) -> list[FeatureWeights]:
    """Return the weights of a linear model: one entry for two classes, else one per class.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X = [[0.0, 10.0], [1.0, 20.0], [0.2, 10.0], [0.9, 20.0]]
    >>> (weights,) = feature_weights(GroupClassifier().fit(X, [0, 1, 0, 1]))
    >>> weights.names, (weights.per_unit > 0).tolist()
    (['x0', 'x1'], [True, True])
    """
    names = feature_names(model)
    solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
    labels = model.classes_[-len(solutions) :]
    return [
        FeatureWeights(label, names, solution.weights, coef, bool(model.standardize))
        for label, solution, coef in zip(labels, solutions, model.coef_, strict=True)
    ]


def feature_names(model: Any) -> list[str]:
    """Return the names of the features, or of a feature map's outputs; ``x0``, … by default."""
    names, feature_map = input_names(model), getattr(model, "feature_map_", None)
    if feature_map is not None:
        names = feature_map.get_feature_names_out(np.asarray(names, dtype=object))
    return [str(name) for name in names]


def input_names(model: Any) -> list[str]:
    given = getattr(model, "feature_names_in_", None)
    count = range(model.n_features_in_)
    return [f"x{j}" for j in count] if given is None else [str(name) for name in given]
