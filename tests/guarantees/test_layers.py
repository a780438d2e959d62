"""Imports flow one way, and nobody pays for what they do not use."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import groupcm

PACKAGE = Path(groupcm.__file__).parent

# A module may import from its own layer and from the ones above it in this list.
LAYERS = [
    {"annotations", "kernels"},
    {"losses", "penalties"},
    {"problem", "grouping", "smoothing"},
    {"sources", "scaling", "features"},
    {"solvers"},
    {"validation", "parameters"},
    {"group_table", "fold_checks", "folds", "annotated_folds", "metrics", "hyperparameters"},
    {"tables", "data"},
    {"training_data", "preparing", "training_groups", "torch"},
    {"training", "training_tasks", "source_scores", "scoring"},
    {"any_estimator", "thresholds", "training_profile", "group_model", "linear_model"},
    {"classifier", "boosting"},
    {"selection", "misvm"},
    {"held_out_groups", "calibrators"},
    {"classifier_cv", "calibration"},
    {"estimators"},
    {"weights", "explanation", "evaluation"},
    {"comparison"},
    {"images"},
    {"report"},
    {"simulate", "experiments"},
    {"persistence", "model_json", "sklearn_json", "sklearn_state", "onnx_export"},
    {"web"},
]
# What every layer may use: they know nothing of the maths and import none of it.
SHARED = {
    "registry",
    "progress",
    "errors",
    "extras",
    "model_state",
    "decision",
    "candidates",
    "group_index",
    "labels",
    "parallel",
    "memory",
    "files",
    "frames",
    "locking",
    "table_columns",
    "table_choice",
    "table_formats",
    "table_partitions",
    "table_roles",
    "table_text",
    "gathered_warnings",
    "words",
}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name under `groupcm`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imports_of(module: str, path: Path) -> set[str]:
    """Names of groupcm modules that a file imports, anywhere in it, as `layer[.rest]`."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    package = [part for part in package if part]
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = ["groupcm", *package[: len(package) + 1 - node.level], *base]
            names |= {".".join([*base, alias.name]) for alias in node.names}
    names -= {"groupcm.TYPE_CHECKING"}  # a constant of the package itself
    return {name.removeprefix("groupcm.") for name in names if name.startswith("groupcm.")}


def layer_of(name: str) -> int | None:
    top = name.split(".")[0]
    for depth, members in enumerate(LAYERS):
        if top in members:
            return depth
    return None


def test_every_layer_exists():
    tops = {name.split(".")[0] for name in modules()}
    assert set().union(*LAYERS) <= tops


@pytest.mark.parametrize("module", [m for m in modules() if layer_of(m) is not None])
def test_imports_flow_one_way(module):
    own = layer_of(module)
    assert own is not None
    for name in imports_of(module, modules()[module]):
        top = name.split(".")[0]
        depth = layer_of(name)
        if depth is None:
            assert top in SHARED or top.startswith("_"), f"{module} reaches up to {name}"
        else:
            assert depth <= own, f"{module} reaches up to {name}"


@pytest.mark.parametrize("module", [m for m in modules() if m.split(".")[0] in SHARED])
def test_shared_modules_know_no_solver_and_no_estimator(module):
    for name in imports_of(module, modules()[module]):
        assert name.split(".")[0] not in set().union(*LAYERS[1:]), (module, name)


def test_numba_lives_in_kernels_only():
    for module, path in modules().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            if any(name.split(".")[0] == "numba" for name in names):
                assert module.split(".")[0] == "kernels", module


def test_parquet_files_are_opened_and_written_in_one_place():
    """There their checksums are verified and stored; a sort tries types on a buffer."""
    calls = {"ParquetFile", "ParquetWriter", "read_table", "read_metadata", "read_schema"}
    found = {
        (module, getattr(node.func, "attr", getattr(node.func, "id", "")))
        for module, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }
    callers = {module for module, name in found if name in calls}
    assert callers == {"table_formats", "sorting.tables"}
    assert {module for module, name in found if name == "dataset"} == {"experiments.training_set"}


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
# Public in every named tuple; the underscore only keeps them apart from the fields.
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}
ATTRIBUTE_FUNCTIONS = {"getattr", "hasattr", "setattr", "delattr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in OF_NAMED_TUPLES


def private_definitions(tree: ast.Module) -> set[str]:
    """Private names that a module gives to its own functions, classes and their attributes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} if is_own(node.value) else set()
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return {name for name in found if is_private(name)}


def is_own(value: ast.expr) -> bool:
    """Whether an expression is ``self``, ``cls`` or ``super()``."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in {"self", "cls"}


def private_uses(tree: ast.Module) -> dict[str, int]:
    """Private names that a module reads of others, each with a line."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not is_own(node.value):
            found[node.attr] = node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("groupcm"):
            found |= {alias.name: node.lineno for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ATTRIBUTE_FUNCTIONS:
            owner, name = node.args[:2]
            if isinstance(name, ast.Constant) and not is_own(owner):
                found[str(name.value)] = node.lineno
    return {name: line for name, line in found.items() if is_private(name)}


@cache
def trees() -> dict[str, ast.Module]:
    return {
        module: ast.parse(path.read_text(encoding="utf-8")) for module, path in modules().items()
    }


@cache
def all_private_definitions() -> frozenset[str]:
    return frozenset().union(*map(private_definitions, trees().values()))


def foreign_private_names(tree: ast.Module) -> dict[str, int]:
    """Private names of another module of groupcm that a module uses, each with a line.

    Those of other libraries are not judged here.
    """
    own, every = private_definitions(tree), all_private_definitions()
    return {k: line for k, line in private_uses(tree).items() if k in every and k not in own}


@pytest.mark.parametrize("module", modules())
def test_no_module_uses_a_private_name_of_another(module):
    assert foreign_private_names(trees()[module]) == {}


@pytest.mark.parametrize(
    "code",
    [
        "def f(model):\n    return model._store(1)",
        "def f(model):\n    model._file_notes = 1",
        "def f(model):\n    return getattr(model, '_scorer', None)",
        "def f(model):\n    return hasattr(type(model), '_fitted_state')",
        "class A:\n    def f(self):\n        return self.model._scorer",
        "from groupcm.estimators.thresholds import _between_scores",
    ],
)
def test_a_private_name_of_another_module_is_found(code):
    assert len(foreign_private_names(ast.parse(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def _store(self):\n        return super()._scorer\na = A()\na._store()",
        "class A:\n    _fitted_state = 1\nclass B:\n    x = A._fitted_state",
        "class A:\n    def __eq__(self, other):\n        self._store = other._store",
        "import os\nos._exit(0)",
    ],
)
def test_private_names_of_a_module_are_its_own(code):
    assert foreign_private_names(ast.parse(code)) == {}


def loaded_after(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running code."""
    code += "\nimport sys; print('modules:', *{m.split('.')[0] for m in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return set(run.stdout.rpartition("modules:")[2].split())


def test_import_is_light():
    assert loaded_after("import groupcm").isdisjoint({"sklearn", "numba", "scipy", "pyarrow"})


def test_a_process_for_pictures_begins_light():
    # Libraries must not be loaded before it knows how many threads it may have.
    loaded = loaded_after("import groupcm.images.worker_process")
    assert loaded.isdisjoint({"numpy", "numba", "pyarrow", "skimage", "PIL"})


def test_public_names_are_there_and_listed():
    assert {"GroupClassifier", "save", "load"} <= set(dir(groupcm))
    for name in groupcm.__all__:
        assert getattr(groupcm, name) is not None
    with pytest.raises(AttributeError):
        groupcm.no_such_name  # noqa: B018


FIT_ARRAYS = """
import numpy as np
from groupcm import GroupClassifier
X = np.random.default_rng(0).normal(size=(40, 2))
y = (np.arange(40) % 8 == 0).astype(int)
X[y == 1] += 2
groups = np.repeat(np.arange(10), 4)
model = GroupClassifier(verbose=1).fit(X, y, groups=groups)
model.group_scores(X, groups)
"""
EXTRAS = {"rich", "pandas", "polars", "cvxpy", "matplotlib", "jinja2", "lightgbm", "pytest"}


def test_fitting_arrays_imports_no_extra():
    # scikit-learn itself imports pandas where it is installed; that is not ours to judge.
    theirs = loaded_after("import sklearn.base, numba, pyarrow, narwhals")
    assert not (loaded_after(FIT_ARRAYS) - theirs) & EXTRAS


def test_fitting_arrays_needs_no_extra():
    absent = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r}))"
    assert "groupcm" in loaded_after(absent + FIT_ARRAYS)
