"""What all features by a network share: its file or name, its normalisation, and its components.

ONNX files of up to 20 MB are stored inside the recipe, so a model that uses one needs no other
file. For larger ones, and for every file of torch, the recipe stores name and SHA-256: the user
names the file again to score (`with_networks`), and a different file is an error. Networks of
``timm:`` and ``torchvision:`` are found by their name again, and have to have the same weights.
`groupcm.images.features.networks` describes which files are safe to open.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields
from functools import lru_cache
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Any, Self

import numpy as np

from groupcm.errors import Argument, InputError
from groupcm.images.features.components import Components
from groupcm.images.features.embedding import numbered
from groupcm.images.features.embedding_cache import EmbeddingCache
from groupcm.images.features.named_networks import NamedNetwork, is_named, named_network
from groupcm.images.features.networks import Network, is_torch, open_network
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Float32

__all__ = ["IMAGENET", "FoundNetwork", "NetworkFamily", "find_network", "with_networks"]

_MOST_STORED = 20_000_000  # bytes
IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_Path = str | os.PathLike[str]
# What a cached embedding does not depend on.
_LATER = ("name", "content", "n_components", "components", "licence")


@dataclass(frozen=True)
class NetworkFamily:
    """Features by a network, applied to (rgb - mean) / scale.

    Attributes
    ----------
    file
        The name of the file, without its folder, or the name of the network, as ``timm:NAME``.
    sha256
        Checksum of the file; that of the weights for a named network that is not stored.
    n_features
        Number of outputs of the network.
    mean, scale
        Normalisation of red, green and blue, as in the training of the network.
    name
        Prefix of the feature names: ``embedding 000``, ``embedding 001``, …
    content
        The file in base64, if the recipe contains it.
    weights_sha256, licence
        Checksum and licence of the weights of a named network.
    n_components
        Number of principal components that are the features; 0 for all outputs.
    components
        These components, which `groupcm.images.fit_recipe` computes from training pictures; see
        `groupcm.images.features.components`.
    path
        Path of the file on this machine, which is not stored.
    cache
        A folder for embeddings on this machine, which is not stored; see
        `groupcm.images.features.embedding_cache`.
    """

    file: str
    sha256: str
    n_features: int
    _: KW_ONLY
    mean: tuple[float, ...] = IMAGENET[0]
    scale: tuple[float, ...] = IMAGENET[1]
    name: str = "embedding"
    content: str | None = field(default=None, repr=False)
    weights_sha256: str | None = None
    licence: str | None = None
    n_components: int = 0
    components: str | None = field(default=None, repr=False)
    path: InitVar[str | None] = None
    cache: InitVar[str | None] = None

    def __post_init__(self, path: str | None, cache: str | None) -> None:
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_cache", cache)
        for what, values in (("mean", self.mean), ("scale", self.scale)):
            if len(values) != 3 or not np.isfinite(values).all():
                raise ValueError(f"{what} is {values}; it must be three numbers")
        if 0 in self.scale:
            raise ValueError(f"scale is {self.scale}; what divides must not be 0")
        for what, value, least in (
            ("n_features", self.n_features, 1),
            ("n_components", self.n_components, 0),
        ):
            if value < least:
                raise ValueError(f"{what} is {value}; it must be {least} or more")
        if self.components is not None:
            found = _components(self.components, self.width).n_components
            if found != self.n_components:
                raise ValueError(
                    f"the recipe has {found} principal components and names {self.n_components}"
                )

    @property
    def width(self) -> int:
        """Length of the embedding of a candidate, before principal components."""
        return self.n_features

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return numbered(self.name, self.n_components or self.width)

    @property
    def is_fitted(self) -> bool:
        """Whether the features can be computed: components are known, or none are used."""
        return not self.n_components or self.components is not None

    def fitted(self, embeddings: Float32) -> Self:
        """Return the family with the principal components of these embeddings."""
        try:
            found = Components.of(embeddings, self.n_components)
        except ValueError as error:
            raise InputError(f"{self.file}: {error}") from error
        return self.changed(components=found.to_text(), n_components=found.n_components)

    def measure(self, view: View, regions: Regions) -> Float32:
        """Return the features of each region, shape (n, d)."""
        if not self.is_fitted:
            raise ValueError(
                f"the {self.n_components} principal components of {self.file} are unknown yet; "
                "compute them from training pictures with groupcm.images.fit_recipe"
            )
        values = self.embeddings(view, regions)
        if self.components is None:
            return values
        return _components(self.components, self.width)(values)

    def embeddings(self, view: View, regions: Regions) -> Float32:
        """Return the embedding of each region, shape (n, width), from the cache where it can."""
        cache: str | None = self._cache  # type: ignore[attr-defined]
        if cache is None or not len(regions):
            return self.compute(view, regions)
        described = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in _LATER:
            described.pop(name)
        network = json.dumps([type(self).__name__, described], sort_keys=True)
        return EmbeddingCache(cache).values(
            view, regions, network, lambda some: self.compute(view, some)
        )

    def compute(self, view: View, regions: Regions) -> Float32:
        """Compute the embedding of each region, shape (n, width)."""
        raise NotImplementedError

    def normalised(self, rgb: Float32) -> Float32:
        """Return colours as the network takes them, for colours in the second dimension."""
        mean, scale = (
            np.array(each, dtype=np.float32)[:, None, None] for each in (self.mean, self.scale)
        )
        return (rgb - mean) / scale

    def network(self) -> Network:
        """Return the open network, which each process opens once."""
        path: str | None = self._path  # type: ignore[attr-defined]
        output: str | None = getattr(self, "output", None)
        return open_found(self.file, self.sha256, output, self.content, path)

    def content_bytes(self) -> bytes:
        """Return the file of the network."""
        path: str | None = self._path  # type: ignore[attr-defined]
        return _bytes(self.file, self.sha256, self.content, path)

    def prepare(self) -> None:
        """Find and open the network, or raise an error that says what is missing."""
        self.network()

    def at(self, path: _Path) -> Self:
        """Return the same features with another path of the network's file."""
        return self.changed(path=os.path.abspath(path))

    def changed(self, **values: Any) -> Self:
        """Return the same features with other values of some attributes."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        known |= {"path": self._path, "cache": self._cache}  # type: ignore[attr-defined]
        return type(self)(**(known | values))


@dataclass(frozen=True)
class FoundNetwork:
    """A network that the user named, and what is known of it.

    Attributes
    ----------
    stored
        The attributes of `NetworkFamily` that describe it.
    network
        The open network; None without a check.
    content
        The file.
    size
        The side of the pictures that it was trained with, where that is known.
    """

    stored: dict[str, Any]
    network: Network | None
    content: bytes
    size: int | None = None


def find_network(
    file: _Path, output: str | None = None, sha256: str | None = None, *, check: bool = True
) -> FoundNetwork:
    """Open the network of a file, or of ``timm:NAME`` or ``torchvision:NAME``.

    With ``check`` it is opened as one that maps crops to rows of numbers.

    Examples
    --------
    >>> find_network("backbone.onnx")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot read the network backbone.onnx: No such file or directory
    """
    name, path, of_weights, size = os.fspath(file), None, {}, None
    if is_named(name):
        named = named_network(name)
        found, size = named.content, named.size
        of_weights = {"weights_sha256": named.weights_sha256, "licence": named.licence}
        of_weights |= {"mean": named.mean, "scale": named.scale}
        checksum = named.weights_sha256
    else:
        found = _read(file)
        name, path = Path(file).name, os.path.abspath(file)
        checksum = sha256_of(found).hexdigest()
    if sha256 is not None and checksum != sha256.lower():
        raise _other_file(os.fspath(file), checksum, sha256.lower())
    content = None
    if found is not None and len(found) <= _MOST_STORED and not is_torch(found):
        content = base64.b64encode(found).decode("ascii")
        checksum = sha256_of(found).hexdigest()
    stored = {"file": name, "sha256": checksum, "content": content, "path": path} | of_weights
    network = open_found(name, checksum, output, content, path) if check else None
    return FoundNetwork(stored, network, found or b"", size)


def with_networks(families: Iterable[Any], files: Sequence[_Path] = ()) -> tuple[Any, ...]:
    """Return families of features with all networks found and open.

    Parameters
    ----------
    families
        The families of a recipe; families without a network are returned unchanged.
    files
        Networks that the recipe does not contain, under any name: the SHA-256 identifies them.

    Examples
    --------
    >>> from groupcm.images.features.network_embedding import NetworkEmbedding
    >>> large = NetworkEmbedding("large.onnx", "4f0a", n_features=512, size=224)
    >>> with_networks([large])
    Traceback (most recent call last):
    groupcm.errors.InputError: the model needs the network large.onnx and does not carry it; give
    the file with network="FILE"
    """
    families = tuple(families)
    needed = [each for each in families if isinstance(each, NetworkFamily)]
    found = {}
    for file in files:
        if is_named(os.fspath(file)):
            if os.fspath(file) not in [each.file for each in needed]:
                raise InputError(f"{file} is not a network of this model")
            continue
        checksum = sha256_of(_read(file)).hexdigest()
        if checksum not in [each.sha256 for each in needed]:
            raise InputError(f"{file} is not a network of this model; its SHA-256 is {checksum}")
        found[checksum] = file
    located = []
    for family in families:
        if isinstance(family, NetworkFamily):
            family = family.at(found[family.sha256]) if family.sha256 in found else family
            family.prepare()
        located.append(family)
    return tuple(located)


@lru_cache(maxsize=4)
def _components(text: str, n_features: int) -> Components:
    return Components.from_text(text, n_features)


@lru_cache(maxsize=4)
def open_found(
    file: str, sha256: str, output: str | None, content: str | None, path: str | None
) -> Network:
    """Open a network that a recipe carries, that a path leads to, or that has a known name."""
    if content is None and path is None and is_named(file):
        return _named(file, sha256).open(output)
    return open_network(_bytes(file, sha256, content, path), file, output)


def _bytes(file: str, sha256: str, content: str | None, path: str | None) -> bytes:
    """Return the file of a network, whose checksum is right."""
    if content is not None:
        found, where = _decoded(content, file), f"the network {file} in the model"
        if is_torch(found):
            raise InputError(f"{where} is a PyTorch file; a model can contain only ONNX")
    elif path is not None:
        found, where = _read(path), path
    elif is_named(file):
        return _named(file, sha256).content or b""
    else:
        raise InputError(
            f"the model needs the network {file} and does not carry it; give the file with ",
            Argument("network", "FILE"),
        )
    checksum = sha256_of(found).hexdigest()
    if checksum != sha256:
        raise _other_file(where, checksum, sha256)
    return found


def _named(file: str, sha256: str) -> NamedNetwork:
    named = named_network(file)
    if named.weights_sha256 != sha256:
        raise _other_file(f"what is found as {file}", named.weights_sha256, sha256)
    return named


def _decoded(content: str, file: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise InputError(
            f"the network {file} in the model is damaged: it is not in base64"
        ) from error


def _read(path: _Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read the network {os.fspath(path)}: {error.strerror or error}"
        ) from error


def _other_file(where: str, found: str, wanted: str) -> InputError:
    return InputError(
        f"{where} is not the requested network: its SHA-256 begins {found[:12]}, not "
        f"{wanted[:12]}; give the file that the model was trained with"
    )
