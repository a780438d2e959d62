"""Overlays: pictures with the outline and the score of the winning candidate, and the truth.

- The candidate that locates the object has a thick outline and a tag with the score: amber, or grey
  where the picture is below the threshold.
- Other candidates that score at least the threshold have a thin amber outline.
- Annotated objects have a dashed blue outline.

The colours are distinguishable with any kind of colour blindness. Overlay files contain a comment
by which `is_overlay` recognises them, so that writing overlays never replaces another file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow
from groupcm.errors import InputError
from groupcm.images._drawing import Canvas, Colour
from groupcm.images.display import to_screen
from groupcm.images.reading import Pixels
from groupcm.images.regions import Regions
from groupcm.images.scoring.score import PictureScore
from groupcm.utils.files import whole_file
from groupcm.utils.text import composed

__all__ = [
    "check_overlay_folder",
    "draw_overlay",
    "is_overlay",
    "overlay_names",
    "write_overlay",
]

_JPEG = (".jpg", ".jpeg")
_COMMENT = "groupcm overlay"
_FOUND: Colour = (255, 194, 10)
_NO_ALARM: Colour = (224, 224, 228)
_TRUTH: Colour = (86, 196, 255)


def draw_overlay(
    pixels: Pixels, found: PictureScore, *, truth: Regions | None = None
) -> NDArray[np.uint8]:
    """Draw the score of a picture and the candidates found in it.

    Parameters
    ----------
    pixels
        As `groupcm.images.reading.read_picture` returns them.
    found
        The candidates and their scores.
    truth
        The annotated objects, if they are known.

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
    shown = to_screen(pixels)
    canvas = Canvas(shown if shown.ndim == 3 else np.repeat(shown[:, :, None], 3, axis=2))
    for place in found.marked[::-1]:
        if place != found.located:
            canvas.outline(found.regions, int(place), _FOUND, thickness=0.45)
    colour = _NO_ALARM if found.alarm is False else _FOUND
    if found.located >= 0:
        canvas.outline(found.place, 0, colour)
    if truth is not None:
        # Drawn last: where both agree, the outline shows between the dashes.
        for place in range(len(truth)):
            canvas.outline(truth, place, _TRUTH, thickness=0.8, dashed=True)
    place = found.place.edges[0] if found.located >= 0 else np.zeros(4)
    canvas.tag(_score_text(found), place, colour)
    return canvas.pixels()


def _score_text(found: PictureScore) -> str:
    text = f"{found.score:+.2f}" if found.winner >= 0 else "nothing proposed"
    return text if found.probability is None else f"{text}  {100 * found.probability:.0f} %"


def overlay_names(names: Iterable[str]) -> dict[str, str]:
    """Return a distinct file name for the overlay of each picture.

    Folders, spaces and accents stay. JPEG files and frames of videos become JPEG, others PNG.

    Examples
    --------
    >>> overlay_names(["day 1/été.JPG", "a.tif#3", "b.tif", "b.png", "frame 000001"])
    {'day 1/été.JPG': 'day 1/été.JPG', 'a.tif#3': 'a_3.png', 'b.tif': 'b.png',
     'b.png': 'b_png.png', 'frame 000001': 'frame 000001.jpg'}
    """
    chosen_names: dict[str, str] = {}
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
        while _normalised(chosen) in taken:
            number = f"_{count}" if count > 1 else ""
            chosen, count = f"{stem}_{suffix[1:] or 'frame'}{number}{ending}", count + 1
        taken.add(_normalised(chosen))
        chosen_names[name] = chosen
    return chosen_names


def write_overlay(picture: NDArray[np.uint8], path: str | os.PathLike[str]) -> None:
    """Write an overlay atomically as PNG or JPEG, by its suffix, with the comment that marks it.

    Missing folders are created. Only another overlay is replaced.
    """
    path = Path(path)
    _require_replaceable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = pillow().fromarray(picture)
    with whole_file(path) as temporary:
        if path.suffix.lower() in _JPEG:
            drawn.save(temporary, "JPEG", quality=92, comment=_COMMENT)
        else:
            from PIL.PngImagePlugin import PngInfo

            notes = PngInfo()
            notes.add_text("Software", _COMMENT)
            drawn.save(temporary, "PNG", pnginfo=notes)


def is_overlay(path: str | os.PathLike[str]) -> bool:
    """Return whether `write_overlay` wrote a file, which then may be replaced.

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
            comment = picture.info.get("comment", picture.info.get("Software"))
    except (OSError, SyntaxError, ValueError):
        return False
    return comment in (_COMMENT, _COMMENT.encode())


def check_overlay_folder(
    folder: str | os.PathLike[str], pictures: str | os.PathLike[str] | None, names: Iterable[str]
) -> None:
    """Raise if overlays in a folder would replace other files or be mixed with the pictures."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write overlays to {folder}: it is a file; name a folder")
    if pictures is not None:
        there, here = folder.resolve(), Path(pictures).resolve()
        if there.is_relative_to(here) or here.is_relative_to(there):
            raise InputError(
                f"cannot write overlays to {folder}: it would mix them with the pictures in "
                f"{pictures}; name a folder next to it"
            )
    for name in names:
        _require_replaceable(folder / name)


def _require_replaceable(path: Path) -> None:
    if path.exists() and not is_overlay(path):
        raise InputError(
            f"cannot write the overlay {path}: a file that groupcm did not make is there; "
            "name another folder for overlays"
        )


def _normalised(name: str) -> str:
    """Return a form in which names are equal that some file systems do not distinguish."""
    return composed(name).casefold()
