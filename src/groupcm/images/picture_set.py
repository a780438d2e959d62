"""A folder of pictures as it is found: its pictures, their annotations, patients and parts.

`read_picture_set` recognises the layouts in which picture sets are usually stored:

- masks next to the pictures (``a.jpg``, ``a_mask.png``), or in a folder ``masks`` next to them or
  next to the folder of the pictures, in the whole set or for each patient; see
  `groupcm.annotations.pictures` for other names;
- files of labelme, Pascal VOC or YOLO among the pictures, or in a folder ``annotations`` or
  ``labels``;
- one file of COCO, CVAT, Label Studio or CSV in the folder or in ``annotations``.

What it understood, and what it had to assume, are sentences in ``PictureSet.findings``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from groupcm.annotations import Annotations, find_pictures, picture_size, read
from groupcm.annotations.files import UnknownFormatError, sniff
from groupcm.annotations.model import Picture
from groupcm.annotations.pictures import PICTURE_FOLDERS, is_mask_folder, picture_files
from groupcm.errors import Argument, FileName, InputError, ParameterError
from groupcm.images.listing import natural_order
from groupcm.images.patients import PictureNotes, patients_in_names, possible_pattern, read_patients
from groupcm.utils.text import counted, there_are

__all__ = ["PictureSet", "read_picture_set"]

_SURELY_PICTURES = ("images", "image", "imgs", "img", "frames", "pictures", "jpegimages")
Unannotated = Literal["auto", "negative", "leave_out"]
UNANNOTATED = ("auto", "negative", "leave_out")

_ANNOTATION_FOLDERS = (
    *("annotations", "Annotations", "labels", "labelme", "boxes"),
    *("masks", "mask", "ground_truth", "groundtruth", "gt", "segmentations"),
)
_ANNOTATION_SUFFIXES = (".json", ".xml", ".csv", ".tsv")
_PATIENT_FILES = ("patients.csv", "patients.tsv")
_NEGATIVE_FOLDER = re.compile(
    r"(negatives?|normal|healthy|good|clean|empty|ok|free|background|no[ _-].+)$", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class PictureSet:
    """The pictures of a folder, with what is known of each.

    Attributes
    ----------
    folder : Path
        The folder that the names of pictures are relative to.
    annotations : Annotations
        The pictures to use. Those that are not finished are in ``left_out``.
    source : Path or None
        The file or folder of the annotations.
    patients : mapping of str to str
        The patient of each picture; empty where patients are not known.
    splits : mapping of str to str
        The split of each picture, such as "train" or "test"; empty where none are given.
    left_out : tuple of str
        Pictures without an annotation, which are not used.
    findings : tuple of str
        What was understood and assumed, in sentences.
    """

    folder: Path
    annotations: Annotations
    source: Path | None
    patients: Mapping[str, str]
    splits: Mapping[str, str]
    left_out: tuple[str, ...]
    findings: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The pictures to use, in natural order."""
        return sorted((each.name for each in self.annotations), key=natural_order)

    def is_positive(self, name: str) -> bool:
        """Return whether a picture shows an object."""
        return self.annotations[name].is_positive


def read_picture_set(
    folder: str | os.PathLike[str],
    *,
    annotations: str | os.PathLike[str] | Annotations | None = None,
    patients: str | os.PathLike[str] | None = None,
    category: str | Sequence[str] | None = None,
    unannotated: str = "auto",
    mask_values: str | None = None,
) -> PictureSet:
    """Find the pictures of a folder, their annotations and their patients.

    Parameters
    ----------
    folder : path
        The pictures, or a folder with a subfolder ``images``.
    annotations : path or Annotations, optional
        A file or folder of any format of `groupcm.annotations`; by default it is searched for in
        the folder.
    patients : str or path, optional
        A CSV file with the columns ``image`` and ``patient``, ``split`` or both;
        ``FILE.csv:COLUMN`` for another column of patients; ``"folders"``, where the first folder
        in a picture's name is its patient; or a regular expression whose first group is the
        patient in the name. By default ``patients.csv`` in the folder, or what the annotations
        state.
    category : str or sequence of str, optional
        The categories of objects to find; by default all. A picture that shows only others is
        negative.
    unannotated : {"auto", "negative", "leave_out"}
        Pictures without any annotation. With "auto" they are left out, unless no picture would be
        negative otherwise. Pictures in a folder called ``normal``, ``good``, ``negative`` or the
        like are negative in any case.
    mask_values : {"binary", "object", "category"}, optional
        What the values of masks mean, if there are several.

    Returns
    -------
    PictureSet

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = write_frames(folder, 4, share_with_polyps=0.5, n_patients=2, height=48, width=64)
    >>> found = read_picture_set(folder)
    >>> len(found.names), len(set(found.patients.values()))
    (4, 2)
    >>> found.findings[1]
    '2 pictures show an object (polyp), and 2 show none.'
    """
    if unannotated not in UNANNOTATED:
        raise ParameterError(
            Argument("unannotated"),
            f" is {unannotated!r}; it must be one of {', '.join(map(repr, UNANNOTATED))}",
        )
    root = Path(folder)
    pictures = _picture_folder(root)
    names = sorted(find_pictures(pictures), key=natural_order)
    if not names:
        raise InputError("there is no picture in the folder ", FileName(root))
    source: Path | None = None
    if isinstance(annotations, Annotations):
        marked, title = annotations, "the annotations given"
    else:
        source, marked = _find_annotations(root, pictures, annotations, mask_values)
        title = str(source)
    findings = [f"{counted(len(names), 'picture')} in {pictures}, annotated by {title}."]
    marked = _of_categories(marked, category, title)
    used, left_out, assumed = _with_unannotated(marked, names, pictures, unannotated)
    findings += [_counts_sentence(used), *assumed]
    known, splits, about = _notes(root, patients, [each.name for each in used], used)
    findings.append(about)
    return PictureSet(pictures, used, source, known, splits, tuple(left_out), tuple(findings))


def _picture_folder(root: Path) -> Path:
    """Return the folder itself, or its only subfolder of pictures next to one of annotations."""
    found = picture_files(root).pictures
    tops = {name.partition("/")[0] if "/" in name else "" for name in found}
    masks = _mask_folders(root)
    if any((each / top).is_dir() for each in masks for top in tops if top):
        return root  # The masks repeat the names of the folders.
    known = PICTURE_FOLDERS if masks else _SURELY_PICTURES
    inside = [top for top in tops if top.lower() in known]
    # Pictures elsewhere than in ``images`` may be masks of another layout.
    if len(inside) == 1 and tops - set(inside) <= set(_ANNOTATION_FOLDERS):
        return root / inside[0]
    [only] = tops if len(tops) == 1 else [""]
    return root / only if only and masks else root


def _mask_folders(place: Path) -> list[Path]:
    return sorted(each for each in place.iterdir() if is_mask_folder(each.name) and each.is_dir())


def _find_annotations(
    root: Path, pictures: Path, given: str | os.PathLike[str] | None, mask_values: str | None
) -> tuple[Path, Annotations]:
    """Return the place of the annotations and what they state."""
    if given is not None:
        path = Path(given)
        return path, _read(path, pictures, sniff(path), mask_values)
    found = list(_possible_annotations(root, pictures))
    if not found:
        raise InputError(
            "there are no annotations in ",
            FileName(root),
            "; store masks or a file of annotations there, or name them with ",
            Argument("annotations"),
        )
    if len(found) > 1:
        listed = ", ".join(path.name for path, _ in found)
        raise InputError(
            FileName(root),
            f" holds several annotations ({listed}); name one with ",
            Argument("annotations"),
        )
    path, format = found[0]
    return path, _read(path, pictures, format, mask_values)


def _read(path: Path, pictures: Path, format: str, mask_values: str | None) -> Annotations:
    options: dict[str, Any] = {}
    if mask_values is not None and format == "masks":
        options["values"] = mask_values
    return read(path, pictures, format, **options)


def _possible_annotations(root: Path, pictures: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file and folder of annotations with its format; only the nearest kind."""
    places = dict.fromkeys([root, pictures])
    files = [path for place in places for path in _annotation_files(place)]
    folders = [
        each
        for place in places
        for name in _ANNOTATION_FOLDERS
        if (each := place / name).is_dir() and each.resolve() != pictures.resolve()
    ]
    folders += [each for place in places for each in _mask_folders(place)]
    folders = list({each.resolve(): each for each in folders}.values())  # each once
    inside = [path for folder in folders for path in _annotation_files(folder)]
    whole = [(path, format) for path in files + inside if (format := _format(path)) is not None]
    if whole:
        yield from whole
        return
    described = [(path, format) for path in folders if (format := _format(path)) is not None]
    if described:
        yield from described
        return
    if picture_files(pictures).masks:
        yield pictures, "masks"
    elif (format := _format(pictures)) not in (None, "masks"):
        yield pictures, str(format)


def _annotation_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in _ANNOTATION_SUFFIXES
        and path.is_file()
        and not path.name.startswith(".")
        and path.name not in _PATIENT_FILES
    )


def _format(path: Path) -> str | None:
    """Return the format of a file for all pictures, or of a folder; None for others."""
    try:
        format = sniff(path)
    except UnknownFormatError:
        return None
    is_of_one_picture = path.is_file() and format in ("voc", "labelme")
    is_list = format == "csv" and not _has_boxes(path)
    return None if is_of_one_picture or is_list else format


def _has_boxes(path: Path) -> bool:
    """Return whether the header of a CSV file names boxes, not patients or other values."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        header = set(re.split(r"[,;\t]", file.readline().strip().lower()))
    return {"x", "y"} <= header or {"x0", "y0"} <= header or {"xmin", "ymin"} <= header


def _of_categories(
    marked: Annotations, category: str | Sequence[str] | None, title: str
) -> Annotations:
    if category is None:
        return marked
    wanted = [category] if isinstance(category, str) else list(category)
    for name in wanted:
        if name not in marked.categories:
            there = there_are(marked.categories)
            raise InputError(f"{title}: there is no category {name!r}; {there}")
    pictures = [
        replace(each, objects=[obj for obj in each.objects if obj.category in wanted])
        for each in marked
    ]
    return Annotations(tuple(pictures), tuple(wanted), marked.extra)


def _with_unannotated(
    marked: Annotations, names: Sequence[str], folder: Path, unannotated: str
) -> tuple[Annotations, list[str], list[str]]:
    """Decide on pictures without an annotation; return those to use, the others, and why."""
    findings = []
    listed = set(names)
    finished = [each for each in marked if each.done and each.name in listed]
    known = {each.name for each in marked if each.done or each.objects}
    open_names = [name for name in names if name not in known]
    negative = [name for name in open_names if _is_in_negative_folder(name)]
    if negative:
        place = PurePosixPath(negative[0]).parent
        findings.append(
            f"{counted(len(negative), 'picture')} in folders such as {place} count as negative."
        )
    rest = [name for name in open_names if not _is_in_negative_folder(name)]
    has_negatives = bool(negative) or any(not each.is_positive for each in finished)
    if rest and unannotated == "auto" and not has_negatives:
        findings.append(
            f"{counted(len(rest), 'picture')} without annotations count as negative, because no "
            "other picture does."
        )
    left_out: list[str] = []
    if unannotated == "negative" or (unannotated == "auto" and not has_negatives):
        negative += rest
    else:
        left_out = rest
    in_progress = [each.name for each in marked if each.is_in_progress]
    if left_out:
        findings.append(
            f"{counted(len(left_out), 'picture')} without annotations "
            f"{'is' if len(left_out) == 1 else 'are'} left out, such as {left_out[0]}."
        )
    if in_progress:
        findings.append(
            f"{counted(len(in_progress), 'picture')} with unfinished annotations "
            f"{'is' if len(in_progress) == 1 else 'are'} left out, such as {in_progress[0]}."
        )
    new = [Picture(name, *picture_size(folder / name)) for name in negative]
    used = Annotations((*finished, *new), marked.categories, marked.extra)
    return used, [*left_out, *in_progress], findings


def _is_in_negative_folder(name: str) -> bool:
    return any(_NEGATIVE_FOLDER.fullmatch(part) for part in name.split("/")[:-1])


def _counts_sentence(used: Annotations) -> str:
    n_positive = sum(each.is_positive for each in used)
    n_negative = len(used) - n_positive
    objects = ", ".join(used.categories[:4]) + (", …" if len(used.categories) > 4 else "")
    verb = "shows" if n_positive == 1 else "show"
    sentence = f"{counted(n_positive, 'picture')} {verb} an object"
    sentence += f" ({objects})" if objects else ""
    return f"{sentence}, and {n_negative:,} {'shows' if n_negative == 1 else 'show'} none."


def _notes(
    root: Path,
    patients: str | os.PathLike[str] | None,
    names: Sequence[str],
    used: Annotations,
) -> tuple[dict[str, str], dict[str, str], str]:
    """Return the patient and the split of each picture, and a sentence on them."""
    if patients is None:
        given = next((root / name for name in _PATIENT_FILES if (root / name).is_file()), None)
        return _from_file(read_patients(given), names) if given else _from_annotations(used)
    text = os.fspath(patients)
    if text == "folders":
        alone = next((name for name in names if "/" not in name), None)
        if alone is not None:
            raise InputError(
                Argument("patients", "folders"), f": the picture {alone!r} is in no folder"
            )
        return _known({name: PurePosixPath(name).parts[0] for name in names}, "folders")
    path, _, column = text.rpartition(":")
    if column and path.lower().endswith((".csv", ".tsv")):
        return _from_file(read_patients(path, patient=column), names)
    if text.lower().endswith((".csv", ".tsv")):
        return _from_file(read_patients(text), names)
    found = patients_in_names(names, text, "patients")
    return _known(found, "the names of pictures")


def _from_file(
    notes: PictureNotes, names: Sequence[str]
) -> tuple[dict[str, str], dict[str, str], str]:
    rows = {name: notes.of(name) for name in names}
    splits = {name: note.split for name, note in rows.items() if note.split is not None}
    known = {name: note.patient for name, note in rows.items() if note.patient is not None}
    patients, _, sentence = _known(known, str(notes.path), names)
    return patients, splits, sentence


def _from_annotations(used: Annotations) -> tuple[dict[str, str], dict[str, str], str]:
    stated = {each.name: each.extra.get("patient") for each in used}
    known = {name: str(patient) for name, patient in stated.items() if patient is not None}
    return _known(known if len(known) == len(stated) else {}, "the annotations", list(stated))


def _known(
    patients: dict[str, str], where: str, names: Sequence[str] = ()
) -> tuple[dict[str, str], dict[str, str], str]:
    if not patients:
        sentence = (
            "No patients are known, so pictures are split one by one: near-duplicates of a "
            "training picture in the test part would make the result too good."
        )
        if (hint := possible_pattern(names)) is not None:
            sentence += f" If {hint[1]} is the patient of {names[0]}, set patients to {hint[0]!r}."
        return {}, {}, sentence
    n_patients = counted(len(set(patients.values())), "patient")
    return patients, {}, f"{n_patients}, known from {where}."
