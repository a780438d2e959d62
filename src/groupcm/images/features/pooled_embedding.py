"""Embeddings by one pass of a network over the picture, pooled over each candidate."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache

import numpy as np

from groupcm.images.features._areas import margins, pixel_edges, strips_of
from groupcm.images.features.feature_maps import MapNetwork, choose_maps, open_maps
from groupcm.images.features.network_family import NetworkFamily, find_network
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.pooling import pool_cells
from groupcm.utils.typing import Float32

__all__ = ["PooledEmbedding"]

_SMALLEST = 32
_PARTS = 4  # mean and maximum, of the inside and of the ring


@dataclass(frozen=True)
class PooledEmbedding(NetworkFamily):
    """Means and maxima of feature maps over each candidate and its ring.

    The network, in ONNX, is applied once to the whole picture, which costs less than a crop per
    candidate. Create one with `of`; see `groupcm.images.features.network_family.NetworkFamily` for
    the attributes that all features by networks have. ``n_features`` is the number of channels of
    all maps; each gives four features, mean and maximum inside, and mean and maximum in the ring.

    Attributes
    ----------
    maps
        Names of the maps inside the network.
    margin
        Width of the ring, relative to the square root of the area of the candidate's box.
    """

    _: KW_ONLY
    maps: tuple[str, ...]
    margin: float = 0.25

    def __post_init__(self, path: str | None, cache: str | None) -> None:
        super().__post_init__(path, cache)
        if not self.maps:
            raise ValueError("maps is empty; name one map of the network or more")
        if not 0 <= self.margin < float("inf"):
            raise ValueError(f"margin is {self.margin}; it must be 0 or more")

    @classmethod
    def of(
        cls,
        file: str | os.PathLike[str],
        *,
        maps: tuple[str, ...] = (),
        margin: float = 0.25,
        name: str = "pooled",
        n_components: int = 0,
        cache: str | os.PathLike[str] | None = None,
    ) -> PooledEmbedding:
        """Use the feature maps of a network in ONNX, or of a named one.

        Parameters
        ----------
        file
            As for `groupcm.images.features.network_embedding.NetworkEmbedding.of`.
        maps
            Names of maps; by default the last one of each stride of 8, 16 and 32 pixels.
        margin, name, n_components, cache
            See the class.

        Examples
        --------
        >>> PooledEmbedding.of("backbone.onnx")
        Traceback (most recent call last):
        groupcm.errors.InputError: cannot read the network backbone.onnx: No such file or directory
        """
        found = find_network(file, check=False)
        content, short = found.content, found.stored["file"]
        maps = tuple(maps) or choose_maps(content, short)
        trial = open_maps(content, short, maps).run(np.zeros((1, 3, 64, 64), dtype=np.float32))
        channels = sum(len(each) for each in trial)
        return cls(
            **found.stored,
            n_features=channels,
            maps=maps,
            margin=margin,
            name=name,
            n_components=n_components if n_components < _PARTS * channels else 0,
            cache=None if cache is None else os.fspath(cache),
        )

    @property
    def width(self) -> int:
        """Length of the embedding of a candidate, before principal components."""
        return _PARTS * self.n_features

    def compute(self, view: View, regions: Regions) -> Float32:
        """Compute the embedding of each region, shape (n, width)."""
        beyond = [(0, max(_SMALLEST - side, 0)) for side in (view.height, view.width)]
        rgb = np.pad(view.rgb, [*beyond, (0, 0)], mode="edge") if max(beyond)[1] else view.rgb
        picture = self.normalised(rgb.transpose(2, 0, 1)[None])
        found = self._network().run(np.ascontiguousarray(picture, dtype=np.float32))
        edges = pixel_edges(regions)
        step = margins(edges, self.margin)[:, None]
        first = np.maximum(edges[:, :2] - step, 0)
        last = np.minimum(edges[:, 2:] + step, [view.width, view.height])
        outer = np.hstack([first, last])
        strips = strips_of(regions).by_area
        parts = []
        for each in found:
            stride = 2 ** round(np.log2(rgb.shape[0] / each.shape[1]))
            pooled = np.empty((len(regions), _PARTS, len(each)), dtype=np.float32)
            cells = np.ascontiguousarray(each.transpose(1, 2, 0))
            pool_cells(cells, stride, *strips, outer, pooled)
            parts.append(pooled.reshape(len(regions), -1))
        return np.concatenate(parts, axis=1)

    def prepare(self) -> None:
        """Find and open the network, or raise an error that says what is missing."""
        self._network()

    def _network(self) -> MapNetwork:
        return _opened(self.changed(cache=None))


@lru_cache(maxsize=2)
def _opened(family: PooledEmbedding) -> MapNetwork:
    return open_maps(family.content_bytes(), family.file, family.maps)
