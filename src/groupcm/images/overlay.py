"""Pictures that show what a model found: the winner's outline, its score, and the truth.

- The candidate that tells where the object is has a thick outline and a tag with the score:
  amber, or grey where the picture raises no alarm.
- Other candidates that score at least the threshold have a thin amber outline.
- What people marked has a dashed blue outline.

These colours can be told apart by people with any kind of colour blindness.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.pictures import pillow
from groupcm.images.display import to_screen
from groupcm.images.drawing import Canvas, Colour, font_of
from groupcm.images.reading import Pixels
from groupcm.images.regions import Regions
from groupcm.images.score import PictureScore

__all__ = ["contact_sheet", "draw_overlay"]

_FOUND: Colour = (255, 194, 10)
_NO_ALARM: Colour = (224, 224, 228)
_TRUTH: Colour = (86, 196, 255)
_PAPER: Colour = (255, 255, 255)
_INK: Colour = (60, 60, 66)


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


def contact_sheet(
    pictures: Sequence[NDArray[np.uint8]],
    captions: Sequence[str] = (),
    *,
    columns: int = 4,
    width: int = 1280,
) -> NDArray[np.uint8]:
    """Put pictures side by side on one white sheet, row by row.

    Parameters
    ----------
    pictures
        RGB, of any sizes, such as overlays of the pictures of highest score.
    captions
        A line under each, shortened where it is too long; accents are left out.
    columns
        Pictures in a row.
    width
        Of the sheet, in pixels.

    Examples
    --------
    >>> tall, wide = np.zeros((80, 40, 3), np.uint8), np.zeros((40, 80, 3), np.uint8)
    >>> contact_sheet([tall, wide, wide], ["1st", "2nd", "3rd"], columns=2, width=400).shape
    (244, 400, 3)
    """
    if not pictures:
        raise ValueError("there are no pictures for the sheet; give one or more")
    if captions and len(captions) != len(pictures):
        raise ValueError(f"{len(captions)} captions for {len(pictures)} pictures; give one each")
    columns = min(columns, len(pictures))
    gap = max(4, width // 100)
    cell = (width - gap) // columns - gap
    aspect = float(np.median([picture.shape[0] / picture.shape[1] for picture in pictures]))
    font = font_of(max(11, round(cell / 22)))
    line = round(1.7 * font.size) if captions else 0
    high = max(1, round(cell * min(aspect, 1.5)))
    rows = ceil(len(pictures) / columns)
    image = pillow()
    sheet = image.new("RGB", (width, gap + rows * (high + line + gap)), _PAPER)
    from PIL import ImageDraw

    draw = ImageDraw.Draw(sheet)
    for place, picture in enumerate(pictures):
        row, column = divmod(place, columns)
        left, top = gap + column * (cell + gap), gap + row * (high + line + gap)
        zoom = min(cell / picture.shape[1], high / picture.shape[0])
        size = max(1, round(picture.shape[1] * zoom)), max(1, round(picture.shape[0] * zoom))
        shown = image.fromarray(picture).resize(size, image.Resampling.LANCZOS)
        sheet.paste(shown, (left + (cell - size[0]) // 2, top + (high - size[1]) // 2))
        if captions:
            text = _shortened(captions[place], font, cell)
            draw.text((left + cell / 2, top + high + line / 2), text, _INK, font, anchor="mm")
    return np.array(sheet)


def _as_seen(pixels: Pixels) -> NDArray[np.uint8]:
    """Return 8 bits per colour, as the pages show the picture."""
    seen = to_screen(pixels)
    return seen if seen.ndim == 3 else np.repeat(seen[:, :, None], 3, axis=2)


def _score_text(found: PictureScore) -> str:
    text = f"{found.score:+.2f}" if found.winner >= 0 else "nothing proposed"
    return text if found.probability is None else f"{text}  {100 * found.probability:.0f} %"


def _shortened(text: str, font: Any, width: int) -> str:
    """Letters that the font has, and as many as fit."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    if font.getlength(plain) <= width:
        return plain
    while plain and font.getlength(plain + "…") > width:
        plain = plain[:-1]
    return plain + "…"
