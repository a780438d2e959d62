"""A ranker whose queries are groups, used as a classifier of groups."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone

from groupcm.any_estimator import takes_missing
from groupcm.group_table import group_level
from groupcm.validation import as_matrix

__all__ = ["RankingModel"]

_LARGEST_QUERY = 10_000  # candidates; LightGBM refuses more


class RankingModel(MetaEstimatorMixin, BaseEstimator):
    """A ranker that learns which candidates of a positive group stand above its others.

    A query is a positive group with all its candidates, of relevance 1 where they are positive,
    else 0. A negative group has no pair of different relevance and takes no part.

    Parameters
    ----------
    ranker : estimator
        With LightGBM's ``fit(X, relevance, group=sizes)`` and ``predict(X)``.

    Attributes
    ----------
    ranker_ : the fitted ranker
    n_queries_ : int
        Positive groups with a candidate that is not positive.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from groupcm.simulate import capsule
    >>> data = capsule(40, n_positive=12, group_size=20)
    >>> model = RankingModel(LGBMRanker(n_estimators=5, verbosity=-1))
    >>> model.fit(data.X, data.y, groups=data.groups).n_queries_
    12
    """

    __metadata_request__fit: ClassVar = {"groups": True}

    ranker_: Any
    n_queries_: int

    def __init__(self, ranker: Any) -> None:
        self.ranker = ranker

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_missing(self.ranker)
        return tags

    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None) -> RankingModel:
        """Train on the candidates of positive groups."""
        matrix, y = as_matrix(X), np.asarray(y)
        table = group_level(y, groups)
        codes, relevance = table.index.codes, (y == np.max(y)).astype(np.int64)
        has_pairs = table.positive & table.index.maxima(relevance == 0)
        if not has_pairs.any():
            raise ValueError(
                "no positive group has a candidate that is not positive, and a ranker learns from "
                "nothing else; leave the ranker out."
            )
        rows = np.flatnonzero(has_pairs[codes])
        rows = rows[np.argsort(codes[rows], kind="stable")]
        sizes = np.bincount(codes[rows], minlength=table.index.n_groups)[has_pairs]
        if sizes.max() > _LARGEST_QUERY:
            raise ValueError(
                f"a positive group has {sizes.max():,} candidates, and LightGBM ranks at most "
                f"{_LARGEST_QUERY:,} at once; leave the ranker out."
            )
        ranker: Any = clone(self.ranker)
        self.ranker_ = ranker.fit(matrix[rows], relevance[rows], group=sizes)
        self.n_queries_ = len(sizes)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each candidate: the larger, the higher it is ranked."""
        return np.asarray(self.ranker_.predict(as_matrix(X)), dtype=np.float64)
