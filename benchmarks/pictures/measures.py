"""What is measured of a model on pictures: image AUC, AUC of equal sizes, where its winners lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.pictures.candidates import SetCandidates
from groupcm.images.regions import Regions
from groupcm.images.scoring.vote import vote

__all__ = ["ON_OBJECT", "Measures", "equal_size_auc", "measures", "share_on_object", "size_class"]

ON_OBJECT = 0.3
_SIZE_STEP = 1.2
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measures:
    """One model with one seed.

    Attributes
    ----------
    fold_aucs
        Of pictures by their largest score, fold by fold.
    equal_size_auc
        The same over pairs of pictures of about equal size.
    on_object
        Share of positive pictures whose winner overlaps an object by `ON_OBJECT` or more.
    voted_on_object
        The same for the candidate that the best ones vote for.
    """

    fold_aucs: tuple[float, ...]
    equal_size_auc: float
    on_object: float
    voted_on_object: float

    @property
    def auc(self) -> float:
        """The mean of the folds."""
        return float(np.mean(self.fold_aucs))


def measures(data: SetCandidates, scores: _Floats, fold: NDArray[np.int64]) -> Measures:
    """All of them, from scores by models that did not see the candidate."""
    of_picture = np.maximum.reduceat(scores, data.ptr[:-1])
    fold_of_picture = fold[data.ptr[:-1]]
    sizes = size_class(data.height, data.width)
    return Measures(
        fold_aucs=tuple(
            float(roc_auc_score(data.positive[those], of_picture[those]))
            for those in (fold_of_picture == each for each in np.unique(fold))
        ),
        equal_size_auc=equal_size_auc(data.positive, of_picture, fold_of_picture, sizes),
        on_object=share_on_object(data, scores),
        voted_on_object=share_on_object(data, scores, by_vote=True),
    )


def size_class(height: NDArray[np.int64], width: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for pictures whose height and width are alike, in steps of 20 % each.

    >>> size_class(np.array([100, 104, 150]), np.array([100, 100, 100])).tolist()
    [0, 0, 1]
    """
    steps = np.round(np.log(np.stack([height, width], axis=1)) / np.log(_SIZE_STEP))
    return np.unique(steps, axis=0, return_inverse=True)[1].ravel()


def equal_size_auc(
    positive: NDArray[np.bool_],
    scores: _Floats,
    fold: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> float:
    """Share of pairs in the right order, positive and negative of one fold and one size.

    >>> some = np.array([True, False, True, False])
    >>> equal_size_auc(some, np.array([1.0, 2, 4, 3]), np.zeros(4), np.array([0, 0, 1, 1]))
    0.5
    """
    right = pairs = 0.0
    for alike in np.unique(np.stack([fold, sizes], axis=1), axis=0):
        of_both = (fold == alike[0]) & (sizes == alike[1])
        less = scores[of_both & positive][:, None] - scores[of_both & ~positive]
        right += np.sum(less > 0) + np.sum(less == 0) / 2
        pairs += less.size
    return float(right / pairs) if pairs else float("nan")


def share_on_object(data: SetCandidates, scores: _Floats, *, by_vote: bool = False) -> float:
    """Share of positive pictures whose winner, or voted candidate, lies on an object."""
    ptr = data.ptr
    hits = []
    for picture in np.flatnonzero(data.positive):
        rows = slice(ptr[picture], ptr[picture + 1])
        chosen = int(np.argmax(scores[rows]))
        if by_vote:
            size = int(data.height[picture]), int(data.width[picture])
            chosen = vote(Regions.from_boxes(data.edges[rows], *size), scores[rows])
        hits.append(data.overlap[rows][chosen] >= ON_OBJECT)
    return float(np.mean(hits))
