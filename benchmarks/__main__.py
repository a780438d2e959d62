"""``python -m benchmarks``: run the chosen benchmarks, print one table, write JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from . import against_lbfgs, against_read, against_sklearn, growth, startup, wide_data
from .data import Store
from .figure import Figure, as_json, table
from .fitting import LAM, SMALLEST, TOL
from .machine import facts
from .measure import say

# In the order of running: the largest set is needed by the first two and then freed.
BENCHMARKS = {
    "a": against_read,
    "e": growth,
    "c": against_lbfgs,
    "b": against_sklearn,
    "d": wide_data,
    "f": startup,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks; 0 if all could be measured, whatever the figures say."""
    options = _parser().parse_args(arguments)
    letters = [letter for letter in BENCHMARKS if letter in options.only]
    figures: list[Figure] = []
    store, broken = Store(), False
    for position, letter in enumerate(letters):
        benchmark = BENCHMARKS[letter]
        say(f"({letter}) {str(benchmark.__doc__).splitlines()[0].partition(') ')[2]}")
        try:
            figures += benchmark.run(store, options.rows, options.repeat)
        except Exception as error:  # one broken benchmark must not cost the others' figures
            broken = True
            words = f"{type(error).__name__}: {error}"
            say(f"  failed: {words}")
            figures.append(Figure(letter, "failed", None, sound=False, note=words))
        later = (BENCHMARKS[letter].sizes(options.rows) for letter in letters[position + 1 :])
        store.keep_only(set().union(*later))

    figures.sort(key=lambda figure: figure.key)
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['memory']}, {machine['processor']}; lam = {LAM}, "
        f"certified gap {TOL}; medians of interleaved rounds (--repeat {options.repeat})\n"
    )
    print(table(figures))
    if options.json is not None:
        report = {
            "rows": options.rows,
            "repeat": options.repeat,
            "statistic": "median",
            "lam": LAM,
            "tol": TOL,
            "machine": machine,
            "figures": [as_json(figure) for figure in figures],
        }
        _write_whole(options.json, json.dumps(report, indent=2) + "\n")
    return int(broken)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rows", type=_rows, default=10_000_000, help="rows of the largest set (default 1e7)"
    )
    parser.add_argument(
        "--only", type=_letters, default=set(BENCHMARKS), help="letters to run, such as a,c"
    )
    parser.add_argument(
        "--repeat", type=_positive, default=5, help="rounds of each measurement (default 5)"
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


def _letters(text: str) -> set[str]:
    letters = {letter.strip() for letter in text.split(",")}
    if unknown := sorted(letters - set(BENCHMARKS)):
        known = ", ".join(sorted(BENCHMARKS))
        raise argparse.ArgumentTypeError(f"there is no benchmark {unknown[0]!r}; choose of {known}")
    return letters


def _write_whole(path: Path, text: str) -> None:
    """Write beside and rename, so that the file appears whole or not at all."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


if __name__ == "__main__":
    sys.exit(main())
