"""``python -m benchmarks.models``: group AUC of trees on groups against their rivals."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.models.areas import areas_of_draws, draws, mean_area
from benchmarks.models.measuring import (
    MODELS,
    MORE_MODELS,
    OURS,
    Held,
    held_out,
    number_of_candidates,
)
from benchmarks.models.sets import SETS
from benchmarks.support.machine import facts
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data
from benchmarks.support.text_table import aligned
from benchmarks.support.worker_processes import in_processes

__all__ = ["main"]

_N_DRAWS = 1000

Found = dict[tuple[str, str], list[Held]]


def main(arguments: list[str] | None = None) -> int:
    """Compare on the chosen sets; 0 if all could be read, whichever model wins."""
    options = _parser().parse_args(arguments)
    missing = missing_data(options.data, [SETS[name].needs for name in options.sets])
    if missing is not None:
        say(missing)
        return 2
    began = time.perf_counter()
    where = (str(options.data), str(options.cache))
    # Candidates of pictures take minutes; here each set's are made once.
    for (_, _, name), number in in_processes(
        number_of_candidates, [(*where, name) for name in options.sets]
    ):
        say(f"    {name}: {number:,} candidates")
    wanted = [
        (*where, name, model, seed, options.settings, options.inner)
        for more in (False, True)
        for seed in range(options.seeds)
        for name in options.sets
        for model in options.models
        if (model in MORE_MODELS) == more
    ]
    found: Found = {(name, model): [] for name in options.sets for model in options.models}
    for (_, _, name, model, seed, *_), held in in_processes(held_out, wanted):
        found[name, model].append(held)
        say(
            f"    {name}, {model}, seed {seed}: AUC {mean_area([held]):.4f}, "
            f"{time.perf_counter() - began:.0f} s since the start"
        )
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['processor']}; {options.seeds} seeds; "
        f"{options.settings} settings a model, chosen by group AUC in {options.inner} inner folds; "
        "95 % intervals by drawing groups (pictures: clusters) again"
    )
    for name in options.sets:
        print(f"\n{_words(name, found, options.models)}")
    print(f"\n{_averages(found, options.sets, options.models)}")
    return 0


def _words(name: str, found: Found, models: list[str]) -> str:
    """The models on one set, and ours less each of the others."""
    weights = draws(found[name, models[0]], _N_DRAWS)
    ours = areas_of_draws(found[name, OURS], weights) if OURS in models else None
    lines: list[tuple[str, ...]] = [
        ("", "group AUC", "95 % interval", f"{OURS} − it", "95 % interval", "seconds")
    ]
    for model in sorted(models, key=lambda each: -mean_area(found[name, each])):
        helds = found[name, model]
        drawn = areas_of_draws(helds, weights)
        difference = ("", "")
        if ours is not None and model != OURS:
            less = mean_area(found[name, OURS]) - mean_area(helds)
            difference = (f"{less:+.4f}", "{:+.4f} to {:+.4f}".format(*_interval(ours - drawn)))
        lines.append(
            (
                model,
                f"{mean_area(helds):.4f}",
                "{:.4f} to {:.4f}".format(*_interval(drawn)),
                *difference,
                f"{sum(held.seconds for held in helds):.0f}",
            )
        )
    folds = len(set(found[name, models[0]][0].fold))
    groups = np.array(found[name, models[0]][0].positive)
    return "\n".join(
        [
            f"{SETS[name].title}: {groups.sum():,} positive and {(~groups).sum():,} negative "
            f"groups tested, {folds} fold{'s' if folds > 1 else ''} a seed",
            aligned(lines),
        ]
    )


def _averages(found: Found, sets: list[str], models: list[str]) -> str:
    """The mean over the sets, and how far below the best of a set a model ever is."""
    area = {key: mean_area(helds) for key, helds in found.items()}
    best = {name: max(area[name, model] for model in models) for name in sets}
    lines: list[tuple[str, ...]] = [("all sets", "mean group AUC", "most below the best")]
    for model in models:
        mean = np.mean([area[name, model] for name in sets])
        worst = max(best[name] - area[name, model] for name in sets)
        lines.append((model, f"{mean:.4f}", f"{worst:.4f}"))
    return aligned(lines)


def _interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=5, help="repeats (default 5)")
    parser.add_argument(
        "--settings", type=int, default=4, help="settings each model chooses among (default 4)"
    )
    parser.add_argument("--inner", type=int, default=2, help="inner folds (default 2)")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("benchmark-cache"),
        metavar="DIR",
        help="what is found stays here, and is not done again (default benchmark-cache)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
