"""Provides `open_candidates`: the candidates of one file per group, as those of tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.data.groups import index_groups
from groupcm.data.tables.columns import KeyColumn
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import Argument, InputError
from groupcm.sources.candidates import StreamedCandidates
from groupcm.sources.group_files import GroupFilesSource, from_hdf5, from_npy_folder

__all__ = ["FORMATS", "GroupFileCandidates", "open_candidates"]

#: The formats of files with one array per group.
FORMATS = ("hdf5", "npy")
_GROUP, _LABEL = "slide", "label"


class GroupFileCandidates(StreamedCandidates):
    """Candidates in one file per group, read as often as needed; see `open_candidates`."""

    X: Any  # a GroupFilesSource

    def __init__(self, source: GroupFilesSource, roles: ColumnRoles, folder: Path) -> None:
        self.roles, self.description = roles, None
        self.X, self.files, self.folder = source, source.files, folder
        self.n_rows, self.dtype = source.n_rows, source.dtype
        self.feature_names = [f"feature_{j}" for j in range(source.n_features)]
        patient = self._patient()
        self.n_patients = None if patient is None else patient.n_distinct

    @property
    def named(self) -> list[str | Path]:
        """The folder of the files."""
        return [self.folder]

    def annotation(self) -> dict[str, NDArray[Any]]:
        """Return ``annotated``, where it is not known of all groups which rows are positive."""
        return {} if np.all(self.X.annotated) else {"annotated": self.X.annotated}

    def weights(self) -> None:
        """Return None: there is no column of weights."""

    def _patient(self) -> KeyColumn | None:
        if self.X.patients is None:
            return None
        index = index_groups(self.X.patients)
        return KeyColumn(index.codes, pa.array(index.ids))


def open_candidates(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    format: str,
    *,
    labels: str | os.PathLike[str] | None = None,
    group: str | None = None,
    label: str | None = None,
    patient: str | None = None,
    annotations: str | os.PathLike[str] | None = None,
    category: str | Iterable[str] | None = None,
    pos_label: Any = None,
    patch_size: float | None = None,
) -> GroupFileCandidates:
    """Return the candidates of a folder of one file per group.

    Parameters
    ----------
    path : path, or sequence of paths
        A folder, or files.
    format : {"hdf5", "npy"}
        See `groupcm.sources.from_hdf5` and `groupcm.sources.from_npy`.
    labels, group, label, patient, annotations, category, pos_label, patch_size
        See `groupcm.sources.from_hdf5`; ``group`` and ``label`` are by default the columns
        ``slide`` and ``label``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "a.npy", np.zeros((4, 2)))
    >>> open_candidates(folder, "npy").n_rows
    4
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    group, label = group or _GROUP, label or _LABEL
    if labels is None and patient is not None:
        raise InputError(
            Argument("patient"),
            " names a column of the table of slides; give that table with ",
            Argument("labels"),
        )
    if format == "npy":
        if annotations is not None:
            raise InputError(
                Argument("annotations"), " needs the coordinates of patches, which .npy files lack"
            )
        source = from_npy_folder(paths, labels, group=group, label=label, patient=patient)
    else:
        source = from_hdf5(
            paths,
            labels=labels,
            group=group,
            label=label,
            patient=patient,
            annotations=annotations,
            category=category,
            pos_label=pos_label,
            patch_size=patch_size,
        )
    roles = ColumnRoles(group, label if source.has_label else None, patient=patient)
    return GroupFileCandidates(source, roles, Path(paths[0]))
