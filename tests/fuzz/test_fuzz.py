"""A few cases of every target, always the same ones; ``make fuzz`` runs thousands."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from fuzz.cases import TARGETS
from fuzz.command import Failure, run_cases
from fuzz.forking import Zygote

if not sys.platform.startswith("linux"):
    pytest.skip("the fuzzers run on Linux only", allow_module_level=True)

CASES = {
    "problems": 10,
    "model_files": 30,
    "tree_text": 20,
    "annotation_files": 40,
    "table_files": 30,
}
SEED = 0


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as zygote:
        yield zygote


@pytest.mark.parametrize("target", TARGETS)
def test_no_case_fails(target, zygote):
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
