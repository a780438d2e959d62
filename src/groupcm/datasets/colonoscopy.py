"""Colonoscopy frames with polyps (CVC-ClinicDB), whole or cut to windows with and without one."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations import (
    AnnotatedObject,
    Annotations,
    Picture,
    find_pictures,
    picture_size,
)
from groupcm.annotations.pictures import opening
from groupcm.datasets.base import PictureDataset
from groupcm.datasets.download import DownloadError, get_data_home, print_licence
from groupcm.datasets.pictures import connected_parts, mask_parts
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_folder

__all__ = ["fetch_cvc_clinicdb"]

CVC_PAGE = "https://polyp.grand-challenge.org/CVCClinicDB/"
CVC_LICENCE = (
    "Research and education only; commercial use is forbidden, and so is redistribution. Cite "
    "Bernal et al., WM-DOVA maps for accurate polyp highlighting in colonoscopy, Computerized "
    "Medical Imaging and Graphics 43 (2015)."
)
# The first frame of each of the 29 video sequences.
_SEQUENCES = (1, 26, 51, 68, 79, 104, 127, 152, 178, 200, 206, 228, 253, 278, 298, 318, 343, 364)
_SEQUENCES += (384, 409, 429, 448, 467, 479, 504, 529, 547, 572, 592)
_WINDOW = 176, 144  # width and height
_STEP = 8
_IN_VIEW, _DARK = 0.9, 20


def fetch_cvc_clinicdb(
    *,
    windows: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    data_home: str | os.PathLike[str] | None = None,
) -> PictureDataset:
    """Load colonoscopy frames with polyps (CVC-ClinicDB, downloaded by hand).

    612 frames of 29 video sequences, each with at least one polyp and its mask. The authors offer
    an archive in RAR format, which Python cannot unpack: download it from
    https://polyp.grand-challenge.org/CVCClinicDB/ and unpack it to the folder ``cvc_clinicdb``
    of ``data_home``, with the folders ``Original`` and ``Ground Truth``, or ``images`` and
    ``masks``.

    Parameters
    ----------
    windows : path, optional
        There are no frames without a polyp. To have negative groups, cut windows of 176 × 144
        pixels from the frames, at most one with a whole polyp and one without any per frame, and
        write them to this folder, which must be new or empty. The dataset then consists of the
        windows. If there is a file ``tiles.csv``, with the columns image, x0, y0, x1, y1 and
        positive, it lists the windows.
    random_state : int
        The seed of the choice of windows.
    data_home : path, optional
        The folder of datasets; see `groupcm.datasets.get_data_home`.

    Returns
    -------
    PictureDataset
        ``patients`` are the video sequences; their boundaries are those that are cited for this
        set, not read from a file of the authors.

    Examples
    --------
    >>> from groupcm.datasets import fetch_cvc_clinicdb
    >>> fetch_cvc_clinicdb()  # doctest: +SKIP
    <PictureDataset cvc_clinicdb: 612 pictures, 612 of them positive; 646 objects>
    """
    home = get_data_home(data_home) / "cvc_clinicdb"
    layouts = [("images", "masks"), ("Original", "Ground Truth")]
    found = [home / one for one, two in layouts if (home / one).is_dir() and (home / two).is_dir()]
    if not found:
        raise DownloadError(
            FileName(home),
            f" does not contain the folders Original and Ground Truth; download the RAR archive of "
            f"CVC-ClinicDB from {CVC_PAGE} and unpack it to this folder",
        )
    print_licence("cvc_clinicdb", CVC_LICENCE, home)
    folder = found[0]
    masks = folder.parent / dict(layouts)[folder.name]
    frames = [_frame(folder, name, masks) for name in find_pictures(folder)]
    if windows is not None:
        folder = Path(windows)
        frames = _cut_windows(found[0], frames, folder, home / "tiles.csv", random_state)
    return PictureDataset(
        folder=folder,
        annotations=Annotations(tuple(frames), ("polyp",)),
        patients=np.array([frame.extra["patient"] for frame in frames]),
        folds=None,
        licence=CVC_LICENCE,
        description="Colonoscopy frames of CVC-ClinicDB with masks of polyps"
        + ("" if windows is None else ", cut to windows with a whole polyp or none")
        + ". Split by patients, which are the video sequences.",
        name="cvc_clinicdb",
    )


def _frame(folder: Path, name: str, masks: Path) -> Picture:
    stem = Path(name).stem
    mask = next((m for s in (".png", ".tif") if (m := masks / f"{stem}{s}").is_file()), None)
    if mask is None or not stem.isdigit():
        raise InputError(FileName(folder / name), f" is not a frame with a mask in {masks}")
    sequence = int(np.searchsorted(_SEQUENCES, int(stem), side="right"))
    objects = tuple(AnnotatedObject("polyp", each) for each in mask_parts(mask))
    size = picture_size(folder / name)
    return Picture(name, *size, objects, bool(objects), {"patient": str(sequence)})


def _cut_windows(
    folder: Path, frames: Sequence[Picture], output: Path, listing: Path, random_state: int
) -> list[Picture]:
    """Write the windows as PNG files, and return them as pictures."""
    listed = _listed_windows(listing) if listing.is_file() else None
    pictures = []
    with whole_folder(output) as work:
        for frame in frames:
            stem = Path(frame.name).stem
            with opening(folder / frame.name) as opened:
                coloured = opened.convert("RGB")
            flags = _union(frame)
            if listed is None:
                rng = np.random.default_rng([random_state, int(stem)])
                chosen = list(_choose_windows(np.asarray(coloured), flags, rng))
            else:
                chosen = listed.get(stem, [])
            for left, top, right, bottom, positive in chosen:
                name = f"{stem}_{'polyp' if positive else 'none'}.png"
                coloured.crop((left, top, right, bottom)).save(work / name)
                parts = connected_parts(flags[top:bottom, left:right]) if positive else []
                objects = tuple(AnnotatedObject("polyp", each) for each in parts)
                size = right - left, bottom - top
                pictures.append(Picture(name, *size, objects, True, frame.extra))
    return pictures


_Window = tuple[int, int, int, int, bool]


def _listed_windows(listing: Path) -> dict[str, list[_Window]]:
    windows: dict[str, list[_Window]] = {}
    with listing.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            left, top, right, bottom = (int(row[edge]) for edge in ("x0", "y0", "x1", "y1"))
            window = left, top, right, bottom, row["positive"] == "1"
            windows.setdefault(row["image"], []).append(window)
    return windows


def _choose_windows(
    pixels: NDArray[np.uint8], flags: NDArray[np.bool_], rng: np.random.Generator
) -> Iterator[_Window]:
    """Choose a window with all polyps of the frame and one with none, where there are any."""
    width, height = _WINDOW
    in_view = pixels.max(axis=2) > _DARK
    places: dict[bool, list[_Window]] = {True: [], False: []}
    for top in range(0, flags.shape[0] - height + 1, _STEP):
        for left in range(0, flags.shape[1] - width + 1, _STEP):
            own = np.s_[top : top + height, left : left + width]
            n_polyp = int(flags[own].sum())
            if in_view[own].mean() >= _IN_VIEW and n_polyp in (0, int(flags.sum())):
                places[n_polyp > 0].append((left, top, left + width, top + height, n_polyp > 0))
    for found in places.values():
        if found:
            yield found[rng.integers(len(found))]


def _union(frame: Picture) -> NDArray[np.bool_]:
    flags = np.zeros((frame.height, frame.width), bool)
    for each in frame.objects:
        flags |= each.region.mask(frame.height, frame.width)
    return flags
