"""Annotations of more pictures than are there, such as those of a test set within a larger file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groupcm.annotations.files import FORMATS
from groupcm.annotations.known_pictures import KnownPictures, NotThere, Places
from groupcm.annotations.model import Annotations
from groupcm.annotations.names import relative_name
from groupcm.annotations.reading import Reading, Unannotated
from groupcm.annotations.sniffing import sniff

__all__ = ["ReadingSome", "read_some"]

_SIZE_OF_NO_INTEREST = (60_000, 60_000)


def read_some(
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | Annotations,
    unannotated: Unannotated = "todo",
) -> tuple[Annotations, list[str]]:
    """Read annotations, and tell which of their pictures are not in the folder of pictures.

    Those are left out where each picture has a file of annotations of its own. Other formats keep
    them, so that whoever wants them left out does so by these names.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> home = Path(tempfile.mkdtemp())
    >>> Image.new("L", (9, 6)).save(home / "a.png")
    >>> path = home / "boxes.csv"
    >>> _ = path.write_text(
    ...     "image,x,y,width,height,category\\na.png,1,2,3,4,polyp\\nb.png,10,20,30,40,polyp\\n"
    ... )
    >>> read_some(path, home)[1]
    ['b.png']
    """
    path, format = Path(path), FORMATS[sniff(Path(path))]
    pictures = images if isinstance(images, Annotations) else Path(images)
    known = _SomeKnown(pictures, keeps_others=not format.folder)
    reading = ReadingSome(path, known, unannotated)
    read = format.read(reading)
    others = [picture.name for picture in read if picture.name not in known]
    return read, reading.missing + others


class _SomeKnown(KnownPictures):
    """Known pictures; others go by the name they are written with, or raise `NotThere`."""

    def __init__(self, images: Path | Annotations, keeps_others: bool) -> None:
        super().__init__(images)
        self._keeps_others = keeps_others

    def name(self, written: str, places: Places | None = None) -> str:
        try:
            return super().name(written, places)
        except NotThere:
            if self._keeps_others:
                return relative_name(written)
            raise

    def size(self, name: str) -> tuple[int, int]:
        return super().size(name) if name in self else _SIZE_OF_NO_INTEREST


class ReadingSome(Reading):
    """Reading that goes on after pictures that are not there, and after nothing else."""

    def __init__(self, path: Path, known: KnownPictures, unannotated: Unannotated = "todo") -> None:
        super().__init__(path, known, unannotated=unannotated)
        self.missing: list[str] = []

    @contextmanager
    def perhaps(self, place: str) -> Iterator[None]:
        with super().perhaps(place):
            try:
                yield
            except NotThere as error:
                self.missing.append(error.written)
