"""``python -m docs.pictures.frames DEMO``: frames of ``groupcm demo -o DEMO`` on one sheet."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from groupcm import annotations
from groupcm.images.overlay import contact_sheet

SHEET = Path(__file__).with_name("frames.jpg")


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
    overlays = [np.array(Image.open(demo / "overlays" / row["image"])) for row, _ in shown]
    sheet = contact_sheet(overlays, [told for _, told in shown], width=1600)
    Image.fromarray(sheet).save(SHEET, quality=85)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
