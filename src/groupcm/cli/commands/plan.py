"""``groupcm plan``: how many patients a study needs, from the scores of a pilot."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from groupcm.cli.output import mistakes, plain_warnings, print_line, show_rows, working
from groupcm.data.tables.formats import check_not_input
from groupcm.evaluation.table_plan import plan_tables
from groupcm.metrics.sample_size import SampleSize
from groupcm.utils.files import check_output, whole_file
from groupcm.utils.progress import listening

__all__ = ["run"]

_SHOWN = 8


def run(arguments: argparse.Namespace) -> int:
    """Find the number of patients, print it with its curve, and write both."""
    output, figure = _outputs(arguments)
    with (
        plain_warnings(),
        working() as display,
        mistakes(),
        listening(display.step, display.reading, display.status),
    ):
        found = plan_tables(
            arguments.tables,
            score=arguments.score,
            other=arguments.other,
            group=arguments.group,
            label=arguments.label,
            patient=arguments.patient,
            pos_label=arguments.positive,
            metric=arguments.metric,
            threshold=arguments.threshold,
            at_specificity=arguments.at_specificity,
            width=arguments.width,
            power=arguments.power,
            difference=arguments.difference,
            level=arguments.level,
            most=arguments.most,
            n_studies=arguments.studies,
            random_state=arguments.seed,
        )
    show_rows(_rows(found))
    if output is not None:
        with whole_file(output) as temporary:
            temporary.write_text(f"{found.json()}\n", encoding="utf-8")
        print_line(f"Wrote {output}.")
    if figure is not None:
        from groupcm.plots import SampleSizeDisplay

        drawn: Any = SampleSizeDisplay(found).plot().figure_
        with whole_file(figure) as temporary:
            drawn.savefig(temporary, format=figure.suffix[1:].lower(), dpi=150)
        print_line(f"Wrote {figure}.")
    return 0


def _outputs(arguments: argparse.Namespace) -> tuple[Path | None, Path | None]:
    output = figure = None
    if arguments.output is not None:
        output = check_output(arguments.output, endings=[".json"])
    if arguments.plot is not None:
        from groupcm.utils.extras import PLOTS

        PLOTS.require()
        figure = check_output(arguments.plot, endings=[".png", ".svg", ".pdf"])
    for path in (output, figure):
        if path is not None:
            check_not_input(path, arguments.tables)
    return output, figure


def _rows(found: SampleSize) -> list[tuple[str, str]]:
    needed = f"more than {found.sizes[-1]:,}"
    if found.n_patients is not None:
        needed = f"{found.n_patients:,}"
    pilot = f"{found.n_pilot:,} patients, {100 * found.share_positive:.3g} % with positive groups"
    rows = [("pilot", pilot), ("metric", found.metric_words)]
    if found.difference is None:
        rows.append(("in the pilot", f"{found.estimate:.4f}"))
    else:
        rows.append(("in the pilot", f"a difference of {found.estimate:+.4f}"))
        rows.append(("to find", f"a difference of {found.difference:+.4f}"))
    rows.append(("patients needed", f"{needed}, for a {found.goal} of {found.wanted:g}"))
    every = max(1, len(found.sizes) // _SHOWN)
    for size, value in list(zip(found.sizes, found.values, strict=True))[::every]:
        rows.append(("", f"{size:>7,} patients: {found.goal} {value:.3f}"))
    return rows
