"""``groupcm simulate``: writes synthetic candidates to Parquet files."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote

from groupcm.cli.output import mistakes, print_line, short, show_rows, show_share, working
from groupcm.data.tables.formats import is_parquet, open_table
from groupcm.errors import InputError
from groupcm.simulate import capsule_to_parquet

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Write the candidates, and print how many."""
    output = Path(arguments.output)
    if arguments.files == 1 and not is_parquet(output):
        raise InputError(
            f"cannot write {output}: end its name in .parquet, or write several files into "
            "a folder with --files 2 or more"
        )
    with mistakes(), working() as display:
        files = capsule_to_parquet(
            output,
            arguments.negatives,
            n_positive=arguments.positives,
            group_size=arguments.group_size,
            seed=arguments.seed,
            layout=arguments.layout,
            n_files=arguments.files,
            on_rows=show_share(display, "simulating"),
        )
    n_rows = sum(open_table(file).n_rows for file in files)
    frames = arguments.negatives + arguments.positives
    n_bytes = sum(file.stat().st_size for file in files)
    show_rows(
        [
            ("rows", f"{n_rows:,}"),
            ("groups", f"{frames:,}, of them {arguments.positives:,} with a polyp"),
            ("size", f"{short(n_bytes)}B in {len(files):,} file{'s' * (len(files) > 1)}"),
        ]
    )
    print_line(f"Wrote {output}.")
    print_line("The column polyp gives the answer away; it is no feature. So:")
    columns = "--group frame --label label --overlap overlap --patient patient"
    print_line(
        f"  groupcm fit {quote(str(output))} {columns} --features {_features(files[0])} -o MODEL"
    )
    return 0


def _features(file: Path) -> str:
    names = open_table(file).schema.names
    return ",".join(names[: names.index("frame")])
