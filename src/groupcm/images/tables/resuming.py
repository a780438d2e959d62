"""Work on pictures that goes on where an earlier run ended.

While it lasts, rows are kept beside the table to come, in the folder ``TABLE.parts``: a Parquet
file for every few pictures, whole or not at all. A file tells which pictures it holds, by name
and stamp, and the *settings* under which it was made. A run takes over the files whose settings
are its own and whose pictures stand next to each other in its order with the same stamps; it
removes the others. At last all are joined. One run at a time holds the folder.

One file with the rows of a few pictures, which tells whose rows they are.
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
from groupcm.utils.locking import held_alone

__all__ = ["DonePicture", "PartFile", "Parts", "TakenOver", "read_part", "write_part"]

_KEY = b"groupcm.part"


@dataclass(frozen=True)
class DonePicture:
    """A picture that is done.

    Attributes
    ----------
    name
        Its name.
    stamp
        What its rows depend on beside the settings: another stamp means other rows.
    n_rows
        How many rows it has.
    skipped
        Why it has none, where it could not be read.
    notes
        Plain values to remember of it.
    """

    name: str
    stamp: str
    n_rows: int
    skipped: str | None = None
    notes: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class PartFile:
    """A file with the rows of pictures that stand next to each other.

    Attributes
    ----------
    path
        The file.
    settings
        What all its rows depend on: other settings have another text.
    first
        Place of the first picture in the table to come.
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
    """Write a part into a folder; it appears whole or not at all."""
    about = {
        "settings": settings,
        "first": first,
        "pictures": [asdict(done) for done in pictures],
    }
    # The description of the table, which a recipe may make large, waits until all are joined.
    table = pa.Table.from_batches(rows, schema.remove_metadata())
    table = table.replace_schema_metadata({_KEY: json.dumps(about).encode()})
    path = folder / f"part-{first:09d}-{secrets.token_hex(4)}.parquet"
    with (
        whole_file(path) as beside,
        parquet_writer(beside, table.schema, use_dictionary=False) as writer,
    ):
        writer.write_table(table)
    return PartFile(path, settings, first, tuple(pictures))


def read_part(path: Path) -> PartFile | None:
    """What a file says of its rows; None where it is no part, or is damaged."""
    try:
        about = json.loads((open_parquet(path).schema_arrow.metadata or {})[_KEY])
        pictures = tuple(DonePicture(**done) for done in about["pictures"])
        return PartFile(path, str(about["settings"]), int(about["first"]), pictures)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None


_LOCK = ".lock"
_OURS = re.compile(r"part-.*\.parquet|\.part-.*\.(part|lock)|\.lock")
_PICTURES_A_PART = 32
_ROWS_A_ROW_GROUP = 65_536


@dataclass(frozen=True)
class TakenOver:
    """What an earlier run did: pictures by their places, and how many are of no use any more."""

    pictures: Mapping[int, DonePicture]
    n_dropped: int


class Parts:
    """The rows of pictures on their way into a table.

    Parameters
    ----------
    output
        The table to come.
    schema
        Its columns.
    settings
        Plain values that all rows depend on.
    """

    def __init__(
        self, output: str | os.PathLike[str], schema: pa.Schema, settings: Mapping[str, Any]
    ) -> None:
        self.output = Path(output)
        self.folder = self.output.with_name(f"{self.output.name}.parts")
        self._schema = schema
        told = json.dumps(settings, sort_keys=True).encode()
        self._settings = hashlib.sha256(told).hexdigest()
        self._paths: dict[int, Path] = {}
        self._done: set[int] = set()
        self._first = 0
        self._pictures: list[DonePicture] = []
        self._rows: list[pa.RecordBatch] = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs away from the folder within the block."""
        self._check_folder()
        self.folder.mkdir(parents=True, exist_ok=True)
        refusal = f"another run is making {self.output}; wait for it, or write to another table"
        try:
            with held_alone(self.folder / _LOCK, refusal):
                yield
        finally:
            with suppress(OSError):  # parts for the next run, or somebody's own file
                self.folder.rmdir()

    def take_over(
        self,
        names: Sequence[str] | None,
        stamp_of: Callable[[str], str],
        stays_skipped: Callable[[DonePicture], bool],
    ) -> TakenOver:
        """Take over what an earlier run did, as far as it is of use.

        Parameters
        ----------
        names
            The pictures in the order of the table; None where they are not known yet and come as
            they came then.
        stamp_of
            From the name of a picture to its stamp.
        stays_skipped
            Whether a picture that could not be read then is left out again without a look.
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
        """Whether the rows of the picture at this place are in a file."""
        return place in self._done

    @property
    def n_done(self) -> int:
        """How many pictures are in files."""
        return len(self._done)

    def add(self, place: int, done: DonePicture, rows: pa.RecordBatch | None) -> None:
        """Add the picture at a place of the table; places come in order."""
        if self._pictures and place != self._first + len(self._pictures):
            self.flush()
        if not self._pictures:
            self._first = place
        self._pictures.append(done)
        if rows is not None:
            self._rows.append(rows)
        if len(self._pictures) >= _PICTURES_A_PART:
            self.flush()

    def flush(self) -> None:
        """Put what was added since into a file."""
        if not self._pictures:
            return
        part = write_part(
            self.folder, self._settings, self._first, self._pictures, self._rows, self._schema
        )
        self._paths[part.first] = part.path
        self._done.update(range(part.first, part.first + len(part.pictures)))
        self._pictures, self._rows = [], []

    def join(self) -> None:
        """Write the table from all files, in the order of places, and remove them."""
        self.flush()
        # A dictionary of measurements or of masks is larger than they are.
        repeating: Any = [
            field.name
            for field in self._schema
            if field.name != "mask" and not types.is_floating(field.type)
        ]
        with (
            whole_file(self.output) as beside,
            parquet_writer(beside, self._schema, use_dictionary=repeating) as writer,
        ):
            for rows in _in_row_groups(path for _, path in sorted(self._paths.items())):
                writer.write_table(rows.replace_schema_metadata(self._schema.metadata))
        for path in self._paths.values():
            path.unlink(missing_ok=True)

    def _check_folder(self) -> None:
        """Refuse what somebody else put there."""
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
        """Files of an earlier run; what it left behind by halves is removed."""
        for path in sorted(self.folder.iterdir()):
            if path.name == _LOCK:
                continue
            part = read_part(path)
            if part is None:
                path.unlink()
            else:
                yield part


def _places(part: PartFile, place_of: Mapping[str, int] | None) -> range | None:
    """Where the pictures of a part now stand; None where they do not stand together."""
    if place_of is None:
        return range(part.first, part.first + len(part.pictures))
    first = place_of.get(part.pictures[0].name, -1) if part.pictures else -1
    places = range(first, first + len(part.pictures))
    together = [place_of.get(done.name) for done in part.pictures] == list(places)
    return places if first >= 0 and together else None


def _in_row_groups(paths: Iterable[Path]) -> Iterator[pa.Table]:
    """Tables of some size, so that a reader has few and large pieces to read."""
    held: list[pa.Table] = []
    for path in paths:
        with readable(path):
            held.append(open_parquet(path).read().replace_schema_metadata())
        if sum(table.num_rows for table in held) >= _ROWS_A_ROW_GROUP:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)
