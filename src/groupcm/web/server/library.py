"""The pictures of a folder by number, and the problems that were found when reading them.

A page names a picture by its number alone, never by a path. The path is resolved each time the
file is opened, because the file may have been replaced by a link.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from groupcm.annotations.pictures import picture_size, sentence_of_masks, warn_of_masks
from groupcm.errors import InputError
from groupcm.images.listing import list_picture_files
from groupcm.images.reading import Pixels, read_picture
from groupcm.utils.text import printable

__all__ = ["PictureLibrary", "Problems", "Stamp"]

Stamp = tuple[int, int]


class Problems:
    """One sentence for each picture that could not be read.

    Examples
    --------
    >>> problems = Problems()
    >>> try:
    ...     with problems.noting(7):
    ...         raise InputError("h.png is cut off")
    ... except InputError:
    ...     problems.sentence(7)
    'h.png is cut off'
    >>> problems.changed_since(0)
    (1, {7})
    >>> problems.forget(7)
    >>> problems.sentence(7), problems.changed_since(1)
    (None, (2, {7}))
    """

    def __init__(self) -> None:
        self._sentences: dict[int, str] = {}
        self._changed: list[int] = []
        self._lock = Lock()

    @property
    def n_pictures(self) -> int:
        """The number of pictures that are known to be unreadable."""
        return len(self._sentences)

    def sentence(self, number: int) -> str | None:
        """Return why a picture could not be read; None if it was read, or not tried yet."""
        return self._sentences.get(number)

    @contextmanager
    def noting(self, number: int) -> Iterator[None]:
        """Record the `InputError` of the block as the problem of a picture, and raise it."""
        try:
            yield
        except InputError as error:
            self._note(number, " ".join(str(error).split()))
            raise

    def forget(self, number: int, sentence: str | None = None) -> None:
        """Remove the problem of a picture; with a sentence, only if that is the problem."""
        with self._lock:
            noted = self._sentences.get(number)
            if noted is not None and sentence in (None, noted):
                del self._sentences[number]
                self._changed.append(number)

    def changed_since(self, revision: int) -> tuple[int, set[int]]:
        """Return the current revision, and the pictures that changed after an earlier one."""
        with self._lock:
            return len(self._changed), set(self._changed[revision:])

    def _note(self, number: int, sentence: str) -> None:
        with self._lock:
            if self._sentences.get(number) != sentence:
                self._sentences[number] = sentence
                self._changed.append(number)


class PictureLibrary:
    """The pictures of a folder and of the folders in it, numbered from 0.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> folder = Path(tempfile.mkdtemp())
    >>> Image.new("L", (3, 2)).save(folder / "a.png")
    >>> library = PictureLibrary(folder)
    >>> library.names, len(library), library.size(0), library.read(0).shape
    (['a.png'], 1, (3, 2), (2, 3))
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        found = list_picture_files(self.folder)
        warn_of_masks(self.folder, found.masks)
        self.names = found.pictures
        # The same as the warning, for the page.
        self.set_aside = sentence_of_masks(found.masks) if found.masks else None
        if not self.names:
            raise InputError(f"there is no picture in the folder {self.folder}")
        self._home = self.folder.resolve()
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._sizes: dict[tuple[int, Stamp], tuple[int, int]] = {}
        self._checked: dict[int, Stamp] = {}
        self.problems = Problems()

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int | None:
        """Return the number of the picture with a name, or None."""
        return self._numbers.get(name)

    def numbers(self, names: Sequence[str]) -> frozenset[int]:
        """Return the numbers of the pictures with these names; unknown names are left out."""
        return frozenset(self._numbers[name] for name in names if name in self._numbers)

    def page(self, number: int) -> int | None:
        """Return the page of a picture in a multi-page file, from 1; None for a single picture."""
        return self._file_and_page(number)[1]

    def path(self, number: int) -> Path:
        """Return the real path of the picture's file, with all links followed.

        A path that leads out of the folder is refused.
        """
        path = Path(os.path.realpath(self._file_and_page(number)[0]))
        if not path.is_relative_to(self._home):
            raise InputError(
                f"the picture {self.names[number]} is now a link that leads out of the folder "
                "of pictures; it is not shown"
            )
        return path

    def stamp(self, number: int) -> Stamp:
        """Return two numbers that change when the file of the picture does."""
        gone = printable(f"the picture {self.names[number]} no longer exists")
        with self.problems.noting(number):
            try:
                about = os.stat(self.path(number))
            except OSError as error:
                raise InputError(gone) from error
            self.problems.forget(number, gone)
            if not stat.S_ISREG(about.st_mode):
                raise InputError(f"the picture {self.names[number]} is no longer a file")
            return about.st_mtime_ns, about.st_size

    def read(self, number: int) -> Pixels:
        """Read the pixels in the orientation in which they are displayed."""
        with self.problems.noting(number):
            pixels = read_picture(self.path(number), self.page(number) or 1)
        self.problems.forget(number)
        return pixels

    def check(self, number: int) -> None:
        """Raise if the pixels cannot be read; they are read once for each stamp of the file."""
        stamp = self.stamp(number)
        if self._checked.get(number) != stamp:
            self.read(number)
            self._checked[number] = stamp

    def size(self, number: int) -> tuple[int, int]:
        """Return width and height; the pixels of a single picture are not read for it."""
        key = (number, self.stamp(number))
        if key not in self._sizes:
            if self.page(number) is None:
                with self.problems.noting(number):
                    self._sizes[key] = picture_size(self.path(number))
            else:
                height, width = self.read(number).shape[:2]
                self._sizes[key] = (width, height)
        return self._sizes[key]

    def _file_and_page(self, number: int) -> tuple[Path, int | None]:
        name = self.names[number]
        file, mark, page = name.rpartition("#")
        is_page = mark and page.isdecimal() and page.isascii()
        # The name of a file may contain the mark itself, also if the file is a broken link now.
        if is_page and not os.path.lexists(self.folder / name):
            return self.folder / file, int(page)
        return self.folder / name, None
