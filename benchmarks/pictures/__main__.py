"""``python -m benchmarks.pictures``: from real pictures to an answer a picture, model by model."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.pictures.candidates import SetCandidates
from benchmarks.pictures.measures import Measures
from benchmarks.pictures.measuring import Trial, candidates_named, embeddings_named, measure_on
from benchmarks.pictures.models import MODELS, WHOLE_PICTURE
from benchmarks.pictures.sets import PICTURE_SETS
from benchmarks.support.machine import facts
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data
from benchmarks.support.text_table import aligned
from benchmarks.support.worker_processes import in_processes

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Compare on the chosen sets; 0 if all could be read, whichever model wins."""
    options = _parser().parse_args(arguments)
    if options.speed:
        from benchmarks.pictures.speed import show_speed

        show_speed(options.network)
        return 0
    missing = missing_data(options.data, [PICTURE_SETS[name].listing for name in options.sets])
    if missing is not None:
        say(missing)
        return 2
    began = time.perf_counter()
    data = {}
    for name in options.sets:
        say(f"    {name}: candidates")
        data[name] = candidates_named(options.data, name, options.cache, options.at_most)
    seeds = range(options.seeds)
    wanted = [
        Trial(
            options.data,
            options.cache,
            name,
            options.at_most,
            seed,
            options.settings,
            tuple(options.models),
            options.network,
            options.network_mode,
        )
        for seed in seeds
        for name in options.sets
    ]
    if options.network is not None:
        for trial in wanted[: len(options.sets)]:
            say(f"    {trial.name}: embeddings")
            embeddings_named(trial)
    found: dict[tuple[str, int], dict[str, Measures]] = {}
    for (trial,), of_models in in_processes(measure_on, [(trial,) for trial in wanted]):
        name, seed = trial.name, trial.seed
        say(f"    {name}, seed {seed}: done after {time.perf_counter() - began:.0f} s")
        for model, each in of_models.items():
            say(f"        {model}: AUC {each.auc:.3f}, on object {each.on_object:.3f}")
        found[name, seed] = of_models
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['processor']}; {options.seeds} seeds of 5 folds by "
        f"cluster; {options.settings} settings a model, chosen by image AUC in 2 inner folds"
    )
    for name in options.sets:
        print(f"\n{_words(name, data[name], [found[name, seed] for seed in seeds])}")
    return 0


def _words(name: str, data: SetCandidates, seeds: Sequence[dict[str, Measures]]) -> str:
    """What was found on one set: the proposals, the models, and the GCM less the SVM."""
    lines: list[tuple[str, ...]] = [
        ("", "image AUC", "of equal size", "on object", "voted on object")
    ]
    for model in seeds[0] if seeds else ():
        of_seeds = [each[model] for each in seeds]
        numbers = ("auc", "equal_size_auc", "on_object", "voted_on_object")
        means = [np.mean([getattr(each, number) for each in of_seeds]) for number in numbers]
        lines.append((model, *(f"{mean:.3f}" for mean in means)))
    return "\n".join(
        [
            f"{PICTURE_SETS[name].title}: {data.positive.sum()} pictures with objects and "
            f"{(~data.positive).sum()} without, {len(data.values) / len(data.positive):.0f} "
            "candidates a picture",
            f"  proposals: {np.mean(data.found >= 0.5):.3f} of {len(data.found)} objects have a "
            f"candidate of overlap 0.5 or more (mean of the best {data.found.mean():.3f})",
            *([aligned(lines), *_differences(seeds)] if seeds else []),
        ]
    )


def _differences(seeds: Sequence[dict[str, Measures]]) -> Iterator[str]:
    """The GCM less each model without grouping, paired over the folds of all seeds."""
    for other in ("SVM", "GCM without grouping"):
        if not {"GCM", other} <= set(seeds[0]):
            continue
        less = np.array(
            [np.subtract(each["GCM"].fold_aucs, each[other].fold_aucs) for each in seeds]
        )
        # All seeds split the same pictures, so there are no more of them than one seed has.
        error = less.std(ddof=1) / np.sqrt(less.shape[1])
        yield (
            f"  GCM − {other}: {less.mean():+.4f} on average over {less.size} folds (standard "
            f"error {error:.4f}); the GCM is better in {np.sum(less > 0)} of them"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    add_data_option(parser)
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("bench-pictures"),
        metavar="DIR",
        help="where candidates and results are kept; empty it when code changes "
        "(default bench-pictures)",
    )
    parser.add_argument("--sets", nargs="+", choices=list(PICTURE_SETS), default=list(PICTURE_SETS))
    parser.add_argument(
        "--at-most", type=int, default=300, help="candidates a picture (default 300)"
    )
    parser.add_argument(
        "--seeds", type=int, default=3, help="seeds of the folds; 0 for proposals only (default 3)"
    )
    parser.add_argument(
        "--settings", type=int, default=3, help="settings each model chooses among (default 3)"
    )
    every = (*MODELS, WHOLE_PICTURE)
    parser.add_argument(
        "--models", nargs="+", choices=every, default=list(every), help="default: all"
    )
    parser.add_argument(
        "--network",
        metavar="NETWORK",
        help="add 128 components of its outputs for crops of 96 pixels: a file or timm:NAME; "
        "python -m benchmarks.pictures.mobilenet makes a file of a wheel",
    )
    parser.add_argument(
        "--network-mode", choices=("crop", "pool", "both"), default="crop", help="default: crop"
    )
    parser.add_argument(
        "--speed",
        action="store_true",
        help="time synthetic frames instead, with --network what it costs; reads no data",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
