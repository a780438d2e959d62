"""The pictures that are known before an annotation file is read."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePosixPath

from groupcm.annotations.model import Annotations
from groupcm.annotations.names import relative_name
from groupcm.annotations.pictures import find_pictures, picture_size
from groupcm.errors import InputError

__all__ = ["KnownPictures", "NotThere"]


class NotThere(ValueError):
    """A picture that is not among those known; ``written`` is how the file calls it."""

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

    def __init__(self, images: str | Path | Annotations) -> None:
        if isinstance(images, Annotations):
            self.folder = None
            self._sizes = {each.name: (each.width, each.height) for each in images}
            names = list(self._sizes)
        else:
            self.folder = Path(images)
            self._sizes = {}
            names = find_pictures(self.folder)
            if not names:
                raise InputError(f"there is no picture in the folder {self.folder}")
        self._names = frozenset(names)
        self._alike: dict[str, list[str]] = {}
        for name in names:
            for key in {_plain(name), _plain(str(PurePosixPath(name).with_suffix("")))}:
                self._alike.setdefault(key, []).append(name)

    def name(self, written: str, beside: Path | None = None) -> str:
        """Find the picture that a file means by a name, with or without its ending.

        ``beside`` is the folder the name starts from where that is not the folder of pictures.
        """
        if written in self._names:
            return written
        name = self._from(beside, written) if beside else relative_name(written)
        if name in self._names:
            return name
        found = self._alike.get(_plain(name), [])
        if len(found) > 1:
            raise ValueError(
                f"the picture {written!r} may be {found[0]!r} or {found[1]!r}; write the ending"
            )
        if not found:
            where = "" if self.folder is None else f" in {self.folder}"
            raise NotThere(f"the picture {written!r} is not there{where}", written)
        return found[0]

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def size(self, name: str) -> tuple[int, int]:
        """Width and height of a picture."""
        if name not in self._sizes:
            assert self.folder is not None
            self._sizes[name] = picture_size(self.folder / name)
        return self._sizes[name]

    def _from(self, beside: Path, written: str) -> str:
        """Name relative to the folder of pictures of what a file in ``beside`` points at."""
        if self.folder is not None:
            target = (beside / written.replace("\\", "/")).resolve()
            root = self.folder.resolve()
            if target.is_relative_to(root) and target != root:
                return target.relative_to(root).as_posix()
        return relative_name(written)


def _plain(name: str) -> str:
    """Form in which the two ways to write an accent are equal."""
    return unicodedata.normalize("NFC", name)
