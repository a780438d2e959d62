"""``python -m benchmarks.scale``: the benchmarks of data on disk, one table, JSON."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.scale import cubic as scale_cubic
from benchmarks.scale import dask as scale_dask
from benchmarks.scale import in_memory as scale_in_memory
from benchmarks.scale import path as scale_path
from benchmarks.scale import scoring as scale_scoring
from benchmarks.scale import stream as scale_stream
from benchmarks.scale.parquet_data import Setting
from benchmarks.support.suite import common_parser, report, run_all
from groupcm.utils.memory import parse_memory

BENCHMARKS = {
    "g": scale_stream,
    "h": scale_in_memory,
    "i": scale_scoring,
    "j": scale_cubic,
    "k": scale_path,
    "l": scale_dask,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks; 0 if nothing broke, whatever the figures say."""
    options = _parser().parse_args(arguments)
    chosen = {letter: each for letter, each in BENCHMARKS.items() if letter in options.only}
    with ExitStack() as end:
        if options.data is None:
            folder = end.enter_context(tempfile.TemporaryDirectory(prefix="groupcm-bench-"))
        else:
            folder = options.data
            folder.mkdir(parents=True, exist_ok=True)
        setting = Setting(options.rows, options.repeat, options.memory, Path(folder))
        outcome = run_all(chosen, lambda letter: chosen[letter].run(setting))
    return report(outcome, options, memory=options.memory)


def _parser() -> argparse.ArgumentParser:
    parser = common_parser("python -m benchmarks.scale", __doc__, BENCHMARKS, repeat=3)
    parser.add_argument(
        "--data",
        type=Path,
        help="folder where the Parquet files are made and found again (default: a temporary one)",
    )
    parser.add_argument(
        "--memory", type=_memory, default="2GB", help="what a streamed fit may use (default 2GB)"
    )
    return parser


def _memory(text: str) -> int:
    try:
        return parse_memory(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


if __name__ == "__main__":
    sys.exit(main())
