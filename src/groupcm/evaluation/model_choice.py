"""The choice between the linear model and trees on one share of groups that neither has seen.

Both models are fitted to the remaining groups and compared by the group AUC on the share; the one
with the larger value is chosen, the linear one where they are equal. No patient is on both sides.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from groupcm.boosting.classifier import GroupBoostingClassifier
from groupcm.data.folds import group_folds
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.estimators.adapters import fit_with
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.metrics import compare
from groupcm.metrics.comparison import Comparison
from groupcm.sources.candidates import Candidates
from groupcm.utils.extras import BOOSTING
from groupcm.utils.progress import announce_stage

__all__ = ["MODELS", "ModelChoice", "choose_model", "model_named", "tree_validation"]

#: The names of the models that `model_named` makes.
MODELS = ("linear", "trees")
_SHARE = 0.25
_TREE_FOLDS = 3
_ENOUGH_FOR_A_SHARE = 100  # groups of each class
_N_RESAMPLES = 1000


@dataclass(frozen=True)
class ModelChoice:
    """The chosen model, and how the two compare on the groups left out.

    Attributes
    ----------
    name : {"linear", "trees"}
    comparison : Comparison
        The group AUC of trees (``a``) and of the linear model (``b``), and their difference.
    n_groups : int
        The number of groups that were left out for the comparison.
    seconds : tuple of float
        How long the training of trees and of the linear model took.
    """

    name: str
    comparison: Comparison
    n_groups: int
    seconds: tuple[float, float] = (0.0, 0.0)

    def __str__(self) -> str:
        """Return the choice and its reason as a sentence."""
        trees, linear = self.comparison.a.estimate, self.comparison.b.estimate
        found = self.comparison.difference
        tie = "" if found.low > 0 or found.high < 0 else "; the difference may be chance"
        return (
            f"{self.name}: group AUC {trees:.3f} with trees and {linear:.3f} with the linear model "
            f"on {self.n_groups:,} groups left out (difference {found.estimate:+.3f}, "
            f"95 % CI {found.low:+.3f} to {found.high:+.3f}){tie}; "
            f"trained in {self.seconds[0]:.1f} s and {self.seconds[1]:.1f} s"
        )


def model_named(
    name: str,
    *,
    seed: int = 0,
    folds: int = 5,
    quick: bool = False,
    validation: float | None = None,
) -> Any:
    """Return a model with the default hyperparameters.

    Parameters
    ----------
    name : {"linear", "trees"}
        A `GroupClassifierCV` or a `GroupBoostingClassifier`.
    seed : int
    folds : int, default=5
        The largest number of folds that choose the hyperparameters; trees use three at most.
    quick : bool, default=False
        Use fewer folds, and one share of the groups for trees, for a comparison.
    validation : float, optional
        How the number of trees is chosen; see `tree_validation`. By default by folds.

    Examples
    --------
    >>> model_named("linear").random_state
    0
    """
    if name == "linear":
        return GroupClassifierCV(cv=min(folds, 3) if quick else folds, random_state=seed)
    if name == "trees":
        BOOSTING.require()
        if validation is None or quick:
            validation = _SHARE if quick else min(folds, _TREE_FOLDS)
        return GroupBoostingClassifier(validation=validation, random_state=seed)
    raise ParameterError(
        Argument("model"), f" is {name!r}; it must be one of {', '.join(map(repr, MODELS))}"
    )


def tree_validation(candidates: Candidates) -> float:
    """Return how the number of trees is chosen: by one share of the groups, or by folds.

    A quarter of the groups takes half the time of three folds. Where a class has fewer than 100
    groups, a quarter of them would choose by chance, and three folds take seconds, too.
    """
    codes = candidates.group_index.codes
    n_positive = len(np.unique(codes[candidates.is_positive]))
    n_fewest = min(n_positive, len(np.unique(codes)) - n_positive)
    return _SHARE if n_fewest >= _ENOUGH_FOR_A_SHARE else min(_TREE_FOLDS, max(2, n_fewest))


def choose_model(candidates: Candidates, *, seed: int = 0) -> ModelChoice:
    """Choose between the linear model and trees on a quarter of the groups.

    Parameters
    ----------
    candidates : Candidates
        Of two classes, as `groupcm.read_candidates` returns them.
    seed : int
        Which groups are left out.

    Returns
    -------
    ModelChoice
        ``model_named(choice.name)`` is the model to fit to all candidates.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm import read_candidates
    >>> from groupcm.simulate import capsule_to_parquet
    >>> path = Path(tempfile.mkdtemp()) / "frames.parquet"
    >>> _ = capsule_to_parquet(path, 80, n_positive=60, group_size=10)
    >>> columns = {"group": "frame", "label": "label", "overlap": "overlap"}
    >>> train = read_candidates(path, **columns, exclude=["patient", "polyp"])
    >>> choose_model(train).n_groups
    35
    """
    groups, patients = candidates.group_index, candidates.patient_index
    if len(candidates.classes) != 2:
        raise InputError(
            f"the labels have {len(candidates.classes)} values, and the choice of a model is for "
            "two; name the model"
        )
    folds = group_folds(
        candidates.is_positive,
        groups.codes,
        None if patients is None else patients.codes,
        n_splits=round(1 / _SHARE),
        random_state=seed,
    )
    train, test = folds[0]
    known, X = candidates.fit_arguments(train), candidates.rows(test)
    scores, seconds = [], []
    for name in ("trees", "linear"):
        announce_stage(f"trying the model {name}")
        began = time.perf_counter()
        model = fit_with(model_named(name, seed=seed, quick=True), **known)
        seconds.append(time.perf_counter() - began)
        scores.append(model.decision_function(X))
    found = compare(
        candidates.is_positive[test],
        scores[0],
        scores[1],
        groups.codes[test],
        clusters=None if patients is None else patients.codes[test],
        n_resamples=_N_RESAMPLES,
    )
    name = "trees" if found.difference.estimate > 0 else "linear"
    n_groups = len(np.unique(groups.codes[test]))
    return ModelChoice(name, found, n_groups, (seconds[0], seconds[1]))
