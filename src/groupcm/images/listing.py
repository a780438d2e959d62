"""Lists of the pictures in a folder, in natural order."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from groupcm.annotations.model import relative_name
from groupcm.annotations.pictures import PictureFiles, picture_files, warn_of_masks
from groupcm.errors import InputError
from groupcm.images.reading import page_count

__all__ = ["is_picture_folder", "list_picture_files", "list_pictures", "natural_order"]

_MAY_HAVE_PAGES = (".tif", ".tiff", ".gif", ".webp")
_NUMBER = re.compile(r"(\d+)")


def list_pictures(folder: str | os.PathLike[str], *, pages: bool = True) -> list[str]:
    """List all pictures in a folder and its subfolders, ``frame 2`` before ``frame 10``.

    Parameters
    ----------
    folder
        Links that lead out of the folder are an error. Links to folders within it are not
        followed, so that nothing is listed twice. Masks stored with their pictures are left out,
        with a warning that counts them.
    pages
        List the pages of a stack one by one, as ``stack.tif#1``, ``stack.tif#2``, ….

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("frame 10.png", "frame 2.png", "Été.jpg", "notes.txt"):
    ...     (folder / name).touch()
    >>> list_pictures(folder)
    ['Été.jpg', 'frame 2.png', 'frame 10.png']
    """
    found = list_picture_files(folder, pages=pages)
    warn_of_masks(folder, found.masks)
    return found.pictures


def is_picture_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder with pictures in it, or in its subfolders.

    Examples
    --------
    >>> import tempfile
    >>> is_picture_folder(tempfile.mkdtemp())
    False
    """
    return Path(path).is_dir() and bool(picture_files(path).pictures)


def list_picture_files(folder: str | os.PathLike[str], *, pages: bool = True) -> PictureFiles:
    """Return the pictures that `list_pictures` lists, and the masks that it leaves out."""
    folder = Path(folder)
    found = picture_files(folder)
    names = sorted(found.pictures, key=natural_order)
    _refuse_links_that_leave(folder, names)
    for name in names:
        try:
            relative_name(name)
        except ValueError as error:
            raise InputError(f"in the folder {folder}, {error}; rename the file") from error
    if pages:
        names = [each for name in names for each in _with_pages(folder, name)]
    return PictureFiles(names, found.masks)


def natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return a sort key by the value of numbers within names, ignoring case and accents.

    Examples
    --------
    >>> sorted(["a10", "a9", "B1", "á2"], key=natural_order)
    ['á2', 'a9', 'a10', 'B1']
    """
    plain = name
    if not name.isascii():
        apart = unicodedata.normalize("NFKD", name)
        plain = "".join(each for each in apart if not unicodedata.combining(each))
    plain = plain.casefold()
    parts = _NUMBER.split(plain)
    texts, numbers = parts[::2], [int(digits) for digits in parts[1::2]]
    return list(zip(texts, [*numbers, -1], strict=True)), name


def _with_pages(folder: Path, name: str) -> list[str]:
    if not name.lower().endswith(_MAY_HAVE_PAGES):
        return [name]
    try:
        count = page_count(folder / name)
    except InputError:
        return [name]  # reading it raises the error
    return [name] if count == 1 else [f"{name}#{page}" for page in range(1, count + 1)]


def _refuse_links_that_leave(folder: Path, names: list[str]) -> None:
    home = folder.resolve()
    for path in _links(folder, set(names)):
        target = Path(os.path.realpath(path))
        if not target.is_relative_to(home):
            raise InputError(
                f"{path} is a link that leads out of the folder of pictures, to {target}; "
                "copy the pictures into the folder or give the other folder"
            )


def _links(folder: Path, names: set[str], inside: str = "") -> Iterator[Path]:
    """Yield the links to folders and to these pictures; only they are resolved, which is slow."""
    try:
        found = os.scandir(folder / inside)
    except PermissionError:  # the listing of pictures leaves such a folder out, too
        return
    with found as entries:
        for entry in entries:
            name = f"{inside}{entry.name}"
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                if name in names or entry.is_dir():
                    yield folder / name
            elif entry.is_dir():
                yield from _links(folder, names, f"{name}/")
