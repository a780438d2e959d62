"""One model on one set with one seed: what a process of its own does."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.models.sets import SETS
from benchmarks.support.measure import say
from groupcm.boosting import GroupBoostingClassifier
from groupcm.data.groups import index_groups
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.evaluation.comparison.crossfit import crossfit
from groupcm.utils.files import whole_file

__all__ = ["MODELS", "MORE_MODELS", "OURS", "Held", "held_out", "number_of_candidates"]

OURS = "trees"
# Trees on candidates that search half of the features, or draw thresholds, as ours do.
_EXTRA = "lightgbm-extra"
# Ours as it comes: nothing tuned, the number of trees by its own folds.
_DEFAULT = "trees-default"
MODELS = ("gcm", "lightgbm", _EXTRA, "xgboost", "lightgbm-ranker", OURS, _DEFAULT)
# What the question is not about, and comes last.
MORE_MODELS = (_EXTRA, _DEFAULT)
_PICTURES = ("magnetic_tile", "cvc_clinicdb")
# Of the negative candidates of pictures, models on candidates see so many: of the numbers tried
# (10,000 and all) the better one for them.
_MOST_NEGATIVES = 10_000


@dataclass(frozen=True)
class Held:
    """The groups that folds left out: one entry a group, and what was chosen in each fold.

    Attributes
    ----------
    fold, score, positive, cluster
        Of each group: who left it out, its largest score by that model, its label, what it may
        not be split from.
    chosen
        The settings chosen, in words, one a fold.
    seconds
        To tune, train and score.
    """

    fold: list[int]
    score: list[float]
    positive: list[bool]
    cluster: list[int]
    chosen: list[str]
    seconds: float


def number_of_candidates(folder: str, cache: str, name: str) -> int:
    """Of a set, which is read, and made where it has not been."""
    return len(SETS[name].read(Path(folder), Path(cache), 0).rows.y)


def held_out(
    folder: str, cache: str, name: str, model: str, seed: int, settings: int, inner: int
) -> Held:
    """Scores of the groups left out; what an earlier run found is not done again."""
    file = Path(cache) / "models" / cache_name(name, model, seed, settings, inner)
    if file.is_file():
        return Held(**json.loads(file.read_text()))
    found = _held_out(Path(folder), Path(cache), name, model, seed, settings, inner)
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as beside:
        beside.write_text(json.dumps(asdict(found)))
    return found


def cache_name(name: str, model: str, seed: int, settings: int, inner: int) -> str:
    """Another name for another set of candidates, other settings or other defaults."""
    contender = contender_named(model, name, settings, seed)
    made = [repr(contender.make(**setting).get_params()) for setting in contender.settings]
    key = hashlib.sha256("\n".join([SETS[name].made, *made]).encode()).hexdigest()[:10]
    return f"{name}-{model}-{seed}-{settings}-{inner}-{key}.json"


def _held_out(
    folder: Path, cache: Path, name: str, model: str, seed: int, settings: int, inner: int
) -> Held:
    prepared = SETS[name].read(folder, cache, seed)
    rows = prepared.rows
    contender = contender_named(model, name, settings, seed)
    fits = crossfit(
        rows,
        [contender],
        cv=prepared.folds,
        n_inner=inner,
        random_state=seed,
        progress=lambda words: say(f"    {name}, seed {seed}: {words}"),
    )
    (fit,) = fits.results
    tested = fits.left_out
    index = index_groups(rows.groups[tested])
    _, place = np.unique(index.codes, return_index=True)
    first = tested[place]
    patients = rows.groups if rows.patients is None else rows.patients
    return Held(
        fold=fits.fold[first].tolist(),
        score=index.maxima(fit.scores[tested]).tolist(),
        positive=index.maxima(rows.y[tested] == 1).tolist(),
        cluster=index_groups(patients[first]).codes.tolist(),
        chosen=[contender.describe(contender.settings[k]) for k in fit.chosen],
        seconds=fit.seconds,
    )


def contender_named(model: str, name: str, settings: int, seed: int) -> Contender:
    """A model with as many settings as every other."""
    if model == _DEFAULT:
        about = "Trees on groups with the parameters they come with."
        return Contender(
            model, about, [{}], lambda: GroupBoostingClassifier(n_jobs=1, random_state=seed)
        )
    pictures = name in _PICTURES
    base = "lightgbm" if model == _EXTRA else model
    (made,) = contenders(
        [base], settings, max_negatives=_MOST_NEGATIVES if pictures else None, random_state=seed
    )
    if model == "gcm" and pictures:
        # Many features and few positive pictures: strong penalties are what folds choose.
        lams = [{"lam": lam} for lam in np.geomspace(0.003, 0.6, settings).tolist()]
        return replace(made, settings=lams)
    if model == _EXTRA:
        kinds = ({"colsample_bytree": 0.5}, {"extra_trees": True})
        varied = [{**setting, **kinds[k % 2]} for k, setting in enumerate(made.settings)]
        return replace(made, settings=varied)
    return made
