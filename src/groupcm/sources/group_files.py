"""Provides `from_hdf5` and folders of `from_npy`: one file of embeddings per group.

The folders that TRIDENT and CLAM write have one HDF5 file per slide. ``features`` holds one row
per patch, shape (n, d) or (1, n, d), and ``coords`` the upper left corners of the patches in pixels
of the full resolution, shape (n, 2). The sides of the patches are an attribute of ``coords``:
``patch_size_level0`` of TRIDENT; ``patch_size`` times ``downsample`` of CLAM's coordinates. Files
of CLAM's features have no attributes: the argument ``patch_size`` gives the sides.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import FileName, InputError, LabelsWarning, warn_user
from groupcm.objective.terms import Index
from groupcm.sources.base import Columns, LocalSource, require_batch_rows
from groupcm.sources.group_file_formats import Hdf5, Npy, Store, StoredArray
from groupcm.sources.rows.chunk import Chunk, RowMajorFeatures
from groupcm.sources.rows.index import Keys, Runs, labels_of
from groupcm.sources.slide_labels import (
    RowLabels,
    SlideTable,
    covered_shares,
    label_rows,
    read_regions,
    read_slides,
)
from groupcm.utils.memory import parse_memory

__all__ = ["GroupFilesSource", "from_folder", "from_hdf5", "from_npy_folder"]

_UNIT_BYTES = 1 << 23
_SUFFIXES = {"hdf5": (".h5", ".hdf5"), "npy": (".npy",)}


def from_hdf5(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    group: str = "slide",
    label: str = "label",
    patient: str | None = None,
    annotations: str | os.PathLike[str] | None = None,
    category: str | Iterable[str] | None = None,
    pos_label: Any = None,
    positive_overlap: float = 0.5,
    overlap: bool = True,
    patch_size: float | None = None,
    features: str = "features",
    coords: str = "coords",
    batch_rows: int | None = None,
    memory: str | int | None = None,
) -> GroupFilesSource:
    """Candidates in HDF5 files, one per group: the folders that TRIDENT and CLAM write.

    Features are read when they are needed, some rows at a time; float16 becomes float32 then.
    The group of a file is its name without ``.h5``.

    Parameters
    ----------
    path : path, or sequence of paths
        A folder of ``.h5`` files, one file or several.
    labels : path or mapping, optional
        A table of one row per slide, or a mapping from slide to label.
    group, label, patient : str
        The columns of the table: the slide, its label and, where there is one, its patient.
    annotations : path, optional
        A folder of GeoJSON files as QuPath exports them, one per slide, or annotations in another
        format of `groupcm.annotations`, in pixels of the full resolution.
    category : str or iterable of str, optional
        The categories of regions that count; by default all.
    pos_label : label, optional
        The positive one of two labels; by default the larger.
    positive_overlap : float, default=0.5
        A patch of a positive slide is positive where regions cover this share of it, or as much as
        of the patch of its slide that they cover most.
    overlap : bool, default=True
        Whether the covered shares are the overlap of the candidates, so that a positive group
        counts by its best-covered patch; else its positive patches share its weight.
    patch_size : float, optional
        The sides of the patches in pixels of the full resolution, if the files do not contain them.
    features, coords : str
        The names of the data sets.
    batch_rows : int, optional
        How many rows are read at once.
    memory : int or str, optional
        How much a fit may use, such as ``"2GB"``.

    Returns
    -------
    GroupFilesSource
        ``annotated`` and ``patients`` are for the arguments of ``fit``.

    Raises
    ------
    InputError
        One sentence that names the file.

    Examples
    --------
    >>> import tempfile
    >>> import h5py
    >>> from groupcm import GroupClassifier, sources
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, shift in (("a", 0.0), ("b", 2.0), ("c", 0.1)):
    ...     with h5py.File(folder / f"{name}.h5", "w") as file:
    ...         file["features"] = np.array([[0.2, 0.1], [shift, 0.3]], dtype=np.float16)
    >>> source = sources.from_hdf5(folder, labels={"a": 0, "b": 1, "c": 0})
    >>> source
    <GroupFilesSource 3 files: 6 rows × 2 features>
    >>> GroupClassifier(lam=0.9).fit(source).predict_groups(source).tolist()
    [0, 1, 0]
    """
    store = Hdf5(features, coords)
    return from_folder(
        _files(path, "hdf5"),
        store,
        None if labels is None else read_slides(labels, group=group, label=label, patient=patient),
        annotations=annotations,
        category=category,
        pos_label=pos_label,
        positive_overlap=positive_overlap,
        overlap=overlap,
        patch_size=patch_size,
        batch_rows=batch_rows,
        memory=memory,
    )


def from_npy_folder(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    labels: str | os.PathLike[str] | Mapping[str, Any] | None,
    batch_rows: int | None = None,
    memory: str | int | None = None,
    **columns: Any,
) -> GroupFilesSource:
    """Return the source of a folder of one ``.npy`` file per group; see `read_slides`."""
    table = None if labels is None else read_slides(labels, **columns)
    return from_folder(_files(path, "npy"), Npy(), table, batch_rows=batch_rows, memory=memory)


def from_folder(
    files: Sequence[Path],
    store: Store,
    table: SlideTable | None,
    *,
    annotations: str | os.PathLike[str] | None = None,
    category: str | Iterable[str] | None = None,
    pos_label: Any = None,
    positive_overlap: float = 0.5,
    overlap: bool = True,
    patch_size: float | None = None,
    batch_rows: int | None = None,
    memory: str | int | None = None,
) -> GroupFilesSource:
    """Return the source of some files, one per group."""
    if not 0.0 < positive_overlap <= 1.0:
        raise ValueError(f"positive_overlap must be a share above 0; got {positive_overlap!r}.")
    slides = [_name_of(file) for file in files]
    for slide, file in zip(slides, files, strict=True):
        if slides.index(slide) != files.index(file):
            raise InputError(FileName(file), f" is a second file of the slide {slide}; keep one")
    if table is not None:
        left_out = [slide for slide in table.label if slide not in set(slides)]
        if left_out:
            raise InputError(
                f"there is no file for the labelled slide {left_out[0]}"
                + (f" and {len(left_out) - 1:,} more" if len(left_out) > 1 else "")
                + "; add it, or leave the slide out of the table"
            )
    arrays = [store.look_at(file) for file in files]
    width, dtype = arrays[0].width, np.result_type(np.float32, *(each.dtype for each in arrays))
    for each in arrays:
        if each.width != width:
            raise InputError(
                FileName(each.path),
                f" has {each.width} features per row, and {arrays[0].path} has {width}; use files "
                "of one network",
            )
    sizes = [each.n_rows for each in arrays]
    shares = None
    if annotations is not None:
        regions = read_regions(annotations, slides, category)
        shares = {
            slide: covered_shares(
                store.corners(each.path, each.n_rows),
                store.side(each.path, patch_size),
                regions[slide],
            )
            for slide, each in zip(slides, arrays, strict=True)
            if slide in regions
        }
    rows = None
    if table is not None or shares is not None:
        rows = label_rows(slides, sizes, table, shares, pos_label, positive_overlap)
        _warn_of_unmarked(rows, shares)
    return GroupFilesSource(
        store, arrays, slides, np.dtype(dtype), rows, table, overlap, batch_rows, memory
    )


def _warn_of_unmarked(rows: RowLabels, shares: Mapping[str, Any] | None) -> None:
    if shares is not None and not np.all(rows.annotated):
        warn_user(
            f"{np.count_nonzero(~rows.annotated):,} candidates are of positive slides of which no "
            "patch is covered by an annotated region; pass annotated=source.annotated to fit.",
            LabelsWarning,
        )


def _deeper(folder: Path, format: str) -> tuple[object, ...]:
    """Return the parts of a sentence that name a folder below which has the files; or none."""
    for suffix in _SUFFIXES[format]:
        found = next(folder.glob(f"**/*{suffix}"), None)
        if found is not None:
            return "; give the folder ", FileName(found.parent)
    return ()


def _files(path: Any, format: str) -> list[Path]:
    """Return the files of some paths; those of a folder by name."""
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    found: list[Path] = []
    for each in map(Path, given):
        if each.is_dir():
            inside = [file for file in each.iterdir() if file.suffix.lower() in _SUFFIXES[format]]
            if not inside:
                what = f" holds no files that end in {' or '.join(_SUFFIXES[format])}"
                raise InputError(FileName(each), what, *_deeper(each, format))
            found += sorted(inside)
        elif each.exists():
            found.append(each)
        else:
            raise InputError(FileName(each), " does not exist; give a folder of one file per group")
    if not found:
        raise InputError("no file is given; give a folder of one file per group")
    return found


def _name_of(path: Path) -> str:
    return path.name[: -len(path.suffix)]


class GroupFilesSource(LocalSource):
    """Candidates in one file per group; see `from_hdf5` and `from_npy`.

    Attributes
    ----------
    slides : list of str
        The groups, in order of their files.
    annotated : ndarray of bool
        False for all candidates of positive groups of which no candidate is known to be positive.
    patients : ndarray or None
        The patient of each candidate.
    """

    def __init__(
        self,
        store: Store,
        arrays: Sequence[StoredArray],
        slides: list[str],
        dtype: np.dtype[Any],
        rows: RowLabels | None,
        table: SlideTable | None,
        overlap: bool,
        batch_rows: int | None,
        memory: str | int | None,
    ) -> None:
        self._store, self._arrays, self.slides = store, list(arrays), slides
        self.files = [each.path for each in arrays]
        self.feature_names = None
        self.n_features, self.dtype = arrays[0].width, dtype
        self.memory = None if memory is None else parse_memory(memory)
        if batch_rows is not None:
            require_batch_rows(batch_rows)
        step = batch_rows or max(1, _UNIT_BYTES // (self.n_features * dtype.itemsize))
        self._file_ptr = np.concatenate([[0], np.cumsum([each.n_rows for each in arrays])])
        cuts = [
            np.arange(lo, hi, step)
            for lo, hi in zip(self._file_ptr, self._file_ptr[1:], strict=False)
        ]
        self._unit_ptr = np.append(np.concatenate(cuts), self._file_ptr[-1])
        self._rows = rows
        self.has_group, self.has_label = True, rows is not None
        self.has_overlap = overlap and rows is not None and rows.overlap is not None
        self.annotated = np.ones(self.n_rows, dtype=bool) if rows is None else rows.annotated
        self.patients: NDArray[Any] | None = None
        if table is not None and table.patient is not None:
            patients = np.array([table.patient[slide] for slide in slides])
            self.patients = np.repeat(patients, np.diff(self._file_ptr))

    def __repr__(self) -> str:
        n = len(self.files)
        shown = str(self.files[0]) if n == 1 else f"{n} files"
        return f"<GroupFilesSource {shown}: {self.n_rows:,} rows × {self.n_features} features>"

    @property
    def unit_ptr(self) -> Index:
        return self._unit_ptr

    @property
    def overlap(self) -> NDArray[np.float64] | None:
        """Which share of each candidate's patch is covered by annotated regions."""
        return None if self._rows is None else self._rows.overlap

    def where(self, row: int) -> str:
        file = int(np.searchsorted(self._file_ptr, row, side="right")) - 1
        return f"row {row - int(self._file_ptr[file])} of {self.files[file]}"

    def sort_advice(self) -> str:
        return "give one file per group"

    def chunks(self, unit: int, columns: Columns) -> Iterator[Chunk]:
        lo, hi = int(self._unit_ptr[unit]), int(self._unit_ptr[unit + 1])
        file = int(np.searchsorted(self._file_ptr, lo, side="right")) - 1
        first = int(self._file_ptr[file])
        label = overlap = None
        if self._rows is not None:
            label = labels_of(self._rows.label[lo:hi]) if columns.label else None
            overlap = None if self._rows.overlap is None else self._rows.overlap[lo:hi]
        runs = Runs(np.zeros(1, dtype=np.int64), np.array([self.slides[file]]))
        keys = Keys(runs if columns.group else None, label, overlap if columns.overlap else None)
        features = None
        if columns.features:
            path = self.files[file]
            try:
                values = self._store.read(path, lo - first, hi - first)
            except (OSError, ValueError) as error:
                raise InputError(
                    FileName(path),
                    f": rows {lo - first:,} to {hi - first:,} cannot be read ({error}); the file "
                    "may be cut short: write it again",
                ) from error
            features = RowMajorFeatures(np.ascontiguousarray(values, dtype=self.dtype))
        yield Chunk(lo, hi - lo, features, keys)
