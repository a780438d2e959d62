"""Feature maps inside a network of ONNX: which there are, and the network cut open at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from groupcm.errors import InputError
from groupcm.images.features.networks import is_torch, onnx_session, reason
from groupcm.utils.extras import ONNX
from groupcm.utils.typing import Float32

__all__ = ["MapNetwork", "choose_maps", "open_maps"]

_STRIDES = (8, 16, 32)
_TRIAL = 128
# What computes a map that is worth pooling; others change the layout only.
_KINDS = ("Conv", "Relu", "Clip", "Add", "Mul", "BatchNormalization", "HardSwish", "Concat")


@dataclass(frozen=True, eq=False)
class MapNetwork:
    """A network that gives several feature maps of a whole picture.

    Attributes
    ----------
    file
        The name of the file in errors.
    forward
        Maps a picture of the shape (1, 3, height, width) to arrays of the shape
        (1, channels, rows, columns).
    """

    file: str
    forward: Callable[[Float32], Sequence[Any]]

    def run(self, picture: Float32) -> list[Float32]:
        """Return the maps, each of the shape (channels, rows, columns)."""
        try:
            found = [np.asarray(each, dtype=np.float32) for each in self.forward(picture)]
        except Exception as error:  # each library raises its own classes
            raise InputError(
                f"{self.file} cannot run on a picture of the shape {picture.shape}: "
                f"{reason(error)}; pooling needs a network that takes pictures of any size"
            ) from error
        for each in found:
            if each.ndim != 4:
                raise InputError(
                    f"{self.file} gives the shape {each.shape} where a map is wanted; name maps of "
                    "the shape (1, channels, rows, columns)"
                )
            if not np.isfinite(each).all():
                raise InputError(
                    f"{self.file} gives values that are not finite numbers; check its weights and "
                    "the mean and scale of the colours it was trained with"
                )
        return [each[0] for each in found]


def open_maps(content: bytes, file: str, maps: Sequence[str]) -> MapNetwork:
    """Open a network of ONNX so that it gives the named maps."""
    model = _model(content, file)
    known = {name for node in model.graph.node for name in node.output}
    given = {each.name for each in model.graph.output}
    for name in maps:
        if name not in known:
            raise InputError(f"{file} has no map {name!r}; leave maps out to choose some")
    helper = ONNX.load("onnx.helper")
    model.graph.output.extend(
        helper.make_empty_tensor_value_info(name) for name in maps if name not in given
    )
    session = onnx_session(model.SerializeToString(), file)
    inputs = session.get_inputs()
    if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].shape[1] not in (3, "c", None):
        raise InputError(f"{file} takes no pictures of the shape (n, 3, height, width)")
    return MapNetwork(file, lambda batch: session.run(list(maps), {inputs[0].name: batch}))


@lru_cache(maxsize=4)
def choose_maps(content: bytes, file: str) -> tuple[str, ...]:
    """Return the last map of each stride of 8, 16 and 32 pixels, by a trial run.

    Sums at the end of residual blocks are preferred: they have fewer channels than what is inside a
    block.
    """
    model = _model(content, file)
    nodes = [node for node in model.graph.node if node.op_type in _KINDS]
    nodes.sort(key=lambda node: node.op_type == "Add")
    names = [name for node in nodes for name in node.output]
    network = open_maps(content, file, names)
    try:
        found = network.forward(np.zeros((1, 3, _TRIAL, _TRIAL), dtype=np.float32))
    except Exception as error:  # each library raises its own classes
        raise InputError(
            f"{file} cannot run on a picture of {_TRIAL} × {_TRIAL} pixels: {reason(error)}; "
            "pooling needs a network that takes pictures of any size"
        ) from error
    chosen: dict[int, str] = {}
    for name, each in zip(names, found, strict=True):
        if each.ndim == 4 and each.shape[2] == each.shape[3] and each.shape[2] > 0:
            stride = _TRIAL // each.shape[2]
            if stride in _STRIDES:
                chosen[stride] = name
    if not chosen:
        raise InputError(f"{file} has no feature maps of a stride of 8, 16 or 32 pixels")
    return tuple(chosen[stride] for stride in sorted(chosen))


def _model(content: bytes, file: str) -> Any:
    if is_torch(content):
        raise InputError(f"{file} is a PyTorch file; pooling needs a network in ONNX")
    onnx = ONNX.load("onnx", f"pooling the maps of {file} requires onnx")
    try:
        return onnx.load_from_string(content)
    except Exception as error:  # protobuf raises its own classes
        raise InputError(f"{file} is not a network that can be read; save it as ONNX") from error
