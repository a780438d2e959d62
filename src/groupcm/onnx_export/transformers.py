"""Fitted transformers of scikit-learn whose formula is short, in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.onnx_export.graph import Graph
from groupcm.onnx_export.nystroem import landmark_features

__all__ = ["chi2_features", "transformed", "waves"]

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
