"""Where candidates come from: arrays, memory-mapped files, Parquet, the workers of a cluster."""

from groupcm.sources.base import Source
from groupcm.sources.dask.source import from_dask
from groupcm.sources.npy import from_arrays, from_npy
from groupcm.sources.parquet import from_parquet

__all__ = ["Source", "from_arrays", "from_dask", "from_npy", "from_parquet"]
