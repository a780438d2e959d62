"""Embeddings by a network from a file, applied to the crop of each candidate.

ONNX files of up to 20 MB are stored inside the recipe, so a model that uses one needs no other
file. For larger ones, and for every file of torch, the recipe stores name and SHA-256: the user
names the file again to score (`with_networks`), and a different file is an error.
`groupcm.images.features.networks` describes which files are safe to open.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from functools import lru_cache
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Any

import numpy as np

from groupcm.errors import Argument, InputError
from groupcm.images.features.embedding import check_crops, embed, numbered
from groupcm.images.features.networks import Network, is_torch, open_network
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Float32

__all__ = ["NetworkEmbedding", "with_networks"]

_MOST_STORED = 20_000_000  # bytes
_IMAGENET_MEAN = (0.485, 0.456, 0.406)
_IMAGENET_SCALE = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class NetworkEmbedding:
    """Features by a network, applied to (rgb - mean) / scale of each crop.

    Create one with `of`. The constructor is for recipes: it opens nothing, so that reading a model
    runs no network.

    Attributes
    ----------
    file
        The name of the file, without its folder.
    sha256
        Checksum of the file.
    n_features
        Number of features per candidate.
    size, margin, square
        How candidates are cropped; see `groupcm.images.features.embedding.crops`.
    mean, scale
        Normalisation of red, green and blue, as in the training of the network.
    output
        Name of the output to use; None for the only one.
    name
        Prefix of the feature names: ``embedding 000``, ``embedding 001``, …
    content
        The file in base64, if the recipe contains it.
    path
        Path of the file on this machine, which is not stored.
    """

    file: str
    sha256: str
    n_features: int
    size: int
    _: KW_ONLY
    margin: float = 0.1
    square: bool = True
    mean: tuple[float, ...] = _IMAGENET_MEAN
    scale: tuple[float, ...] = _IMAGENET_SCALE
    output: str | None = None
    name: str = "embedding"
    content: str | None = field(default=None, repr=False)
    path: InitVar[str | None] = None

    def __post_init__(self, path: str | None) -> None:
        object.__setattr__(self, "_path", path)
        check_crops(self.n_features, self.size, self.margin)
        for what, values in (("mean", self.mean), ("scale", self.scale)):
            if len(values) != 3 or not np.isfinite(values).all():
                raise ValueError(f"{what} is {values}; it must be three numbers")
        if 0 in self.scale:
            raise ValueError(f"scale is {self.scale}; what divides must not be 0")

    @classmethod
    def of(
        cls,
        file: str | os.PathLike[str],
        *,
        size: int | None = None,
        margin: float = 0.1,
        square: bool = True,
        mean: tuple[float, ...] = _IMAGENET_MEAN,
        scale: tuple[float, ...] = _IMAGENET_SCALE,
        output: str | None = None,
        name: str = "embedding",
        sha256: str | None = None,
    ) -> NetworkEmbedding:
        """Use the network in a file: ONNX, or torch (``torch.export.save``, TorchScript).

        It maps crops of the shape (n, 3, size, size) to n rows of numbers and runs on one core of
        the CPU. A file of torch is a program: open only files that you trust.

        Parameters
        ----------
        file
            The network.
        size
            Side of a crop in pixels; by default the size that the network requires, or 64 if it
            accepts any.
        margin, square, mean, scale, output, name
            See the class. The normalisation is that of ImageNet by default.
        sha256
            The expected checksum of the file, if it is known.

        Examples
        --------
        >>> NetworkEmbedding.of("backbone.onnx")
        Traceback (most recent call last):
        groupcm.errors.InputError: cannot read the network backbone.onnx: No such file or directory
        """
        check_crops(1, 1 if size is None else size, margin)
        found = _read(file)
        checksum = sha256_of(found).hexdigest()
        if sha256 is not None and checksum != sha256.lower():
            raise _other_file(os.fspath(file), checksum, sha256.lower())
        is_stored = len(found) <= _MOST_STORED and not is_torch(found)
        content = base64.b64encode(found).decode("ascii") if is_stored else None
        short, path = Path(file).name, os.path.abspath(file)
        network = _opened(short, checksum, output, content, path)
        size = network.size(size)
        n_features = network.run(np.zeros((1, 3, size, size), dtype=np.float32)).shape[1]
        return cls(
            short,
            checksum,
            n_features,
            size,
            margin=margin,
            square=square,
            mean=mean,
            scale=scale,
            output=output,
            name=name,
            content=content,
            path=path,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return numbered(self.name, self.n_features)

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, n_features)."""
        network = self.network()
        mean, scale = (
            np.array(each, dtype=np.float32)[:, None, None] for each in (self.mean, self.scale)
        )

        def function(batch: Float32) -> Float32:
            values = network.run((batch - mean) / scale)
            if values.shape[1] != self.n_features:
                raise InputError(
                    f"{self.file} gives {values.shape[1]} numbers per crop, but the recipe names "
                    f"{self.n_features}; train again with this network"
                )
            return values

        return embed(function, view, regions, self.n_features, self.size, self.margin, self.square)

    def network(self) -> Network:
        """Return the open network, which each process opens once."""
        path: str | None = self._path  # type: ignore[attr-defined]
        return _opened(self.file, self.sha256, self.output, self.content, path)

    def at(self, path: str | os.PathLike[str]) -> NetworkEmbedding:
        """Return the same features with another path of the network's file."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return type(self)(**values, path=os.path.abspath(path))


def with_networks(
    families: Iterable[Any], files: Sequence[str | os.PathLike[str]] = ()
) -> tuple[Any, ...]:
    """Return families of features with all networks found and open.

    Parameters
    ----------
    families
        The families of a recipe; families without a network are returned unchanged.
    files
        Networks that the recipe does not contain, under any name: the SHA-256 identifies them.

    Examples
    --------
    >>> large = NetworkEmbedding("large.onnx", "4f0a", n_features=512, size=224)
    >>> with_networks([large])
    Traceback (most recent call last):
    groupcm.errors.InputError: the model needs the network large.onnx and does not carry it; give
    the file with network="FILE"
    """
    found = {sha256_of(_read(file)).hexdigest(): file for file in files}
    families = tuple(families)
    needed = [each.sha256 for each in families if isinstance(each, NetworkEmbedding)]
    for checksum, file in found.items():
        if checksum not in needed:
            raise InputError(f"{file} is no network of this model; its SHA-256 is {checksum}")
    located = []
    for family in families:
        if isinstance(family, NetworkEmbedding):
            family = family.at(found[family.sha256]) if family.sha256 in found else family
            family.network()
        located.append(family)
    return tuple(located)


@lru_cache(maxsize=4)
def _opened(
    file: str, sha256: str, output: str | None, content: str | None, path: str | None
) -> Network:
    if content is not None:
        found, where = _decoded(content, file), f"the network {file} in the model"
        if is_torch(found):
            raise InputError(f"{where} is of torch; a model may carry ONNX alone")
    elif path is not None:
        found, where = _read(path), path
    else:
        raise InputError(
            f"the model needs the network {file} and does not carry it; give the file with ",
            Argument("network", "FILE"),
        )
    checksum = sha256_of(found).hexdigest()
    if checksum != sha256:
        raise _other_file(where, checksum, sha256)
    return open_network(found, file, output)


def _decoded(content: str, file: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise InputError(f"the network {file} in the model is damaged: no base64") from error


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read the network {os.fspath(path)}: {error.strerror or error}"
        ) from error


def _other_file(where: str, found: str, wanted: str) -> InputError:
    return InputError(
        f"{where} is not the network that was asked for: its SHA-256 begins {found[:12]}, not "
        f"{wanted[:12]}; give the file that the model was trained with"
    )
