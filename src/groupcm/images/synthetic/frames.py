"""Synthetic frames of capsule endoscopy, in memory or as files, with exact masks of the polyps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations import AnnotatedObject, Annotations, Mask, Picture, write
from groupcm.annotations.pictures import pillow
from groupcm.images.synthetic._rendering import (
    add_bubbles,
    colour_tissue,
    lit,
    make_wall,
    place_polyp,
    seen_by_camera,
    swell,
)
from groupcm.images.synthetic._scene import Patient, Polyp, draw_patient
from groupcm.utils.files import whole_folder
from groupcm.utils.typing import Flags

__all__ = ["ANNOTATION_FILE", "PICTURE_FOLDER", "SyntheticFrame", "make_frames", "write_frames"]

# Streams of random numbers.
_FOR_PATIENTS, _FOR_FRAMES, _FOR_CHOICE = range(3)
_SMALLEST_SIDE = 16
ANNOTATION_FILE = "annotations.json"
PICTURE_FOLDER = "frames"


@dataclass(frozen=True, eq=False)
class SyntheticFrame:
    """A synthetic frame.

    Attributes
    ----------
    pixels
        Red, green and blue, shape (height, width, 3).
    picture
        Name, size, and polyps as masks.
    patient
        Name of the patient; the frames of a patient share tissue colour, folds and polyps.
    """

    pixels: NDArray[np.uint8]
    picture: Picture
    patient: str


def make_frames(
    n_frames: int = 40,
    *,
    share_with_polyps: float = 0.3,
    n_patients: int | None = None,
    height: int = 288,
    width: int = 384,
    seed: int = 0,
) -> Iterator[SyntheticFrame]:
    """Generate synthetic frames one by one, patient by patient.

    Parameters
    ----------
    n_frames
        Number of frames.
    share_with_polyps
        Share of the frames that show a polyp, from 0 to 1, rounded to whole frames.
    n_patients
        Number of patients; by default one per ten frames.
    height, width
        Size of a frame, at least 16 pixels each.
    seed
        Seed of the random numbers; equal seeds give equal frames.

    Examples
    --------
    >>> frames = list(make_frames(4, share_with_polyps=0.5, height=48, width=64, seed=1))
    >>> [(frame.picture.name, len(frame.picture.objects)) for frame in frames]
    [('patient1_frame1.png', 0), ('patient1_frame2.png', 1),
     ('patient1_frame3.png', 0), ('patient1_frame4.png', 1)]
    >>> frames[0].pixels.shape, frames[0].pixels.dtype
    ((48, 64, 3), dtype('uint8'))
    """
    n_patients = max(1, n_frames // 10) if n_patients is None else n_patients
    for name, value, least in (
        ("n_frames", n_frames, 1),
        ("n_patients", n_patients, 1),
        ("height", height, _SMALLEST_SIDE),
        ("width", width, _SMALLEST_SIDE),
        ("seed", seed, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} must be a whole number at least {least}; got {value!r}.")
    if not 0 <= share_with_polyps <= 1:
        raise ValueError(f"share_with_polyps must be from 0 to 1; got {share_with_polyps!r}.")
    chosen = np.random.default_rng([seed, _FOR_CHOICE]).permutation(n_frames)
    with_polyp = set(chosen[: round(n_frames * share_with_polyps)].tolist())
    return _frames(n_frames, with_polyp, min(n_patients, n_frames), height, width, seed)


def _frames(
    n_frames: int, with_polyp: set[int], n_patients: int, height: int, width: int, seed: int
) -> Iterator[SyntheticFrame]:
    digits = len(str(n_patients)), len(str(n_frames))
    for place in range(n_frames):
        whose = place * n_patients // n_frames
        patient = draw_patient(np.random.default_rng([seed, _FOR_PATIENTS, whose]))
        rng = np.random.default_rng([seed, _FOR_FRAMES, place])
        polyp = patient.polyps[int(rng.integers(len(patient.polyps)))]
        pixels, mask = _draw(patient, polyp if place in with_polyp else None, height, width, rng)
        patient_name = f"patient{whose + 1:0{digits[0]}d}"
        name = f"{patient_name}_frame{place + 1:0{digits[1]}d}.png"
        objects = [] if mask is None else [AnnotatedObject("polyp", Mask.from_array(mask))]
        picture = Picture(name, width, height, tuple(objects), extra={"patient": patient_name})
        yield SyntheticFrame(pixels, picture, patient_name)


def _draw(
    patient: Patient, polyp: Polyp | None, height: int, width: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], Flags | None]:
    # A separate stream: the rest of the frame is the same with or without a polyp.
    for_polyp = rng.spawn(1)[0]
    scene = make_wall(patient, height, width, rng)
    colour_tissue(scene, patient, rng)
    for _ in range(rng.poisson(1.2)):
        swell(scene, rng)
    mask = None if polyp is None else place_polyp(scene, polyp, for_polyp)
    rgb = lit(scene, patient, rng)
    add_bubbles(scene, rgb, patient, rng)
    return seen_by_camera(scene, rgb, rng), mask


def write_frames(folder: str | os.PathLike[str], n_frames: int = 40, **options: Any) -> Annotations:
    """Write synthetic frames atomically into a new or empty folder.

    Pictures are in the subfolder ``frames``; ``annotations.json`` contains the masks of the polyps
    and the patient of each picture.

    Parameters
    ----------
    folder
        The folder to write.
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
    with whole_folder(folder) as temporary:
        (temporary / PICTURE_FOLDER).mkdir()
        for frame in frames:
            image.fromarray(frame.pixels).save(temporary / PICTURE_FOLDER / frame.picture.name)
            pictures.append(frame.picture)
        marked = Annotations(tuple(pictures), ("polyp",))
        write(marked, temporary / ANNOTATION_FILE, "coco")
    return marked
