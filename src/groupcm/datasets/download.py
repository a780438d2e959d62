"""Files of public datasets: downloaded once, checked by SHA-256 and kept in a folder.

The folder is ``data_home``, or that of the environment variable ``GROUPCM_DATA``, or the user's
cache folder (`get_data_home`). A file that is already there is used, so that it can also be
downloaded by hand; then nothing is written to the folder.

A checksum is one of three kinds, in this order:

1. the argument ``sha256`` of the caller;
2. the checksum that groupcm contains, for files that never change;
3. that of the download: it is stored in ``NAME.sha256`` next to the file and checked at each use.
   This recognises a file that has changed or is damaged, but not a wrong download.

The licence is printed at the first use of a dataset: at the download, which stores it in
``NAME.licence.txt``, or once per process if the file was not downloaded by groupcm.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from groupcm.annotations.archives import unzip
from groupcm.errors import Argument, FileName, InputError
from groupcm.utils.files import whole_file, whole_folder
from groupcm.utils.locking import waiting_lock
from groupcm.utils.progress import announce_reading, count_reading, printing_progress

__all__ = [
    "DownloadError",
    "Options",
    "RemoteArchive",
    "RemoteFile",
    "get_data_home",
    "print_licence",
]

_BLOCK = 2**18
_SECONDS_WITHOUT_ANSWER = 60
_MOST_FILES = 200_000
_printed: set[str] = set()


class DownloadError(InputError):
    """A file of a dataset is missing, cannot be downloaded, or has another checksum."""


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of datasets, which need not exist.

    Parameters
    ----------
    data_home : path, optional
        The folder; by default that of the environment variable ``GROUPCM_DATA``, or ``groupcm``
        in the user's cache folder.

    Examples
    --------
    >>> get_data_home("my/data").as_posix()
    'my/data'
    """
    given = data_home if data_home is not None else os.environ.get("GROUPCM_DATA") or None
    if given is not None:
        return Path(given).expanduser()
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "groupcm"


@dataclass(frozen=True)
class Options:
    """The arguments that all functions ``fetch_*`` share.

    Attributes
    ----------
    home : Path
        The folder of datasets.
    download : bool
        Whether a missing file is downloaded.
    sha256 : str or None
        The checksum that the caller expects.
    verbose : int
        Whether the progress of a download is printed.
    """

    home: Path
    download: bool = True
    sha256: str | None = None
    verbose: int = 1


@dataclass(frozen=True)
class RemoteFile:
    """A file of a dataset.

    Attributes
    ----------
    path : str
        Its place below the folder of datasets.
    url : str
        Its address.
    sha256 : str or None
        Its checksum; None if the first use decides.
    most_bytes : int
        A longer download is refused.
    """

    path: str
    url: str
    sha256: str | None = None
    most_bytes: int = 2**31

    def fetch(self, options: Options) -> Path:
        """Return the file, which is downloaded if it is missing, after its checksum is checked."""
        target = options.home / self.path
        if not target.is_file():
            if not options.download:
                raise DownloadError(*self._missing(target), self._by_hand(target))
            with _locked(target):
                if not target.is_file():  # another process may have been quicker
                    self._download(target, options)
        self._check(target, options.sha256)
        return target

    def _missing(self, target: Path) -> tuple[object, ...]:
        return FileName(target), " does not exist"

    def _by_hand(self, target: Path) -> str:
        return f"; download {self.url} and store it in the folder {target.parent} as {target.name}"

    def _download(self, target: Path, options: Options) -> None:
        try:
            with printing_progress(options.verbose), whole_file(target) as temporary:
                found = self._receive(temporary)
                _compare(found, options.sha256 or self.sha256, f"the file at {self.url}")
            with whole_file(_record(target)) as temporary:
                temporary.write_text(f"{found}  {target.name}\n", encoding="utf-8")
        except DownloadError:
            raise
        except (OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise DownloadError(
                *self._missing(target),
                f" and cannot be downloaded from {self.url} ({why})",
                f"; download it by hand and store it in the folder {target.parent}",
            ) from error

    def _receive(self, temporary: Path) -> str:
        """Write the file and return its checksum."""
        digest, n_bytes = hashlib.sha256(), 0
        request = urllib.request.Request(self.url, headers={"User-Agent": "groupcm"})
        with (
            urllib.request.urlopen(request, timeout=_SECONDS_WITHOUT_ANSWER) as answer,
            open(temporary, "wb") as written,
        ):
            length = answer.headers.get("Content-Length")
            expected = int(length) if length is not None else None
            progress = count_reading(f"downloading {Path(self.path).name}:", expected, unit="bytes")
            while block := answer.read(_BLOCK):
                n_bytes += len(block)
                if n_bytes > self.most_bytes:
                    raise DownloadError(
                        f"the file at {self.url} has more than {self.most_bytes:,} bytes"
                    )
                digest.update(block)
                written.write(block)
                announce_reading(progress(n_bytes))
        if expected is not None and n_bytes != expected:
            raise DownloadError(
                f"the download of {self.url} ended after {n_bytes:,} of {expected:,} bytes; "
                "try again"
            )
        return digest.hexdigest()

    def _check(self, target: Path, sha256: str | None) -> None:
        """Compare the checksum with the expected one, or with that of the download."""
        expected, record = sha256 or self.sha256, _record(target)
        if expected is None and record.is_file():
            expected = next(iter(record.read_text(encoding="utf-8").split()), None)
        if expected is not None:
            _compare(checksum(target), expected, target)


@dataclass(frozen=True)
class RemoteArchive:
    """A ZIP file of a dataset that is unpacked to a folder and then removed.

    Attributes
    ----------
    folder : str
        The folder below the folder of datasets.
    file : RemoteFile
        The ZIP file.
    rename : callable
        A function from a name in the archive to a name in the folder, or to None for a file that
        is left out.
    digest : str or None
        The checksum of the unpacked files (`folder_digest`), where they never change. The archive
        itself may be packed anew by the server.
    """

    folder: str
    file: RemoteFile
    rename: Callable[[str], str | None]
    digest: str | None = None

    def fetch(self, options: Options) -> Path:
        """Return the folder; if it is missing, the archive is downloaded and unpacked."""
        target = options.home / self.folder
        if target.is_dir():
            return target
        with _locked(target):
            if not target.is_dir():
                packed = self.file.fetch(options)
                self._unpack(packed, target)
                packed.unlink()
        return target

    def _unpack(self, packed: Path, target: Path) -> None:
        try:
            with whole_folder(target) as folder:
                with zipfile.ZipFile(packed) as archive:
                    unzip(
                        archive,
                        folder,
                        most_bytes=self.file.most_bytes,
                        most_files=_MOST_FILES,
                        rename=self.rename,
                    )
                if self.digest is not None:
                    what = f"the set of files in {packed}"
                    _compare(folder_digest(folder), self.digest, what)
        except InputError as error:
            raise DownloadError(FileName(packed), ": ", error) from error
        except (zipfile.BadZipFile, EOFError, RuntimeError) as error:
            raise DownloadError(
                FileName(packed), " is not a readable ZIP file; remove it and try again"
            ) from error


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 of the list of all files of a folder with their checksums.

    The list has the format of the program ``sha256sum``, sorted by names.
    """
    files = sorted(
        (path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()
    )
    lines = "".join(f"{checksum(path)}  {name}\n" for name, path in files)
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def print_licence(name: str, licence: str, data: Path) -> None:
    """Print the licence of a dataset at the first use.

    Parameters
    ----------
    name, licence
        The name of the dataset and its terms of use.
    data
        The file or the folder of the data. If groupcm has downloaded it, the licence is stored next
        to it, and a later process prints nothing.
    """
    note = data.with_name(f"{name}.licence.txt")
    if name in _printed or note.exists():
        return
    _printed.add(name)
    print(f"Licence of {name}: {licence}", flush=True)
    if any(_record(path).is_file() for path in (data, data.with_name(f"{data.name}.zip"))):
        with suppress(OSError, InputError), whole_file(note) as temporary:
            temporary.write_text(licence + "\n", encoding="utf-8")


def _record(target: Path) -> Path:
    """Return the file that contains the checksum of a download."""
    return target.with_name(f"{target.name}.sha256")


def _compare(found: str, expected: str | None, what: str | Path) -> None:
    if expected is not None and found != expected.lower():
        raise DownloadError(
            FileName(what) if isinstance(what, Path) else what,
            f" has the SHA-256 checksum {found}, not {expected.lower()}; remove it and try again, "
            "or, if this version is intended, give its checksum as ",
            Argument("sha256"),
        )


def _locked(target: Path) -> AbstractContextManager[None]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(
            FileName(target),
            f" does not exist and its folder cannot be created ({error.strerror}); give another "
            "folder as ",
            Argument("data_home"),
        ) from error
    return waiting_lock(target.with_name(f".{target.name}.download.lock"))
