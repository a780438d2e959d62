"""The unit of the streaming benchmarks: one bare parallel decode of Parquet files.

Every row group is read whole, all its columns, and dropped. As many threads as a fit has
take the next row group in turn, each with a reader of its own: pyarrow knows no faster way.
groupcm verifies the checksums of the pages, where a file has some, and so does the decode that is
the unit; one that does not is several times faster, and is printed as well.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq

from groupcm.utils.parallel import n_threads

__all__ = ["BareDecode"]


class BareDecode:
    """Decodes the files once each time it is called and returns the number of rows.

    Threads are started and footers read beforehand: they are no part of a decode.
    """

    def __init__(self, files: list[Path], *, verified: bool = True) -> None:
        self.verified = verified
        self.footers = {file: pq.read_metadata(file) for file in files}
        self.row_groups = [
            (file, number)
            for file, footer in self.footers.items()
            for number in range(footer.num_row_groups)
        ]
        self.pool = ThreadPoolExecutor(n_threads())
        self.own = threading.local()

    def __call__(self) -> int:
        return sum(self.pool.map(self._decode, self.row_groups))

    def _decode(self, row_group: tuple[Path, int]) -> int:
        file, number = row_group
        if getattr(self.own, "file", None) != file:
            self.own.reader = pq.ParquetFile(
                file, metadata=self.footers[file], page_checksum_verification=self.verified
            )
            self.own.file = file
        return self.own.reader.read_row_group(number, use_threads=False).num_rows

    def close(self) -> None:
        """Stop the threads."""
        self.pool.shutdown()
