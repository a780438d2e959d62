"""What a user installs is the package, whole and alone."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import groupcm

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "groupcm"
FOR_DEVELOPERS = {"all", "bench", "dist", "docs", "lint", "test"}
# Packages that conda-forge calls by another name.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "torch": "pytorch"}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def yaml_file(name: str) -> Any:
    return pytest.importorskip("yaml").safe_load((ROOT / name).read_text(encoding="utf-8"))


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
    # Code, templates, schemas and built pages: no data, no cache, nothing that lay around.
    pages = {name for name in packed if name.startswith("groupcm/web/static/")}
    assert {Path(name).suffix for name in pages} == {".html", ".css", ".js", ".txt", ".sha256"}
    kinds = {Path(name).suffix for name in packed - pages}
    assert kinds <= {".py", ".typed", ".html", ".css", ".json"}
    assert sum(entry.file_size for entry in wheel.infolist()) < 4_500_000


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


def test_all_is_every_extra_for_users():
    extras = project()["optional-dependencies"]
    (named,) = extras["all"]
    users = set(extras) - FOR_DEVELOPERS
    assert set(named.removeprefix("groupcm[").removesuffix("]").split(",")) == users


def test_one_version_of_torch_is_tested():
    extras = project()["optional-dependencies"]
    for name in ("test", "bench"):
        named = re.findall(r"groupcm\[([^]]*)\]", " ".join(extras[name]))
        assert not {"all", "torch"} & {each for part in named for each in part.split(",")}
        assert [each for each in extras[name] if each.startswith("torch")] == ["torch==2.13.0"]


def test_the_citation_and_the_recipe_state_the_version():
    citation = yaml_file("CITATION.cff")
    assert citation["version"] == groupcm.__version__
    paper = citation["preferred-citation"]
    assert paper["title"] == "A convex method for classification of groups of examples"
    assert yaml_file("conda/recipe/recipe.yaml")["context"]["version"] == groupcm.__version__


def spelled_for_conda(requirements: list[str]) -> set[str]:
    """Return requirements of pip, except those of groupcm itself, as conda spells them."""
    found = set()
    for line in requirements:
        name, versions = re.fullmatch(r"([a-z0-9-]+)(?:\[[a-z,]*\])?(.*)", line).groups()
        if name != "groupcm":
            found.add(f"{CONDA_NAMES.get(name, name)} {versions}")
    return found


def test_the_recipe_requires_what_the_wheel_requires():
    stated, recipe = project(), yaml_file("conda/recipe/recipe.yaml")["requirements"]
    assert set(recipe["run"][1:]) == spelled_for_conda(stated["dependencies"])
    extras = stated["optional-dependencies"]
    users = [line for name in set(extras) - FOR_DEVELOPERS for line in extras[name]]
    assert set(recipe["run_constraints"]) == spelled_for_conda(users)


def test_templates_of_issues_can_be_read():
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    if not folder.is_dir():
        pytest.skip("a source distribution has no templates")
    forms = {path.stem: yaml_file(str(path)) for path in folder.glob("*.yml")}
    assert forms.keys() == {"bug", "config", "feature", "question"}
    for form in forms.values():
        identifiers = [part["id"] for part in form.get("body", []) if "id" in part]
        assert len(identifiers) == len(set(identifiers))
    assert "doctor" in [part.get("id") for part in forms["bug"]["body"]]


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
