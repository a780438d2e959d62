"""Where candidates come from: tables, arrays, memory-mapped files, Parquet, Dask clusters.

A `Source` knows where the rows are and decodes them unit by unit; nothing else reads files.

=============  ==========================================================================
Source         candidates in units of rows, the rows of a group contiguous
LocalSource    a source whose units are decoded by threads of this process
MatrixSource   a local source of one matrix (`from_arrays`, `from_npy`)
GroupFilesSource  one file of embeddings per group (`from_hdf5`, a folder of `from_npy`)
ParquetSource  a local source of Parquet files (`from_parquet`)
DaskSource     a source whose rows are held by the workers of a cluster (`from_dask`)
Candidates     the candidates of tables with their column roles (`read_candidates`)
=============  ==========================================================================

Two kinds of objects read a source, and are not sources themselves: a `SourceReader` makes passes
over it and keeps some of its units in memory; `SolverRows` are its rows, or those of an array,
standardised for a solver. `groupcm.sources.rows` lists them and what a pass works on.
"""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.sources.base import Source
    from groupcm.sources.candidates import Candidates
    from groupcm.sources.dask import from_dask
    from groupcm.sources.group_file_candidates import open_candidates
    from groupcm.sources.group_files import from_hdf5
    from groupcm.sources.npy import from_arrays, from_npy
    from groupcm.sources.parquet import from_parquet
    from groupcm.sources.tables import read_candidates

__all__ = [
    "Candidates",
    "Source",
    "from_arrays",
    "from_dask",
    "from_hdf5",
    "from_npy",
    "from_parquet",
    "open_candidates",
    "read_candidates",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Candidates": "candidates",
        "Source": "base",
        "from_arrays": "npy",
        "from_dask": "dask",
        "from_hdf5": "group_files",
        "from_npy": "npy",
        "from_parquet": "parquet",
        "open_candidates": "group_file_candidates",
        "read_candidates": "tables",
    },
)
