"""A small model of made frames: a cheap recipe, and what is needed to score pictures with it."""

from __future__ import annotations

from functools import cache

import numpy as np

from groupcm import CalibratedGroupClassifier, GroupClassifier
from groupcm.images.features import FAMILIES
from groupcm.images.overlap import best_overlap
from groupcm.images.proposals import PROPOSERS, Proposals
from groupcm.images.recipe import Recipe
from groupcm.images.synthetic import SyntheticFrame, make_frames
from groupcm.persistence.model_file import SavedModel

HEIGHT, WIDTH = 48, 64
FRAMES = {"share_with_polyps": 0.5, "height": HEIGHT, "width": WIDTH}


def cheap_recipe() -> Recipe:
    windows = PROPOSERS["windows"](sizes=(0.45, 0.32, 0.22), aspects=(1.0,), step=0.3)
    return Recipe(
        Proposals((windows,), at_most=250), (FAMILIES["colour"](), FAMILIES["contrast"]())
    )


@cache
def some_frames(n_frames: int = 12, seed: int = 1) -> tuple[SyntheticFrame, ...]:
    return tuple(make_frames(n_frames, seed=seed, **FRAMES))


@cache
def training_rows():
    """Features, labels, groups and overlaps of the candidates of some frames."""
    recipe, rows = cheap_recipe(), []
    for place, frame in enumerate(some_frames(16)):
        found = recipe.candidates(frame.pixels)
        objects = [marked.region for marked in frame.picture.objects]
        fit = best_overlap(found.regions, objects, "box_iou", height=HEIGHT, width=WIDTH).overlap
        label = (fit >= 0.3) | ((fit == fit.max()) & bool(objects))
        rows.append((found.values, label.astype(int), np.full(len(fit), place), fit))
    return tuple(np.concatenate(each) for each in zip(*rows, strict=True))


@cache
def fitted(names: tuple[str, ...] | None = None) -> GroupClassifier:
    """A model on all features of the cheap recipe, or on some by their names."""
    X, y, groups, overlap = training_rows()
    made = cheap_recipe().feature_names
    names = made if names is None else names
    columns = [made.index(name) for name in names]
    model = GroupClassifier(0.9, background="negative").fit(X[:, columns], y, groups, overlap)
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


@cache
def calibrated() -> CalibratedGroupClassifier:
    X, y, groups, overlap = training_rows()
    trained = GroupClassifier(0.9, background="negative").fit(X, y, groups, overlap)
    model = CalibratedGroupClassifier(trained, cv="prefit").fit(X, y, groups)
    for each in (model, trained):
        each.feature_names_in_ = np.array(cheap_recipe().feature_names, dtype=object)
    return model


def saved_model(model=None, **notes) -> SavedModel:
    return SavedModel(model or fitted(), {"recipe": cheap_recipe().to_json(), **notes})
