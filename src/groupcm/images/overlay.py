"""Pictures that show what a model found: the winner's outline, its score, and the truth.

- The candidate that tells where the object is has a thick outline and a tag with the score:
  amber, or grey where the picture raises no alarm.
- Other candidates that score at least the threshold have a thin amber outline.
- What people marked has a dashed blue outline.

These colours can be told apart by people with any kind of colour blindness.

Overlays as files: names that replace nothing, and a mark by which an overlay is known.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow
from groupcm.errors import InputError
from groupcm.images.display import to_screen
from groupcm.images.drawing import Canvas, Colour
from groupcm.images.reading import Pixels
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScore
from groupcm.utils.files import whole_file

__all__ = ["check_overlay_folder", "draw_overlay", "is_overlay", "overlay_names", "write_overlay"]

_FOUND: Colour = (255, 194, 10)
_NO_ALARM: Colour = (224, 224, 228)
_TRUTH: Colour = (86, 196, 255)


def draw_overlay(
    pixels: Pixels, found: PictureScore, *, truth: Regions | None = None
) -> NDArray[np.uint8]:
    """Draw what was found onto a picture.

    Parameters
    ----------
    pixels
        As `groupcm.images.reading.read_picture` gives them.
    found
        What the model found in it.
    truth
        What people marked in it, where that is known.

    Returns
    -------
    array of shape (height, width, 3)
        The picture, enlarged where it has few pixels.

    Examples
    --------
    >>> regions = Regions.from_boxes([[5, 5, 20, 20], [30, 8, 40, 22]], 36, 48)
    >>> found = PictureScore("a.png", regions, np.array([1.2, 0.4]), winner=0, located=0)
    >>> draw_overlay(np.zeros((36, 48), dtype=np.uint8), found).shape
    (360, 480, 3)
    """
    canvas = Canvas(_as_seen(pixels))
    for place in found.marked[::-1]:
        if place != found.located:
            canvas.outline(found.regions, int(place), _FOUND, thickness=0.45)
    colour = _NO_ALARM if found.alarm is False else _FOUND
    if found.located >= 0:
        canvas.outline(found.regions, found.located, colour)
    if truth is not None:
        # On top: where both agree the outline shows between the dashes.
        for place in range(len(truth)):
            canvas.outline(truth, place, _TRUTH, thickness=0.8, dashed=True)
    place = found.regions.edges[found.located] if found.located >= 0 else np.zeros(4)
    canvas.tag(_score_text(found), place, colour)
    return canvas.pixels()


def _as_seen(pixels: Pixels) -> NDArray[np.uint8]:
    """Return 8 bits per colour, as the pages show the picture."""
    seen = to_screen(pixels)
    return seen if seen.ndim == 3 else np.repeat(seen[:, :, None], 3, axis=2)


def _score_text(found: PictureScore) -> str:
    text = f"{found.score:+.2f}" if found.winner >= 0 else "nothing proposed"
    return text if found.probability is None else f"{text}  {100 * found.probability:.0f} %"


_JPEG = (".jpg", ".jpeg")
_MADE_BY = "groupcm overlay"


def overlay_names(names: Iterable[str]) -> dict[str, str]:
    """Name the file of each picture's overlay, no two alike.

    Folders, spaces and accents stay. JPEG files and frames of videos become JPEG, others PNG.

    Examples
    --------
    >>> overlay_names(["day 1/été.JPG", "a.tif#3", "b.tif", "b.png", "frame 000001"])
    {'day 1/été.JPG': 'day 1/été.JPG', 'a.tif#3': 'a_3.png', 'b.tif': 'b.png',
     'b.png': 'b_png.png', 'frame 000001': 'frame 000001.jpg'}
    """
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        path = PurePosixPath(name)
        suffix, _, page = path.suffix.partition("#")
        if path.suffix:
            stem = str(path.with_suffix("")) + (f"_{page}" if page else "")
            ending = suffix if suffix.lower() in (*_JPEG, ".png") else ".png"
        else:
            stem, ending = name, ".jpg"
        chosen, count = stem + ending, 1
        while _alike(chosen) in taken:
            again = f"_{count}" if count > 1 else ""
            chosen, count = f"{stem}_{suffix[1:] or 'frame'}{again}{ending}", count + 1
        taken.add(_alike(chosen))
        made[name] = chosen
    return made


def write_overlay(picture: NDArray[np.uint8], path: str | os.PathLike[str]) -> None:
    """Write a picture as PNG or JPEG by its name, whole or not at all, and mark it as ours.

    Folders are made where they are missing. Only an older overlay is replaced.
    """
    path = Path(path)
    _require_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = pillow().fromarray(picture)
    with whole_file(path) as beside:
        if path.suffix.lower() in _JPEG:
            drawn.save(beside, "JPEG", quality=92, comment=_MADE_BY)
        else:
            from PIL.PngImagePlugin import PngInfo

            notes = PngInfo()
            notes.add_text("Software", _MADE_BY)
            drawn.save(beside, "PNG", pnginfo=notes)


def is_overlay(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an overlay that `write_overlay` wrote, which may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.jpg"
    >>> write_overlay(np.zeros((4, 4, 3), dtype=np.uint8), path)
    >>> is_overlay(path)
    True
    >>> is_overlay(__file__)
    False
    """
    try:
        with pillow().open(path) as picture:
            made_by = picture.info.get("comment", picture.info.get("Software"))
    except (OSError, SyntaxError, ValueError):
        return False
    return made_by in (_MADE_BY, _MADE_BY.encode())


def check_overlay_folder(
    folder: str | os.PathLike[str], pictures: str | os.PathLike[str] | None, names: Iterable[str]
) -> None:
    """Refuse a folder in which overlays would replace what is no overlay, or join the pictures."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write overlays to {folder}: it is a file; name a folder")
    if pictures is not None:
        there, here = folder.resolve(), Path(pictures).resolve()
        if there.is_relative_to(here) or here.is_relative_to(there):
            raise InputError(
                f"cannot write overlays to {folder}: it would mix them with the pictures in "
                f"{pictures}; name a folder beside it"
            )
    for name in names:
        _require_replaceable(folder / name)


def _require_replaceable(path: Path) -> None:
    if path.exists() and not is_overlay(path):
        raise InputError(
            f"cannot write the overlay {path}: a file that groupcm did not make is there; "
            "name another folder for overlays"
        )


def _alike(name: str) -> str:
    """Names that some file system cannot tell apart become equal."""
    return unicodedata.normalize("NFC", name).casefold()
