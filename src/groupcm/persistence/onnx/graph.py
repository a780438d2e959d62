"""The construction of an ONNX graph, operator by operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm import __version__
from groupcm.utils.extras import ONNX

__all__ = ["Graph", "Shape"]

Shape = Sequence[int | str]

# The first opset with a maximum and a minimum in ScatterElements.
_OPSET = 18
# The first opset with trees whose sums are float64.
ML_OPSET = 5


class Graph:
    """Operators in the order in which they run; a value is identified by its name.

    All values are float64 unless a method states otherwise: scaled weights of features far from
    zero cancel, and float32 would lose what remains.
    """

    def __init__(self) -> None:
        self._helper = ONNX.load("onnx.helper")
        self._numpy = ONNX.load("onnx.numpy_helper")
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._used: Counter[str] = Counter()

    def input(self, name: str, dtype: type, shape: Shape) -> str:
        """Add an input of the graph, and return its name."""
        self._inputs.append(self._typed(name, dtype, shape))
        return name

    def output(self, name: str, value: str, dtype: type, shape: Shape) -> None:
        """Add an output of the graph, converted to a type."""
        kind = self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._nodes.append(self._helper.make_node("Cast", [value], [name], to=kind))
        self._outputs.append(self._typed(name, dtype, shape))

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Apply an operator with one output."""
        name = self._fresh(kind)
        self._nodes.append(
            self._helper.make_node(kind, inputs, [name], domain=domain, **attributes)
        )
        return name

    def cast(self, value: str, dtype: type) -> str:
        """Convert a value to another type."""
        return self.op("Cast", value, to=self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def constant(self, value: ArrayLike) -> str:
        """Add a number or an array as a constant of float64."""
        return self._stored(np.asarray(value, dtype=np.float64))

    def integers(self, value: ArrayLike) -> str:
        """Add an index or a shape as a constant of int64."""
        return self._stored(np.asarray(value, dtype=np.int64))

    def tensor(self, value: NDArray[Any]) -> Any:
        """Return an array as the attribute of an operator."""
        return self._numpy.from_array(np.ascontiguousarray(value))

    def filled(self, shape: str, value: float | int) -> str:
        """Create an array of a shape that is filled with a value, float64 or int64."""
        return self.op("ConstantOfShape", shape, value=self.tensor(np.array([value])))

    def columns(self, value: str, chosen: Sequence[int] | NDArray[np.int64]) -> str:
        """Select columns of a matrix, in this order."""
        return self.op("Gather", value, self.integers(chosen), axis=1)

    def squared_norms(self, value: str, n_columns: int) -> str:
        """``|x|²`` of each row, as a column."""
        # A product, because onnxruntime returns the wrong shape for the sum of no rows.
        squares = self.op("Mul", value, value)
        return self.op("MatMul", squares, self.constant(np.ones((n_columns, 1))))

    def cosine(self, angle: str) -> str:
        """``cos a = sin(a + π/2)``; onnxruntime 1.21 has no cosine of float64."""
        return self.op("Sin", self.op("Add", angle, self.constant(np.pi / 2)))

    def model(self, description: str, metadata: Mapping[str, str]) -> Any:
        """Return the ONNX model of this graph."""
        helper = self._helper
        domains = {node.domain for node in self._nodes}
        versions = [helper.make_opsetid("", _OPSET)]
        if "ai.onnx.ml" in domains:
            versions.append(helper.make_opsetid("ai.onnx.ml", ML_OPSET))
        graph = helper.make_graph(
            self._nodes, "groupcm", self._inputs, self._outputs, self._constants
        )
        model = helper.make_model(
            graph,
            producer_name="groupcm",
            producer_version=__version__,
            doc_string=description,
            opset_imports=versions,
            ir_version=helper.find_min_ir_version_for(versions),
        )
        helper.set_model_props(model, dict(metadata))
        return model

    def _typed(self, name: str, dtype: type, shape: Shape) -> Any:
        kind = self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self._helper.make_tensor_value_info(name, kind, list(shape))

    def _stored(self, array: NDArray[Any]) -> str:
        name = self._fresh("constant")
        self._constants.append(self._numpy.from_array(np.ascontiguousarray(array), name))
        return name

    def _fresh(self, kind: str) -> str:
        self._used[kind] += 1
        return f"{kind.lower()}_{self._used[kind]}"
