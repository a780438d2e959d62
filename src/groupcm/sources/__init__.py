"""Where candidates come from: tables, arrays, memory-mapped files, Parquet, Dask clusters."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.sources.base import Source
    from groupcm.sources.candidates import Candidates
    from groupcm.sources.dask import from_dask
    from groupcm.sources.npy import from_arrays, from_npy
    from groupcm.sources.parquet import from_parquet
    from groupcm.sources.tables import read_candidates

__all__ = [
    "Candidates",
    "Source",
    "from_arrays",
    "from_dask",
    "from_npy",
    "from_parquet",
    "read_candidates",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Candidates": "candidates",
        "Source": "base",
        "from_arrays": "npy",
        "from_dask": "dask",
        "from_npy": "npy",
        "from_parquet": "parquet",
        "read_candidates": "tables",
    },
)
