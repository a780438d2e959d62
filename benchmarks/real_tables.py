"""``python -m benchmarks.real_tables``: group AUC of six models on real tables."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.machine import facts
from benchmarks.support.measure import say
from benchmarks.support.shared_data import RealTable, add_data_option, missing_data, read_table
from benchmarks.support.text_table import aligned
from benchmarks.support.worker_processes import in_processes
from groupcm.evaluation.comparison.compare_models import compare_models
from groupcm.evaluation.comparison.results import ModelComparison

__all__ = ["main"]

MODELS = ("svm", "misvm", "gcm", "gcm-none", "logistic", "lightgbm")


@dataclass(frozen=True)
class _Task:
    """A table, and which of its columns play which part."""

    title: str
    file: str
    columns: dict[str, Any]


_BIRDS = "birdsong/segments.parquet"
TASKS = {
    "psfl": _Task(
        "birdsong, PSFL",
        _BIRDS,
        {"group": "recording", "label": "PSFL", "not_features": ("SWTH",)},
    ),
    "swth": _Task(
        "birdsong, SWTH",
        _BIRDS,
        {"group": "recording", "label": "SWTH", "not_features": ("PSFL",)},
    ),
    "wikiqa": _Task(
        "wikiqa, train to dev",
        "wikiqa/sentences.parquet",
        {"group": "question", "label": "label", "split": "split"},
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Compare on the chosen tables; 0 if all could be read, whichever model wins."""
    options = _parser().parse_args(arguments)
    chosen = [name for name in TASKS if name in options.only]
    missing = missing_data(options.data, [TASKS[name].file for name in chosen])
    if missing is not None:
        say(missing)
        return 2
    began = time.perf_counter()
    wanted = [(str(options.data), name, options.folds, options.settings) for name in chosen]
    found: dict[str, ModelComparison] = {}
    for (_, name, *_), comparison in in_processes(compare_on, wanted):
        say(f"    {name}: done after {time.perf_counter() - began:.0f} s")
        found[name] = comparison
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['processor']}; {options.settings} settings a model, "
        "chosen by group AUC in 3 inner folds by group; 95 % intervals by drawing groups again"
    )
    for name in chosen:
        print(f"\n{_words(found[name])}")
    return 0


def compare_on(folder: str, name: str, folds: int, settings: int) -> ModelComparison:
    """All models on one table."""
    task = TASKS[name]
    table = read_table(Path(folder) / task.file, **task.columns)
    return compare_models(
        table.X,
        table.y,
        table.groups,
        models=MODELS,
        cv=folds if table.split is None else [_train_and_dev(table)],
        n_settings=settings,
        max_negatives=None,
        learning=False,
        title=task.title,
        progress=lambda words: say(f"    {name}: {words}"),
    )


def _train_and_dev(table: RealTable) -> tuple[Any, Any]:
    return np.flatnonzero(table.split == "train"), np.flatnonzero(table.split == "dev")


def _words(found: ModelComparison) -> str:
    """The tables of one comparison: the models, and the GCM less each of the others."""
    counts = found.data
    against = {pair.b: pair.group for pair in found.pairs}
    lines: list[tuple[str, ...]] = [
        ("", "group AUC", "95 % interval", "GCM − it", "95 % interval", "p", "seconds")
    ]
    for model in sorted(found.models, key=lambda each: -each.group_roc.auc.estimate):
        auc, pair = model.group_roc.auc, against.get(model.name)
        difference = ("", "", "")
        if pair is not None:
            less = pair.difference
            difference = (
                f"{less.estimate:+.3f}",
                f"{less.low:+.3f} to {less.high:+.3f}",
                f"{pair.p_value:.2g}",
            )
        interval = f"{auc.low:.3f} to {auc.high:.3f}"
        lines.append(
            (model.name, f"{auc.estimate:.3f}", interval, *difference, f"{model.seconds:.0f}")
        )
    split = f"{found.n_folds} folds by group" if found.n_folds > 1 else "a fixed split"
    return "\n".join(
        [
            f"{found.title}: {counts.n_positive_groups:,} positive and "
            f"{counts.n_negative_groups:,} negative groups, {counts.n_candidates:,} candidates, "
            f"{split}",
            aligned(lines),
            *(f"  {model.name}: chose {', '.join(model.chosen)}" for model in found.models),
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_tables", description=__doc__)
    add_data_option(parser)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(TASKS),
        default=list(TASKS),
        help="tables to run (default all)",
    )
    parser.add_argument(
        "--settings", type=int, default=8, help="settings each model chooses among (default 8)"
    )
    parser.add_argument(
        "--folds", type=int, default=5, help="folds by recording of birdsong (default 5)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
