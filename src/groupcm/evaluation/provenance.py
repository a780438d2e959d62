"""Where the numbers of an evaluation come from: the data, what was left out, and the files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Computation", "DataCounts", "DataStep", "FileDigest", "digest_files"]

# Beyond this many bytes the digests would take longer than a short evaluation.
_MOST_BYTES = 4 << 30


@dataclass(frozen=True)
class DataCounts:
    """The numbers of candidates, groups, patients and objects in a data set."""

    name: str
    n_candidates: int
    n_positive_groups: int
    n_negative_groups: int
    n_patients: int | None = None
    n_objects: int | None = None


@dataclass(frozen=True)
class DataStep:
    """A step of the flow of data: how many groups entered or were left out, and why.

    Attributes
    ----------
    text : str
        What happened to these groups, such as "without annotation".
    n_groups : int
    is_exclusion : bool
        Whether they are left out of some metrics from here on.
    n_candidates : int or None
    """

    text: str
    n_groups: int
    is_exclusion: bool = False
    n_candidates: int | None = None


@dataclass(frozen=True)
class FileDigest:
    """A file that an evaluation read; ``sha256`` is None where it was not computed."""

    name: str
    n_bytes: int
    sha256: str | None = None


@dataclass(frozen=True)
class Computation:
    """How the intervals were computed, and from which files.

    Attributes
    ----------
    n_resamples : int
        The number of bootstrap resamples.
    random_state : int or None
        The seed of the bootstrap; None where it was not a number.
    resampled : str
        What a resample draws: "patients" or "groups".
    n_resampled : int
        The number of those.
    files : sequence of FileDigest
    """

    n_resamples: int
    random_state: int | None
    resampled: str
    n_resampled: int
    files: Sequence[FileDigest] = ()


def digest_files(paths: Iterable[str | Path], most_bytes: int = _MOST_BYTES) -> list[FileDigest]:
    """Return the name, the size and the SHA-256 of each file.

    Once the files have more than ``most_bytes`` together, the others have no SHA-256. What is not a
    file is left out.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> _ = path.write_text("{}")
    >>> [digest] = digest_files([path, path.with_name("gone.json")])
    >>> digest.name, digest.n_bytes, digest.sha256[:8]
    ('model.json', 2, '44136fa3')
    """
    found: list[FileDigest] = []
    n_read = 0
    for path in dict.fromkeys(map(Path, paths)):
        if not path.is_file():
            continue
        n_bytes = path.stat().st_size
        n_read += n_bytes
        sha256 = None
        if n_read <= most_bytes:
            with path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        found.append(FileDigest(path.name, n_bytes, sha256))
    return found
