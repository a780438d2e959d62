"""ONNX networks, run by onnxruntime on one core."""

from __future__ import annotations

import os
from typing import Any

from groupcm.errors import InputError
from groupcm.images.features.networks import Network, chosen_output, library, reason

__all__ = ["open_onnx"]

_ONLY_FATAL = 4
# A folder that is never there: weights in other files would escape the sum over this one.
_NO_FOLDER = os.path.join(os.devnull, "none")


def open_onnx(content: bytes, file: str, output: str | None) -> Network:
    """Open an ONNX network from the bytes of its file; see `networks.open_network`."""
    session = _session(content, file)
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise InputError(f"{file} takes {len(inputs)} inputs; it must take one, the crops")
    if inputs[0].type != "tensor(float)":
        raise InputError(f"{file} takes {inputs[0].type}; it must take float32, tensor(float)")
    taken = chosen_output([each.name for each in session.get_outputs()], output, file)
    shape = tuple(side if isinstance(side, int) else None for side in inputs[0].shape)
    return Network(file, shape, lambda batch: session.run([taken], {inputs[0].name: batch})[0])


def _session(content: bytes, file: str) -> Any:
    onnxruntime = library("onnxruntime", "onnx", file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ONLY_FATAL
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", _NO_FOLDER
    )
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common name of their own
        told = reason(error)
        if "external data" in told.lower():
            raise InputError(
                f"{file} keeps its weights in another file; save all of it in one, as "
                "torch.onnx.export(…, external_data=False) does"
            ) from error
        if "protobuf" in told.lower():
            raise InputError(
                f"{file} is no network that can be read; save it as ONNX, or with torch.export.save"
            ) from error
        raise InputError(f"{file} cannot be run by onnxruntime: {told}") from error
