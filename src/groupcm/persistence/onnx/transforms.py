"""Fitted transformers of scikit-learn whose formula is short, in a graph.

The maps of `groupcm.features`, in a graph.

Kernels of landmarks, in a graph.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.features import AdditiveChi2, Fitted, Nystroem, Polynomial, RandomFourier
from groupcm.features.polynomial import monomials_of
from groupcm.persistence.onnx.graph import Graph
from groupcm.utils.typing import Matrix

__all__ = ["chi2_features", "landmark_features", "mapped", "transformed", "waves"]


def landmark_features(graph: Graph, x: str, sampler: Any) -> str:
    """``k(x, Z) K(Z, Z)^(−1/2)`` of a fitted `sklearn.kernel_approximation.Nystroem`."""
    if not isinstance(sampler.kernel, str) or sampler.kernel not in _KERNELS:
        raise InputError(
            f"the kernel {sampler.kernel!r} of Nystroem cannot be exported; "
            f"these can: {', '.join(_KERNELS)}"
        )
    landmarks = np.asarray(sampler.components_, dtype=np.float64)
    given = {name: getattr(sampler, name) for name in ("gamma", "degree", "coef0")}
    known = {name: value for name, value in given.items() if value is not None}
    defaults = {"gamma": None, "degree": 3, "coef0": 1}
    parameters = {**defaults, **(sampler.kernel_params or {}), **known}
    if parameters["gamma"] is None:
        parameters["gamma"] = 1.0 / landmarks.shape[1]
    values = _KERNELS[sampler.kernel](graph, x, landmarks, parameters)
    return graph.op("MatMul", values, graph.constant(np.asarray(sampler.normalization_).T))


def _rbf(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``exp(−γ |x − z|²)``, the square taken apart around the landmarks' centre."""
    centre = landmarks.mean(axis=0)
    apart = landmarks - centre
    x = graph.op("Sub", x, graph.constant(centre))
    products = graph.op("MatMul", x, graph.constant(-2.0 * apart.T))
    squares = graph.op("Add", products, graph.constant(np.sum(apart**2, axis=1)))
    squares = graph.op("Add", squares, graph.squared_norms(x, len(centre)))
    squares = graph.op("Max", squares, graph.constant(0.0))
    return graph.op("Exp", graph.op("Mul", squares, graph.constant(-parameters["gamma"])))


def _laplacian(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``exp(−γ Σ_j |x_j − z_j|)``."""
    x = graph.op("Unsqueeze", x, graph.integers([1]))
    apart = graph.op("Abs", graph.op("Sub", x, graph.constant(landmarks)))
    distance = graph.op("ReduceSum", apart, graph.integers([2]), keepdims=0)
    return graph.op("Exp", graph.op("Mul", distance, graph.constant(-parameters["gamma"])))


def _linear(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    return graph.op("MatMul", x, graph.constant(landmarks.T))


def _cosine(graph: Graph, x: str, landmarks: Matrix, parameters: dict[str, Any]) -> str:
    """``x·z / (|x| |z|)``; a vector of zeros stays one."""
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


# scikit-learn's own choice for each number of steps.
_CHI2_INTERVAL = {1: 0.8, 2: 0.5, 3: 0.4}


def transformed(graph: Graph, x: str, transformer: Any) -> str:
    """``transformer.transform(x)``."""
    kind = type(transformer)
    if not kind.__module__.startswith("sklearn.") or kind.__name__ not in _TRANSFORMERS:
        raise InputError(
            f"the feature map {kind.__name__} cannot be exported; these can: Polynomial, "
            "RandomFourier, Nystroem and AdditiveChi2 of groupcm.features, and scikit-learn's "
            f"{', '.join(_TRANSFORMERS)}"
        )
    return _TRANSFORMERS[kind.__name__](graph, x, transformer)


def waves(graph: Graph, x: str, weights: NDArray[np.float64], offset: NDArray[np.float64]) -> str:
    """``√(2/m) cos(x W + b)``."""
    angle = graph.op("MatMul", x, graph.constant(weights))
    angle = graph.op("Add", angle, graph.constant(offset))
    return graph.op("Mul", graph.cosine(angle), graph.constant(np.sqrt(2.0 / len(offset))))


def chi2_features(graph: Graph, x: str, sampler: Any) -> str:
    """``√(x L)``, then ``√(2 x L / cosh(π j L))`` times cosine and sine of ``j L log x``.

    ``L`` is the interval and ``j`` the step. What is below zero becomes NaN.
    """
    interval = sampler.sample_interval
    if interval is None:
        interval = _CHI2_INTERVAL[sampler.sample_steps]
    is_zero = graph.op("Equal", x, graph.constant(0.0))
    # The square root is zero there, whatever the logarithm is.
    logarithm = graph.op("Log", graph.op("Where", is_zero, graph.constant(1.0), x))
    parts = [graph.op("Sqrt", graph.op("Mul", x, graph.constant(interval)))]
    for j in range(1, sampler.sample_steps):
        share = 2.0 * interval / np.cosh(np.pi * j * interval)
        factor = graph.op("Sqrt", graph.op("Mul", x, graph.constant(share)))
        angle = graph.op("Mul", logarithm, graph.constant(j * interval))
        parts.append(graph.op("Mul", factor, graph.cosine(angle)))
        parts.append(graph.op("Mul", factor, graph.op("Sin", angle)))
    return graph.op("Concat", *parts, axis=1)


def _shifted(graph: Graph, x: str, centre: Any, scale: Any) -> str:
    """``(x − centre) / scale``, either left out where it is None."""
    if centre is not None:
        x = graph.op("Sub", x, graph.constant(centre))
    return x if scale is None else graph.op("Div", x, graph.constant(scale))


def _standard(graph: Graph, x: str, scaler: Any) -> str:
    return _shifted(
        graph,
        x,
        scaler.mean_ if scaler.with_mean else None,
        scaler.scale_ if scaler.with_std else None,
    )


def _robust(graph: Graph, x: str, scaler: Any) -> str:
    return _shifted(
        graph,
        x,
        scaler.center_ if scaler.with_centering else None,
        scaler.scale_ if scaler.with_scaling else None,
    )


def _largest(graph: Graph, x: str, scaler: Any) -> str:
    return _within(graph, _shifted(graph, x, None, scaler.scale_), scaler, (-1.0, 1.0))


def _range(graph: Graph, x: str, scaler: Any) -> str:
    x = graph.op("Mul", x, graph.constant(scaler.scale_))
    x = graph.op("Add", x, graph.constant(scaler.min_))
    return _within(graph, x, scaler, scaler.feature_range)


def _within(graph: Graph, x: str, scaler: Any, bounds: tuple[float, float]) -> str:
    if not getattr(scaler, "clip", False):
        return x
    return graph.op("Clip", x, graph.constant(bounds[0]), graph.constant(bounds[1]))


def _components(graph: Graph, x: str, pca: Any) -> str:
    x = graph.op("Sub", x, graph.constant(pca.mean_))
    x = graph.op("MatMul", x, graph.constant(pca.components_.T))
    if not pca.whiten:
        return x
    smallest = np.finfo(pca.explained_variance_.dtype).eps
    return _shifted(graph, x, None, np.maximum(np.sqrt(pca.explained_variance_), smallest))


def _sampled_waves(graph: Graph, x: str, sampler: Any) -> str:
    return waves(graph, x, sampler.random_weights_, sampler.random_offset_)


def _steps(graph: Graph, x: str, pipeline: Any) -> str:
    for _, step in pipeline.steps:
        if step is not None and step != "passthrough":
            x = transformed(graph, x, step)
    return x


_TRANSFORMERS: dict[str, Callable[[Graph, str, Any], str]] = {
    "AdditiveChi2Sampler": chi2_features,
    "MaxAbsScaler": _largest,
    "MinMaxScaler": _range,
    "Nystroem": landmark_features,
    "PCA": _components,
    "Pipeline": _steps,
    "RBFSampler": _sampled_waves,
    "RobustScaler": _robust,
    "StandardScaler": _standard,
}


def mapped(graph: Graph, x: str, feature_map: Any) -> str:
    """``φ(x)``, a row a candidate."""
    if isinstance(feature_map, Polynomial):
        return _monomials(graph, x, feature_map)
    if isinstance(feature_map, RandomFourier):
        return waves(graph, x, feature_map.random_weights_, feature_map.random_offset_)
    if isinstance(feature_map, Nystroem):
        return landmark_features(graph, x, feature_map.sampler_)
    if isinstance(feature_map, AdditiveChi2):
        return chi2_features(graph, x, feature_map.sampler_)
    if isinstance(feature_map, Fitted):
        return transformed(graph, x, feature_map.transformer)
    return transformed(graph, x, feature_map)


def _monomials(graph: Graph, x: str, feature_map: Polynomial) -> str:
    """Each degree from the one before: ``x1² x3`` is ``x1²`` times ``x3``."""
    monomials = monomials_of(feature_map)
    levels: list[str] = []
    place: dict[tuple[int, ...], int] = {}
    for _, same_degree in groupby(monomials, key=len):
        level = list(same_degree)
        factor = graph.columns(x, np.array([monomial[-1] for monomial in level]))
        if levels:
            parents = np.array([place[monomial[:-1]] for monomial in level])
            factor = graph.op("Mul", graph.columns(levels[-1], parents), factor)
        levels.append(factor)
        place = {monomial: column for column, monomial in enumerate(level)}
    return graph.op("Concat", *levels, axis=1)
