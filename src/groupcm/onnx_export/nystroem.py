"""Kernels of landmarks, in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.onnx_export.graph import Graph

__all__ = ["landmark_features"]

Matrix = NDArray[np.float64]


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
