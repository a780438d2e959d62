"""Feature maps as operators of an ONNX graph.

`mapped` adds a map of `groupcm.features`, or a fitted transformer of scikit-learn with a short
formula, to a graph. Functions that add an operator take the graph and the name of its input
``x`` of shape (n, d), and return the name of its output.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np

from groupcm.errors import InputError
from groupcm.features import AdditiveChi2, Fitted, Nystroem, Polynomial, RandomFourier
from groupcm.features.polynomial import monomials_of
from groupcm.persistence.onnx.graph import Graph
from groupcm.utils.typing import Matrix

__all__ = ["mapped"]

# The intervals that scikit-learn chooses for each number of steps.
_CHI2_INTERVAL = {1: 0.8, 2: 0.5, 3: 0.4}


def mapped(graph: Graph, x: str, feature_map: Any) -> str:
    """``φ(x)``, one row per candidate."""
    if isinstance(feature_map, Polynomial):
        return _monomials(graph, x, feature_map)
    if isinstance(feature_map, RandomFourier):
        return _waves(graph, x, feature_map)
    if isinstance(feature_map, Nystroem):
        return _landmark_features(graph, x, feature_map.sampler_)
    if isinstance(feature_map, AdditiveChi2):
        return _chi2_features(graph, x, feature_map.sampler_)
    return _transformed(
        graph, x, feature_map.transformer if isinstance(feature_map, Fitted) else feature_map
    )


def _transformed(graph: Graph, x: str, transformer: Any) -> str:
    """``transformer.transform(x)`` of a transformer of scikit-learn."""
    kind = type(transformer)
    if not kind.__module__.startswith("sklearn.") or kind.__name__ not in _TRANSFORMERS:
        raise InputError(
            f"the feature map {kind.__name__} cannot be exported; these can: Polynomial, "
            "RandomFourier, Nystroem and AdditiveChi2 of groupcm.features, and scikit-learn's "
            f"{', '.join(_TRANSFORMERS)}"
        )
    return _TRANSFORMERS[kind.__name__](graph, x, transformer)


def _monomials(graph: Graph, x: str, feature_map: Polynomial) -> str:
    """Each degree from the previous one: ``x1² x3`` is ``x1²`` times ``x3``."""
    levels: list[str] = []
    column_of: dict[tuple[int, ...], int] = {}
    for _, same_degree in groupby(monomials_of(feature_map), key=len):
        level = list(same_degree)
        factor = graph.columns(x, np.array([monomial[-1] for monomial in level]))
        if levels:
            parents = np.array([column_of[monomial[:-1]] for monomial in level])
            factor = graph.op("Mul", graph.columns(levels[-1], parents), factor)
        levels.append(factor)
        column_of = {monomial: column for column, monomial in enumerate(level)}
    return graph.op("Concat", *levels, axis=1)


def _waves(graph: Graph, x: str, sampler: Any) -> str:
    """``√(2/m) cos(x W + b)``."""
    offset = sampler.random_offset_
    angle = graph.op("MatMul", x, graph.constant(sampler.random_weights_))
    angle = graph.op("Add", angle, graph.constant(offset))
    return graph.op("Mul", graph.cosine(angle), graph.constant(np.sqrt(2.0 / len(offset))))


def _chi2_features(graph: Graph, x: str, sampler: Any) -> str:
    """``√(x L)``, then ``√(2 x L / cosh(π j L))`` times cosine and sine of ``j L log x``.

    ``L`` is the interval and ``j`` the step. Negative values become NaN.
    """
    interval = sampler.sample_interval
    if interval is None:
        interval = _CHI2_INTERVAL[sampler.sample_steps]
    is_zero = graph.op("Equal", x, graph.constant(0.0))
    # The square root is zero there, so any finite logarithm will do.
    logarithm = graph.op("Log", graph.op("Where", is_zero, graph.constant(1.0), x))
    parts = [graph.op("Sqrt", graph.op("Mul", x, graph.constant(interval)))]
    for j in range(1, sampler.sample_steps):
        share = 2.0 * interval / np.cosh(np.pi * j * interval)
        factor = graph.op("Sqrt", graph.op("Mul", x, graph.constant(share)))
        angle = graph.op("Mul", logarithm, graph.constant(j * interval))
        parts.append(graph.op("Mul", factor, graph.cosine(angle)))
        parts.append(graph.op("Mul", factor, graph.op("Sin", angle)))
    return graph.op("Concat", *parts, axis=1)


def _landmark_features(graph: Graph, x: str, sampler: Any) -> str:
    """``k(x, Z) K(Z, Z)^(−1/2)`` of a fitted `sklearn.kernel_approximation.Nystroem`."""
    if not isinstance(sampler.kernel, str) or sampler.kernel not in _KERNELS:
        raise InputError(
            f"the kernel {sampler.kernel!r} of Nystroem cannot be exported; "
            f"these can: {', '.join(_KERNELS)}"
        )
    landmarks = np.asarray(sampler.components_, dtype=np.float64)
    parameters = {"gamma": None, "degree": 3, "coef0": 1} | (sampler.kernel_params or {})
    for name in ("gamma", "degree", "coef0"):
        if getattr(sampler, name) is not None:
            parameters[name] = getattr(sampler, name)
    if parameters["gamma"] is None:
        parameters["gamma"] = 1.0 / landmarks.shape[1]
    values = _KERNELS[sampler.kernel](graph, x, landmarks, parameters)
    return graph.op("MatMul", values, graph.constant(np.asarray(sampler.normalization_).T))


def _rbf(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``exp(−γ |x − z|²)``, with the square expanded around the mean of the landmarks."""
    centre = landmarks.mean(axis=0)
    centred = landmarks - centre
    x = graph.op("Sub", x, graph.constant(centre))
    products = graph.op("MatMul", x, graph.constant(-2.0 * centred.T))
    squares = graph.op("Add", products, graph.constant(np.sum(centred**2, axis=1)))
    squares = graph.op("Add", squares, graph.squared_norms(x, len(centre)))
    squares = graph.op("Max", squares, graph.constant(0.0))
    return graph.op("Exp", graph.op("Mul", squares, graph.constant(-parameters["gamma"])))


def _laplacian(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``exp(−γ Σ_j |x_j − z_j|)``."""
    x = graph.op("Unsqueeze", x, graph.integers([1]))
    differences = graph.op("Abs", graph.op("Sub", x, graph.constant(landmarks)))
    distance = graph.op("ReduceSum", differences, graph.integers([2]), keepdims=0)
    return graph.op("Exp", graph.op("Mul", distance, graph.constant(-parameters["gamma"])))


def _linear(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    return graph.op("MatMul", x, graph.constant(landmarks.T))


def _cosine(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``x·z / (|x| |z|)``; 0 for a vector of zeros."""
    norms = np.linalg.norm(landmarks, axis=1, keepdims=True)
    landmarks = landmarks / np.where(norms == 0.0, 1.0, norms)
    norm = graph.op("Sqrt", graph.squared_norms(x, landmarks.shape[1]))
    is_zero = graph.op("Equal", norm, graph.constant(0.0))
    norm = graph.op("Where", is_zero, graph.constant(1.0), norm)
    return _linear(graph, graph.op("Div", x, norm), landmarks, parameters)


def _affine(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``γ x·z + coef0``."""
    products = _linear(graph, x, parameters["gamma"] * landmarks, parameters)
    return graph.op("Add", products, graph.constant(parameters["coef0"]))


def _polynomial(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    base = _affine(graph, x, landmarks, parameters)
    return graph.op("Pow", base, graph.constant(parameters["degree"]))


def _sigmoid(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    return graph.op("Tanh", _affine(graph, x, landmarks, parameters))


_KERNELS: dict[str, Callable[[Graph, str, Matrix, dict[str, Any]], str]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "linear": _linear,
    "cosine": _cosine,
    "poly": _polynomial,
    "polynomial": _polynomial,
    "sigmoid": _sigmoid,
}


def _scaled(graph: Graph, x: str, centre: Any, scale: Any) -> str:
    """``(x − centre) / scale``; either may be None."""
    if centre is not None:
        x = graph.op("Sub", x, graph.constant(centre))
    return x if scale is None else graph.op("Div", x, graph.constant(scale))


def _standard(graph: Graph, x: str, scaler: Any) -> str:
    mean = scaler.mean_ if scaler.with_mean else None
    return _scaled(graph, x, mean, scaler.scale_ if scaler.with_std else None)


def _robust(graph: Graph, x: str, scaler: Any) -> str:
    centre = scaler.center_ if scaler.with_centering else None
    return _scaled(graph, x, centre, scaler.scale_ if scaler.with_scaling else None)


def _max_abs(graph: Graph, x: str, scaler: Any) -> str:
    return _clipped(graph, _scaled(graph, x, None, scaler.scale_), scaler, (-1.0, 1.0))


def _min_max(graph: Graph, x: str, scaler: Any) -> str:
    x = graph.op("Mul", x, graph.constant(scaler.scale_))
    x = graph.op("Add", x, graph.constant(scaler.min_))
    return _clipped(graph, x, scaler, scaler.feature_range)


def _clipped(graph: Graph, x: str, scaler: Any, bounds: tuple[float, float]) -> str:
    if not getattr(scaler, "clip", False):
        return x
    return graph.op("Clip", x, graph.constant(bounds[0]), graph.constant(bounds[1]))


def _components(graph: Graph, x: str, pca: Any) -> str:
    x = graph.op("Sub", x, graph.constant(pca.mean_))
    x = graph.op("MatMul", x, graph.constant(pca.components_.T))
    if not pca.whiten:
        return x
    smallest = np.finfo(pca.explained_variance_.dtype).eps
    return _scaled(graph, x, None, np.maximum(np.sqrt(pca.explained_variance_), smallest))


def _steps(graph: Graph, x: str, pipeline: Any) -> str:
    for _, step in pipeline.steps:
        if step is not None and step != "passthrough":
            x = _transformed(graph, x, step)
    return x


_TRANSFORMERS: dict[str, Callable[[Graph, str, Any], str]] = {
    "AdditiveChi2Sampler": _chi2_features,
    "MaxAbsScaler": _max_abs,
    "MinMaxScaler": _min_max,
    "Nystroem": _landmark_features,
    "PCA": _components,
    "Pipeline": _steps,
    "RBFSampler": _waves,
    "RobustScaler": _robust,
    "StandardScaler": _standard,
}
