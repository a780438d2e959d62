"""What every suite of benchmarks shares: options, the run that no failure stops, the report."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks.support.figure import Figure, as_json, table
from benchmarks.support.fitting import LAM, SMALLEST, TOL
from benchmarks.support.machine import facts
from benchmarks.support.measure import say

__all__ = ["Outcome", "Skipped", "common_parser", "report", "run_all"]


class Skipped(Exception):
    """This machine or installation cannot run a benchmark; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What was measured, and whether something broke on the way."""

    figures: list[Figure]
    broken: bool


def run_all(
    benchmarks: Mapping[str, ModuleType], run: Callable[[str], Iterable[Figure]]
) -> Outcome:
    """Run each letter; one that fails costs only the figures it has not given yet."""
    figures: list[Figure] = []
    broken = False
    for letter, benchmark in benchmarks.items():
        say(f"({letter}) {str(benchmark.__doc__).splitlines()[0].partition(') ')[2]}")
        try:
            for figure in run(letter):
                figures.append(figure)  # noqa: PERF402 - extend() would lose those before a failure
        except Skipped as reason:
            say(f"  skipped: {reason}")
            figures.append(Figure(letter, "skipped", None, judged=False, note=str(reason)))
        except Exception as error:
            broken = True
            words = f"{type(error).__name__}: {error}"
            say(f"  failed: {words}")
            figures.append(Figure(letter, "failed", None, sound=False, note=words))
    return Outcome(sorted(figures, key=lambda figure: figure.key), broken)


def report(outcome: Outcome, options: argparse.Namespace, **settings: object) -> int:
    """Print the table and write the JSON file; give the exit status."""
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['memory']}, {machine['processor']}; lam = {LAM}, "
        f"certified gap {TOL}; medians of interleaved rounds (--repeat {options.repeat})\n"
    )
    print(table(outcome.figures))
    if options.json is not None:
        whole = {
            "rows": options.rows,
            "repeat": options.repeat,
            "statistic": "median",
            "lam": LAM,
            "tol": TOL,
            **settings,
            "machine": machine,
            "figures": [as_json(figure) for figure in outcome.figures],
        }
        _write_whole(options.json, json.dumps(whole, indent=2) + "\n")
    return int(outcome.broken)


def common_parser(
    command: str, description: str | None, known: Iterable[str], *, repeat: int
) -> argparse.ArgumentParser:
    """The options every suite has; ``only`` is a set of letters."""
    known = set(known)

    def letters(text: str) -> set[str]:
        chosen = {letter.strip() for letter in text.split(",")}
        if unknown := sorted(chosen - known):
            raise argparse.ArgumentTypeError(
                f"there is no benchmark {unknown[0]!r}; choose of {', '.join(sorted(known))}"
            )
        return chosen

    parser = argparse.ArgumentParser(prog=command, description=description)
    parser.add_argument(
        "--rows", type=_rows, default=10_000_000, help="rows of the largest set (default 1e7)"
    )
    parser.add_argument("--only", type=letters, default=known, help="letters to run, such as a,c")
    parser.add_argument(
        "--repeat",
        type=_positive,
        default=repeat,
        help=f"rounds of each measurement (default {repeat})",
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser


def _rows(text: str) -> int:
    rows = int(float(text))
    if rows < SMALLEST:
        raise argparse.ArgumentTypeError(f"{text} is too few; the smallest size is 1e5")
    return rows


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is too few; at least 1 round is needed")
    return number


def _write_whole(path: Path, text: str) -> None:
    """Write beside and rename, so that the file appears whole or not at all."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
