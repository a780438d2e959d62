"""A small convolutional network as ONNX, a picture, and a recipe of few windows."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from groupcm.images.proposals import Proposals, Windows
from groupcm.images.recipe import Recipe
from groupcm.images.view import View

HEIGHT, WIDTH = 20, 30
RGB = np.random.default_rng(0).random((HEIGHT, WIDTH, 3), dtype=np.float32)
VIEW = View(RGB)
WEIGHTS = np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32)
OPSET = [helper.make_opsetid("", 17)]


def small_recipe(*features):
    return Recipe(Proposals((Windows(),), at_most=6), features)


def onnx_file(path, shape=("n", 3, "h", "w"), *, weights=WEIGHTS, kind=TensorProto.FLOAT, more=()):
    """Convolution, the positive part of it, its mean; ``more`` outputs by their names."""
    nodes = [
        helper.make_node("Conv", ["crops", "weights"], ["conv"]),
        helper.make_node("Relu", ["conv"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("crops", kind, shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in ("flat", *more)],
        [numpy_helper.from_array(weights, "weights")],
    )
    onnx.save(helper.make_model(graph, opset_imports=OPSET, ir_version=9), path)
    return path
