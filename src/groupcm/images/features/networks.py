"""Networks that run from their file alone: ONNX, exported programs of torch, and TorchScript.

`open_network` opens any of them as a `Network`, which maps crops to rows of numbers on one core, or
on a GPU if the library that runs it has one. On CUDA, torch computes in half precision.

An ONNX network is a graph of operators that onnxruntime knows: it refers to no code, and here to no
other file, so it may be stored inside a model. Files of torch (`torch.export.save`,
`torch.jit.save`) are programs, and reading one may run any code that its author put there: they are
never stored inside a model and are opened only where the user names them. Open only files from
sources that you trust.
"""

from __future__ import annotations

import difflib
import io
import logging
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.utils.extras import ONNX, TORCH
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.typing import Float32

__all__ = [
    "Network",
    "gpu_of",
    "is_torch",
    "onnx_session",
    "open_network",
    "reason",
    "torch_network",
    "without_torch_notices",
]

_DEFAULT_SIZE = 96
_LONGEST_REASON = 200
_ONLY_FATAL = 4
# A folder that never exists: weights in other files would escape the checksum of this one.
_NO_FOLDER = os.path.join(os.devnull, "none")
_TorchModule = tuple[Callable[[Any], Any], tuple[int | None, ...] | None]


@dataclass(frozen=True, eq=False)
class Network:
    """A network that is ready to run on one core.

    Attributes
    ----------
    file
        The name of the file in errors.
    input_shape
        Shape of the crops that it takes, with None for a free dimension; None where the file does
        not state the shape.
    forward
        Maps crops to the chosen output.
    """

    file: str
    input_shape: tuple[int | None, ...] | None
    forward: Callable[[Float32], NDArray[Any]]

    def __post_init__(self) -> None:
        shape = self.input_shape
        if shape is None:
            return
        if len(shape) != 4 or shape[1] not in (3, None) or len({*shape[2:]} - {None}) > 1:
            stated = ", ".join("any" if side is None else str(side) for side in shape)
            raise InputError(
                f"{self.file} takes input of the shape ({stated}); it must take crops of the shape "
                "(n, 3, size, size), one plane each for red, green and blue"
            )

    def size(self, wanted: int | None) -> int:
        """Return the side of the crops in pixels: what the network requires, else ``wanted``."""
        fixed = None if self.input_shape is None else self.input_shape[2] or self.input_shape[3]
        if fixed is not None and wanted not in (None, fixed):
            raise InputError(
                f"{self.file} takes crops of {fixed} × {fixed} pixels, not of {wanted} × "
                f"{wanted}; leave the size out or give {fixed}"
            )
        return fixed or wanted or _DEFAULT_SIZE

    def run(self, batch: Float32) -> Float32:
        """Return one row of numbers per crop, shape (n, d)."""
        batch_size = (self.input_shape[0] if self.input_shape else None) or len(batch)
        values = np.concatenate(
            [
                self._run_padded(batch[start : start + batch_size], batch_size)
                for start in range(0, len(batch), batch_size)
            ]
        )
        if not np.isfinite(values).all():
            raise InputError(
                f"{self.file} gives values that are not finite numbers; check its weights and the "
                "mean and scale of the colours it was trained with"
            )
        return values

    def _run_padded(self, batch: Float32, batch_size: int) -> Float32:
        """Run one batch, filled up to the size that the network requires."""
        n = len(batch)
        if n < batch_size:
            batch = np.concatenate([batch, np.repeat(batch[-1:], batch_size - n, axis=0)])
        try:
            values = np.asarray(self.forward(batch), dtype=np.float32)
        except InputError:
            raise
        except Exception as error:  # each library raises its own classes
            raise InputError(
                f"{self.file} cannot run on crops of the shape {batch.shape}: {reason(error)}"
            ) from error
        # Global average pooling often leaves two dimensions of 1.
        if values.ndim < 2 or len(values) != batch_size or values[0].size != values.shape[1]:
            raise InputError(
                f"{self.file} gives the shape {values.shape} for {batch_size} crops; it must give "
                f"one row of numbers per crop, ({batch_size}, d): average over places, or choose "
                "another output"
            )
        return values.reshape(batch_size, -1)[:n]


def open_network(content: bytes, file: str, output: str | None = None) -> Network:
    """Open a network from the bytes of its file.

    Parameters
    ----------
    content
        The whole file.
    file
        The name of the file in errors.
    output
        Which output to take, where there are several: its name, or its number in torch.

    Examples
    --------
    >>> open_network(b"no network", "notes.txt")
    Traceback (most recent call last):
    groupcm.errors.InputError: notes.txt is not a network that can be read; save it as ONNX, or with
    torch.export.save
    """
    return (_open_torch if is_torch(content) else _open_onnx)(content, file, output)


def is_torch(content: bytes) -> bool:
    """Return whether the bytes are a zip archive, the container that torch writes."""
    return content.startswith(b"PK\x03\x04")


def _open_onnx(content: bytes, file: str, output: str | None) -> Network:
    session = onnx_session(content, file)
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise InputError(
            f"{file} takes {len(inputs)} inputs; it must take one, the crops, and hold its weights"
        )
    if inputs[0].type != "tensor(float)":
        raise InputError(f"{file} takes {inputs[0].type}; it must take float32, tensor(float)")
    chosen = _choose_output([each.name for each in session.get_outputs()], output, file)
    shape = tuple(side if isinstance(side, int) else None for side in inputs[0].shape)
    return Network(file, shape, lambda batch: session.run([chosen], {inputs[0].name: batch})[0])


def onnx_session(content: bytes, file: str) -> Any:
    """Open the bytes of an ONNX file, without weights in other files."""
    onnxruntime = ONNX.load("onnxruntime", f"{file} requires onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ONLY_FATAL
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", _NO_FOLDER
    )
    try:
        return onnxruntime.InferenceSession(content, options, providers=_providers(onnxruntime))
    except Exception as error:  # the errors of onnxruntime share no base class
        message = reason(error)
        if "external data" in message.lower():
            raise InputError(
                f"{file} keeps its weights in another file; save all of it in one, as "
                "torch.onnx.export(…, external_data=False) does"
            ) from error
        if "protobuf" in message.lower():
            raise InputError(
                f"{file} is not a network that can be read; save it as ONNX, or with "
                "torch.export.save"
            ) from error
        raise InputError(f"{file} cannot be run by onnxruntime: {message}") from error


def _providers(onnxruntime: Any) -> list[str]:
    known = onnxruntime.get_available_providers()
    return [each for each in ("CUDAExecutionProvider", "CPUExecutionProvider") if each in known]


def _open_torch(content: bytes, file: str, output: str | None) -> Network:
    load = _torch_loader(content, file)
    torch = TORCH.load("torch", f"{file} requires PyTorch")
    try:
        with without_torch_notices():
            module, shape = load(torch, io.BytesIO(content))
    except Exception as error:  # torch raises many classes for damaged files
        raise InputError(f"{file} cannot be read by torch: {reason(error)}") from error
    return torch_network(torch, module, shape, file, output)


def torch_network(
    torch: Any,
    module: Any,
    shape: tuple[int | None, ...] | None,
    file: str,
    output: str | None = None,
) -> Network:
    """Return a module of torch as a network, on the GPU if there is one that it can move to."""
    device = gpu_of(torch)
    if device is not None and hasattr(module, "to"):
        module = module.to(device)
    half = device == "cuda"

    def forward(batch: Float32) -> NDArray[Any]:
        given = torch.from_numpy(batch)
        with _one_thread(torch), torch.inference_mode(), torch.autocast("cuda", enabled=half):
            values = module(given if device is None else given.to(device))
        if isinstance(values, (tuple, list)):
            values = {str(number): each for number, each in enumerate(values)}
        elif not isinstance(values, Mapping):
            values = {"0": values}
        return values[_choose_output(values, output, file)].float().cpu().numpy()

    return Network(file, shape, forward)


def gpu_of(torch: Any) -> str | None:
    """Return the name of the GPU that torch can use, "cuda" or "mps"; None without one."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else None


def _torch_loader(content: bytes, file: str) -> Callable[[Any, io.BytesIO], _TorchModule]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise InputError(
            f"{file} is damaged: it begins as a file of torch and breaks off"
        ) from error
    if any(name.endswith("/archive_format") for name in names):
        return _load_exported
    if any("/code/" in name for name in names):
        return lambda torch, stream: (torch.jit.load(stream, map_location="cpu").eval(), None)
    raise InputError(
        f"{file} holds weights or Python objects, not a network that runs by itself; save it with "
        "torch.onnx.export or torch.export.save"
    )


def _load_exported(torch: Any, stream: io.BytesIO) -> _TorchModule:
    program = torch.export.load(stream)
    inputs = program.graph_signature.user_inputs
    if len(inputs) != 1:
        raise ValueError(f"it takes {len(inputs)} inputs; it must take one, the crops")
    entry = next(node for node in program.graph.nodes if node.name == inputs[0])
    sides = tuple(side if isinstance(side, int) else None for side in entry.meta["val"].shape)
    return program.module(), sides


@contextmanager
def without_torch_notices() -> Iterator[None]:
    """Silence the deprecation of TorchScript and the log of errors that are raised anyway."""
    log = logging.getLogger("torch.export")
    before, log.disabled = log.disabled, True
    try:
        with ignore_warnings(DeprecationWarning):
            yield
    finally:
        log.disabled = before


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _choose_output(outputs: Iterable[str], output: str | None, file: str) -> str:
    """Return the name of the output to take.

    Examples
    --------
    >>> _choose_output(["scores", "pooled"], "poled", "net.onnx")
    Traceback (most recent call last):
    groupcm.errors.InputError: net.onnx has no output 'poled'; did you mean 'pooled'?
    """
    names = list(outputs)
    if output is None and len(names) == 1:
        return names[0]
    if output is None:
        raise InputError(
            f"{file} has {len(names)} outputs, {', '.join(names)}; choose with output=NAME"
        )
    if output not in names:
        near = difflib.get_close_matches(output.lower(), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
        raise InputError(f"{file} has no output {output!r}; {hint}")
    return output


def reason(error: Exception) -> str:
    """Return the message of a library's error in one line of limited length.

    Examples
    --------
    >>> reason(ValueError("two\\nlines"))
    'two lines'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"
