"""Embeddings by a network that is applied to the crop of each candidate."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from groupcm.errors import InputError
from groupcm.images.features.embedding import check_crops, embed
from groupcm.images.features.network_family import (
    NetworkFamily,
    find_network,
    with_networks,
)
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.utils.typing import Float32

__all__ = ["NetworkEmbedding", "with_networks"]


@dataclass(frozen=True)
class NetworkEmbedding(NetworkFamily):
    """Features by a network, applied to (rgb - mean) / scale of each crop.

    Create one with `of`. The constructor is for recipes: it opens nothing, so that reading a model
    runs no network. See `groupcm.images.features.network_family.NetworkFamily` for the attributes
    that all features by networks have.

    Attributes
    ----------
    size, margin, square
        How candidates are cropped; see `groupcm.images.features.embedding.crops`.
    context
        Margins of further crops, which show more of the surroundings; the outputs of the network
        for these follow those of the first crop.
    output
        Name of the output to use; None for the only one.
    """

    size: int
    _: KW_ONLY
    margin: float = 0.1
    square: bool = True
    context: tuple[float, ...] = ()
    output: str | None = None

    def __post_init__(self, path: str | None, cache: str | None) -> None:
        super().__post_init__(path, cache)
        for margin in self.margins:
            check_crops(self.n_features, self.size, margin)

    @classmethod
    def of(
        cls,
        file: str | os.PathLike[str],
        *,
        size: int | None = None,
        margin: float = 0.1,
        square: bool = True,
        context: tuple[float, ...] = (),
        mean: tuple[float, ...] | None = None,
        scale: tuple[float, ...] | None = None,
        output: str | None = None,
        name: str = "embedding",
        sha256: str | None = None,
        n_components: int = 0,
        cache: str | os.PathLike[str] | None = None,
    ) -> NetworkEmbedding:
        """Use the network in a file: ONNX, or torch (``torch.export.save``, TorchScript).

        It maps crops of the shape (n, 3, size, size) to n rows of numbers and runs on one core of
        the CPU, or on a GPU where onnxruntime or torch has one. A file of torch is a program: open
        only files that you trust.

        Parameters
        ----------
        file
            The network: a file, or a name such as ``timm:resnet18`` or ``torchvision:resnet18``;
            see `groupcm.images.features.named_networks`.
        size
            Side of a crop in pixels; by default the size that the network requires, or 96 if it
            accepts any.
        margin, square, context, output, name, n_components, cache
            See the class. More components than outputs mean none.
        mean, scale
            See the class; by default those of the named network, else those of ImageNet.
        sha256
            The expected checksum of the file, if it is known.

        Examples
        --------
        >>> NetworkEmbedding.of("backbone.onnx")
        Traceback (most recent call last):
        groupcm.errors.InputError: cannot read the network backbone.onnx: No such file or directory
        """
        for each in (margin, *context):
            check_crops(1, 1 if size is None else size, each)
        found = find_network(file, output, sha256)
        network = found.network
        assert network is not None
        size = network.size(size)
        n_features = network.run(np.zeros((1, 3, size, size), dtype=np.float32)).shape[1]
        given: dict[str, Any] = {"mean": mean, "scale": scale}
        stored = found.stored | {key: each for key, each in given.items() if each is not None}
        return cls(
            **stored,
            n_features=n_features,
            size=size,
            margin=margin,
            square=square,
            context=tuple(context),
            output=output,
            name=name,
            n_components=n_components if n_components < n_features * (1 + len(context)) else 0,
            cache=None if cache is None else os.fspath(cache),
        )

    @property
    def margins(self) -> tuple[float, ...]:
        """The margins of all crops of a candidate."""
        return (self.margin, *self.context)

    @property
    def width(self) -> int:
        """Length of the embedding of a candidate, before principal components."""
        return self.n_features * len(self.margins)

    def compute(self, view: View, regions: Regions) -> Float32:
        """Compute the embedding of each region, shape (n, width)."""
        network = self.network()

        def function(batch: Float32) -> Float32:
            values = network.run(self.normalised(batch))
            if values.shape[1] != self.n_features:
                raise InputError(
                    f"{self.file} gives {values.shape[1]} numbers per crop, but the recipe names "
                    f"{self.n_features}; train again with this network"
                )
            return values

        several = [
            embed(function, view, regions, self.n_features, self.size, margin, self.square)
            for margin in self.margins
        ]
        return several[0] if len(several) == 1 else np.concatenate(several, axis=1)
