"""Areas under the ROC curve of groups, fold by fold, with intervals over what may not be split.

    AUC = mean over seeds and folds of  w+ᵀ P w− / (Σ w+ · Σ w−)

where ``P`` says which positive group of a fold scores above which negative one (½ for a tie) and
``w`` is how often a group was drawn. A draw of clusters gives all models, seeds and folds the same
weights, so that differences are of the same groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.measuring import Held

__all__ = ["areas_of_draws", "draws", "mean_area"]

Vector = NDArray[np.float64]


def mean_area(found: Sequence[Held]) -> float:
    """Over the folds of all seeds."""
    return float(areas_of_draws(found, np.ones((1, _n_clusters(found))))[0])


def draws(found: Sequence[Held], n: int, seed: int = 0) -> Vector:
    """How often each cluster is drawn, shape (n, n_clusters)."""
    clusters = _n_clusters(found)
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=n).astype(float)


def areas_of_draws(found: Sequence[Held], weights: Vector) -> Vector:
    """The mean area of each draw; folds in which a draw has one class only are left out."""
    areas = [area for held in found for area in _areas_of_folds(held, weights)]
    return np.nanmean(np.stack(areas), axis=0)


def _areas_of_folds(held: Held, weights: Vector) -> list[Vector]:
    fold, score = np.array(held.fold), np.array(held.score)
    positive, cluster = np.array(held.positive), np.array(held.cluster)
    areas = []
    for number in np.unique(fold):
        up = np.flatnonzero((fold == number) & positive)
        down = np.flatnonzero((fold == number) & ~positive)
        difference = score[up][:, None] - score[down][None, :]
        above = 0.5 * (1.0 + np.sign(difference))
        w_up, w_down = weights[:, cluster[up]], weights[:, cluster[down]]
        total = w_up.sum(axis=1) * w_down.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            areas.append(np.einsum("ku,ud,kd->k", w_up, above, w_down, optimize=True) / total)
    return areas


def _n_clusters(found: Sequence[Held]) -> int:
    return 1 + max(max(held.cluster) for held in found)
