"""Imports flow one way through all layers, no modules import each other, and starting is quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import groupcm

PACKAGE = Path(groupcm.__file__).parent

# An entry of src/groupcm may import from its own layer and from those above it in this table,
# anywhere in its files: also inside functions, and for types alone. Every entry is listed.
LAYERS: list[set[str]] = [
    {"errors", "utils"},
    {"annotations", "kernels"},
    {"data", "objective"},
    {"features", "sources"},
    {"metrics", "simulate", "solvers"},
    {"datasets", "estimators", "selection"},
    {"boosting", "images", "persistence", "torch"},
    {"diagnostics", "evaluation"},
    {"plots"},
    {"report"},
    {"experiments", "web", "workflows"},
    {"__main__", "_compat", "cli"},
]
# Entries of one layer that may not import each other, as (importer, imported).
APART = {
    ("annotations", "kernels"),
    ("experiments", "web"),
    ("experiments", "workflows"),
    ("web", "workflows"),
    ("workflows", "experiments"),
    ("workflows", "web"),
    ("features", "sources"),
    ("images", "boosting"),
    ("images", "persistence"),
    ("metrics", "solvers"),
    ("solvers", "metrics"),
    ("web", "experiments"),
}
# Imports against the layers that are allowed, each with its reason; as few as possible.
ALLOWED: dict[tuple[str, str], str] = {}


@dataclass(frozen=True)
class Import:
    """One import statement: the modules it names, and whether it runs when the file is imported."""

    names: tuple[str, ...]
    at_import: bool


class Tree:
    """The modules of a package and what each imports from it.

    Modules are named from below the package: ``sources.parquet``; the package itself is "".
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.files: dict[str, Path] = {}
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            self.files[".".join(part for part in parts if part != "__init__")] = path
        self.imports = {module: list(self._imports_of(module)) for module in self.files}

    @property
    def entries(self) -> set[str]:
        """Packages and modules at the top level."""
        return {module.partition(".")[0] for module in self.files} - {""}

    def _imports_of(self, module: str) -> Iterator[Import]:
        path = self.files[module]
        here = [part for part in module.split(".") if part]
        here = here if path.name == "__init__.py" else here[:-1]
        syntax = ast.parse(path.read_text(encoding="utf-8"))
        running = {id(node) for node in _run_at_import(syntax)}
        for node in ast.walk(syntax):
            names = self._named(node, here)
            if names:
                yield Import(names, id(node) in running)

    def _named(self, node: ast.AST, here: list[str]) -> tuple[str, ...]:
        """Return the modules of this package that a node imports."""
        if isinstance(node, ast.Import):
            found = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = [self.name, *here[: len(here) + 1 - node.level], *base]
            found = [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and _called(node) == "import_module":
            # Lazy imports by name; where the name is put together only its beginning is known.
            found = [_text(node.args[0]).split(".")]
        else:
            return ()
        return tuple(self._module(words[1:]) for words in found if words[0] == self.name)

    def _module(self, words: list[str]) -> str:
        """Return the module that a dotted name is in: the longest beginning that is a file."""
        while words and ".".join(words) not in self.files:
            words = words[:-1]
        return ".".join(words)

    def lazy_tables(self, module: str) -> set[str]:
        """Return the modules that texts of a file name, as the tables of lazy names do."""
        texts = {
            node.value
            for node in ast.walk(ast.parse(self.files[module].read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        names = {text.removeprefix(f"{self.name}.") for text in texts if "." in text}
        return names & set(self.files)

    def imported(self, module: str, *, at_import: bool = False) -> set[str]:
        """Return the modules that a module imports, anywhere or while it is imported itself."""
        found = {
            name
            for each in self.imports[module]
            for name in each.names
            if each.at_import or not at_import
        }
        return found - {module}

    def graph(self) -> dict[str, set[str]]:
        """Return which modules must be loaded before each, without the packages around them."""
        return {module: self.imported(module, at_import=True) for module in self.files}


def _run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run while a file is imported: not those in functions or for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and _last_name(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from _run_at_import(other)
            continue
        yield child
        yield from _run_at_import(child)


def _last_name(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _called(node: ast.Call) -> str:
    return _last_name(node.func)


def _text(node: ast.expr) -> str:
    """Return a text, or the beginning of one that is put together."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]  # type: ignore[assignment]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def layer_of(entry: str, layers: list[set[str]]) -> int | None:
    return next((depth for depth, members in enumerate(layers) if entry in members), None)


def unlisted(tree: Tree, layers: list[set[str]]) -> set[str]:
    """Return entries that no layer has, and those of the table that do not exist."""
    return tree.entries ^ set().union(*layers)


def reaching_up(
    tree: Tree,
    layers: list[set[str]],
    apart: Iterable[tuple[str, str]] = (),
    allowed: Iterable[tuple[str, str]] = (),
) -> list[str]:
    """Return the imports from a later layer, or from an entry to be kept apart."""
    found = []
    for module in tree.files:
        entry = module.partition(".")[0]
        own = layer_of(entry, layers)
        # The package itself re-exports, lazily, what users call: every layer.
        if own is None:
            continue
        for name in sorted(tree.imported(module) | tree.lazy_tables(module)):
            other = name.partition(".")[0]
            depth = layer_of(other, layers)
            if other == entry or (module, name) in allowed or depth is None:
                continue
            if depth > own or (entry, other) in apart:
                found.append(f"{module} imports {name}")
    return found


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module (Tarjan's algorithm)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    found: list[list[str]] = []
    for start in graph:
        if start in order:
            continue
        order[start] = lowest[start] = len(order)
        open_.append(start)
        work = [(start, iter(sorted(graph[start])))]
        while work:
            node, later = work[-1]
            for other in later:
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    open_.append(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in open_:
                    lowest[node] = min(lowest[node], order[other])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    place = open_.index(node)
                    component, open_[place:] = open_[place:], []
                    if len(component) > 1:
                        found.append(sorted(component))
    return found


@cache
def tree() -> Tree:
    return Tree(PACKAGE)


def modules() -> dict[str, Path]:
    return tree().files


# The layers --------------------------------------------------------------------------------------


def test_every_entry_of_the_package_is_in_one_layer():
    assert unlisted(tree(), LAYERS) == set()
    assert sum(map(len, LAYERS)) == len(set().union(*LAYERS))


def test_imports_flow_one_way():
    assert reaching_up(tree(), LAYERS, APART, ALLOWED) == []


def test_every_exception_is_still_needed():
    used = {(module, name) for module in modules() for name in tree().imported(module)}
    assert set(ALLOWED) <= used


def test_no_modules_import_each_other():
    assert cycles(tree().graph()) == []


def test_the_package_itself_imports_nothing_eagerly():
    assert tree().imported("", at_import=True) <= {"", "_compat"}


# That these tests can fail, on a small package ---------------------------------------------------

TOY: dict[str, str] = {
    "__init__.py": "",
    "errors.py": "class InputError(ValueError): ...",
    "solvers/__init__.py": "def __getattr__(name):\n    from toy.solvers.newton import solve\n",
    "solvers/newton.py": "from toy.errors import InputError",
    "estimators/__init__.py": "",
    "estimators/linear.py": "from toy.solvers import newton",
    "estimators/tuned.py": "from .linear import fit",
}
TOY_LAYERS = [{"errors"}, {"solvers"}, {"estimators"}]


def toy(folder: Path, changed: Mapping[str, str] = {}) -> Tree:
    """Write the small package, with some files changed, and read it."""
    for name, text in {**TOY, **changed}.items():
        path = folder / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(folder / "toy")


def test_a_package_in_order_passes(tmp_path):
    small = toy(tmp_path)
    assert unlisted(small, TOY_LAYERS) == set()
    assert reaching_up(small, TOY_LAYERS) == []
    assert cycles(small.graph()) == []


def test_an_unlisted_entry_is_found(tmp_path):
    assert unlisted(toy(tmp_path, {"helpers.py": "", "tools/a.py": ""}), TOY_LAYERS) == {
        "helpers",
        "tools",
    }
    assert unlisted(toy(tmp_path), [*TOY_LAYERS, {"gone"}]) >= {"gone"}


@pytest.mark.parametrize(
    "text",
    [
        "from toy.estimators.linear import fit",
        "import toy.estimators.linear",
        "from toy.estimators import linear",
        "from ..estimators.linear import fit",
        "def f():\n    from toy.estimators.linear import fit\n",
        "if TYPE_CHECKING:\n    from toy.estimators.linear import fit\n",
        "from importlib import import_module\nimport_module('toy.estimators.linear')",
        "LAZY = {'fit': 'toy.estimators.linear'}",
    ],
)
def test_an_import_from_a_later_layer_is_found(text, tmp_path):
    found = reaching_up(toy(tmp_path, {"solvers/newton.py": text}), TOY_LAYERS)
    assert found == ["solvers.newton imports estimators.linear"]
    allowed = [("solvers.newton", "estimators.linear")]
    assert reaching_up(Tree(tmp_path / "toy"), TOY_LAYERS, allowed=allowed) == []


def test_entries_of_one_layer_can_be_kept_apart(tmp_path):
    small = toy(tmp_path)
    found = reaching_up(small, [{"errors", "solvers"}, {"estimators"}], [("solvers", "errors")])
    assert found == ["solvers.newton imports errors"]


def test_modules_of_one_package_that_import_each_other_are_found(tmp_path):
    small = toy(tmp_path, {"estimators/linear.py": "from toy.estimators.tuned import fit"})
    assert cycles(small.graph()) == [["estimators.linear", "estimators.tuned"]]


def test_a_longer_cycle_through_an_eager_package_is_found(tmp_path):
    small = toy(
        tmp_path,
        {
            "estimators/__init__.py": "from toy.estimators.linear import fit",
            "estimators/linear.py": "from toy.estimators import tuned",
            "estimators/tuned.py": "from toy.estimators import fit",
        },
    )
    assert cycles(small.graph()) == [["estimators", "estimators.linear", "estimators.tuned"]]


def test_lazy_imports_make_no_cycle(tmp_path):
    small = toy(
        tmp_path,
        {
            "estimators/__init__.py": (
                "def __getattr__(name):\n    from toy.estimators import tuned\n"
            ),
            "estimators/linear.py": "def f():\n    from toy.estimators.tuned import fit\n",
            "estimators/tuned.py": "from toy.estimators import linear",
        },
    )
    assert cycles(small.graph()) == []


# What only some modules may do -------------------------------------------------------------------


def test_numba_lives_in_kernels_only():
    for module, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    assert callers == {"data.tables.parquet", "data.tables._concatenation"}
    assert not any(name == "dataset" for _, name in found)


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
        "def f(model):\n    model._notes = 1",
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
    loaded = loaded_after("import groupcm.images._worker_process")
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
