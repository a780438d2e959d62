"""The annotations of the pictures of a folder, in memory and on the disk.

Every picture has a version. A change names the version it is based on, and is refused if that is
not the current one, because the picture was changed in another window meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from groupcm.annotations import AnnotatedObject, Annotations, Picture
from groupcm.annotations.model import StateCounts, count_states
from groupcm.annotations.parsing import field
from groupcm.annotations.reading import Unannotated
from groupcm.errors import InputError
from groupcm.utils.text import there_are
from groupcm.web.annotate.annotation_file import (
    AnnotationFile,
    Content,
    Entry,
    Key,
    Saver,
    entry_of,
)
from groupcm.web.annotate.changes import (
    category_added,
    category_removed,
    category_renamed,
    free_ids,
    refuse_duplicates,
    same_work,
    with_categories,
    with_spelling,
)
from groupcm.web.server.annotation_json import object_to_json, picture_from_json
from groupcm.web.server.library import PictureLibrary

__all__ = ["AnnotationStore", "Conflict", "Merged", "Saved", "Totals"]


class Conflict(Exception):
    """The picture was changed after the version that a change is based on."""


class Saved(NamedTuple):
    """A change that is on the disk: the picture's version, and the revision of the whole."""

    version: int
    revision: int


class Merged(NamedTuple):
    """The result of an import: pictures, objects, and the pictures that kept their annotations.

    ``states`` counts all pictures of the import except those that kept their annotations, and
    ``in_progress`` those of them that have objects and are not done.
    """

    pictures: int
    objects: int
    kept: tuple[str, ...]
    states: StateCounts = StateCounts(0, 0, 0)
    in_progress: int = 0


class Totals(NamedTuple):
    """The numbers of pictures that are done and in progress, and of all objects."""

    done: int
    in_progress: int
    objects: int


class AnnotationStore:
    """The annotations of a library, in memory and on the disk.

    What the methods return is always on the disk already.

    Parameters
    ----------
    library
        The pictures.
    path
        The COCO file; it is created at the first change.
    categories
        Categories in addition to those in the file.
    unannotated
        The state of pictures that the file lists without objects and without a state: ``"todo"``,
        or ``"negative"`` for "verified empty".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> folder = Path(tempfile.mkdtemp())
    >>> Image.new("L", (8, 6)).save(folder / "a.png")
    >>> store = AnnotationStore(PictureLibrary(folder), folder / "annotations.json", ["polyp"])
    >>> seen = store.picture(0)
    >>> saved = store.put(0, {"version": seen["version"], "done": True, "objects": []})
    >>> store.picture(0)["done"], store.picture(0)["version"] == saved.version
    (True, True)
    >>> store.put(0, {"version": seen["version"], "done": False, "objects": []})
    Traceback (most recent call last):
    groupcm.web.annotate.store.Conflict
    >>> store.close()
    """

    def __init__(
        self,
        library: PictureLibrary,
        path: str | os.PathLike[str],
        categories: Sequence[str] = (),
        unannotated: Unannotated = "todo",
    ) -> None:
        self._library = library
        self._file = AnnotationFile(path)
        self.path = self._file.path
        # From the clock, so that a page of an earlier start has other versions.
        self._first_revision = time.time_ns() // 1_000_000
        content = self._file.read(library.names, self._first_revision, unannotated)
        refuse_duplicates([each.name for each in content.categories], str(path))
        self._saver = Saver(with_categories(content, categories), self._file.write)
        entries = content.entries.values()
        self._image_ids = free_ids(entry.image_id for entry in entries)
        self._object_ids = free_ids(each.id for entry in entries for each in entry.picture.objects)
        # Also of deleted objects: undoing a deletion restores all of it.
        self._known: dict[str, dict[Key, tuple[Key, Mapping[str, Any]]]] = {}
        for entry in entries:
            self._known[entry.picture.name] = {
                each.id: (each.id, each.attributes)
                for each in entry.picture.objects
                if each.id is not None
            }

    @property
    def _saved(self) -> Content:
        return self._saver.saved

    @property
    def revision(self) -> int:
        """A number that grows with every change."""
        return self._saved.revision

    @property
    def categories(self) -> list[str]:
        """Names that objects may have."""
        return [each.name for each in self._saved.categories]

    @property
    def n_elsewhere(self) -> int:
        """How many pictures of the file are not in the folder."""
        return sum(self._library.number(name) is None for name in self._saved.entries)

    @property
    def undecided(self) -> int:
        """How many pictures of the folder had no state in the file, and got that of the caller."""
        return sum(self._library.number(name) is not None for name in self._saved.undecided)

    @property
    def n_to_do_by_record(self) -> int:
        """How many pictures of the folder the file records as to do, without any object."""
        saved = self._saved
        return sum(
            not (entry.picture.done or entry.picture.objects or name in saved.undecided)
            for name, entry in saved.entries.items()
            if self._library.number(name) is not None
        )

    def keep_states(self) -> None:
        """Write the file, so that the states that the caller chose need not be given again."""
        self._saver.change(lambda content: replace(content, undecided=frozenset())).result()

    def totals(self) -> Totals:
        """Count what is done in the folder."""
        pictures = [
            entry.picture
            for name, entry in self._saved.entries.items()
            if self._library.number(name) is not None
        ]
        return Totals(
            sum(picture.done for picture in pictures),
            sum(picture.is_in_progress for picture in pictures),
            sum(len(picture.objects) for picture in pictures),
        )

    def summary(self, number: int) -> dict[str, Any]:
        """Return whether a picture is done, its number of objects, and its version."""
        entry = self._saved.entries.get(self._library.names[number])
        if entry is None:
            return {"done": False, "objects": 0, "version": self._first_revision}
        objects = len(entry.picture.objects)
        return {"done": entry.picture.done, "objects": objects, "version": entry.version}

    def changed_since(self, revision: int) -> list[int]:
        """Return the pictures that changed after a revision; all if the revision is not known."""
        saved = self._saved
        if not self._first_revision <= revision <= saved.revision:
            return list(range(len(self._library)))
        numbers = (
            self._library.number(name)
            for name, entry in saved.entries.items()
            if entry.version > revision
        )
        return [number for number in numbers if number is not None]

    def picture(self, number: int) -> dict[str, Any]:
        """Return the annotations of a picture as JSON."""
        name = self._library.names[number]
        entry = self._saved.entries.get(name)
        width, height = self._size(number, entry)
        objects = entry.picture.objects if entry else ()
        return {
            "name": name,
            "width": width,
            "height": height,
            "version": entry.version if entry else self._first_revision,
            "done": entry.picture.done if entry else False,
            "objects": [object_to_json(marked) for marked in objects],
        }

    def put(self, number: int, record: Any) -> Saved:
        """Replace the annotations of a picture by those of the page.

        Returns when they are on the disk. Raises `Conflict` if the version is not the current one,
        and `InputError` if the record is wrong.
        """
        name = self._library.names[number]
        try:
            version = field(record, "version", int)
        except ValueError as error:
            raise InputError(f"{name}: {error}") from error
        before = self._saved.entries.get(name)
        size = self._size(number, before)
        known = self._known.get(name, {})
        picture = picture_from_json(
            record,
            name,
            size,
            {key: attributes for key, (_, attributes) in list(known.items())},
            before.picture.extra if before else None,
        )

        saved_as = self._first_revision

        def changed(content: Content) -> Content:
            nonlocal saved_as
            entry = content.entries.get(name)
            if version != (entry.version if entry else self._first_revision):
                if entry is not None and same_work(entry.picture, picture):
                    saved_as = entry.version  # the page did not receive the answer
                    return content
                raise Conflict
            content = self._with_pictures(content, [picture])
            saved_as = content.revision
            return content

        try:
            content = self._saver.change(changed).result()
        except Conflict:
            # The state that the page receives instead must be on the disk, too.
            self._saver.change(lambda content: content).result()
            raise
        return Saved(saved_as, content.revision)

    def add_category(self, name: object) -> None:
        """Add a category."""
        self._saver.change(lambda content: category_added(content, name)).result()

    def rename_category(self, position: int, name: object) -> None:
        """Rename a category and all its objects."""
        self._saver.change(lambda content: category_renamed(content, position, name)).result()

    def remove_category(self, position: int) -> None:
        """Remove a category without objects."""
        self._saver.change(lambda content: category_removed(content, position)).result()

    def merge(self, pictures: Sequence[Picture], categories: Sequence[str]) -> Merged:
        """Take over the annotations of pictures that have none yet, in one change."""
        merged = Merged(0, 0, ())

        def changed(content: Content) -> Content:
            nonlocal merged
            new, kept, taken = [], [], []
            for picture in pictures:
                entry = content.entries.get(picture.name)
                if entry is not None and (entry.picture.done or entry.picture.objects):
                    kept.append(picture.name)
                    continue
                taken.append(picture)
                if picture.done or picture.objects:
                    new.append(self._as_new(picture, entry))
            n_objects = sum(len(each.objects) for each in new)
            n_in_progress = sum(each.is_in_progress for each in taken)
            merged = Merged(len(new), n_objects, tuple(kept), count_states(taken), n_in_progress)
            if not new:
                return content
            content = with_categories(content, categories)
            names = [each.name for each in content.categories]
            return self._with_pictures(content, [with_spelling(picture, names) for picture in new])

        self._saver.change(changed).result()
        return merged

    def annotations(self) -> Annotations:
        """Return all annotations."""
        content = self._saved
        pictures = tuple(entry.picture for entry in content.entries.values())
        return Annotations(pictures, tuple(each.name for each in content.categories))

    def to_bytes(self) -> bytes:
        """Return the bytes of the file, also if it does not exist yet."""
        return self._saved.to_bytes()

    def changed_elsewhere(self) -> str | None:
        """Return what another program did to the file: removed, written or changed; or None."""
        return self._file.changed_elsewhere()

    def close(self) -> None:
        """Wait until all changes are on the disk."""
        self._saver.close()

    def _size(self, number: int, entry: Entry | None) -> tuple[int, int]:
        """Return the size of a picture, or raise if its objects belong to another size."""
        width, height = self._library.size(number)
        if entry is not None and entry.picture.objects:
            noted = (entry.picture.width, entry.picture.height)
            if noted != (width, height):
                raise InputError(
                    f"{self._library.names[number]} is {width} × {height} pixels, and "
                    f"{self.path.name} states {noted[0]} × {noted[1]}; correct one of the two"
                )
        return width, height

    def _with_pictures(self, content: Content, pictures: Sequence[Picture]) -> Content:
        """Replace the pictures of the same names."""
        entries = dict(content.entries)
        category_ids = {each.name: each.id for each in content.categories}
        revision = content.revision + 1
        for picture in pictures:
            for marked in picture.objects:
                if marked.category not in category_ids:
                    raise InputError(
                        f"{picture.name}: there is no category {marked.category!r}; "
                        f"{there_are(category_ids)}"
                    )
            old = entries.get(picture.name)
            image_id = old.image_id if old else next(self._image_ids)
            object_ids = [self._file_id(picture.name, marked) for marked in picture.objects]
            entries[picture.name] = entry_of(picture, image_id, object_ids, category_ids, revision)
        return replace(content, entries=entries, revision=revision)

    def _file_id(self, name: str, marked: AnnotatedObject) -> Key:
        """Return the id of an object in the file, where ids are numbers, unlike in the page."""
        known = self._known.setdefault(name, {})
        assert marked.id is not None
        if marked.id not in known:
            known[marked.id] = (next(self._object_ids), marked.attributes)
        return known[marked.id][0]

    def _as_new(self, picture: Picture, entry: Entry | None) -> Picture:
        """Return a picture of another file with ids that are free here."""
        objects = []
        for marked in picture.objects:
            key = next(self._object_ids)
            self._known.setdefault(picture.name, {})[key] = (key, marked.attributes)
            objects.append(replace(marked, id=key))
        extra = {name: value for name, value in picture.extra.items() if name != "id"}
        if entry is not None:
            extra |= entry.picture.extra
        return replace(picture, objects=tuple(objects), extra=extra)
