"""``groupcm recalibrate``: a model and new data in, the model with another threshold out."""

from __future__ import annotations

import argparse

from groupcm.cli.output import print_line, running, show_rows
from groupcm.cli.summaries import format_threshold, with_interval
from groupcm.data.tables.formats import check_not_input
from groupcm.evaluation.folder_recalibration import recalibrate_folder
from groupcm.evaluation.recalibration import Recalibration, recalibrate_tables
from groupcm.images.listing import is_picture_folder
from groupcm.persistence.model_file import read, save
from groupcm.utils.files import check_output

__all__ = ["run"]

_GOAL = ("alarm_rate", "specificity", "sensitivity", "false_alarms", "prevalence", "confidence")


def run(arguments: argparse.Namespace) -> int:
    """Choose the threshold, save the model with it, and print what it does on the new data."""
    output = check_output(arguments.output, endings=[".json"])
    check_not_input(output, arguments.new)
    goal = {name: getattr(arguments, name) for name in _GOAL}
    with running():
        saved = read(arguments.model)
        if len(arguments.new) == 1 and is_picture_folder(arguments.new[0]):
            found = recalibrate_folder(
                saved,
                arguments.new[0],
                annotations=arguments.annotations,
                patients=arguments.patients,
                unannotated=arguments.unannotated,
                networks=arguments.network,
                workers=arguments.workers,
                name=arguments.model,
                **goal,
            )
        else:
            found = recalibrate_tables(
                saved,
                arguments.new,
                group=arguments.group,
                label=arguments.label,
                patient=arguments.patient,
                features=arguments.features,
                pos_label=arguments.positive,
                name=arguments.model,
                **goal,
            )
    save(saved.model, output, notes=saved.notes)
    show_rows(_rows(found))
    print_line(f"Wrote {output}.")
    return 0


def _rows(found: Recalibration) -> list[tuple[str, str]]:
    about = "unlabelled" if found.n_positive is None else f"{found.n_positive:,} positive"
    rows = [("groups", f"{found.n_groups:,}, {about}")]
    for name, each, rate in (
        ("before", found.before, found.alarm_rate_before),
        ("after", found.after, found.alarm_rate),
    ):
        rows.append((f"threshold {name}", f"{format_threshold(each.value)} ({each.chosen})"))
        rows.append((f"alarm rate {name}", with_interval(rate)))
    if found.sensitivity is not None and found.specificity is not None:
        rows.append(("sensitivity", with_interval(found.sensitivity)))
        rows.append(("specificity", with_interval(found.specificity)))
    return rows
