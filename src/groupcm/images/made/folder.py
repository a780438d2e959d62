"""Made frames as files: PNG pictures, and what is in them in COCO's format."""

from __future__ import annotations

import os
from typing import Any

from groupcm.annotations import Annotations, write
from groupcm.annotations.pictures import pillow
from groupcm.files import whole_folder
from groupcm.images.made.frames import make_frames

__all__ = ["ANNOTATION_FILE", "PICTURE_FOLDER", "write_frames"]

ANNOTATION_FILE = "annotations.json"
PICTURE_FOLDER = "frames"


def write_frames(folder: str | os.PathLike[str], n_frames: int = 40, **options: Any) -> Annotations:
    """Write made frames into a new or empty folder, whole or not at all.

    Pictures lie in its folder ``frames``; ``annotations.json`` beside it marks the polyps, and
    tells the patient of every picture.

    Parameters
    ----------
    folder
        Where.
    n_frames, options
        As for `make_frames`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm.annotations import read
    >>> folder = Path(tempfile.mkdtemp())
    >>> marked = write_frames(folder, 2, share_with_polyps=0.5, height=48, width=64)
    >>> sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    ['annotations.json', 'frames/patient1_frame1.png', 'frames/patient1_frame2.png']
    >>> [len(picture.objects) for picture in read(folder / "annotations.json")]
    [1, 0]
    """
    image = pillow()
    frames = make_frames(n_frames, **options)
    pictures = []
    with whole_folder(folder) as beside:
        (beside / PICTURE_FOLDER).mkdir()
        for frame in frames:
            image.fromarray(frame.pixels).save(beside / PICTURE_FOLDER / frame.picture.name)
            pictures.append(frame.picture)
        marked = Annotations(tuple(pictures), ("polyp",))
        write(marked, beside / ANNOTATION_FILE, "coco")
    return marked
