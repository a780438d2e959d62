"""The diagnosis of an installation: what it states, what it hides, and what it notices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from groupcm.diagnostics import computer as computers
from groupcm.diagnostics import diagnose, packages, self_test
from groupcm.diagnostics.self_test import EXTRA_MODULES, run_self_test
from groupcm.utils.text import shorten_home

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found():
    return diagnose()


def test_the_installation_of_the_tests_passes(found):
    assert found.passed
    assert {"numpy", "numba"} <= {package.name for package in found.packages}
    assert all(package.is_suitable for package in found.packages)
    assert found.kernel_cache.is_writable
    assert found.torch is not None
    assert found.torch.version == metadata.version("torch")
    tested = EXTRA_MODULES.keys() - {"deep"}  # the tests do without timm
    assert {f"extra {name}" for name in tested} <= {check.name for check in found.checks}


def test_json_is_the_values(found):
    values = json.loads(found.json())
    assert values["format"] == "groupcm-diagnosis"
    assert values["passed"] is True
    assert values["computer"]["n_threads"] == found.computer.n_threads
    assert [each["name"] for each in values["checks"]] == [each.name for each in found.checks]


def test_text_has_every_section(found):
    lines = found.text().splitlines()
    assert [line for line in lines if line[:1].strip()] == [
        "Versions",
        "Extras",
        "Computer",
        "Self-test",
    ]
    assert max(map(len, lines)) <= 100


# What is hidden -----------------------------------------------------------------------------------


def test_home_is_shortened_and_other_folders_are_not(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    assert shorten_home("/home/ada/m.json and '/home/ada'") == "~/m.json and '~'"
    for other in ("/home/adam/m.json", "/mnt/home/ada/m.json", "/home/ada-2/m.json"):
        assert shorten_home(other) == other
    monkeypatch.setenv("HOME", "/")
    assert shorten_home("/data/m.json") == "/data/m.json"


def test_neither_home_nor_secrets_are_in_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GROUPCM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GROUPCM_TOKEN", "a-secret")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))

    def fail() -> str:
        raise OSError(f"cannot write {tmp_path}/model.json")

    monkeypatch.setattr(self_test, "_check_model_file", fail)
    found = diagnose()
    assert not found.passed
    for text in (found.json(), found.text()):
        assert str(tmp_path) not in text
        assert "a-secret" not in text
        assert os.path.join("~", "venv", "python") in text
        assert "OSError: cannot write ~/model.json" in " ".join(text.split())
    assert found.computer.variables["GROUPCM_DATA"] == os.path.join("~", "data")


# What is noticed ----------------------------------------------------------------------------------


def fit_detail() -> str:
    """Return what the self-test finds wrong with a fit."""
    (check,) = (each for each in run_self_test() if each.name == "certified fit")
    assert not check.passed
    return check.detail


def test_a_wrong_objective_is_noticed(monkeypatch):
    fitted = self_test._fitted

    def wrong():
        *data, model = fitted()
        model.objective_ *= 1 + 1e-6
        return *data, model

    monkeypatch.setattr(self_test, "_fitted", wrong)
    assert "by its definition" in fit_detail()


def test_a_bound_that_is_too_high_is_noticed(monkeypatch):
    fitted = self_test._fitted

    def wrong():
        *data, model = fitted()
        model.coef_ = model.coef_ + 0.2
        X, y, groups = data
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        w = model.coef_[0] * X.std(axis=0)
        b = float(model.intercept_[0] + model.coef_[0] @ X.mean(axis=0))
        model.objective_ = model.lower_bound_ = self_test._objective(Z, y, groups, w, b)
        return *data, model

    monkeypatch.setattr(self_test, "_fitted", wrong)
    assert "below the certified lower bound" in fit_detail()


def test_a_wrong_kernel_is_noticed(monkeypatch):
    from groupcm.kernels import maxima

    monkeypatch.setattr(maxima, "run_maxima", lambda scores, start, best, winner: best.fill(0.0))
    check = run_self_test()[0]
    assert not check.passed
    assert check.detail == "a compiled kernel and NumPy disagree" or "IndexError" in check.detail


def test_an_extra_that_cannot_be_imported_is_noticed(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    *_, check = run_self_test(["boosting"])
    assert (check.name, check.passed) == ("extra boosting", False)
    assert "lightgbm" in check.detail


def test_torch_that_cannot_be_imported_is_reported(monkeypatch):
    monkeypatch.setattr(computers, "is_installed", lambda name: True)
    monkeypatch.setitem(sys.modules, "torch", None)
    devices = computers.torch_devices()
    assert devices is not None
    assert (devices.version, devices.gpus) == (None, ())
    assert devices.problem


def test_a_cache_that_cannot_be_written_is_reported(monkeypatch, tmp_path):
    from groupcm.kernels import maxima

    (tmp_path / "file").write_text("")

    class Kernel:
        class stats:
            cache_path = str(tmp_path / "file" / "cache")

    monkeypatch.setattr(maxima, "run_maxima", Kernel)
    cache = computers.kernel_cache()
    assert not cache.is_writable
    assert "NotADirectoryError" in str(cache.problem)


def test_kernels_that_are_not_compiled_are_reported(monkeypatch):
    from groupcm.kernels import maxima

    monkeypatch.setattr(maxima, "run_maxima", maxima.run_maxima.py_func)  # as NUMBA_DISABLE_JIT=1
    assert computers.kernel_cache().path is None
    check = run_self_test()[0]
    assert check.passed
    assert "not compiled" in check.detail


WITHOUT_KERNELS = """
import sys
sys.modules["numba"] = None
from groupcm.diagnostics import diagnose
found = diagnose()
assert not found.passed and found.kernel_cache.path is None
print(found.text())
"""


def test_a_broken_dependency_is_described():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_KERNELS], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert "FAILED: ModuleNotFoundError" in run.stdout


# Requirements -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "required", "accepted"),
    [
        ("1.26", ">=1.26", True),
        ("1.26.0", ">=1.26", True),
        ("1.9", ">=1.26", False),
        ("2.13.0+cpu", "==2.13.0", True),
        ("2.12", "==2.13.0", False),
        ("2.0rc1", ">=1.5,<3", True),
        ("2024.8", ">=2024.10", False),
        ("3", "", True),
    ],
)
def test_versions_are_compared_as_numbers(version, required, accepted, monkeypatch):
    monkeypatch.setattr(packages.metadata, "version", lambda name: version)
    monkeypatch.setattr(packages.metadata, "requires", lambda name: [f"numpy{required}"])
    (package,) = packages.core_packages()
    assert (package.version, package.is_suitable) == (version, accepted)


def test_requirements_of_extras(monkeypatch):
    lines = {
        "groupcm": [
            "numpy>=1.26",
            "imageio[ffmpeg]>=2.35; extra == 'images'",
            'rich >=13 ; extra == "cli"',
            "tomli; python_version < '3.11' and extra == 'cli'",
        ],
        "imageio": ["numpy", "no-such-ffmpeg; extra == 'ffmpeg'"],
    }
    monkeypatch.setattr(packages.metadata, "requires", lambda name: lines.get(name, []))
    monkeypatch.setattr(
        packages.metadata, "metadata", lambda name: Metadata(["cli", "images", "all", "test"])
    )
    cli, images = packages.extras_status()
    assert [each.name for each in cli.packages] == ["rich"]
    assert [each.name for each in images.packages] == ["imageio", "no-such-ffmpeg"]
    assert images.packages[1].version is None
    assert not images.is_installed
    assert images.install_command == 'pip install "groupcm[images]"'


class Metadata:
    def __init__(self, extras: list[str]) -> None:
        self.extras = extras

    def get_all(self, name: str) -> list[str]:
        return self.extras


def test_sources_that_are_not_installed_have_no_requirements(monkeypatch):
    def missing(name: str):
        raise metadata.PackageNotFoundError(name)

    for function in ("requires", "metadata", "version"):
        monkeypatch.setattr(packages.metadata, function, missing)
    assert (packages.core_packages(), packages.extras_status()) == ((), ())


def test_every_extra_for_users_is_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - packages._NOT_FOR_USERS
    assert extras == set(EXTRA_MODULES)
