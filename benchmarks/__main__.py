"""``python -m benchmarks``: run the chosen benchmarks, print one table, write JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.core import (
    against_lbfgs,
    against_read,
    against_sklearn,
    cross_validation,
    growth,
    startup,
    wide_data,
)
from benchmarks.support.data import Store
from benchmarks.support.figure import Figure
from benchmarks.support.suite import common_parser, report, run_all

# In the order of running: the largest set is needed by the first two and then freed.
BENCHMARKS = {
    "a": against_read,
    "e": growth,
    "c": against_lbfgs,
    "b": against_sklearn,
    "d": wide_data,
    "m": cross_validation,
    "f": startup,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks; 0 if all could be measured, whatever the figures say."""
    options = common_parser("python -m benchmarks", __doc__, BENCHMARKS, repeat=5).parse_args(
        arguments
    )
    chosen = {letter: run for letter, run in BENCHMARKS.items() if letter in options.only}
    left, store = list(chosen), Store()

    def run(letter: str) -> Iterator[Figure]:
        left.remove(letter)
        try:
            yield from chosen[letter].run(store, options.rows, options.repeat)
        finally:
            store.keep_only(set().union(*(chosen[later].sizes(options.rows) for later in left)))

    return report(run_all(chosen, run), options)


if __name__ == "__main__":
    sys.exit(main())
