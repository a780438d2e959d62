"""Networks that run from their file alone: ONNX, and what torch writes without Python code.

An ONNX network is a graph of operators that onnxruntime knows: it names no code and here no other
file, so it may travel inside a model. Files of torch (`torch.export.save`, `torch.jit.save`) are
programs, and reading them may run what their writer wished: they never travel inside a model and
are opened only where the user names them. Take such files from people you trust.

What to say of a name that is not there.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import InputError
from groupcm.utils.extras import required

__all__ = ["Network", "chosen_output", "is_torch", "library", "near_name", "open_network", "reason"]


def near_name(name: str, known: Iterable[str]) -> str:
    """Tell the name that may be meant, or all there are.

    Examples
    --------
    >>> near_name("Color", ["shape", "colour"]), near_name("size", ["shape", "colour"])
    ("did you mean 'colour'?", 'there are shape, colour')
    """
    names = list(known)
    near = difflib.get_close_matches(name.lower(), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(names)}" if names else "there are none"


_Floats = NDArray[np.float32]
_FREE_SIZE = 64
_LETTERS_OF_REASON = 200


@dataclass(frozen=True, eq=False)
class Network:
    """A network that is ready to run on one core.

    Attributes
    ----------
    file
        What errors call it.
    input_shape
        Shape of the crops it takes, None where a side is free; None where the file does not tell.
    forward
        From crops to the chosen output.
    """

    file: str
    input_shape: tuple[int | None, ...] | None
    forward: Callable[[_Floats], NDArray[Any]]

    def __post_init__(self) -> None:
        shape = self.input_shape
        if shape is None:
            return
        told = "(" + ", ".join("any" if side is None else str(side) for side in shape) + ")"
        if len(shape) != 4 or shape[1] not in (3, None) or len({*shape[2:]} - {None}) > 1:
            raise InputError(
                f"{self.file} takes input of the shape {told}; it must take crops of the shape "
                "(n, 3, size, size), one plane each for red, green and blue"
            )

    def size(self, wanted: int | None) -> int:
        """Pixels of a side of its crops: what it demands, else what is wanted, else 64."""
        demanded = None if self.input_shape is None else self.input_shape[2] or self.input_shape[3]
        if demanded is not None and wanted not in (None, demanded):
            raise InputError(
                f"{self.file} takes crops of {demanded} × {demanded} pixels, not of {wanted} × "
                f"{wanted}; leave the size out or give {demanded}"
            )
        return demanded or wanted or _FREE_SIZE

    def run(self, batch: _Floats) -> _Floats:
        """Give every crop its numbers, shape (n, d)."""
        at_a_time = (self.input_shape[0] if self.input_shape else None) or len(batch)
        parts = [
            self._run_filled(batch[start : start + at_a_time], at_a_time)
            for start in range(0, len(batch), at_a_time)
        ]
        given = np.concatenate(parts)
        if not np.isfinite(given).all():
            raise InputError(
                f"{self.file} gives values that are no finite numbers; check its weights and the "
                "mean and scale of the colours it was trained with"
            )
        return given

    def _run_filled(self, batch: _Floats, at_a_time: int) -> _Floats:
        n = len(batch)
        if n < at_a_time:
            batch = np.concatenate([batch, np.repeat(batch[-1:], at_a_time - n, axis=0)])
        try:
            given = np.asarray(self.forward(batch), dtype=np.float32)
        except InputError:
            raise
        except Exception as error:  # each library has errors of its own
            raise InputError(
                f"{self.file} cannot run on crops of the shape {batch.shape}: {reason(error)}"
            ) from error
        # What is averaged over all places often keeps two sides of 1.
        if given.ndim < 2 or len(given) != at_a_time or given[0].size != given.shape[1]:
            raise InputError(
                f"{self.file} gives the shape {given.shape} for {at_a_time} crops; it must give a "
                f"row of numbers a crop, ({at_a_time}, d): average over places, or choose another "
                "output"
            )
        return given.reshape(at_a_time, -1)[:n]


def open_network(content: bytes, file: str, output: str | None = None) -> Network:
    """Open a network from the bytes of its file.

    Parameters
    ----------
    content
        The whole file.
    file
        What errors call it.
    output
        Which output to take, where there are several: its name, or its number in torch.

    Examples
    --------
    >>> open_network(b"no network", "notes.txt")
    Traceback (most recent call last):
    groupcm.errors.InputError: notes.txt is no network that can be read; save it as ONNX, or with
    torch.export.save
    """
    if is_torch(content):
        from groupcm.images.features.torch_network import open_torch as opened
    else:
        from groupcm.images.features.onnx_network import open_onnx as opened
    return opened(content, file, output)


def is_torch(content: bytes) -> bool:
    """Whether the bytes are an archive, as torch writes them."""
    return content.startswith(b"PK\x03\x04")


def library(name: str, extra: str, file: str) -> Any:
    """Import what runs a network, and say how to install it where it is missing."""
    return required(name, extra, f"{file} runs with {name}")


def chosen_output(outputs: Iterable[str], output: str | None, file: str) -> str:
    """Return the name of the output to take.

    Examples
    --------
    >>> chosen_output(["scores", "pooled"], "poled", "net.onnx")
    Traceback (most recent call last):
    groupcm.errors.InputError: net.onnx has no output 'poled'; did you mean 'pooled'?
    """
    names = list(outputs)
    if output is None:
        if len(names) == 1:
            return names[0]
        raise InputError(
            f"{file} has {len(names)} outputs, {', '.join(names)}; choose with output=NAME"
        )
    if output not in names:
        raise InputError(f"{file} has no output {output!r}; {near_name(output, names)}")
    return output


def reason(error: Exception) -> str:
    """What a library says went wrong, in one line of bearable length."""
    told = " ".join(str(error).split()) or type(error).__name__
    return told if len(told) <= _LETTERS_OF_REASON else told[:_LETTERS_OF_REASON] + "…"
