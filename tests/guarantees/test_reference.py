"""The API reference lists every public name, and every public callable has an example."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import groupcm

API = Path(__file__).resolve().parents[2] / "docs" / "api"
# Not in ``groupcm.__all__``, because they need extras or are imported by their own name.
ALSO_PUBLIC = ("torch", "plots", "datasets", "diagnostics")
# A class that a function makes for the user, with the function whose example shows it.
SHOWN_BY = {
    "groupcm.diagnostics.Check": "groupcm.diagnostics.run_self_test",
    "groupcm.diagnostics.Computer": "groupcm.diagnostics.diagnose",
    "groupcm.diagnostics.Diagnosis": "groupcm.diagnostics.diagnose",
    "groupcm.diagnostics.ExtraStatus": "groupcm.diagnostics.diagnose",
    "groupcm.diagnostics.KernelCache": "groupcm.diagnostics.diagnose",
    "groupcm.diagnostics.Package": "groupcm.diagnostics.diagnose",
    "groupcm.evaluation.Recalibration": "groupcm.evaluation.recalibrate",
    "groupcm.diagnostics.TorchDevices": "groupcm.diagnostics.diagnose",
    "groupcm.metrics.AfrocCurve": "groupcm.metrics.afroc_curve",
    "groupcm.metrics.FrocSensitivity": "groupcm.metrics.froc_sensitivity",
    "groupcm.metrics.Guarantee": "groupcm.metrics.operating_point",
    "groupcm.metrics.Level": "groupcm.metrics.level_scores",
    "groupcm.metrics.Levels": "groupcm.metrics.read_levels",
    "groupcm.metrics.YieldCurve": "groupcm.metrics.yield_curve",
    "groupcm.metrics.YieldPoint": "groupcm.metrics.yield_curve",
    "groupcm.sources.Candidates": "groupcm.read_candidates",
    "groupcm.workflows.PictureTraining": "groupcm.workflows.train_folder",
}
EXAMPLES = re.compile(r"^\s*Examples\n\s*--------\n(?:.*\n)*?\s*>>> ", flags=re.MULTILINE)


def public_modules() -> list[str]:
    named = [name for name in groupcm.__all__ if isinstance(getattr(groupcm, name), ModuleType)]
    found = [name for name in ALSO_PUBLIC if find_spec(f"groupcm.{name}")]
    return ["groupcm", *(f"groupcm.{name}" for name in dict.fromkeys([*named, *found]))]


def public_names() -> dict[str, Any]:
    """Return every public object that is not a module, by its path."""
    names = {}
    for module in map(import_module, public_modules()):
        for name in module.__all__:
            found = getattr(module, name)
            if not isinstance(found, ModuleType):
                names[f"{module.__name__}.{name}"] = found
    return names


def listed_names() -> list[str]:
    """Return the paths in the lists of the reference, in order."""
    paths = []
    for page in sorted(API.glob("*.rst")):
        module, in_list = "", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(" "):
                in_list = line == ".. autosummary::"
            if directive := re.match(r"\.\. (module|currentmodule|data):: (\S+)", line):
                if directive[1] == "data":
                    paths.append(f"{module}.{directive[2]}")
                else:
                    module = directive[2]
            elif in_list and (entry := re.fullmatch(r"   (\w+)", line)):
                paths.append(f"{module}.{entry[1]}")
    return [path for path in paths if find_spec(path.rpartition(".")[0])]


PUBLIC = public_names()
LISTED = listed_names()
CALLABLE = {
    path: found
    for path, found in PUBLIC.items()
    if path in LISTED and (inspect.isfunction(found) or inspect.isclass(found))
    if not (inspect.isclass(found) and issubclass(found, BaseException))  # see api/errors.rst
}


def test_every_public_name_is_listed():
    listed = {(path.rpartition(".")[2], id(PUBLIC[path])) for path in LISTED if path in PUBLIC}
    missing = [
        path for path, found in PUBLIC.items() if (path.rpartition(".")[2], id(found)) not in listed
    ]
    assert not missing


def test_every_listed_name_is_public_and_listed_once():
    assert not [path for path in LISTED if path not in PUBLIC]
    assert len(LISTED) == len(set(LISTED))


def test_every_public_module_has_its_place_and_every_page_is_in_the_index():
    pages = {page.stem: page.read_text(encoding="utf-8") for page in API.glob("*.rst")}
    places = [
        place
        for text in pages.values()
        for place in re.findall(r"^\.\. module:: (\S+)", text, re.M)
    ]
    assert set(public_modules()) <= set(places)
    assert len(places) == len(set(places))
    contents = re.findall(r"^   (\w+)$", pages.pop("index"), flags=re.MULTILINE)
    assert sorted(contents) == sorted(pages)


@pytest.mark.parametrize("path", CALLABLE)
def test_every_public_callable_has_an_example(path):
    text = inspect.cleandoc(CALLABLE[SHOWN_BY.get(path, path)].__doc__ or "")
    assert EXAMPLES.search(text), f"{path} has no section Examples"
