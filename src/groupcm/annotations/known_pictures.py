"""The pictures that are known before an annotation file is read, and how it may name them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from groupcm.annotations.model import Annotations, relative_name
from groupcm.annotations.pictures import find_pictures, picture_size
from groupcm.errors import FileName, InputError
from groupcm.utils.text import composed

__all__ = ["KnownPictures", "NotThere", "Places"]

Places = Sequence[Sequence[str]]


class NotThere(ValueError):
    """A picture is not among the known ones; ``written`` is its name in the file."""

    def __init__(self, message: str, written: str) -> None:
        super().__init__(message)
        self.written = written


class KnownPictures:
    """The pictures that are known before a file is read: those of a folder, or of annotations.

    Examples
    --------
    >>> from groupcm.annotations import Picture
    >>> known = KnownPictures(Annotations([Picture("day/001.jpg", 384, 288)]))
    >>> known.name("day/001"), known.size("day/001.jpg")
    ('day/001.jpg', (384, 288))
    >>> known.name("002")
    Traceback (most recent call last):
    groupcm.annotations.known_pictures.NotThere: the picture '002' is not there
    """

    def __init__(self, images: str | os.PathLike[str] | Annotations) -> None:
        if isinstance(images, Annotations):
            self.folder = None
            self._sizes = {each.name: (each.width, each.height) for each in images}
            names = list(self._sizes)
        else:
            self.folder = Path(images)
            self._sizes = {}
            names = find_pictures(self.folder)
            if not names:
                raise InputError("there is no picture in the folder ", FileName(self.folder))
        self._names = frozenset(names)
        self._alike: dict[str, list[str]] = {}
        for name in names:
            for key in {composed(name), composed(os.path.splitext(name)[0])}:
                self._alike.setdefault(key, []).append(name)

    def name(self, written: str, places: Places | None = None) -> str:
        """Return the picture that a file refers to by a name, with or without its suffix.

        Parameters
        ----------
        written
            The name in the file.
        places
            Lists of possible names, the most certain first; by default the written one. Within
            one list at most one name may belong to a picture.
        """
        outside: ValueError | None = None
        for alternatives in places or [[written]]:
            found: dict[str, None] = {}
            for name in alternatives:
                try:
                    found |= dict.fromkeys(self._pictures_called(name))
                except ValueError as error:
                    outside = error if name == written else outside
            if len(found) > 1:
                first, second = list(found)[:2]
                same = PurePosixPath(first).parent == PurePosixPath(second).parent
                raise ValueError(
                    f"the picture {written!r} may be {first!r} or {second!r}; write the "
                    + ("ending" if same else "folder")
                )
            if found:
                return next(iter(found))
        if outside is not None:
            raise outside
        where = "" if self.folder is None else f" in {self.folder}"
        raise NotThere(f"the picture {written!r} is not there{where}", written)

    def with_base_name(self, name: str) -> list[str]:
        """Return all pictures of this file name, in any folder."""
        plain = composed(PurePosixPath(name).name)
        return [each for each in sorted(self._names) if composed(PurePosixPath(each).name) == plain]

    def within(self, path: Path) -> str | None:
        """Return the name that a path has as a picture; None outside of the folder."""
        if self.folder is None:
            return None
        target, root = path.resolve(), self.folder.resolve()
        if target == root or not target.is_relative_to(root):
            return None
        return target.relative_to(root).as_posix()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def size(self, name: str) -> tuple[int, int]:
        """Return the width and height of a picture."""
        if name not in self._sizes:
            assert self.folder is not None
            self._sizes[name] = picture_size(self.folder / name)
        return self._sizes[name]

    def _pictures_called(self, written: str) -> list[str]:
        """Return the pictures of exactly this name, or else those with this name and any suffix."""
        if written in self._names:
            return [written]
        name = relative_name(written)
        return [name] if name in self._names else self._alike.get(composed(name), [])
