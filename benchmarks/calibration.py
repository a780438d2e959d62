"""``python -m benchmarks.calibration``: the one calibrated number of the second synthetic world.

Bisects ``strength`` of `groupcm.simulate.definition.PAPER` until a linear SVM, trained on 293
positive candidates and 5,000 negative ones drawn one by one, has a candidate AUC of 0.970 on other
patients, on average over training and test sets. No grouped model and no group AUC is computed. The
seeds are used by nothing else.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.experiments.datasets import best_rows
from groupcm.metrics import candidate_roc_auc
from groupcm.simulate.definition import PAPER, World
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import make_plan

__all__ = ["main"]

AIM = 0.970
FIRST_SEED = 900_000
N_NEGATIVES = 5_000


def _rows(world: World, n_positive: int, n_polyps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The best candidate of each positive frame, and the candidates of negative ones."""
    plan = make_plan(1_000, n_positive, n_polyps, 500, 200, seed, world)
    features, labels = [], []
    for chunk in range(plan.n_chunks):
        made = draw_chunk(plan, chunk)[0]
        data = LabelledCandidates(made.X, made.y, made.groups, made.overlap)
        rows = np.concatenate([best_rows(data), np.flatnonzero(made.polyp < 0)])
        features.append(made.X[rows])
        labels.append(made.y[rows])
    return np.concatenate(features), np.concatenate(labels)


def candidate_auc(world: World, seed: int) -> float:
    """The AUC of one SVM on other patients."""
    X, y = _rows(world, 293, 100, seed)
    rng = np.random.default_rng(seed)
    negative = rng.choice(np.flatnonzero(y == 0), N_NEGATIVES, replace=False)
    train = np.concatenate([np.flatnonzero(y == 1), negative])
    svm = LinearSVC(C=0.01, dual="auto", class_weight="balanced", max_iter=10_000, random_state=0)
    model = make_pipeline(StandardScaler(), svm).fit(X[train], y[train])
    X, y = _rows(world, 600, 300, seed + 1)
    return float(candidate_roc_auc(y, model.decision_function(X)))


def main(arguments: list[str] | None = None) -> int:
    """Print the AUC at each strength tried."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--sets", type=int, default=20, help="training and test sets (default 20)")
    parser.add_argument("--steps", type=int, default=7, help="bisections (default 7)")
    options = parser.parse_args(arguments)
    low, high = 0.5, 1.5
    for _ in range(options.steps):
        strength = (low + high) / 2
        world = replace(PAPER, strength=strength)
        areas = [candidate_auc(world, FIRST_SEED + 2 * k) for k in range(options.sets)]
        error = np.std(areas, ddof=1) / np.sqrt(len(areas))
        print(
            f"strength {strength:.4f}: candidate AUC {np.mean(areas):.4f} ± {error:.4f}", flush=True
        )
        low, high = (strength, high) if np.mean(areas) < AIM else (low, strength)
    return 0


if __name__ == "__main__":
    sys.exit(main())
