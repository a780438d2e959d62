"""``python -m benchmarks.mil``: MI-SVM, its accuracy on the classic sets and its speed."""

from __future__ import annotations

import argparse
import sys

from benchmarks.mil import accuracy as mil_accuracy
from benchmarks.mil import sizes as mil_sizes
from benchmarks.mil import speed as mil_speed
from benchmarks.support.figure import Figure, table
from benchmarks.support.machine import facts
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data

__all__ = ["main"]

PARTS = {"m": mil_accuracy, "n": mil_speed, "o": mil_sizes}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen parts; 0 if all could be measured, whatever the figures say."""
    options = _parser().parse_args(arguments)
    if "m" in options.only:
        missing = missing_data(options.data, mil_accuracy.FILES)
        if missing is not None:
            say(missing)
            return 2
    figures: list[Figure] = []
    sizes = ""
    for letter in sorted(options.only):
        say(str(PARTS[letter].__doc__).splitlines()[0])
        if letter == "m":
            figures += mil_accuracy.run(options.data, options.seeds)
        elif letter == "n":
            figures += mil_speed.run(options.repeat)
        else:
            sizes = mil_sizes.run(options.repeat)
    machine = facts()
    print(f"{machine['cores']} cores, {machine['memory']}, {machine['processor']}\n")
    if figures:
        print(table(figures))
    if sizes:
        print(f"\n{sizes}" if figures else sizes)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mil", description=__doc__)
    add_data_option(parser)
    parser.add_argument(
        "--only", type=_letters, default=set(PARTS), help="letters to run, such as m,o"
    )
    parser.add_argument("--seeds", type=_positive, default=5, help="of the folds of m (default 5)")
    parser.add_argument("--repeat", type=_positive, default=3, help="rounds of n and o (default 3)")
    return parser


def _letters(text: str) -> set[str]:
    chosen = {letter.strip() for letter in text.split(",")}
    if unknown := sorted(chosen - set(PARTS)):
        known = ", ".join(PARTS)
        raise argparse.ArgumentTypeError(f"there is no benchmark {unknown[0]!r}; choose of {known}")
    return chosen


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is too few; at least 1 is needed")
    return number


if __name__ == "__main__":
    sys.exit(main())
