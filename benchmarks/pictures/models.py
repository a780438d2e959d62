"""The models that are compared on the candidates of pictures, and their nested folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pictures.candidates import SetCandidates
from groupcm import GroupClassifier
from groupcm.data.folds import Folds, group_folds
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.evaluation.comparison.crossfit import crossfit
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.model_choice import model_named
from groupcm.images.features.components import Components
from groupcm.images.recipe_options import N_COMPONENTS

__all__ = ["MODELS", "WHOLE_PICTURE", "scores_of_folds"]

# What groupcm images train fits, with its own choice of hyperparameters.
_DEFAULTS = ("linear", "trees")
_SHARE = 0.25  # of the groups, by which the number of trees is chosen
MODELS = ("SVM", "GCM without grouping", "GCM", "GCM, background", "LightGBM", *_DEFAULTS)
WHOLE_PICTURE = "whole picture"
# Many features and few positive pictures: strong penalties are what the folds choose.
_ROWS_OF_COMPONENTS = 12_000
_LAMS, _LAMS_UNGROUPED, _COSTS = (0.003, 0.6), (0.1, 0.6), (1e-3, 0.3)
# With a network, features are more and λ smaller.
_LAMS_NETWORK = (0.0003, 0.1)


def contender_named(
    name: str, n_settings: int, max_negatives: int, seed: int, *, has_network: bool = False
) -> Contender:
    """A model of the table, with the settings it chooses among inside the folds."""
    given: dict[str, Any] = {"max_negatives": max_negatives, "random_state": seed}
    if name == WHOLE_PICTURE:
        return _either(*contenders(["logistic", "lightgbm"], n_settings, **given))
    if name in _DEFAULTS:
        about = "The default of groupcm images train."
        return Contender(
            name, about, [{}], partial(model_named, name, seed=seed, validation=_SHARE)
        )
    if name == "LightGBM":
        return contenders(["lightgbm"], n_settings, **given)[0]
    if name == "SVM":
        costs = [{"C": C} for C in np.geomspace(*_COSTS, n_settings).tolist()]
        return replace(contenders(["svm"], n_settings, **given)[0], settings=costs)
    grouped = name != "GCM without grouping"
    gcm = contenders(["gcm" if grouped else "gcm-none"], n_settings, **given)[0]
    ends = (_LAMS_NETWORK if has_network else _LAMS) if grouped else _LAMS_UNGROUPED
    lams = [{"lam": lam} for lam in np.geomspace(*ends, n_settings).tolist()]
    gcm = replace(gcm, settings=lams)
    return _with_background(gcm, seed) if name == "GCM, background" else gcm


def _with_background(gcm: Contender, seed: int) -> Contender:
    def make(lam: float = 0.5) -> GroupClassifier:
        return GroupClassifier(lam, background="negative", random_state=seed)

    about = "The same; what lies beside the objects is one more negative group a picture."
    return Contender("GCM, background", about, gcm.settings, make, has_path=True)


def _either(*several: Contender) -> Contender:
    """One contender that may choose any setting of several."""
    makers: dict[str, Callable[..., Any]] = {one.name: one.make for one in several}

    def make(model: str = several[0].name, **setting: Any) -> Any:
        return makers[model](**setting)

    settings = [{"model": one.name, **each} for one in several for each in one.settings]
    return Contender(WHOLE_PICTURE, "Features of the whole picture alone.", settings, make)


def scores_of_folds(
    data: SetCandidates,
    names: Sequence[str],
    *,
    seed: int,
    n_folds: int = 5,
    n_inner: int = 2,
    n_settings: int = 3,
    max_negatives: int = 10_000,
    min_overlap: float = 0.3,
    embeddings: Sequence[NDArray[np.float16]] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
    """Scores of every candidate by models that saw no picture of its cluster, and its fold.

    Positive pictures whose best candidate overlaps the object by less than ``min_overlap`` are
    left out of training, for every model. They are tested like all others. The principal
    components of each of the ``embeddings``, one row per candidate, are computed from the training
    part of each outer fold and join the other features.
    """
    rows = _labelled(data, data.values)
    folds = group_folds(rows.y, rows.groups, rows.patients, n_splits=n_folds, random_state=seed)
    missed = data.positive & (data.best < min_overlap)
    trained: Folds = [(train[~missed[data.picture[train]]], test) for train, test in folds]
    has_network = embeddings is not None
    chosen = [
        contender_named(name, n_settings, max_negatives, seed, has_network=has_network)
        for name in names
    ]
    options: dict[str, Any] = {"n_inner": n_inner, "random_state": seed, "progress": progress}
    if embeddings is None:
        parts = [crossfit(rows, chosen, cv=trained, **options)]
    else:
        parts = []
        for fold in trained:
            every = _labelled(data, _joined(data, embeddings, fold[0], seed))
            parts.append(crossfit(every, chosen, cv=[fold], **options))
    scores = {}
    for at, name in enumerate(names):
        picked = [each for part in parts for each in part.results[at].chosen]
        (progress or str)(f"{name} chose settings {picked} of 0 to {n_settings - 1}")
        # A row is left out by one fold; its score is missing in the other parts.
        scores[name] = np.nanmax([part.results[at].scores for part in parts], axis=0)
    fold = np.empty(len(rows.y), dtype=np.int64)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    return scores, fold


def _labelled(data: SetCandidates, values: NDArray[np.float32]) -> LabelledCandidates:
    return LabelledCandidates.check(
        values, data.y, data.picture, data.overlap, data.cluster[data.picture]
    ).numbered()


def _joined(
    data: SetCandidates,
    embeddings: Sequence[NDArray[np.float16]],
    train: NDArray[np.int64],
    seed: int,
) -> NDArray[np.float32]:
    """The features with the principal components of embeddings, computed from training rows."""
    some = np.sort(np.random.default_rng(seed).permutation(train)[:_ROWS_OF_COMPONENTS])
    parts = [data.values]
    for each in embeddings:
        components = Components.of(each[some].astype(np.float32), N_COMPONENTS)
        pieces = [components(part.astype(np.float32)) for part in np.array_split(each, 64)]
        parts.append(np.concatenate(pieces))
    return np.concatenate(parts, axis=1)
