"""Datasets of pictures with annotated objects: defects of magnetic tiles, and blood cells."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from groupcm.annotations import (
    AnnotatedObject,
    Annotations,
    Mask,
    Picture,
    find_pictures,
    picture_size,
    read,
)
from groupcm.annotations.limits import check_pixels
from groupcm.annotations.pictures import opening
from groupcm.datasets.base import PictureDataset
from groupcm.datasets.download import (
    DownloadError,
    Options,
    RemoteArchive,
    RemoteFile,
    get_data_home,
    print_licence,
)
from groupcm.errors import Argument, FileName, ParameterError

__all__ = ["connected_parts", "fetch_bccd", "fetch_magnetic_tiles", "mask_parts"]

_TILE = re.compile(r"([a-z]+)_exp\d+_num_(\d+)")
_ORIGINAL_TILE = re.compile(r"MT_(\w+)/Imgs/(exp\d+_num_\d+)\.(jpg|png)")
_SPECK = 20  # pixels; smaller parts of a mask are slips of the brush
_SAME_TILE = 80  # the largest difference of the running numbers of pictures of one tile
DEFECTS = ("blowhole", "break", "crack", "fray", "uneven")


def _tile_name(name: str) -> str | None:
    """Return the place of a file of the authors' repository: all pictures in one folder."""
    found = _ORIGINAL_TILE.fullmatch(name.partition("/")[2])
    if found is None:
        return None
    kind, stem, suffix = found.groups()
    return f"{'images' if suffix == 'jpg' else 'masks'}/{kind.lower()}_{stem}.{suffix}"


def _bccd_name(name: str) -> str | None:
    inner = name.partition("/")[2]
    return inner.removeprefix("BCCD/") if inner.startswith("BCCD/") else None


MAGNETIC_TILES = RemoteArchive(
    "magnetic_tile",
    RemoteFile(
        "magnetic_tile.zip",
        "https://github.com/abin24/Magnetic-tile-defect-datasets./archive/"
        "cc4eb530b57b9cb7225bf76023873043ffd50655.zip",
    ),
    _tile_name,
    "9b186c49d7dbca08ebad9b33a16f220c2ce33a0eff4b930d2b355f04ea688c88",
)
MAGNETIC_TILES_LICENCE = (
    "No licence file; the authors welcome the use of the pictures and ask to cite Huang, Qiu and "
    "Yuan, Surface defect saliency of magnetic tile, The Visual Computer 36 (2020). Do not "
    "redistribute."
)
BCCD = RemoteArchive(
    "bccd",
    RemoteFile(
        "bccd.zip",
        "https://github.com/Shenggan/BCCD_Dataset/archive/"
        "d272fb14cdff6e473fafeeeba32aba5f560e9e43.zip",
    ),
    _bccd_name,
    "debd2d76b13c300a3999f96a08cbe9ada5f231c3f882f9877a65a01a695872d1",
)
BCCD_LICENCE = "MIT License, copyright (c) 2017 shenggan. Cite github.com/Shenggan/BCCD_Dataset."


def fetch_magnetic_tiles(
    *,
    defects: Sequence[str] = ("blowhole", "break", "crack"),
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    sha256: str | None = None,
    verbose: int = 1,
) -> PictureDataset:
    """Load photographs of magnetic tiles, some with a surface defect (download).

    952 pictures without and 392 with a defect, with the outline of each defect. The same tile was
    photographed several times: split by ``patients``, which numbers the tiles.

    Parameters
    ----------
    defects : sequence of str
        The kinds of defects to search for: "blowhole", "break", "crack", "fray" and "uneven". The
        default are the three small, well localised ones. Pictures of other defects are left out.
    data_home : path, optional
        The folder of datasets; see `groupcm.datasets.get_data_home`. The pictures are in its
        folder ``magnetic_tile/images``, the masks of the defects in ``magnetic_tile/masks``.
    download_if_missing : bool
        Whether to download the pictures if they are missing, or raise an error.
    sha256 : str, optional
        The SHA-256 checksum of the archive. By default the unpacked files are checked.
    verbose : int
        Whether to print the progress of the download.

    Returns
    -------
    PictureDataset
        ``patients`` is inferred from the names of the pictures, which contain a running number:
        pictures of numbers that differ by at most 80 belong to one tile. Parts of a mask below 20
        pixels are left out. A picture with a defect of which nothing remains is "to do", and
        thereby left out by `groupcm.images.propose_folder`.

    Examples
    --------
    >>> from groupcm.datasets import fetch_magnetic_tiles
    >>> fetch_magnetic_tiles()  # doctest: +SKIP
    <PictureDataset magnetic_tiles: 1,209 pictures, 257 of them positive; 305 objects>
    """
    for each in [defects] if isinstance(defects, str) else defects:
        if isinstance(defects, str) or each not in DEFECTS:
            names = ", ".join(map(repr, DEFECTS))
            raise ParameterError(Argument("defects"), f" must be a list of {names}; got {each!r}.")
    options = Options(get_data_home(data_home), download_if_missing, sha256, verbose)
    home = MAGNETIC_TILES.fetch(options)
    print_licence("magnetic_tiles", MAGNETIC_TILES_LICENCE, home)
    folder = _existing(home / "images")
    names = [name for name in find_pictures(folder) if _TILE.match(name)]
    numbers = np.array([int(_tile(name)[1]) for name in names])
    order = np.argsort(numbers, kind="stable")
    tile = np.empty(len(names), int)
    tile[order] = np.cumsum(np.diff(numbers[order], prepend=numbers[order[:1]]) > _SAME_TILE)
    pictures, patients = [], []
    for name, number in zip(names, tile.tolist(), strict=True):
        kind = _tile(name)[0]
        if kind != "free" and kind not in defects:
            continue
        objects: tuple[AnnotatedObject, ...] = ()
        mask = home / "masks" / f"{Path(name).stem}.png"
        if kind != "free" and mask.is_file():
            objects = tuple(AnnotatedObject(kind, each) for each in mask_parts(mask))
        done = kind == "free" or bool(objects)
        size = picture_size(folder / name)
        pictures.append(Picture(name, *size, objects, done, {"patient": str(number)}))
        patients.append(str(number))
    return PictureDataset(
        folder=folder,
        annotations=Annotations(tuple(pictures), tuple(defects)),
        patients=np.array(patients),
        folds=None,
        licence=MAGNETIC_TILES_LICENCE,
        description="Photographs of magnetic tiles. A positive picture shows a surface defect "
        f"({', '.join(defects)}), outlined by a mask. Split by patients, which are the tiles.",
        name="magnetic_tiles",
    )


def _tile(name: str) -> tuple[str, str]:
    found = _TILE.match(name)
    assert found is not None
    return found[1], found[2]


def fetch_bccd(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    sha256: str | None = None,
    verbose: int = 1,
) -> PictureDataset:
    """Load pictures of blood cells with boxes (BCCD, download).

    364 pictures with boxes of red cells ("RBC"), white cells ("WBC") and platelets ("Platelets").
    Almost all pictures show red and white cells; platelets are missing in part of them, so that
    they make positive and negative groups: ``propose_folder(…, category="Platelets")``.

    Parameters
    ----------
    data_home : path, optional
        The folder of datasets; see `groupcm.datasets.get_data_home`. Its folder ``bccd`` contains
        ``JPEGImages``, ``Annotations`` and ``ImageSets``.
    download_if_missing, sha256, verbose
        As for `fetch_magnetic_tiles`.

    Returns
    -------
    PictureDataset
        With the splits "train", "val" and "test" of the authors in ``folds``. Patients are not
        known.

    Examples
    --------
    >>> from groupcm.datasets import fetch_bccd
    >>> fetch_bccd()  # doctest: +SKIP
    <PictureDataset bccd: 364 pictures, 364 of them positive; 4,888 objects>
    """
    options = Options(get_data_home(data_home), download_if_missing, sha256, verbose)
    home = BCCD.fetch(options)
    print_licence("bccd", BCCD_LICENCE, home)
    folder = _existing(home / "JPEGImages")
    marked = read(_existing(home / "Annotations"), folder, "voc")
    folds = {}
    for split in ("train", "val", "test"):
        listing = _existing(home / "ImageSets" / "Main" / f"{split}.txt")
        for stem in listing.read_text(encoding="utf-8").split():
            folds[stem] = split
    return PictureDataset(
        folder=folder,
        annotations=marked,
        patients=None,
        folds=np.array([folds.get(Path(picture.name).stem, "") for picture in marked]),
        licence=BCCD_LICENCE,
        description="Microscope pictures of blood with boxes of red cells, white cells and "
        "platelets. Folds: the splits of the authors.",
        name="bccd",
    )


def mask_parts(mask: Path) -> list[Mask]:
    """Return the objects of a mask picture: the connected parts above half of its largest value."""
    with opening(mask) as opened:
        width, height = opened.size
        check_pixels(width, height, "the mask")
        values = np.asarray(opened.convert("I"))
    return connected_parts(values > values.max() / 2)


def connected_parts(flags: NDArray[np.bool_]) -> list[Mask]:
    """Return the connected parts, diagonal neighbours included, without specks of a few pixels."""
    parts = np.empty(flags.shape, np.int32)
    ndimage.label(flags, structure=np.ones((3, 3)), output=parts)
    sizes = np.bincount(parts.ravel())[1:]
    return [Mask.from_array(parts == i + 1) for i in np.flatnonzero(sizes >= _SPECK)]


def _existing(path: Path) -> Path:
    if not path.exists():
        raise DownloadError(
            FileName(path), " does not exist; remove the folder of this dataset and try again"
        )
    return path
