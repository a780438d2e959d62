"""From a user's rows to the space in which they are scored: terms, sample, map and scale."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from groupcm.errors import (
    ConstantFeaturesWarning,
    OverlapWarning,
    warn_user,
)
from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.requirements import require_choosable, require_possible
from groupcm.features import Fitted, as_feature_map
from groupcm.features.scaling import (
    Scaling,
    measure_scaling,
    rows_to_measure,
    store_nearly_full_columns,
)
from groupcm.objective.grouping import Costs, binary_terms, class_factors
from groupcm.objective.terms import NO_ORDER, Groups, Index, Terms
from groupcm.sources.rows.sample import choose_units, units_of
from groupcm.sources.rows.space import FeatureMap, make_space
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.text import printable

__all__ = ["Hyperparameters", "Prepared", "costs_of", "draw_seed", "naming_features"]

_NAMES: ContextVar[tuple[str, ...] | None] = ContextVar("names of features", default=None)

# The share of the memory allowed that the sample of a stream may take; where there is memory
# for it, it has at least so many rows.
_SAMPLE_MEMORY = 0.3
_SMALLEST_SAMPLE = 500_000
# Up to so many positive candidates the sample has all of them, unless it takes the decoding of
# more than this share of the units.
_MANY_POSITIVES = 20_000
_MOST_UNITS = 0.7
# A sample of fewer rows than this might have none of some terms: it gets a few of each.
_TINY_SAMPLE = 5_000
_FEW_TERMS = 20


@dataclass(frozen=True)
class Hyperparameters:
    """What a linear model is trained with; see `groupcm.GroupClassifier` for each.

    An estimator has those that its user may choose, and the others have these defaults.

    Examples
    --------
    >>> from groupcm import MISVMClassifier
    >>> known = Hyperparameters.of(MISVMClassifier(C=2.0))
    >>> known.C, known.penalty, known.grouping
    (2.0, 'l2', 'negative')
    """

    lam: float = 0.5
    C: float | None = None
    class_weight: Mapping[Any, float] | str | None = "balanced"
    objective: str = "gcm"
    max_fpr: float = 1.0
    loss: str = "smoothed_hinge"
    delta: float = 0.5
    penalty: str = "huber"
    epsilon: float = 1.0
    l1_ratio: float = 0.5
    grouping: str = "negative"
    background: str = "ignore"
    min_overlap: float = 0.0
    feature_map: Any = None
    standardize: bool = True
    solver: str = "working_set"
    tol: float = 1e-4
    max_passes: float = 1000
    max_time: float | None = None
    checkpoint: str | os.PathLike[str] | None = None
    random_state: Any = None

    @classmethod
    def of(cls, estimator: Any) -> Hyperparameters:
        """Return the hyperparameters of an estimator."""
        given = estimator.get_params(deep=False)
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})

    def draw_seed(self) -> int:
        """Draw the seed of one solve from ``random_state``."""
        return draw_seed(self.random_state)


def draw_seed(random_state: Any) -> int:
    """Draw the seed of one run; a RandomState gives another one each time.

    Examples
    --------
    >>> draw_seed(0) == draw_seed(0)
    True
    """
    return int(check_random_state(random_state).randint(2**31 - 1))


class Prepared:
    """The data of a fit in the space its weights live in.

    Attributes
    ----------
    hyperparameters : Hyperparameters
    data : TrainingData
    terms : list
        For each class that is trained against the rest, its terms; None for a class that
        every group holds.
    feature_map : the fitted map, or None
    scaling : Scaling
    space : Space
    unannotated : ndarray
        Unannotated positive groups: no term has them.
    deadline : float
        When the fit should end, on the clock of `time.perf_counter`.
    """

    def __init__(self, options: Hyperparameters, data: TrainingData) -> None:
        require_possible(options, data)
        if data.stream is None and not isinstance(data.X, np.ndarray):
            data = replace(data, X=store_nearly_full_columns(data.X))
        if data.weights is not None and options.C is None and np.ptp(data.weights.values) == 0.0:
            data = replace(data, weights=None)  # the same objective
        self.data = data
        self.hyperparameters = options
        limit = np.inf if options.max_time is None else float(options.max_time)
        self.deadline = time.perf_counter() + limit
        self.unannotated = data.unannotated_groups()
        if len(self.unannotated):
            require_choosable(options, data, self.unannotated)
        trained = range(len(data.classes)) if len(data.classes) > 2 else [1]
        self.terms = [_terms_of(options, data, number, self.unannotated) for number in trained]
        if data.stream is not None:
            _load_sample(data, self.terms)
        self.feature_map = _fit_map(options, data)
        self.scaling = _scale(options, data, self.feature_map)
        self.space = make_space(self.feature_map, self.scaling.mean, self.scaling.scale)

    def feature_names(self) -> list[str]:
        """Return the names of what the weights multiply; column numbers where it has no names."""
        return _names_of(np.arange(len(self.scaling.mean)), self.data.names, self.feature_map)

    def terms_without(self, groups: Index) -> list[Terms]:
        """Return the terms of the second of two classes when these groups are left out."""
        with ignore_warnings(OverlapWarning):  # issued when all groups were prepared
            terms = _terms_of(
                self.hyperparameters, self.data, 1, np.union1d(groups, self.unannotated)
            )
        assert terms is not None
        return terms


def _terms_of(
    options: Hyperparameters, data: TrainingData, number: int, without: Index = NO_ORDER
) -> list[Terms] | None:
    positive_rows = data.rows_of(number)
    if len(data.classes) > 2 and _every_group_has(data.groups, positive_rows):
        return None
    return binary_terms(
        data.n_rows,
        positive_rows,
        data.groups,
        costs=costs_of(options, data, number),
        grouping=options.grouping,
        background=options.background,
        overlap=data.overlap,
        min_overlap=options.min_overlap,
        objects=data.objects,
        without=without,
        weights=data.weights,
    )


def costs_of(options: Hyperparameters, data: TrainingData, number: int = 1) -> Costs:
    """Return the costs of the terms of one class against the rest."""
    factors = class_factors(options.class_weight, data.classes, number)
    return Costs(options.lam, options.C, factors)


def _every_group_has(groups: Groups | None, rows: NDArray[np.int64]) -> bool:
    return groups is not None and len(np.unique(groups.of_rows(rows))) == len(groups)


def _load_sample(data: TrainingData, terms: Sequence[list[Terms] | None]) -> None:
    """Keep some units in memory: those with positive candidates, those measured, and others.

    Positive candidates are few and weigh much. Those of other units come as single rows,
    where that means to decode no more than most of the units once more; and in any case where
    every row counts alone, since without them the solution on the sample is far from the whole.
    """
    stream = data.stream
    assert stream is not None
    source = stream.source
    parts = [part for found in terms for part in found or () if part.sign > 0]
    positive = np.unique(np.concatenate([part.rows(np.arange(part.n_rows)) for part in parts]))
    measured = np.sort(rows_to_measure(data.n_rows, data.n_features, data.groups))
    room = _SAMPLE_MEMORY * data.memory / (source.n_features * source.dtype.itemsize)
    spread = min(room, max(source.sample_share * source.n_rows, _SMALLEST_SAMPLE))
    few = len(positive) <= _MANY_POSITIVES
    ptr = source.unit_ptr
    choices: list[tuple[Sequence[int], float]] = [(range(source.n_units), spread)]
    if not source.reads_single_rows:
        wanted = [(units_of(ptr, positive), room if few else spread)]
        choices = [*wanted, (units_of(ptr, measured), spread), *choices]
    units = choose_units(np.diff(ptr), choices)
    inside = np.isin(np.searchsorted(ptr, positive, side="right") - 1, units)
    extra = positive[~inside]
    n_more = 0 if source.reads_single_rows else len(units_of(ptr, extra))
    alone = all(part.alone for found in terms for part in found or ())
    is_cheap = alone or n_more <= _MOST_UNITS * source.n_units
    extra = extra if few and is_cheap else extra[:0]
    if np.sum(np.diff(ptr)[units]) < _TINY_SAMPLE:
        negative = [part for found in terms for part in found or () if part.sign < 0]
        extra = np.union1d(extra, _some_rows(negative, units, ptr))
    stream.load(units, extra)


def _some_rows(parts: Sequence[Terms], units: Sequence[int], ptr: Index) -> Index:
    """Return the rows of a few terms of each part, those in these units left out."""
    rows = []
    for part in parts:
        spread = np.linspace(0, len(part) - 1, min(len(part), _FEW_TERMS)).astype(np.int64)
        some = part.subset(spread)
        rows.append(some.rows(np.arange(min(some.n_rows, _TINY_SAMPLE))))
    found = np.unique(np.concatenate(rows))
    return found[~np.isin(np.searchsorted(ptr, found, side="right") - 1, units)]


def _fit_map(options: Hyperparameters, data: TrainingData) -> FeatureMap | None:
    """Return the feature map, fitted on the rows that are measured unless it came fitted."""
    given: Any = as_feature_map(options.feature_map)
    if given is None:
        return None
    if data.stream is None and not isinstance(data.X, np.ndarray):
        raise ValueError(
            "a feature_map needs dense rows; X is sparse: pass X.toarray(), or X.sparse.to_dense() "
            "of a data frame."
        )
    if isinstance(given, Fitted):
        if given.n_features_in_ != data.n_features:
            raise ValueError(
                f"feature_map was fitted on {given.n_features_in_} features, "
                f"and X has {data.n_features}."
            )
        return given
    rows = data.take(rows_to_measure(data.n_rows, data.n_features, data.groups))
    if not np.all(np.isfinite(rows)):
        data.require_finite()
    fresh: Any = clone(given)
    return fresh.fit(rows)


def _scale(options: Hyperparameters, data: TrainingData, feature_map: FeatureMap | None) -> Scaling:
    """Measure the features and warn of constant ones.

    Without ``standardize`` the solver still works on rows of moderate size, and the penalty is
    the one on the weights of the features as they are.
    """
    n_features = data.n_features if feature_map is None else feature_map.n_features_out_
    rows = rows_to_measure(data.n_rows, n_features, data.groups)
    all_rows = len(rows) == data.n_rows
    weight = None if data.weights is None else data.weights.values
    of_rows = None if weight is None else weight[rows]
    if feature_map is not None:
        scaling = _scaling_of(feature_map.transform(data.take(rows)), all_rows, of_rows)
    elif data.stream is not None:
        scaling = _scaling_of(data.take(rows), all_rows, of_rows)
    else:
        scaling = measure_scaling(data.X, rows, all_rows=True, weight=weight)
        if not all_rows and np.any(scaling.constant):
            scaling = _with_rare_values(scaling, data.X, weight)
    measured = np.isfinite(scaling.mean) & (np.isfinite(scaling.scale) | scaling.constant)
    if not np.all(measured):
        data.require_finite()
        names = _names_of(np.flatnonzero(~measured), data.names, feature_map)
        raise ValueError(
            f"the values of feature {names[0]} are too large to be squared; divide them by a "
            "constant, or leave the feature out."
        )
    if not options.standardize:
        return scaling.for_raw_penalty()
    if np.any(scaling.constant):
        _warn_of_constant(scaling.constant, data.names, feature_map)
    return scaling


def _with_rare_values(
    scaling: Scaling, X: NDArray[np.floating], weight: NDArray[np.float64] | None
) -> Scaling:
    """Measure the columns that are constant in a sample over all rows."""
    columns = np.flatnonzero(scaling.constant)
    whole = _scaling_of(np.ascontiguousarray(X[:, columns]), True, weight)
    mean, scale, constant = scaling.mean.copy(), scaling.scale.copy(), scaling.constant.copy()
    mean[columns], scale[columns], constant[columns] = whole.mean, whole.scale, whole.constant
    return replace(scaling, mean=mean, scale=scale, constant=constant)


def _scaling_of(
    rows: NDArray[np.floating], all_rows: bool, weight: NDArray[np.float64] | None
) -> Scaling:
    return measure_scaling(rows, np.arange(len(rows)), all_rows=all_rows, weight=weight)


@contextmanager
def naming_features(names: Sequence[str]) -> Iterator[None]:
    """Within the block, a fit to a matrix without names calls its features so in sentences.

    The model learns no names by it: the matrix that it scores has none either.
    """
    token = _NAMES.set(tuple(names))
    try:
        yield
    finally:
        _NAMES.reset(token)


def _names_of(columns: Index, names: NDArray[Any] | None, feature_map: Any) -> list[str]:
    if names is None and (known := _NAMES.get()) is not None:
        names = np.array(known, dtype=object)
    if feature_map is not None:
        names = feature_map.get_feature_names_out(names)
    return [printable(name) for name in (columns if names is None else names[columns])]


def _warn_of_constant(
    constant: NDArray[np.bool_], names: NDArray[Any] | None, feature_map: Any
) -> None:
    named = _names_of(np.flatnonzero(constant), names, feature_map)
    shown = ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")
    warn_user(
        f"{len(named)} of {len(constant)} features are constant up to rounding and get weight 0: "
        f"{shown}.",
        ConstantFeaturesWarning,
    )
