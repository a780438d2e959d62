"""Trees on groups against LightGBM: growing them, and scoring the same candidates with them.

Run as ``python -m benchmarks.boosting``; with ``--stream`` on Parquet files in little memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

import lightgbm
import numpy as np

from benchmarks.boosting_streams import streams
from benchmarks.support.machine import facts
from benchmarks.support.measure import Timed, interleave, say
from benchmarks.support.text_table import aligned
from groupcm import GroupBoostingClassifier
from groupcm.boosting.parameters import lightgbm_parameters
from groupcm.simulate import Capsule, capsule
from groupcm.utils.parallel import n_threads

__all__ = ["main"]

GROUP_SIZE = 200


def main(arguments: list[str] | None = None) -> int:
    """Print the seconds of both, and their ratios."""
    options = _parser().parse_args(arguments)
    if options.stream:
        return streams(options)
    n_groups = options.candidates // GROUP_SIZE
    data = capsule(int(0.9 * n_groups), n_positive=n_groups - int(0.9 * n_groups))
    say(f"    {len(data.y):,} candidates × {data.X.shape[1]} features")
    grown = interleave(
        {
            "LightGBM's log loss": lambda: _on_candidates(data, options.trees),
            "groups": lambda: _on_groups(data, options.trees),
        },
        options.rounds,
    )
    model = grown["groups"].results[-1]
    booster = model.boosters_[0]
    scored = interleave(
        {
            "LightGBM's predict": lambda: len(
                booster.predict(data.X, raw_score=True, num_threads=n_threads())
            ),
            "candidates": lambda: len(model.decision_function(data.X)),
            "groups": lambda: len(model.group_scores(data.X, data.groups).score),
        },
        options.rounds,
    )
    machine = facts()
    print(
        f"{machine['cores']} cores, {machine['processor']}; {len(data.y):,} candidates in "
        f"{len(np.unique(data.groups)):,} groups, {options.trees} trees, median of "
        f"{options.rounds} rounds; binning included"
    )
    print(
        aligned(
            [
                ("", "seconds", "ratio"),
                *_compared(grown, "grow: "),
                *_compared(scored, "score: "),
            ]
        )
    )
    return 0


def _compared(timed: Mapping[str, Timed], what: str) -> list[tuple[str, str, str]]:
    """Return the seconds of each call, and how they compare with those of the first."""
    first = next(iter(timed.values())).median
    return [
        (what + name, f"{each.median:.3g}", f"{each.median / first:.2f}")
        for name, each in timed.items()
    ]


def _on_groups(data: Capsule, n_trees: int) -> GroupBoostingClassifier:
    model = GroupBoostingClassifier(n_trees, early_stopping=False)
    return model.fit(data.X, data.y, data.groups, data.overlap)


def _on_candidates(data: Capsule, n_trees: int) -> None:
    """The same parameters, and the rows that take part: of positive groups the best one."""
    parameters = lightgbm_parameters(
        GroupBoostingClassifier(), seed=0, n_rows=len(data.y), n_features=data.X.shape[1]
    )
    positive = np.isin(data.groups, np.unique(data.groups[data.y == 1]))
    rows = np.flatnonzero(~positive | (data.y == 1))
    dataset = lightgbm.Dataset(data.X[rows], data.y[rows], params=parameters)
    lightgbm.train({**parameters, "objective": "binary"}, dataset, n_trees)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.boosting", description=__doc__)
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", action="store_true", help="trees on Parquet files instead")
    parser.add_argument("--memory", default="2GB", help="with --stream: what a fit may use")
    parser.add_argument("--data", help="with --stream: a folder for the files, kept for next time")
    parser.add_argument(
        "--seeds", type=int, default=1, help="with --stream: so many values of random_state"
    )
    parser.add_argument("--no-xgboost", action="store_true", help="with --stream: leave it out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
