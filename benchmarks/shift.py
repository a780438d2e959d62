"""How often new groups are said to differ from the training: ``python -m benchmarks.shift``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from groupcm import GroupBoostingClassifier, GroupClassifier, GroupClassifierCV
from groupcm.estimators.shift import shift_from_training
from groupcm.simulate import capsule

# How many runs, and a new estimator.
_MODELS: dict[str, tuple[int, Callable[[], Any]]] = {
    "linear": (40, lambda: GroupClassifier(0.9)),
    "λ by folds": (40, lambda: GroupClassifierCV([0.5, 0.9], cv=3)),
    "trees": (
        15,
        lambda: GroupBoostingClassifier(40, n_annealed=20, n_iter_no_change=10, n_jobs=1),
    ),
}
_SHAPES: dict[str, dict[str, Any]] = {
    "60 groups": {"n_negative": 40, "n_positive": 20, "group_size": 8},
    "260 groups": {"n_negative": 200, "n_positive": 60, "group_size": 10},
    "260 groups of 40 patients": {
        "n_negative": 200,
        "n_positive": 60,
        "group_size": 10,
        "n_patients": 40,
    },
}


def run() -> None:
    """Print how many of some runs report a shift, for each model and size."""
    for name, (n_runs, new_model) in _MODELS.items():
        for size, shape in _SHAPES.items():
            told = np.sum([_one_run(new_model, shape, seed) for seed in range(n_runs)], axis=0)
            same, fewer, half, one = told.tolist()
            print(
                f"{name}, {size}: of {n_runs} runs, {same} report a fresh sample, {fewer} one with "
                f"a tenth of the positives, {half} one shifted by half a standard deviation, {one} "
                "by a whole one",
                flush=True,
            )
    print(f"overfitted, 60 groups × 100 features: {_overfitted(60)} of 60 report a fresh sample")


def _one_run(new_model: Callable[[], Any], shape: dict[str, Any], seed: int) -> list[bool]:
    train, fresh = (capsule(seed=1000 + 2 * seed + k, **shape) for k in (0, 1))
    rare = capsule(seed=5000 + seed, **shape | {"n_positive": shape["n_positive"] // 10})
    model = new_model().fit(train.X, train.y, train.groups)
    deviation = fresh.X.std(axis=0)
    return [
        _is_told(model, X, groups)
        for X, groups in (
            (fresh.X, fresh.groups),
            (rare.X, rare.groups),
            (fresh.X + 0.5 * deviation, fresh.groups),
            (fresh.X + deviation, fresh.groups),
        )
    ]


def _overfitted(n_runs: int) -> int:
    rng, told = np.random.default_rng(0), 0
    for _ in range(n_runs):
        parts = []
        for n_groups in (60, 200):
            y = np.arange(n_groups) % 3 == 0
            parts.append((rng.normal(size=(n_groups, 100)) + 0.3 * y[:, None], y * 1))
        (X, y), (fresh, _) = parts
        model = GroupClassifier(0.99).fit(X, y, np.arange(60))
        told += _is_told(model, fresh, np.arange(200))
    return told


def _is_told(model: Any, X: Any, groups: Any) -> bool:
    found = shift_from_training(model, X, groups)
    return found is not None and found.sentence is not None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run()
