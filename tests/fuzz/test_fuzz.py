"""A few cases of every target, always the same ones; ``make fuzz`` runs thousands."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from fuzz.annotation_files import FORMAT_NAMES
from fuzz.cases import TARGETS
from fuzz.command import Failure, run_cases
from fuzz.forking import Zygote

if not sys.platform.startswith("linux"):
    pytest.skip("the fuzzers run on Linux only", allow_module_level=True)

CASES = {
    "problems": 5,
    "model_files": 15,
    "tree_text": 10,
    "annotation_files": 20,
    "table_files": 15,
}
SEED = 0


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as zygote:
        yield zygote


@pytest.mark.parametrize("target", TARGETS)
def test_no_case_fails(target, zygote):
    """See `fuzz.outcomes` for what a case may end in."""
    cases = [(target, number) for number in range(CASES[target])]
    failures = [
        Failure(target, SEED, number, verdict)
        for _, number, verdict in run_cases([zygote], SEED, cases)
        if verdict.is_failure
    ]
    assert not failures, "\n".join(
        f"{f.command}\n  {f.verdict.outcome}: {f.verdict.check}: {f.verdict.detail}"
        for f in failures
    )


@pytest.mark.parametrize("format", FORMAT_NAMES)
def test_large_pictures_in_annotations_are_cheap_or_refused(format, zygote):
    """A small file that speaks of 400 million pixels takes neither much memory nor much time."""
    case = {"format": format, "how": "large picture", "size": [20_000, 20_000], "file": 0}
    for via in ("read", "convert", "import"):
        verdict = zygote.run("annotation_files", case | {"via": via, "to": "masks"})
        assert not verdict.is_failure, f"{via}: {verdict}"
