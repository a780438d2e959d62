"""Pretrained networks by name: ``timm:resnet18.a1_in1k`` and ``torchvision:resnet18``.

The weights come from the user's cache, or from the hub of the library on their first use. The last
layer, which names the classes of the training, is left out. Where torch can export the network it
is run by onnxruntime, which needs about a third of torch's time on a CPU, and the file of ONNX is
kept in the cache folder of groupcm; with CUDA or MPS torch runs it there.

A name leads to a function of an installed library, never to a file or a repository, so that a
recipe of an untrusted model can make no other code run. The SHA-256 of the weights is stored.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import io
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from groupcm.datasets.download import get_data_home
from groupcm.errors import InputError
from groupcm.images.features.networks import (
    Network,
    gpu_of,
    open_network,
    reason,
    torch_network,
    without_torch_notices,
)
from groupcm.utils.extras import DEEP
from groupcm.utils.files import whole_file
from groupcm.utils.merged_warnings import ignore_warnings

__all__ = ["NamedNetwork", "is_named", "named_network"]

_LIBRARIES = ("timm", "torchvision")
_NAME = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?")
_IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_TRIAL_SIZE = 96
# Attributes that hold the last layer of networks of torchvision.
_HEADS = ("fc", "classifier", "heads", "head")
_NOT_STATED = "not stated by the library"


@dataclass(frozen=True, eq=False)
class NamedNetwork:
    """A pretrained network of a library.

    Attributes
    ----------
    name
        Library and name.
    content
        The network as ONNX; None where torch cannot export it.
    weights_sha256
        Checksum of names, shapes and values of the weights.
    licence
        The licence of the weights, as the library states it.
    mean, scale
        The normalisation of colours in its training.
    size
        The side of the pictures that it needs; None if any will do.
    module
        The module of torch.
    """

    name: str
    content: bytes | None
    weights_sha256: str
    licence: str
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    size: int | None
    module: Any

    def open(self, output: str | None = None) -> Network:
        """Open it: as ONNX, or by torch where that has a GPU or cannot export it."""
        torch = DEEP.load("torch")
        if self.content is not None and gpu_of(torch) is None:
            return open_network(self.content, self.name, output)
        side = self.size
        return torch_network(torch, self.module, (None, 3, side, side), self.name, output)


def is_named(file: str) -> bool:
    """Return whether this is the name of a pretrained network, and not of a file.

    Examples
    --------
    >>> is_named("timm:resnet18"), is_named("timm.onnx")
    (True, False)
    """
    return file.partition(":")[0] in _LIBRARIES and ":" in file


@lru_cache(maxsize=2)
def named_network(name: str) -> NamedNetwork:
    """Return a pretrained network; weights that are not on this computer are downloaded.

    Examples
    --------
    >>> named_network("timm:../../network")
    Traceback (most recent call last):
    groupcm.errors.InputError: timm has no network '../../network'; give a name such as
    timm:resnet18
    """
    library, _, short = name.partition(":")
    if not _NAME.fullmatch(short):
        raise InputError(
            f"{library} has no network {short!r}; give a name such as {library}:resnet18"
        )
    DEEP.load("torch", f"{name} requires PyTorch and timm")
    make = {"timm": _of_timm, "torchvision": _of_torchvision}[library]
    with without_torch_notices(), ignore_warnings():
        module, about = make(short)
    module.eval()
    weights = _digest(module)
    content = _exported(module, f"{short}-{weights[:16]}", about["size"])
    return NamedNetwork(name, content, weights, module=module, **about)


def _of_timm(short: str) -> tuple[Any, dict[str, Any]]:
    timm = _library("timm", f"timm:{short} requires timm")
    known = timm.list_models()
    plain = short.partition(".")[0]
    if plain not in known:
        raise _no_network("timm", plain, known)
    with_weights = timm.list_pretrained()
    if short not in {*with_weights, *(each.partition(".")[0] for each in with_weights)}:
        raise InputError(
            f"timm has no weights for {short}; timm.list_pretrained() lists what it has weights for"
        )
    try:
        module = timm.create_model(short, pretrained=True, num_classes=0)
    except Exception as error:  # the hub raises many classes
        raise _no_weights(f"timm:{short}", error) from error
    stated = module.pretrained_cfg
    fixed = stated.get("fixed_input_size") or stated.get("pool_size") is None
    return module, {
        "licence": str(stated.get("license") or _NOT_STATED),
        "mean": tuple(map(float, stated.get("mean") or _IMAGENET[0])),
        "scale": tuple(map(float, stated.get("std") or _IMAGENET[1])),
        "size": int(stated["input_size"][-1]) if fixed and stated.get("input_size") else None,
    }


def _library(module: str, purpose: str) -> Any:
    try:
        return DEEP.load(module, purpose)
    except InputError:
        raise
    except Exception as error:  # as where torchvision was built for another version of torch
        raise InputError(
            f"{module.partition('.')[0]} is installed and cannot be imported: {reason(error)}"
        ) from error


def _of_torchvision(short: str) -> tuple[Any, dict[str, Any]]:
    torch = DEEP.load("torch")
    models = _library("torchvision.models", f"torchvision:{short} requires torchvision")
    known = models.list_models(module=models)
    if short not in known:
        raise _no_network("torchvision", short, known)
    try:
        module = models.get_model(short, weights="DEFAULT")
    except Exception as error:  # urllib and torch raise many classes
        raise _no_weights(f"torchvision:{short}", error) from error
    head = next(each for each in _HEADS if hasattr(module, each))
    setattr(module, head, torch.nn.Identity())
    trained = models.get_model_weights(short).DEFAULT.transforms()
    side = getattr(module, "image_size", None)
    return module, {
        "licence": _NOT_STATED,
        "mean": tuple(map(float, trained.mean)),
        "scale": tuple(map(float, trained.std)),
        "size": None if side is None else int(side),
    }


def _digest(module: Any) -> str:
    digest = hashlib.sha256()
    for name, values in sorted(module.state_dict().items()):
        numbers = values.detach().cpu().contiguous()
        digest.update(f"{name} {tuple(numbers.shape)} {numbers.dtype}".encode())
        digest.update(numbers.view(-1).numpy().tobytes())
    return digest.hexdigest()


def _exported(module: Any, name: str, size: int | None) -> bytes | None:
    """Return the network as ONNX, from the cache folder if it was exported before."""
    file = Path(get_data_home()) / "networks" / f"{name}.onnx"
    if file.is_file():
        return file.read_bytes()
    content = _export(module, size)
    if content is not None:
        os.makedirs(file.parent, exist_ok=True)
        with whole_file(file) as path:
            path.write_bytes(content)
    return content


def _export(module: Any, size: int | None) -> bytes | None:
    torch = DEEP.load("torch")
    side = size or _TRIAL_SIZE
    free = {0: "n"} if size is not None else {0: "n", 2: "height", 3: "width"}
    stream = io.BytesIO()
    try:
        with ignore_warnings():
            torch.onnx.export(
                module,
                (torch.zeros(2, 3, side, side),),
                stream,
                input_names=["crops"],
                output_names=["embedding"],
                dynamic_axes={"crops": free, "embedding": {0: "n"}},
                dynamo=False,
            )
        importlib.import_module("onnxruntime")
    except Exception:  # torch then runs the network itself
        return None
    return stream.getvalue()


def _no_network(library: str, name: str, known: list[str]) -> InputError:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"{library}.list_models() lists what it has"
    return InputError(f"{library} has no network {name!r}; {hint}")


def _no_weights(name: str, error: Exception) -> InputError:
    return InputError(
        f"the weights of {name} are not on this computer and could not be downloaded "
        f"({reason(error)}); repeat this where the network is reachable, or copy the cache folder "
        "of the library from there"
    )
