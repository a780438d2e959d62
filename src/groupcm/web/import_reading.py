"""Reading annotations for the pictures of a library, of which the file may name others too."""

from __future__ import annotations

from pathlib import Path

from groupcm.annotations import Annotations, Picture
from groupcm.annotations.known_pictures import KnownPictures, NotThere, Places
from groupcm.annotations.names import relative_name
from groupcm.annotations.reading import Unannotated
from groupcm.annotations.some_pictures import ReadingSome
from groupcm.web.library import PictureLibrary

__all__ = ["ImportReading"]


class _LibraryPictures(KnownPictures):
    """The pictures of a library; sizes are read when they are asked for."""

    def __init__(self, library: PictureLibrary, tolerant: bool) -> None:
        super().__init__(Annotations(tuple(Picture(name, 1, 1) for name in library.names)))
        self.folder = library.folder
        self._library = library
        self._tolerant = tolerant

    def name(self, written: str, places: Places | None = None) -> str:
        try:
            return super().name(written, places)
        except ValueError as error:
            if self._tolerant:
                return relative_name(written)
            raise NotThere(str(error), written) from error

    def size(self, name: str) -> tuple[int, int]:
        number = self._library.number(name)
        # A picture that is not there is left out later, whatever its size.
        return (1000, 1000) if number is None else self._library.size(number)


class ImportReading(ReadingSome):
    """Reading that goes on after pictures that a library does not have, and after nothing else."""

    def __init__(
        self, path: Path, library: PictureLibrary, tolerant: bool, unannotated: Unannotated = "todo"
    ) -> None:
        super().__init__(path, _LibraryPictures(library, tolerant), unannotated)
