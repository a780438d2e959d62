"""``python -m benchmarks.calibration``: the one calibrated number of a synthetic world.

Bisects ``strength`` of `groupcm.simulate.definition` until a linear SVM, trained on 293 positive
candidates and 5,000 negative ones drawn one by one, has the AUC of `AIMS` on other patients, on
average over training and test sets: of candidates for version 2, of frames by their largest score
for version 3. No grouped model is trained. The seeds are used by nothing else.
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
from groupcm.metrics import candidate_roc_auc, group_roc_auc
from groupcm.simulate.definition import PAPER, World
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import make_plan

__all__ = ["main"]

AIMS = {2: ("candidates", 0.970), 3: ("frames", 0.880)}
FIRST_SEED = 900_000
N_NEGATIVES = 5_000


def _draw(world: World, n_positive: int, n_polyps: int, seed: int) -> tuple[np.ndarray, ...]:
    """Features, labels and frames of all candidates, and the rows that models of candidates use.

    Those rows are the best candidate of each positive frame, and the candidates of negative ones.
    """
    plan = make_plan(1_000, n_positive, n_polyps, 500, 200, seed, world)
    features, labels, frames, rows, first = [], [], [], [], 0
    for chunk in range(plan.n_chunks):
        made = draw_chunk(plan, chunk)[0]
        data = LabelledCandidates(made.X, made.y, made.groups, made.overlap)
        used = np.concatenate([best_rows(data), np.flatnonzero(made.polyp < 0)])
        features.append(made.X)
        labels.append(made.y)
        frames.append(made.groups)
        rows.append(used + first)
        first += len(made.y)
    return tuple(map(np.concatenate, (features, labels, frames, rows)))


def areas_of_svm(world: World, seed: int) -> dict[str, float]:
    """The AUC of candidates and of frames of one SVM on other patients."""
    X, y, _, rows = _draw(world, 293, 100, seed)
    rng = np.random.default_rng(seed)
    negative = rng.choice(rows[y[rows] == 0], N_NEGATIVES, replace=False)
    train = np.concatenate([rows[y[rows] == 1], negative])
    svm = LinearSVC(C=0.01, dual="auto", class_weight="balanced", max_iter=10_000, random_state=0)
    model = make_pipeline(StandardScaler(), svm).fit(X[train], y[train])
    X, y, frames, rows = _draw(world, 600, 300, seed + 1)
    scores = model.decision_function(X)
    return {
        "candidates": float(candidate_roc_auc(y[rows], scores[rows])),
        "frames": float(group_roc_auc(y, scores, frames)),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print the AUCs at each strength tried."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--world", type=int, choices=AIMS, default=3, help="version (default 3)")
    parser.add_argument("--sets", type=int, default=20, help="training and test sets (default 20)")
    parser.add_argument("--steps", type=int, default=7, help="bisections (default 7)")
    options = parser.parse_args(arguments)
    of, aim = AIMS[options.world]
    low, high = 0.5, 2.5
    for _ in range(options.steps):
        strength = (low + high) / 2
        world = replace(PAPER, strength=strength)
        found = [areas_of_svm(world, FIRST_SEED + 2 * k) for k in range(options.sets)]
        means = {}
        for what in ("candidates", "frames"):
            areas = [each[what] for each in found]
            error = np.std(areas, ddof=1) / np.sqrt(len(areas))
            means[what] = f"{np.mean(areas):.4f} ± {error:.4f}"
        print(
            f"strength {strength:.4f}: AUC of candidates {means['candidates']}, "
            f"of frames {means['frames']}",
            flush=True,
        )
        is_below = np.mean([each[of] for each in found]) < aim
        low, high = (strength, high) if is_below else (low, strength)
    return 0


if __name__ == "__main__":
    sys.exit(main())
