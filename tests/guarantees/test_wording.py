"""No behaviour depends on the wording of a message, but on classes and fields."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import groupcm

PACKAGE = Path(groupcm.__file__).parent
READING = {
    *("replace", "startswith", "endswith", "partition", "rpartition", "split", "rsplit"),
    *("removeprefix", "removesuffix", "find", "rfind", "index", "count", "translate", "strip"),
}
PATTERNS = {"sub", "subn", "match", "search", "fullmatch", "findall", "split", "finditer"}
# Where others offer nothing but a text: the filters that Python keeps of a user's own patterns,
# and a warning of matplotlib that has no class.
ALLOWED = {("errors", "match"), ("merged_warnings", "filterwarnings")}


class Reader(ast.NodeVisitor):
    """Finds where a message is read: what is compared, cut, replaced or matched."""

    def __init__(self) -> None:
        self.errors: set[str] = set()
        self.texts: set[str] = set()
        self.found: list[tuple[int, str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.errors, self.texts
        arguments = [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs]
        told = {each.arg for each in arguments if self.is_exception(each.annotation)}
        self.errors, self.texts = self.errors | told, set(self.texts)
        self.generic_visit(node)
        self.errors, self.texts = before

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        before = self.errors
        self.errors = self.errors | ({node.name} if node.name else set())
        self.generic_visit(node)
        self.errors = before

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if self.is_text(node.value):
            for target in node.targets:
                self.texts |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}

    def visit_Compare(self, node: ast.Compare) -> None:
        if any(map(self.is_text, [node.left, *node.comparators])):
            self.found.append((node.lineno, "compare"))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", "")
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        # Line ends are made spaces by a split without arguments, and full stops are cut.
        points = all(
            isinstance(each, ast.Constant) and each.value in (".", ".;") for each in node.args
        )
        if of is not None and self.is_text(of) and name in READING and not points:
            self.found.append((node.lineno, name))
        is_pattern = isinstance(of, ast.Name) and of.id == "re" and name in PATTERNS
        if is_pattern and any(map(self.is_text, node.args)):
            self.found.append((node.lineno, name))
        if name == "filterwarnings":
            is_given = len(node.args) > 1 or any(each.arg == "message" for each in node.keywords)
            self.found += [(node.lineno, name)] * is_given
        self.generic_visit(node)

    def is_text(self, node: ast.AST) -> bool:
        """Whether an expression is the text of an exception or a warning, or of a part of it."""
        if isinstance(node, ast.Name):
            return node.id in self.texts
        if isinstance(node, ast.JoinedStr):
            return any(
                self.is_error(each.value) or self.is_text(each.value)
                for each in node.values
                if isinstance(each, ast.FormattedValue)
            )
        if isinstance(node, ast.Subscript):
            return self.is_text(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr == "args" and self.is_error(node.value)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("str", "repr", "printable"):
                return any(self.is_error(each) or self.is_text(each) for each in node.args)
            if name == "message" and isinstance(node.func, ast.Attribute):
                return self.is_error(node.func.value)
            if isinstance(node.func, ast.Attribute):  # a method of a text, or a join of its words
                return self.is_text(node.func.value) or any(map(self.is_text, node.args))
        return False

    def is_error(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "message"  # of a warning that was caught
        return isinstance(node, ast.Name) and node.id in self.errors

    @staticmethod
    def is_exception(annotation: ast.AST | None) -> bool:
        names = set() if annotation is None else set(ast.unparse(annotation).split(" | "))
        return any(name.endswith(("Error", "Exception", "Warning")) for name in names)


def readings(code: str) -> list[str]:
    reader = Reader()
    reader.visit(ast.parse(code))
    return [what for _, what in reader.found]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('if "is not there" in str(error): pass', ["compare"]),
        ('text = str(error).replace("a", "b")', ["replace"]),
        ('text = f"{error}"\n    text = text.removeprefix("a")', ["removeprefix"]),
        ('told = str(error)\n    if ";" in told: pass', ["compare"]),
        ('words, _, _ = str(error).partition("; ")', ["partition"]),
        ('re.sub("a", "b", str(error))', ["sub"]),
        ('if error.args[0] == "a": pass', ["compare"]),
        ('if str(warning.message).startswith("a"): pass', ["startswith"]),
        ('warnings.filterwarnings("ignore", "X does not")', ["filterwarnings"]),
        ('warnings.filterwarnings("ignore", message="X does not")', ["filterwarnings"]),
        ('raise InputError(f"{path}: {error}") from error', []),
        ('text = " ".join(str(error).split()).rstrip(".")', []),
        ("if error.errno == 2 or isinstance(error, OSError): pass", []),
        ('warnings.simplefilter("ignore", OverlapWarning)', []),
    ],
)
def test_the_reader_finds_what_reads_a_message(code, found):
    assert readings(f"try:\n    work()\nexcept ValueError as error:\n    {code}") == found


def test_the_reader_follows_exceptions_into_functions():
    assert readings('def tell(error: Exception):\n    return "a" in str(error)') == ["compare"]


def test_no_behaviour_depends_on_the_wording_of_a_message():
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        reader = Reader()
        reader.visit(ast.parse(path.read_text(encoding="utf-8")))
        found |= {(path.stem, what, line) for line, what in reader.found}
    wrong = {each for each in found if each[:2] not in ALLOWED}
    assert not wrong
    assert {each[:2] for each in found} == ALLOWED
