"""A ready embedding: a network from a file, run on every candidate.

ONNX files of up to 20 MB travel inside the recipe, so a model that has one needs nothing else.
Of larger ones, and of every file of torch, the recipe holds name and SHA-256: whoever scores names
the file again (`with_networks`), and another file than the one trained with is refused. What is
safe to open, `groupcm.images.features.networks` says.
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
from numpy.typing import NDArray

from groupcm.errors import Argument, InputError
from groupcm.images.features.embedding import check_crops, embed, numbered
from groupcm.images.features.networks import Network, is_torch, open_network
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["NetworkEmbedding", "with_networks"]

_Floats = NDArray[np.float32]
_MOST_CARRIED = 20_000_000  # bytes
_IMAGENET_MEAN = (0.485, 0.456, 0.406)
_IMAGENET_SCALE = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class NetworkEmbedding:
    """Features by a network: (rgb - mean) / scale of every crop goes in, its numbers come out.

    Make one with `of`. The constructor is for recipes: it opens nothing, so that reading a model
    runs no network.

    Attributes
    ----------
    file
        The file's name, without its folder.
    sha256
        Of the file.
    n_features
        How many numbers the network gives a candidate.
    size, margin, square
        How candidates are cut out; see `groupcm.images.features.embedding.crops`.
    mean, scale
        Of red, green and blue, as in the network's training.
    output
        Which output is taken; None for the only one.
    name
        What the features are called: ``embedding 000``, ``embedding 001``, …
    content
        The file in base64, where the recipe carries it.
    path
        Where the file is, on this machine and for this program alone.
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
        """Take the network in a file: ONNX, or of torch (``torch.export.save``, TorchScript).

        It takes crops of the shape (n, 3, size, size) and gives n rows of numbers. It runs on the
        processor, on one core. A file of torch is a program: open only those you trust.

        Parameters
        ----------
        file
            The network.
        size
            Pixels of a side of a crop; default what the network demands, 64 where it leaves that
            free.
        margin, square, mean, scale, output, name
            See the class. The colours are ImageNet's by default.
        sha256
            What the file must have, where that is known.

        Examples
        --------
        >>> NetworkEmbedding.of("backbone.onnx")
        Traceback (most recent call last):
        groupcm.errors.InputError: cannot read the network backbone.onnx: No such file or directory
        """
        check_crops(1, 1 if size is None else size, margin)
        found = _read(file)
        summed = sha256_of(found).hexdigest()
        if sha256 is not None and summed != sha256.lower():
            raise _other_file(os.fspath(file), summed, sha256.lower())
        carried = len(found) <= _MOST_CARRIED and not is_torch(found)
        content = base64.b64encode(found).decode("ascii") if carried else None
        short, path = Path(file).name, os.path.abspath(file)
        network = _opened(short, summed, output, content, path)
        size = network.size(size)
        n_features = network.run(np.zeros((1, 3, size, size), dtype=np.float32)).shape[1]
        return cls(
            short,
            summed,
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

    def measure(self, view: View, regions: Regions) -> _Floats:
        """Measure every region; shape (n, n_features)."""
        network = self.network()
        mean, scale = (
            np.array(each, dtype=np.float32)[:, None, None] for each in (self.mean, self.scale)
        )

        def function(batch: _Floats) -> _Floats:
            given = network.run((batch - mean) / scale)
            if given.shape[1] != self.n_features:
                raise InputError(
                    f"{self.file} gives {given.shape[1]} numbers a crop, but the recipe names "
                    f"{self.n_features}; train again with this network"
                )
            return given

        return embed(function, view, regions, self.n_features, self.size, self.margin, self.square)

    def network(self) -> Network:
        """Open the network, once a process."""
        path: str | None = self._path  # type: ignore[attr-defined]
        return _opened(self.file, self.sha256, self.output, self.content, path)

    def at(self, path: str | os.PathLike[str]) -> NetworkEmbedding:
        """Return the same features with the network's file at another place."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return type(self)(**values, path=os.path.abspath(path))


def with_networks(
    families: Iterable[Any], files: Sequence[str | os.PathLike[str]] = ()
) -> tuple[Any, ...]:
    """Return families of features with every network at hand and open.

    Parameters
    ----------
    families
        As a recipe has them; all but networks stay as they are.
    files
        Networks that the recipe names and does not carry, under any name: the SHA-256 decides.

    Examples
    --------
    >>> large = NetworkEmbedding("large.onnx", "4f0a", n_features=512, size=224)
    >>> with_networks([large])
    Traceback (most recent call last):
    groupcm.errors.InputError: the model needs the network large.onnx and does not carry it; give
    the file with --network FILE
    """
    found = {sha256_of(_read(file)).hexdigest(): file for file in files}
    families = tuple(families)
    needed = [each.sha256 for each in families if isinstance(each, NetworkEmbedding)]
    for summed, file in found.items():
        if summed not in needed:
            raise InputError(f"{file} is no network of this model; its SHA-256 is {summed}")
    made = tuple(
        family.at(found[family.sha256])
        if isinstance(family, NetworkEmbedding) and family.sha256 in found
        else family
        for family in families
    )
    for family in made:
        if isinstance(family, NetworkEmbedding):
            family.network()
    return made


@lru_cache(maxsize=4)
def _opened(
    file: str, sha256: str, output: str | None, content: str | None, path: str | None
) -> Network:
    if content is not None:
        found, where = _carried(content, file), f"the network {file} in the model"
        if is_torch(found):
            raise InputError(f"{where} is of torch; a model may carry ONNX alone")
    elif path is not None:
        found, where = _read(path), path
    else:
        raise InputError(
            f"the model needs the network {file} and does not carry it; give the file with ",
            Argument("network", "FILE"),
        )
    summed = sha256_of(found).hexdigest()
    if summed != sha256:
        raise _other_file(where, summed, sha256)
    return open_network(found, file, output)


def _carried(content: str, file: str) -> bytes:
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
