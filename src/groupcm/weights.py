"""What a model looks at: the weights of a linear one, by the names of its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FeatureWeights", "feature_names", "feature_weights", "linear_part", "tree_part"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureWeights:
    """What each feature adds to the score of one class.

    Attributes
    ----------
    label : object
        The class whose score it is.
    names : list of str
        The features; with a feature map, its outputs.
    trained : ndarray
        For one unit of training: a standard deviation where the features were put on one
        scale, else a unit of the feature.
    per_unit : ndarray
        For one unit of the feature.
    is_standardized : bool
    """

    label: Any
    names: list[str]
    trained: Vector
    per_unit: Vector
    is_standardized: bool


def linear_part(model: Any) -> Any | None:
    """The linear model of groupcm within a model, such as one that is calibrated, or None.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> linear_part(model) is model
    True
    """
    return _part_with(model, "coef_", "solution_")


def tree_part(model: Any) -> Any | None:
    """The trees of groupcm within a model, such as one that is calibrated, or None.

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
    """The weights of a linear model: one entry for two classes, one a class for more.

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
    """The names of what is weighed or split, ``x0``, ``x1`` and so on where nobody named it."""
    given = getattr(model, "feature_names_in_", None)
    if given is None:
        given = [f"x{j}" for j in range(model.n_features_in_)]
    names = np.asarray(given, dtype=object)
    feature_map = getattr(model, "feature_map_", None)
    if feature_map is not None:
        names = feature_map.get_feature_names_out(names)
    return [str(name) for name in names]
