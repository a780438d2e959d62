"""``groupcm score``: a model and tables in, one row per group out."""

from __future__ import annotations

import argparse

from groupcm.cli.options.common import inputs_of, tables_of
from groupcm.cli.output import print_error, print_line, running, show_rows
from groupcm.cli.summaries import format_threshold
from groupcm.data.tables.formats import check_not_input, check_table_name
from groupcm.evaluation.table_scores import GroupAuc, TableScores, score_tables, write_scores
from groupcm.persistence.model_file import read
from groupcm.utils.files import check_output
from groupcm.utils.text import listed, plural

__all__ = ["auc_rows", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Score the tables, write the scores, and print how it went."""
    check_table_name(arguments.output)
    output = check_output(arguments.output)
    check_not_input(output, inputs_of(arguments))
    with running():
        found = score_tables(
            read(arguments.model),
            tables_of(arguments),
            group=arguments.group,
            label=arguments.label,
            features=arguments.features,
            pos_label=arguments.positive,
            all_groups=arguments.all_groups,
            name=arguments.model,
            levels=arguments.levels,
            aggregate=arguments.aggregate,
            k=arguments.k,
        )
        if found.shift is not None and found.shift.note is not None:
            print_error(f"groupcm: {found.shift.note}")
    written = write_scores(found, output, inputs_of(arguments))
    rows = [("rows", f"{found.n_rows:,}"), ("groups", f"{found.table.num_rows:,}")]
    show_rows(rows + _alarm_rows(found) + auc_rows(found))
    print_line(f"Wrote {listed([str(path) for path in written])}.")
    return 0


def _alarm_rows(found: TableScores) -> list[tuple[str, str]]:
    """Return the threshold and how many groups reach it; nothing for more than two classes."""
    if found.threshold is None:
        return []
    own = found.threshold
    shown = [
        ("threshold", f"{format_threshold(own.value)} ({own.chosen})"),
        ("alarms", f"{found.n_alarms:,} of {found.table.num_rows:,} groups"),
        *(("", f"{n:,} of {total:,} {plural(name)}") for name, n, total in found.level_alarms()),
    ]
    if any("alarm" not in table.column_names for table in found.levels.values()):
        shown.append(("", "none at the levels: a mean of scores has no threshold of the model"))
    return shown


def auc_rows(found: TableScores) -> list[tuple[str, str]]:
    """Return the group AUC of each class, as names and values."""
    if found.threshold is not None:
        return [("group AUC", _auc_words(each)) for each in found.auc]
    return [(f"group AUC of {each.label}", _auc_words(each)) for each in found.auc]


def _auc_words(found: GroupAuc) -> str:
    if found.auc is None:
        return f"not defined: {'every' if found.n_holding else 'no'} group holds the class"
    return f"{found.auc:.4f}"
