"""The Parquet files of the streaming benchmarks: made once, kept between runs where asked to."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.support.data import GROUP_SIZE, short
from benchmarks.support.measure import say
from benchmarks.support.suite import Skipped
from groupcm.simulate import capsule_to_parquet
from groupcm.simulate.world import WORLD
from groupcm.sources import from_parquet
from groupcm.sources.parquet import ParquetSource

__all__ = ["FEATURES", "SEED", "ParquetData", "Setting", "open_source"]

SEED = 2
N_FILES = 8
FEATURES = list(WORLD)
# What a row takes in a file is less; so much is asked of the disk.
DISK_BYTES_A_ROW = 70
# Of the decoded features: little enough that they cannot all be kept.
STREAMED_SHARE = 0.4


def open_source(folder: Path | str) -> ParquetSource:
    """Open the files as a user does."""
    return from_parquet(folder, group="frame", label="label", overlap="overlap", features=FEATURES)


@dataclass(frozen=True)
class ParquetData:
    """A folder of made candidates.

    ``asked`` is the size it was made for; the groups' sizes are drawn, so it has a few
    more or less.
    """

    folder: Path
    asked: int

    def open(self) -> ParquetSource:
        """A source that has read nothing but footers."""
        return open_source(self.folder)

    @cached_property
    def files(self) -> list[Path]:
        """In the order of their rows."""
        return sorted(self.folder.glob("*.parquet"))

    @cached_property
    def nbytes(self) -> int:
        """What the features take when they are decoded."""
        return self.open().nbytes

    @property
    def streamed_memory(self) -> int:
        """A limit that forces a stream."""
        return int(STREAMED_SHARE * self.nbytes)


@dataclass(frozen=True)
class Setting:
    """What a run of the streaming benchmarks was asked for.

    Attributes
    ----------
    rows, repeat : int
    memory : int
        What a streamed fit may use, in bytes.
    folder : Path
        Where the files are made.
    """

    rows: int
    repeat: int
    memory: int
    folder: Path

    def parquet(self, rows: int | None = None) -> ParquetData:
        """About so many candidates (by default `rows`) in files, made if they are not there."""
        asked = self.rows if rows is None else rows
        data = ParquetData(self.folder / f"capsule-{asked}-seed-{SEED}", asked)
        if not data.folder.exists():
            self._require_disk(asked)
            say(f"  making {short(asked)} rows of Parquet (seed {SEED})")
            capsule_to_parquet(
                data.folder, asked // GROUP_SIZE, seed=SEED, n_files=N_FILES, layout="wide"
            )
        return data

    def limit(self, data: ParquetData) -> int:
        """The memory allowed, or less where the files are so small that they would all fit."""
        return min(self.memory, data.streamed_memory)

    def _require_disk(self, rows: int) -> None:
        needed, free = DISK_BYTES_A_ROW * rows, shutil.disk_usage(self.folder).free
        if needed > free:
            raise Skipped(
                f"{short(rows)} rows of Parquet need {needed / 1e9:.3g} GB of disk and "
                f"{self.folder} has {free / 1e9:.3g} GB; name another folder with --data"
            )
