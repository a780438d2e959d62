"""``groupcm sort``: the rows of every group brought together, in one Parquet file."""

from __future__ import annotations

import argparse

from groupcm.cli.output import mistakes, print_line, show_rows, show_share, working
from groupcm.data.tables.formats import PARQUET, check_not_input
from groupcm.data.tables.sorting import sort_tables
from groupcm.utils.files import check_output
from groupcm.utils.memory import parse_memory

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Sort the rows, and print how many there were."""
    output = check_output(arguments.output, endings=PARQUET)
    check_not_input(output, arguments.tables)
    with mistakes():
        memory = parse_memory(arguments.memory)
    with working() as display:
        doings = ("numbering groups", "reading", "writing")
        listeners = {doing: show_share(display, doing) for doing in doings}
        done = sort_tables(
            arguments.tables,
            output,
            group=arguments.group,
            memory=memory,
            on_rows=lambda doing, rows, n_rows: listeners[doing](rows, n_rows),
        )
    apart = f"{done.n_apart:,}" if done.n_apart else "0; the rows were in order already"
    show_rows(
        [("rows", f"{done.n_rows:,}"), ("groups", f"{done.n_groups:,}"), ("groups apart", apart)]
    )
    print_line(f"Wrote {output}.")
    return 0
