"""A folder of mask pictures in which each value or colour is an object or a category.

groupcm writes one PNG per picture with one value per object, more PNGs where objects overlap or are
more than 255, and ``masks.json``, which describes each value. Without that file, the option
``values`` states what the values mean, unless there is only one.

A mask without objects means "verified empty"; a picture without a mask is to do. In ``masks.json``
each picture has ``"done": true`` or ``"done": false``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.annotations.formats._mask_values import (
    MaskPicture,
    Meaning,
    MeaningName,
    name_of_value,
    read_mask,
)
from groupcm.annotations.limits import check_pixels
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture, relative_name
from groupcm.annotations.parsing import field, load, save_json, whole
from groupcm.annotations.pictures import (
    MASK_ENDING,
    MASK_SIDE_FILE,
    picture_files,
    pictures_of_masks,
    pillow,
)
from groupcm.annotations.reading import Draft, Reading
from groupcm.annotations.regions import Mask
from groupcm.annotations.writing import Writing, stems
from groupcm.errors import FileName, InputError
from groupcm.utils.files import whole_file, whole_folder

__all__ = ["read", "write"]

# Lossy compression changes values, so JPEG cannot be a mask.
_SUFFIXES = frozenset({".png", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".pbm", ".ppm"})
_MOST_VALUES = 255
_MOST_LAYERS = 1_000
_MOST_LAYER_PIXELS = 2**30
_MOST_KEPT_RUNS = 10_000_000  # of masks that are read once; those beyond are read twice


def read(
    reading: Reading,
    *,
    values: MeaningName | None = None,
    categories: Mapping[int | str, str | None] | None = None,
    separate: bool = True,
    min_pixels: int = 1,
) -> Annotations:
    """Read a folder of masks; the options are those of `Meaning`."""
    folder = reading.path
    if (folder / MASK_SIDE_FILE).is_file():
        return _read_described(reading)
    # Where pictures are stored with their masks, only the masks are read.
    together = picture_files(folder)
    files = [
        folder / name
        for name in together.masks or together.pictures
        if Path(name).suffix.lower() in _SUFFIXES
    ]
    if not files:
        raise InputError("there is no PNG mask in ", FileName(folder))
    found: set[int] = set()
    kept: dict[Path, MaskPicture] = {}
    n_kept = 0
    for file in files:
        with reading.perhaps(file.relative_to(folder).as_posix()):
            mask = read_mask(file)
            found |= set(mask.values())
            if n_kept + mask.value.size <= _MOST_KEPT_RUNS:
                kept[file] = mask
                n_kept += mask.value.size
    is_home = reading.known is not None and reading.known.folder == folder
    of_masks = pictures_of_masks(folder) if is_home else {}
    meaning = Meaning(
        values or _only_meaning(found, folder),
        max(found, default=1),
        categories,
        separate,
        min_pixels,
    )
    for file in files:
        place = file.relative_to(folder).as_posix()
        with reading.perhaps(place):
            reading.begin_file(file)
            mask = kept.pop(file, None) or read_mask(file)
            draft = _picture(reading, place, mask, of_masks.get(place))
            draft.done = draft.done is not False
            objects = meaning.objects(mask, reading.budget)
            for position, annotated in enumerate(objects, start=1):
                draft.add(f"{place}, object {position}", lambda annotated=annotated: annotated)
    named = [name for name in (categories or {}).values() if name is not None]
    return reading.annotations(tuple(dict.fromkeys(named)))


def _only_meaning(found: set[int], folder: Path) -> MeaningName:
    if len(found) <= 1:
        return "binary"
    some = ", ".join(map(name_of_value, sorted(found)[:4])) + (", …" if len(found) > 4 else "")
    raise InputError(
        "the masks in ",
        FileName(folder),
        f" hold {len(found)} values ({some}); say whether each is an object "
        "(values='object'), a category (values='category'), or all are one (values='binary')",
    )


def _picture(reading: Reading, place: str, mask: MaskPicture, name: str | None = None) -> Draft:
    """Begin the picture of a mask: of the same name, with any suffix, with or without ``_mask``.

    ``name`` is the picture where the folders say which it is.
    """
    if reading.known is None:
        return reading.picture(reading.name(place), mask.width, mask.height)
    stem = place.rsplit(".", 1)[0]
    has_ending = MASK_ENDING.search(stem) is not None
    if name is None:
        try:
            name = reading.known.name(stem)
            has_ending = False
        except ValueError:
            if not has_ending:
                raise
            name = reading.known.name(MASK_ENDING.sub("", stem))
    draft = reading.drafted(name)
    if draft is None:
        draft = reading.picture(name, *reading.known.size(name))
    elif not has_ending:  # a_mask.png and a_mask_1.png are joined
        raise ValueError(
            f"the picture {name!r} has another mask of the same name in another format or folder; "
            "keep one, or give both in one folder as names ending in _mask_1 and _mask_2"
        )
    _check_size(mask, draft)
    return draft


def _check_size(mask: MaskPicture, draft: Draft) -> None:
    if (mask.width, mask.height) != (draft.width, draft.height):
        raise ValueError(
            f"the mask is {mask.width} × {mask.height} pixels and the picture "
            f"{draft.width} × {draft.height}; they must be the same"
        )


def _read_described(reading: Reading) -> Annotations:
    """Read a folder with a file that describes each value."""
    content = load(reading.path / MASK_SIDE_FILE)
    with reading.at(MASK_SIDE_FILE):
        records = field(content, "pictures", list)
        categories = field(content, "categories", list)
    for position, record in enumerate(records, start=1):
        place = f"{MASK_SIDE_FILE}, picture {position}"
        with reading.perhaps(place):
            name = reading.name(field(record, "name", str))
            draft = reading.picture(name, whole(record, "width"), whole(record, "height"))
            draft.done = field(record, "done", bool, None)
            loaded: dict[str, MaskPicture] = {}
            for number, item in enumerate(field(record, "objects", list), start=1):
                build = lambda item=item: _described(item, reading, draft, loaded)  # noqa: B023, E731
                draft.add(f"{place} ({name}), object {number}", build)
    return reading.annotations(tuple(categories))


def _described(
    record: Any, reading: Reading, draft: Draft, loaded: dict[str, MaskPicture]
) -> AnnotatedObject:
    file = relative_name(field(record, "mask", str))
    if file not in loaded:
        mask = read_mask(reading.path / file)
        _check_size(mask, draft)
        loaded[file] = mask
        reading.begin_file(reading.path / file)
    value = field(record, "value", int)
    known = value if 0 < value < 2**32 else 0  # 0 is background, and no pixel has more
    runs = loaded[file].runs_of(known, known, reading.budget)
    if runs.size < 2:
        raise ValueError(f"no pixel of {file} has the value {value}")
    region = Mask(draft.height, draft.width, runs)
    return AnnotatedObject(field(record, "category", str), region)


def write(annotations: Annotations, writing: Writing) -> None:
    """Write a folder of PNG masks with the file that describes each value."""
    pictures = list(annotations)
    image = pillow()
    with whole_folder(writing.path) as folder:
        records = []
        for picture, stem in zip(pictures, stems(pictures, writing.format), strict=True):
            layers, objects = _layers(picture, stem, writing)
            for file, pixels in layers.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                with whole_file(folder / file) as temporary:
                    image.fromarray(pixels).save(temporary, format="PNG")
            record = {"name": picture.name, "width": picture.width, "height": picture.height}
            records.append(record | {"done": picture.done, "objects": objects})
        content = {"categories": list(annotations.categories), "pictures": records}
        save_json(folder / MASK_SIDE_FILE, content)


def _layers(
    picture: Picture, stem: str, writing: Writing
) -> tuple[dict[str, NDArray[np.uint8]], list[dict[str, Any]]]:
    """Return mask pictures without overlaps, each object in a layer above those it overlaps."""
    check_pixels(picture.width, picture.height, f"the picture {picture.name!r}")
    size = picture.height, picture.width
    layers: list[NDArray[np.uint8]] = []
    if picture.done or picture.objects:
        layers.append(np.zeros(size, dtype=np.uint8))
    free_from = np.zeros(size, dtype=np.uint16)  # the first layer in which a pixel is free
    n_values = [0]
    objects = []
    for annotated in picture.objects:
        part, left, top = writing.mask(picture, annotated).part()
        window = slice(top, top + part.shape[0]), slice(left, left + part.shape[1])
        layer = int(free_from[window][part].max())
        while layer < len(layers) and n_values[layer] == _MOST_VALUES:
            layer += 1
        if layer == len(layers):
            if (layer + 1) * free_from.size > _MOST_LAYER_PIXELS or layer == _MOST_LAYERS:
                raise ValueError(
                    f"{picture.name!r} needs more than {layer:,} mask pictures, as so many of its "
                    "objects overlap"
                )
            layers.append(np.zeros(size, dtype=np.uint8))
            n_values.append(0)
        n_values[layer] += 1
        layers[layer][window][part] = n_values[layer]
        free_from[window][part] = layer + 1
        objects.append(
            {"mask": _name(stem, layer), "value": n_values[layer], "category": annotated.category}
        )
    return {_name(stem, layer): pixels for layer, pixels in enumerate(layers)}, objects


def _name(stem: str, layer: int) -> str:
    return f"{stem}.{layer + 1}.png" if layer else f"{stem}.png"
