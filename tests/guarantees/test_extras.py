"""Packages that are not installed: one sentence with the command, for people and for code."""

from __future__ import annotations

import subprocess
import sys

import pytest

from groupcm.errors import InputError
from groupcm.utils.extras import (
    BOOSTING,
    IMAGES,
    REPORT,
    WEB,
    MissingExtra,
    is_installed,
    require_installed,
)

MISSING = {
    "boosting": ("lightgbm", lambda: BOOSTING.load("lightgbm")),
    "images": ("skimage.color", lambda: IMAGES.load("skimage.color")),
    "report": ("jinja2", REPORT.require),
    "web": ("uvicorn", WEB.require),
}


@pytest.mark.parametrize("extra", MISSING)
def test_the_command_is_named(extra, monkeypatch):
    package, need = MISSING[extra]
    need()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra) as caught:
        need()
    assert str(caught.value).endswith(f'; install it with: pip install "groupcm[{extra}]"')
    assert isinstance(caught.value, InputError)  # the command line shows the sentence alone
    assert isinstance(caught.value, ImportError)


def test_nothing_is_imported_to_know_what_is_there(monkeypatch):
    monkeypatch.delitem(sys.modules, "this", raising=False)
    require_installed(["this"], "web", "poems are needed")
    assert "this" not in sys.modules
    assert is_installed("this")
    assert not is_installed("no_such_package")


WITHOUT_EXTRAS = """
import sys

MISSING = {
    *("torch", "lightgbm", "xgboost", "onnx", "onnxruntime", "dask", "distributed", "skimage"),
    *("PIL", "imageio", "matplotlib", "jinja2", "starlette", "uvicorn", "rich", "pandas", "polars"),
}

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import inspect
import pydoc

import groupcm

assert not hasattr(groupcm, "torch")
names = {name for name, _ in inspect.getmembers(groupcm)}
assert set(groupcm.__all__) <= names and "torch" not in names
assert "GroupClassifier" in pydoc.render_doc(groupcm)
from groupcm import *
assert GroupClassifier is groupcm.GroupClassifier
for module in ("groupcm", "features", "metrics", "selection", "simulate", "sources", "boosting"):
    module = groupcm if module == "groupcm" else getattr(groupcm, module)
    assert all(hasattr(module, name) for name in module.__all__), module
    inspect.getmembers(module)
hint = 'install it with: pip install "groupcm[torch]"'
for statement in (
    "import groupcm.torch",
    "from groupcm.torch import GroupLoss",
    "from groupcm import torch",
    "groupcm.torch",
):
    try:
        exec(statement)
    except (ImportError, AttributeError) as error:
        assert hint in str(error), error
    else:
        raise AssertionError(statement)
print("all is well")
"""


def test_the_package_can_be_looked_at_without_extras():
    run = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True)
    assert run.stdout.strip() == "all is well", run.stderr


def test_torch_is_found_where_it_is_installed():
    import groupcm

    assert hasattr(groupcm, "torch")
    assert "torch" in dir(groupcm)
    assert groupcm.torch.GroupLoss.__name__ == "GroupLoss"
