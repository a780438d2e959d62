"""The COCO file of the annotate page: its content, reading it, and saving changes to it.

`Content` keeps the JSON of each picture, so that a change of one picture is written quickly. A
picture that is not changed is written as it was read, field by field, even if it is not in the
folder. Only if a picture without objects was read as verified empty, although the file does not
state it, is its state added.

`Saver` confirms a change when it is on the disk. Writing the file takes longer than changing one
picture, so changes that arrive during a write wait, and share the next write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Condition, Thread
from typing import Any, Generic, TypeVar

from groupcm.annotations import FORMATS, AnnotatedObject, Picture
from groupcm.annotations.files import sniff
from groupcm.annotations.formats.coco import (
    STATES,
    TABLES,
    fill,
    image_record,
    in_lines,
    object_record,
    piece,
)
from groupcm.annotations.parsing import load
from groupcm.annotations.reading import Reading, Unannotated
from groupcm.errors import Argument, FileName, InputError, NotWritableError
from groupcm.utils.files import check_output
from groupcm.utils.text import composed
from groupcm.web.server.guarded_file import GuardedFile

__all__ = ["AnnotationFile", "Category", "Content", "Entry", "Saver", "entry_of"]

Key = int | str
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Entry:
    """A picture of the file: its annotations, their JSON, and the revision of its last change."""

    picture: Picture
    image_id: Key
    image: bytes
    marks: bytes
    version: int


@dataclass(frozen=True, slots=True)
class Category:
    """The name and id of a category, and its further fields in the file."""

    name: str
    id: Key
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Content:
    """The content of the file, and a revision that grows with every change."""

    entries: Mapping[str, Entry]
    categories: tuple[Category, ...]
    rest: Mapping[str, Any]
    revision: int
    undecided: frozenset[str] = frozenset()  # read without objects and without a state

    def to_bytes(self) -> bytes:
        """Return the bytes of the file."""
        categories = [
            piece({**each.fields, "id": each.id, "name": each.name}) for each in self.categories
        ]
        tables = (
            [entry.image for entry in self.entries.values()],
            [entry.marks for entry in self.entries.values() if entry.marks],
            categories,
        )
        return in_lines({**STATES, **self.rest}, tables)


def entry_of(
    picture: Picture,
    image_id: Key,
    object_ids: list[Key],
    category_ids: Mapping[str, Key],
    version: int,
) -> Entry:
    """Return the entry of a picture that was changed."""
    marks = [
        piece(
            {"id": key, "image_id": image_id, "category_id": category_ids[marked.category]}
            | object_record(marked)
        )
        for key, marked in zip(object_ids, picture.objects, strict=True)
    ]
    image = piece(image_record(picture, image_id))
    return Entry(picture, image_id, image, b",\n".join(marks), version)


class AnnotationFile:
    """The file: read once, then replaced as a whole unless another program has changed it.

    Parameters
    ----------
    path
        The file; it is created at the first change.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _writable(path)
        if self.path.suffix.lower() != ".json":
            raise _other_format(self.path, "not a COCO file, which ends in .json")
        self._file = GuardedFile(self.path)

    def read(self, names: list[str], revision: int, unannotated: Unannotated = "todo") -> Content:
        """Return the content of the file; without a file, empty content.

        Parameters
        ----------
        names
            The pictures of the folder, whose spelling of names is used.
        revision
            The revision of everything that is read.
        unannotated
            The state of pictures that are listed without objects and without a state.
        """
        if not self._file.look():
            return Content({}, (), {}, revision)
        try:
            content = load(self.path)
            if not (isinstance(content, dict) and "images" in content):
                raise _other_format(self.path, _title(self.path))
            return _content(content, _FileReading(self.path, names, unannotated), revision)
        except _OtherFormatError:
            raise
        except InputError as error:
            kept = "; the file is kept as it is: correct it, or choose another with "
            raise InputError(error, kept, Argument("annotations")) from error

    def write(self, content: Content) -> None:
        """Write the file, or raise `ChangedOnDisk` if another program has changed it."""
        with self._file.replacing() as temporary:
            temporary.write_bytes(content.to_bytes())

    def changed_elsewhere(self) -> str | None:
        """Return what another program did to the file: removed, written or changed; or None."""
        return self._file.changed_elsewhere()


class Saver(Generic[State]):
    """A state in memory that is saved in a file.

    Parameters
    ----------
    state
        The present content of the file. It is never changed in place.
    write
        Writes a state; it is called in a thread of its own, one call at a time.

    Examples
    --------
    >>> written = []
    >>> saver = Saver((), written.append)
    >>> saver.change(lambda state: (*state, "box")).result()
    ('box',)
    >>> written, saver.saved
    ([('box',)], ('box',))
    >>> saver.close()
    """

    def __init__(self, state: State, write: Callable[[State], None]) -> None:
        self._current = self._saved = state
        self._write = write
        self._waiting: list[Future[State]] = []
        self._changed = Condition()
        self._closed = False
        self._thread: Thread | None = None

    @property
    def saved(self) -> State:
        """The state that is on the disk."""
        return self._saved

    def change(self, make: Callable[[State], State]) -> Future[State]:
        """Compute the next state from the current one; the future is done when it is on the disk.

        ``make`` receives a state with all previous changes, including those that wait. If it
        raises, nothing changes. If a write fails, all changes that wait fail and are undone.
        """
        with self._changed:
            if self._closed:
                raise RuntimeError("no change can be saved after the saver is closed")
            self._current = make(self._current)
            future: Future[State] = Future()
            self._waiting.append(future)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="saving", daemon=True)
                self._thread.start()
            self._changed.notify()
        return future

    def close(self) -> None:
        """Wait until all changes are on the disk; later changes are refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                state, sharing = self._current, self._waiting
                self._waiting = []
            try:
                if state is not self._saved:
                    self._write(state)
            except BaseException as error:
                with self._changed:
                    self._current = self._saved
                    sharing += self._waiting
                    self._waiting = []
                for future in sharing:
                    future.set_exception(error)
            else:
                with self._changed:
                    self._saved = state
                for future in sharing:
                    future.set_result(state)


def _writable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be written, or advise the user to choose another."""
    try:
        checked = check_output(path)
        if checked.exists() and not os.access(checked, os.W_OK):
            raise NotWritableError(
                "cannot write ", FileName(path), ": no permission to write this file"
            )
    except NotWritableError as error:
        elsewhere = Argument("annotations", "FILE.json")
        raise InputError(error, "; keep the work elsewhere with ", elsewhere) from error
    return checked


class _FileReading(Reading):
    """Reading that uses the spelling of names in the folder."""

    def __init__(self, path: Path, names: list[str], unannotated: Unannotated) -> None:
        super().__init__(path, unannotated=unannotated)
        self._names = {composed(name): name for name in names} | {name: name for name in names}

    def name(self, written: str) -> str:
        found = self._names.get(written) or self._names.get(composed(written))
        return found or super().name(written)


def _content(content: dict[str, Any], reading: Reading, revision: int) -> Content:
    annotations = reading.annotations(*fill(reading, content))
    marks_of: dict[Key, list[Any]] = {}
    for mark in content.get("annotations") or []:
        marks_of.setdefault(mark["image_id"], []).append(mark)
    entries = {}
    with reading.at(""):
        for image, picture in zip(content["images"], annotations.pictures, strict=True):
            marks = b",\n".join(map(piece, marks_of.get(image["id"], [])))
            if image.get("done") is None and picture.done and not picture.objects:
                image = image | {"done": True}
            entries[picture.name] = Entry(picture, image["id"], piece(image), marks, revision)
        rest = {name: value for name, value in content.items() if name not in {*TABLES, *STATES}}
        piece(rest)
    records = content.get("categories") or []
    categories = tuple(
        Category(name, record["id"], record)
        for name, record in zip(annotations.categories, records, strict=True)
    )
    undecided = frozenset(reading.undecided)
    return Content(_with_ids(entries), categories, rest, revision, undecided)


def _with_ids(entries: dict[str, Entry]) -> dict[str, Entry]:
    """Give a new id to objects without one, or with the id of another object of the picture."""
    numbers = [each.id for entry in entries.values() for each in entry.picture.objects]
    free = max((key for key in numbers if isinstance(key, int)), default=0)
    for name, entry in entries.items():
        seen: set[Key] = set()
        objects: list[AnnotatedObject] = []
        for marked in entry.picture.objects:
            if marked.id is None or marked.id in seen:
                free += 1
                marked = replace(marked, id=free)
            assert marked.id is not None
            seen.add(marked.id)
            objects.append(marked)
        if tuple(objects) != entry.picture.objects:
            entries[name] = replace(entry, picture=replace(entry.picture, objects=tuple(objects)))
    return entries


def _title(path: Path) -> str:
    try:
        return f"a file of {FORMATS[sniff(path)].title}, not of COCO"
    except InputError:
        return "not a COCO file"


class _OtherFormatError(InputError):
    """A file of another format, in which the work cannot be kept."""


def _other_format(path: Path, what: str) -> _OtherFormatError:
    return _OtherFormatError(
        FileName(path),
        f" is {what}, and work is kept in COCO; import what it holds with ",
        Argument("import_from", str(path)),
        ", and keep the work in another file with ",
        Argument("annotations", "FILE.json"),
    )
