"""Files of datasets: downloads, checksums, errors without a connection, and unpacking."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from groupcm.datasets import DownloadError, get_data_home
from groupcm.datasets import download as module
from groupcm.datasets.download import (
    Options,
    RemoteArchive,
    RemoteFile,
    folder_digest,
    print_licence,
)
from groupcm.errors import InputError
from groupcm.utils.progress import listening

CONTENT = b"candidates\n" * 50_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_args) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/short.bin":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"only this")


@pytest.fixture
def site(tmp_path) -> Iterator[str]:
    """The address of a local server of one file."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "data.bin").write_bytes(CONTENT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(served)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def quiet(home: Path, **options) -> Options:
    return Options(home, verbose=0, **options)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_file_is_downloaded_once(site, tmp_path, monkeypatch):
    home = tmp_path / "home"
    file = RemoteFile("set/data.bin", f"{site}/data.bin", SHA256)
    readings = []
    with listening(lambda _step: None, readings.append):
        assert file.fetch(quiet(home)).read_bytes() == CONTENT
    assert (readings[-1].rows, readings[-1].of_rows) == (len(CONTENT), len(CONTENT))
    assert len(readings) > 1
    assert names(home) == ["set", "set/data.bin", "set/data.bin.sha256"]
    monkeypatch.setattr(module.urllib.request, "urlopen", None)
    assert file.fetch(quiet(home)) == home / "set/data.bin"


def test_a_download_with_another_checksum_leaves_nothing(site, tmp_path):
    file = RemoteFile("set/data.bin", f"{site}/data.bin", "0" * 64)
    with pytest.raises(DownloadError, match=SHA256):
        file.fetch(quiet(tmp_path / "home"))
    assert [name for name in names(tmp_path / "home") if name != "set"] == []
    assert file.fetch(quiet(tmp_path / "home", sha256=SHA256.upper())).is_file()


def test_a_changed_file_is_noticed_without_a_known_checksum(site, tmp_path):
    file = RemoteFile("data.bin", f"{site}/data.bin")
    path = file.fetch(quiet(tmp_path / "home"))
    path.write_bytes(CONTENT + b"more")
    with pytest.raises(DownloadError) as error:
        file.fetch(quiet(tmp_path / "home"))
    assert error.value.file == path
    assert error.value.parameter == "sha256"


def test_an_incomplete_or_endless_download_leaves_nothing(site, tmp_path):
    for file in (
        RemoteFile("short.bin", f"{site}/short.bin"),
        RemoteFile("data.bin", f"{site}/data.bin", most_bytes=1000),
        RemoteFile("absent.bin", f"{site}/absent.bin"),
    ):
        with pytest.raises(DownloadError, match=file.path.partition(".")[0]):
            file.fetch(quiet(tmp_path / "home"))
    assert names(tmp_path / "home") == []


def test_without_a_connection_the_error_names_file_address_and_folder(tmp_path):
    # Nothing listens at this port: it was free a moment ago.
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}/data.bin"
    server.server_close()
    file = RemoteFile("set/data.bin", url)
    for options in (quiet(tmp_path), quiet(tmp_path, download=False)):
        with pytest.raises(DownloadError) as error:
            file.fetch(options)
        for part in (str(tmp_path / "set" / "data.bin"), url, f"folder {tmp_path / 'set'}"):
            assert part in str(error.value)


def test_a_file_that_is_there_is_only_read(tmp_path):
    (tmp_path / "data.bin").write_bytes(CONTENT)
    file = RemoteFile("data.bin", "http://127.0.0.1:9/unused", SHA256)
    assert file.fetch(quiet(tmp_path)) == tmp_path / "data.bin"
    print_licence("only read", "free", tmp_path / "data.bin")
    assert names(tmp_path) == ["data.bin"]


def test_the_licence_is_printed_at_the_first_use(site, tmp_path, capsys, monkeypatch):
    path = RemoteFile("data.bin", f"{site}/data.bin").fetch(quiet(tmp_path / "home"))
    for _ in range(2):
        print_licence("first use", "free for all", path)
    assert capsys.readouterr().out == "Licence of first use: free for all\n"
    monkeypatch.setattr(module, "_printed", set())  # as in another process
    print_licence("first use", "free for all", path)
    assert capsys.readouterr().out == ""


def test_the_folder_of_datasets(monkeypatch, tmp_path):
    monkeypatch.setenv("GROUPCM_DATA", str(tmp_path))
    assert get_data_home() == tmp_path
    assert get_data_home("elsewhere") == Path("elsewhere")
    monkeypatch.delenv("GROUPCM_DATA")
    assert get_data_home().name == "groupcm"


def packed(folder: Path, **content: bytes) -> RemoteArchive:
    """An archive of some files below one folder, of which those of ``set/`` are kept."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    (folder / "packed.zip").write_bytes(buffer.getvalue())
    file = RemoteFile("set.zip", (folder / "packed.zip").as_uri(), most_bytes=2**20)
    return RemoteArchive("set", file, lambda name: name.partition("set/")[2] or None)


def test_an_archive_is_unpacked_and_removed(tmp_path):
    archive = packed(tmp_path, **{"r-1/set/a/b.txt": b"b", "r-1/README": b"x"})
    home = tmp_path / "home"
    folder = archive.fetch(quiet(home))
    assert names(home) == ["set", "set.zip.sha256", "set/a", "set/a/b.txt"]
    digest = folder_digest(folder)
    listing = f"{hashlib.sha256(b'b').hexdigest()}  a/b.txt\n"
    assert digest == hashlib.sha256(listing.encode()).hexdigest()
    (tmp_path / "packed.zip").unlink()
    assert archive.fetch(quiet(home)) == folder


@pytest.mark.parametrize(
    "content",
    [{"../set/out.txt": b"x"}, {"/set/out.txt": b"x"}, {"r/set/bomb": b"0" * 2**21}],
)
def test_a_dangerous_archive_is_refused(content, tmp_path):
    archive = packed(tmp_path, **content)
    with pytest.raises(InputError, match=r"leads out|more than 1 MB"):
        archive.fetch(quiet(tmp_path / "home"))
    assert not (tmp_path / "home" / "set").exists()
    assert not list(tmp_path.rglob("out.txt"))


def test_an_archive_with_other_files_is_refused(tmp_path):
    archive = packed(tmp_path, **{"r/set/a.txt": b"a"})
    changed = RemoteArchive(archive.folder, archive.file, archive.rename, "0" * 64)
    with pytest.raises(DownloadError, match="checksum"):
        changed.fetch(quiet(tmp_path / "home"))
    assert not (tmp_path / "home" / "set").exists()


def test_a_damaged_archive_is_refused(tmp_path):
    archive = packed(tmp_path, **{"r/set/a.txt": b"a"})
    (tmp_path / "packed.zip").write_bytes(b"no archive")
    with pytest.raises(DownloadError, match="ZIP"):
        archive.fetch(quiet(tmp_path / "home"))
