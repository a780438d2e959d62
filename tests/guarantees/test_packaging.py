"""What a user installs is the package, whole and alone."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import groupcm

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "groupcm"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """The wheel, built offline."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr
    (path,) = target.glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_holds_exactly_the_package(wheel):
    expected = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    info = f"groupcm-{groupcm.__version__}.dist-info/"
    packed = {name for name in wheel.namelist() if not name.startswith(info)}
    assert packed == expected
    assert "groupcm/py.typed" in packed
    # Code, templates of reports and built pages: no data, no cache, nothing that lay around.
    pages = {name for name in packed if name.startswith("groupcm/web/static/")}
    assert {Path(name).suffix for name in pages} == {".html", ".css", ".js", ".txt", ".sha256"}
    assert {Path(name).suffix for name in packed - pages} <= {".py", ".typed", ".html", ".css"}
    assert sum(entry.file_size for entry in wheel.infolist()) < 3_200_000


def test_wheel_states_version_licence_and_command(wheel):
    info = f"groupcm-{groupcm.__version__}.dist-info/"
    metadata = wheel.read(info + "METADATA").decode()
    assert f"\nVersion: {groupcm.__version__}\n" in metadata
    assert "\nLicense-Expression: BSD-3-Clause\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "groupcm = groupcm.cli:main" in wheel.read(info + "entry_points.txt").decode()


def test_core_needs_only_what_it_should(wheel):
    metadata = wheel.read(f"groupcm-{groupcm.__version__}.dist-info/METADATA").decode()
    required = {
        line.removeprefix("Requires-Dist: ").split(">")[0].split(";")[0].strip()
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    }
    own = {"numpy", "scipy", "scikit-learn", "numba", "pyarrow", "narwhals", "threadpoolctl"}
    assert required == own


def test_annotations_are_the_module_and_not_the_future():
    code = "from groupcm import annotations; print(annotations.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "groupcm.annotations"


def test_the_tests_that_the_security_page_names_exist():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/0-9]+\.py)::(test_[a-z0-9_]+)`", page)
    assert len(named) > 30
    for file, test in named:
        (path,) = ROOT.glob(f"tests/**/{file}")
        assert f"\ndef {test}(" in path.read_text(encoding="utf-8"), f"{file}::{test}"
