"""Windows of pictures as pictures of their own: a CSV file lists them, `cut_windows` writes them.

A window keeps the objects of which it shows at least half, cut at its border. A window that shows
less than half of an object, but some of it, is neither positive nor negative and is left out.
"""

from __future__ import annotations

import csv
import io
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from groupcm.annotations import AnnotatedObject, Annotations, Mask, Picture
from groupcm.annotations.parsing import text_of
from groupcm.annotations.pictures import pillow
from groupcm.errors import FileName, InputError
from groupcm.images.picture_set import PictureSet
from groupcm.images.reading import read_named
from groupcm.utils.files import whole_file
from groupcm.utils.progress import announce_stage
from groupcm.utils.text import counted

__all__ = ["Window", "cut_windows", "read_windows"]

_COLUMNS = ("image", "x0", "y0", "x1", "y1")
_LEAST_SHOWN = 0.5


@dataclass(frozen=True)
class Window:
    """A rectangle of a picture, in pixels; the right and lower edges are excluded."""

    picture: str
    left: int
    top: int
    right: int
    bottom: int

    @property
    def name(self) -> str:
        """The file name of the window."""
        stem = PurePosixPath(self.picture).with_suffix("").as_posix().replace("#", "_page_")
        return f"{stem}_{self.left}_{self.top}_{self.right}_{self.bottom}.png"


def read_windows(path: str | os.PathLike[str], names: list[str]) -> list[Window]:
    """Read windows from a CSV file with the columns ``image``, ``x0``, ``y0``, ``x1`` and ``y1``.

    Parameters
    ----------
    path : path
    names : list of str
        The pictures; the file may leave out their endings.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "windows.csv"
    >>> _ = path.write_text("image,x0,y0,x1,y1\\na,0,0,4,3\\n")
    >>> read_windows(path, ["a.png"])
    [Window(picture='a.png', left=0, top=0, right=4, bottom=3)]
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("there is no file ", FileName(path))
    text = text_of(path)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError(
            FileName(path), f" has no column {missing[0]!r}; windows have {', '.join(_COLUMNS)}"
        )
    known = {PurePosixPath(name).with_suffix("").as_posix(): name for name in names}
    known |= {name: name for name in names}
    windows = []
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        if row["image"] not in known:
            raise InputError(f"{where}: there is no picture {row['image']!r}")
        try:
            left, top, right, bottom = (int(float(row[name])) for name in _COLUMNS[1:])
        except (TypeError, ValueError):
            raise InputError(f"{where}: the edges of a window must be numbers") from None
        if not (0 <= left < right and 0 <= top < bottom):
            raise InputError(f"{where}: the window has no area, or begins before its picture")
        windows.append(Window(known[row["image"]], left, top, right, bottom))
    if not windows:
        raise InputError(FileName(path), " lists no windows")
    return windows


def cut_windows(
    pictures: PictureSet, windows: str | os.PathLike[str], output: str | os.PathLike[str]
) -> PictureSet:
    """Write windows of pictures as PNG files, with the annotations cut at their borders.

    Parameters
    ----------
    pictures : PictureSet
        As `groupcm.images.picture_set.read_picture_set` returns it.
    windows : path
        The CSV file; see `read_windows`. Windows of pictures that are left out are ignored.
    output : path
        The folder to write into; windows that are there already are not cut again.

    Returns
    -------
    PictureSet
        The windows, with the patients and splits of their pictures.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.picture_set import read_picture_set
    >>> from groupcm.images.synthetic import write_frames
    >>> home = Path(tempfile.mkdtemp())
    >>> _ = write_frames(home / "set", 2, share_with_polyps=0, height=48, width=64)
    >>> pictures = read_picture_set(home / "set")
    >>> rows = [f"{name},0,0,32,32" for name in pictures.names]
    >>> _ = (home / "windows.csv").write_text("\\n".join(["image,x0,y0,x1,y1", *rows]))
    >>> cut = cut_windows(pictures, home / "windows.csv", home / "windows")
    >>> len(cut.names), cut.annotations[cut.names[0]].width
    (2, 32)
    """
    used = set(pictures.names)
    listed = read_windows(windows, [*pictures.names, *pictures.left_out])
    by_picture: dict[str, list[Window]] = defaultdict(list)
    for window in dict.fromkeys(listed):
        if window.picture in used:
            by_picture[window.picture].append(window)
    announce_stage(f"cutting {counted(len(listed), 'window')}")
    found: list[Picture] = []
    owner: dict[str, str] = {}
    n_partial = 0
    for name, own in by_picture.items():
        for picture in _cut(pictures, name, own, Path(output)):
            if picture is None:
                n_partial += 1
                continue
            found.append(picture)
            owner[picture.name] = name
    partly = (
        f"{n_partial:,} of the windows listed show less than half of an object and are left out."
        if n_partial
        else ""
    )
    sentence = f"{counted(len(found), 'window')} of these pictures, listed by {windows}. {partly}"
    return replace(
        pictures,
        folder=Path(output),
        annotations=Annotations(tuple(found), pictures.annotations.categories),
        patients={each: pictures.patients[of] for each, of in owner.items() if pictures.patients}
        or owner,
        splits={each: pictures.splits[of] for each, of in owner.items() if pictures.splits},
        left_out=(),
        findings=(*pictures.findings, sentence.strip()),
    )


def _cut(
    pictures: PictureSet, name: str, windows: list[Window], output: Path
) -> Iterator[Picture | None]:
    """Yield the windows of a picture; None for one that shows a small part of an object."""
    known = pictures.annotations[name]
    pixels = None
    masks = [each.region.mask(known.height, known.width) for each in known.objects]
    for window in windows:
        if window.right > known.width or window.bottom > known.height:
            raise InputError(
                f"the window {window.left}, {window.top}, {window.right}, {window.bottom} of "
                f"{name!r} leaves the picture, which has {known.width} × {known.height} pixels"
            )
        inside = np.s_[window.top : window.bottom, window.left : window.right]
        shares = [mask[inside].sum() / max(1, mask.sum()) for mask in masks]
        if any(0.0 < share < _LEAST_SHOWN for share in shares):
            yield None
            continue
        path = output / window.name
        if not path.is_file():
            pixels = read_named(pictures.folder, name) if pixels is None else pixels
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as temporary:
                pillow().fromarray(pixels[inside]).save(temporary, format="PNG")
        objects = tuple(
            AnnotatedObject(each.category, Mask.from_array(mask[inside]))
            for each, mask, share in zip(known.objects, masks, shares, strict=True)
            if share > 0.0
        )
        size = window.right - window.left, window.bottom - window.top
        yield Picture(window.name, *size, objects, extra=dict(known.extra))
