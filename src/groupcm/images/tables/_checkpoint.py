"""Checkpoints of a table of candidates, from which an interrupted run resumes.

While a run lasts, rows are stored next to the future table, in the folder ``TABLE.parts``: one
Parquet file per few pictures, written atomically. A file states which pictures it contains, by name
and stamp, and the *settings* of the run. A later run takes over the files with its own settings
whose pictures are contiguous in its order and have the same stamps; it removes the others. Finally
all files are joined. Only one run at a time can use the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import types

from groupcm.data.tables.formats import readable
from groupcm.data.tables.parquet import open_parquet, parquet_writer
from groupcm.errors import InputError
from groupcm.utils.files import whole_file
from groupcm.utils.locking import exclusive_lock

__all__ = ["DonePicture", "PartFile", "Parts", "TakenOver", "read_part", "write_part"]

_KEY = b"groupcm.part"
_LOCK = ".lock"
_OURS = re.compile(r"part-.*\.parquet|\.part-.*\.(part|lock)|\.lock")
_PICTURES_PER_PART = 32
_ROWS_PER_ROW_GROUP = 65_536


@dataclass(frozen=True)
class DonePicture:
    """A completed picture.

    Attributes
    ----------
    name
        Name of the picture.
    stamp
        Fingerprint of what its rows depend on besides the parameters.
    n_rows
        Number of rows.
    skipped
        The error, if the picture could not be read.
    notes
        Plain values for the summary.
    """

    name: str
    stamp: str
    n_rows: int
    skipped: str | None = None
    notes: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class PartFile:
    """A file with the rows of contiguous pictures.

    Attributes
    ----------
    path
        The file.
    settings
        Fingerprint of the settings on which all rows depend.
    first
        Index of the first picture in the future table.
    pictures
        The pictures, in order.
    """

    path: Path
    settings: str
    first: int
    pictures: tuple[DonePicture, ...]


def write_part(
    folder: Path,
    settings: str,
    first: int,
    pictures: Sequence[DonePicture],
    rows: Sequence[pa.RecordBatch],
    schema: pa.Schema,
) -> PartFile:
    """Write a part into a folder atomically."""
    about = {"settings": settings, "first": first, "pictures": [asdict(each) for each in pictures]}
    # The description of the table, which may be large, is added when all parts are joined.
    table = pa.Table.from_batches(rows, schema.remove_metadata())
    table = table.replace_schema_metadata({_KEY: json.dumps(about).encode()})
    path = folder / f"part-{first:09d}-{secrets.token_hex(4)}.parquet"
    with (
        whole_file(path) as temporary,
        parquet_writer(temporary, table.schema, use_dictionary=False) as writer,
    ):
        writer.write_table(table)
    return PartFile(path, settings, first, tuple(pictures))


def read_part(path: Path) -> PartFile | None:
    """Return the description of a part; None for another or a damaged file."""
    try:
        about = json.loads((open_parquet(path).schema_arrow.metadata or {})[_KEY])
        pictures = tuple(DonePicture(**done) for done in about["pictures"])
        return PartFile(path, str(about["settings"]), int(about["first"]), pictures)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None


@dataclass(frozen=True)
class TakenOver:
    """The pictures of an earlier run by their indices, and the number of outdated ones."""

    pictures: Mapping[int, DonePicture]
    n_dropped: int


class Parts:
    """The parts of a future table.

    Parameters
    ----------
    output
        The path of the table.
    schema
        The columns of the table.
    settings
        Plain values on which all rows depend.
    """

    def __init__(
        self, output: str | os.PathLike[str], schema: pa.Schema, settings: Mapping[str, Any]
    ) -> None:
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.parts")
        self._schema = schema
        encoded = json.dumps(settings, sort_keys=True).encode()
        self._settings = hashlib.sha256(encoded).hexdigest()
        self._paths: dict[int, Path] = {}
        self._done: set[int] = set()
        self._first = 0
        self._pictures: list[DonePicture] = []
        self._rows: list[pa.RecordBatch] = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder against other runs within the block."""
        self._check_folder()
        self.folder.mkdir(parents=True, exist_ok=True)
        refusal = f"another run is making {self.output}; wait for it, or write to another table"
        try:
            with exclusive_lock(self.folder / _LOCK, refusal):
                yield
        finally:
            with suppress(OSError):  # not empty: it has parts for the next run, or other files
                self.folder.rmdir()

    def take_over(
        self,
        names: Sequence[str] | None,
        stamp_of: Callable[[str], str],
        stays_skipped: Callable[[DonePicture], bool],
    ) -> TakenOver:
        """Take over the valid parts of an earlier run and remove the others.

        Parameters
        ----------
        names
            The pictures in the order of the table; None if they are not known in advance and come
            in the same order as before.
        stamp_of
            Returns the stamp of a picture by its name.
        stays_skipped
            Returns whether a picture that could not be read is skipped again without trying.
        """
        place_of = None if names is None else {name: place for place, name in enumerate(names)}
        taken: dict[int, DonePicture] = {}
        n_dropped = 0
        for part in self._found():
            places = _places(part, place_of)
            if (
                places is not None
                and part.settings == self._settings
                and self._done.isdisjoint(places)
                and all(stamp_of(done.name) == done.stamp for done in part.pictures)
                and all(done.skipped is None or stays_skipped(done) for done in part.pictures)
            ):
                self._paths[places.start] = part.path
                self._done.update(places)
                taken.update(zip(places, part.pictures, strict=True))
            else:
                part.path.unlink()
                n_dropped += len(part.pictures)
        return TakenOver(taken, n_dropped)

    def is_done(self, place: int) -> bool:
        """Return whether the rows of the picture at this index are in a file."""
        return place in self._done

    @property
    def n_done(self) -> int:
        """The number of pictures in files."""
        return len(self._done)

    def add(self, place: int, done: DonePicture, rows: pa.RecordBatch | None) -> None:
        """Add the picture at an index of the table; indices increase from call to call."""
        if self._pictures and place != self._first + len(self._pictures):
            self.flush()
        if not self._pictures:
            self._first = place
        self._pictures.append(done)
        if rows is not None:
            self._rows.append(rows)
        if len(self._pictures) >= _PICTURES_PER_PART:
            self.flush()

    def flush(self) -> None:
        """Write the pictures added since the last call to a file."""
        if not self._pictures:
            return
        part = write_part(
            self.folder, self._settings, self._first, self._pictures, self._rows, self._schema
        )
        self._paths[part.first] = part.path
        self._done.update(range(part.first, part.first + len(part.pictures)))
        self._pictures, self._rows = [], []

    def join(self) -> None:
        """Write the table from all files in the order of indices, and remove the files."""
        self.flush()
        # Dictionary encoding enlarges columns of features and of masks.
        repeating: Any = [
            field.name
            for field in self._schema
            if field.name != "mask" and not types.is_floating(field.type)
        ]
        with (
            whole_file(self.output) as temporary,
            parquet_writer(temporary, self._schema, use_dictionary=repeating) as writer,
        ):
            for rows in _in_row_groups(path for _, path in sorted(self._paths.items())):
                writer.write_table(rows.replace_schema_metadata(self._schema.metadata))
        for path in self._paths.values():
            path.unlink(missing_ok=True)

    def _check_folder(self) -> None:
        """Raise `InputError` for files that are not parts."""
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise InputError(
                f"{self.folder} is a file, and a folder is needed there while {self.output} is "
                "made; move it away"
            )
        for path in sorted(self.folder.iterdir()):
            if not _OURS.fullmatch(path.name):
                raise InputError(
                    f"{path} is in the way: the folder {self.folder} is for pictures in progress; "
                    "move it away or write to another table"
                )

    def _found(self) -> Iterator[PartFile]:
        """Iterate over the parts of an earlier run, and remove incomplete files."""
        for path in sorted(self.folder.iterdir()):
            if path.name == _LOCK:
                continue
            part = read_part(path)
            if part is None:
                path.unlink()
            else:
                yield part


def _places(part: PartFile, place_of: Mapping[str, int] | None) -> range | None:
    """Return the indices of the pictures of a part; None if they are no longer contiguous."""
    if place_of is None:
        return range(part.first, part.first + len(part.pictures))
    first = place_of.get(part.pictures[0].name, -1) if part.pictures else -1
    places = range(first, first + len(part.pictures))
    together = [place_of.get(done.name) for done in part.pictures] == list(places)
    return places if first >= 0 and together else None


def _in_row_groups(paths: Iterable[Path]) -> Iterator[pa.Table]:
    """Combine parts into row groups of a size that is efficient to read."""
    held: list[pa.Table] = []
    for path in paths:
        with readable(path):
            held.append(open_parquet(path).read().replace_schema_metadata())
        if sum(table.num_rows for table in held) >= _ROWS_PER_ROW_GROUP:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)
