"""``python -m docs.pictures.frames DEMO``: frames of ``groupcm demo -o DEMO`` on one sheet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import pyarrow.parquet as pq
from PIL import Image, ImageDraw, ImageFont

from groupcm import annotations

SHEET = Path(__file__).with_name("frames.jpg")
WIDTH, COLUMNS, GAP = 1600, 4, 16
PAPER, INK = (255, 255, 255), (60, 60, 66)


def main(demo: Path) -> None:
    """With polyps: two best alarms, the faintest, the best that is none; then four without."""
    marked = annotations.read(demo / "test" / "annotations.json")
    rows = pq.read_table(demo / "scores.parquet").select(["image", "score", "alarm"]).to_pylist()
    rows.sort(key=lambda row: -row["score"])
    found = [row for row in rows if marked[row["image"]].is_positive and row["alarm"]]
    missed = [row for row in rows if marked[row["image"]].is_positive and not row["alarm"]]
    false = [row for row in rows if not marked[row["image"]].is_positive and row["alarm"]]
    quiet = [row for row in rows if not marked[row["image"]].is_positive and not row["alarm"]]
    shown = [
        *((row, "polyp, alarm") for row in (*found[:2], found[-1])),
        *((row, "polyp, no alarm") for row in missed[:1]),
        *((row, "no polyp, alarm") for row in false[:2]),
        *((row, "no polyp, no alarm") for row in (quiet[0], quiet[-1])),
    ]
    overlays = [Image.open(demo / "overlays" / row["image"]) for row, _ in shown]
    contact_sheet(overlays, [caption for _, caption in shown]).save(SHEET, quality=85)


def contact_sheet(pictures: Sequence[Image.Image], captions: Sequence[str]) -> Image.Image:
    """Arrange pictures of one size on a white sheet, row by row, with a caption under each."""
    wide = (WIDTH - GAP) // COLUMNS - GAP
    high = round(wide * pictures[0].height / pictures[0].width)
    font = ImageFont.load_default(round(wide / 22))
    step = high + 2 * GAP + GAP
    sheet = Image.new("RGB", (WIDTH, GAP + ceil(len(pictures) / COLUMNS) * step), PAPER)
    draw = ImageDraw.Draw(sheet)
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        row, column = divmod(place, COLUMNS)
        left, top = GAP + column * (wide + GAP), GAP + row * step
        sheet.paste(picture.resize((wide, high), Image.Resampling.LANCZOS), (left, top))
        draw.text((left + wide / 2, top + high + GAP), caption, INK, font, anchor="mm")
    return sheet


if __name__ == "__main__":
    main(Path(sys.argv[1]))
