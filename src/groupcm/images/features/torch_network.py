"""Networks that torch wrote without Python code: exported programs and TorchScript."""

from __future__ import annotations

import io
import logging
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.images.features.networks import Network, chosen_output, library, reason

__all__ = ["open_torch"]


def open_torch(content: bytes, file: str, output: str | None) -> Network:
    """Open a network from the bytes of a file of torch; see `networks.open_network`."""
    opened = _reader(content, file)
    torch = library("torch", "torch", file)
    try:
        with _quietly():
            module, shape = opened(torch, io.BytesIO(content))
    except Exception as error:  # torch raises errors of many kinds for damaged files
        raise InputError(f"{file} cannot be read by torch: {reason(error)}") from error

    def forward(batch: NDArray[np.float32]) -> NDArray[Any]:
        with _one_thread(torch), torch.inference_mode():
            given = module(torch.from_numpy(batch))
        return _one_output(given, output, file).numpy()

    return Network(file, shape, forward)


_Opened = tuple[Callable[[Any], Any], tuple[int | None, ...] | None]


def _reader(content: bytes, file: str) -> Callable[[Any, io.BytesIO], _Opened]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise InputError(
            f"{file} is damaged: it begins as a file of torch and breaks off"
        ) from error
    if any(name.endswith("/archive_format") for name in names):
        return _exported
    if any("/code/" in name for name in names):
        return _script
    raise InputError(
        f"{file} holds weights or Python objects, not a network that runs by itself; save it with "
        "torch.onnx.export or torch.export.save"
    )


def _exported(torch: Any, stream: io.BytesIO) -> _Opened:
    program = torch.export.load(stream)
    inputs = program.graph_signature.user_inputs
    if len(inputs) != 1:
        raise ValueError(f"it takes {len(inputs)} inputs; it must take one, the crops")
    entry = next(node for node in program.graph.nodes if node.name == inputs[0])
    sides = tuple(side if isinstance(side, int) else None for side in entry.meta["val"].shape)
    return program.module(), sides


def _script(torch: Any, stream: io.BytesIO) -> _Opened:
    return torch.jit.load(stream, map_location="cpu").eval(), None


def _one_output(given: Any, output: str | None, file: str) -> Any:
    if isinstance(given, (tuple, list)):
        given = {str(number): each for number, each in enumerate(given)}
    elif not isinstance(given, Mapping):
        given = {"0": given}
    return given[chosen_output(given, output, file)]


@contextmanager
def _quietly() -> Iterator[None]:
    """Without torch's word that TorchScript is old, and its report of what we tell ourselves."""
    log = logging.getLogger("torch.export")
    before, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
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
