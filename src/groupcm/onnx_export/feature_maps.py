"""The maps of `groupcm.features`, in a graph."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from groupcm.features import AdditiveChi2, Fitted, Nystroem, Polynomial, RandomFourier
from groupcm.onnx_export.graph import Graph
from groupcm.onnx_export.nystroem import landmark_features
from groupcm.onnx_export.transformers import chi2_features, transformed, waves

__all__ = ["mapped"]


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
    monomials = feature_map._trie().monomials
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
