"""``python -m benchmarks.pictures.places``: where models of the place and refined regions lie.

Linear models with one λ; five folds by cluster, one seed. Of each model: the image AUC, and the
share of positive pictures in which the winner, the voted candidate, and both after refinement
overlap an object by 0.3 or more (IoU of boxes).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pictures.candidates import SetCandidates
from benchmarks.pictures.measures import ON_OBJECT, measures
from benchmarks.pictures.measuring import candidates_named
from benchmarks.pictures.sets import PICTURE_SETS, RealPicture
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data
from benchmarks.support.text_table import aligned
from groupcm import GroupClassifier
from groupcm.data.folds import group_folds
from groupcm.estimators.place import place_rows
from groupcm.images.overlap import overlap
from groupcm.images.regions import Regions
from groupcm.images.scoring.vote import refine, vote

__all__ = ["main"]

KINDS = ("score", 'background="negative"', "place")


def held_out_scores(data: SetCandidates, kind: str, lam: float, seed: int) -> tuple[NDArray, ...]:
    """Scores of every candidate by a model that saw no picture of its cluster, and its fold."""
    y, groups = data.y, data.picture
    clusters = np.unique(data.cluster, return_inverse=True)[1][groups]
    missed = data.positive & (data.best < ON_OBJECT)
    scores, fold = np.empty(len(y)), np.empty(len(y), dtype=np.int64)
    for number, (train, test) in enumerate(
        group_folds(y, groups, clusters, n_splits=5, random_state=seed)
    ):
        rows, marks = train[~missed[groups[train]]], None
        if kind == "place":
            chosen, marks = place_rows(np.array([0, 1]), y[rows], groups[rows])
            rows = rows[chosen]
        background = "negative" if kind.startswith("background") else "ignore"
        model = GroupClassifier(lam, background=background)
        by = groups[rows] if marks is None else marks
        model.fit(data.values[rows], y[rows], by, data.overlap[rows])
        scores[test], fold[test] = model.decision_function(data.values[test]), number
    return scores, fold


def shares(data: SetCandidates, pictures: list[RealPicture], scores: NDArray) -> list[float]:
    """Shares of positive pictures: winner, refined winner, vote, refined vote."""
    hits = []
    for at in np.flatnonzero(data.positive):
        rows = slice(data.ptr[at], data.ptr[at + 1])
        size = int(data.height[at]), int(data.width[at])
        regions, s = Regions.from_boxes(data.edges[rows], *size), scores[rows]
        found = []
        for chosen in (int(np.argmax(s)), vote(regions, s)):
            found += [regions.take([chosen]), refine(regions, s, chosen)]
        best = overlap(Regions.joined(found), pictures[at].objects(*size), "box_iou").max(axis=1)
        hits.append(best >= ON_OBJECT)
    return np.mean(hits, axis=0).tolist()


def main(arguments: list[str] | None = None) -> int:
    """Print one table for each set; 0 if the data could be read."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pictures.places", description=__doc__
    )
    add_data_option(parser)
    parser.add_argument("--cache", type=Path, default=Path("bench-pictures"), metavar="DIR")
    parser.add_argument("--sets", nargs="+", choices=list(PICTURE_SETS), default=list(PICTURE_SETS))
    parser.add_argument("--lam", type=float, default=0.04)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    missing = missing_data(options.data, [PICTURE_SETS[name].listing for name in options.sets])
    if missing is not None:
        say(missing)
        return 2
    for name in options.sets:
        data = candidates_named(options.data, name, options.cache, 300)
        pictures = PICTURE_SETS[name].pictures(options.data)
        lines: list[tuple[str, ...]] = [
            ("model", "image AUC", "winner", "refined", "voted", "voted and refined")
        ]
        for kind in KINDS:
            scores, fold = held_out_scores(data, kind, options.lam, options.seed)
            numbers = [measures(data, scores, fold).auc, *shares(data, pictures, scores)]
            lines.append((kind, *(f"{number:.3f}" for number in numbers)))
            say("  ".join(lines[-1]))
        print(f"{PICTURE_SETS[name].title}, λ = {options.lam:g}")
        print(aligned(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
