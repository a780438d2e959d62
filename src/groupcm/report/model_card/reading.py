"""Creation of model cards from fitted models or model files, and the notes that a file stores."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from groupcm.estimators.place import place_model
from groupcm.estimators.tables import TableFit
from groupcm.estimators.thresholds import held_out_groups_of
from groupcm.estimators.training_notes import training_notes
from groupcm.evaluation.explanation import linear_part, tree_part
from groupcm.evaluation.trained_tables import model_and_notes
from groupcm.metrics import metric_name
from groupcm.metrics.decision import resolve_threshold
from groupcm.persistence.model_file import SavedModel, read
from groupcm.report.model_card.card import (
    Certificate,
    ChosenByFolds,
    Features,
    HeldOut,
    ModelCard,
    Threshold,
    TrainedOn,
    Trees,
    best_validation,
    held_out_of,
)
from groupcm.utils.progress import announce_stage

__all__ = ["fit_notes", "model_card", "training_notes"]


def model_card(model: Any) -> ModelCard:
    """Return the card of a model: what it is, was trained on and can do.

    Parameters
    ----------
    model : estimator, str or path
        A fitted model, or a model file. A file written by ``groupcm fit``, and a model fitted by
        `groupcm.estimators.fit_tables`, also describe the training data; for other models the
        card marks that as not known.

    Returns
    -------
    ModelCard

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> card = model_card(model)
    >>> card.kind, card.positive_class, card.features.count, card.trained_on.n_candidates
    ('linear', 1, 1, None)
    """
    if isinstance(model, str | os.PathLike):
        return _card(read(model))
    if not hasattr(model, "fit"):
        raise ValueError(
            f"a card needs a fitted model, or a model file; got {type(model).__name__}."
        )
    check_is_fitted(model)
    model, notes = model_and_notes(model)
    return _card(SavedModel(model, dict(notes)))


def _card(saved: SavedModel) -> ModelCard:
    model, notes = saved.model, saved.notes
    linear, trees = linear_part(model), tree_part(model)
    trained = linear if linear is not None else trees if trees is not None else model
    classes = np.asarray(model.classes_).tolist()
    threshold = _threshold(model)
    return ModelCard(
        model=type(trained).__name__,
        kind="linear" if linear is not None else "trees" if trees is not None else "other",
        classes=classes,
        positive_class=classes[1] if len(classes) == 2 else None,
        features=_features(model, trained),
        trained_on=_trained_on(trained, notes),
        certificate=None if linear is None else _certificate(linear),
        trees=None if trees is None else _trees(trees),
        chosen_by_folds=_chosen_by_folds(trained),
        held_out=_held_out(model, notes, threshold),
        threshold=threshold,
        calibration=_calibration(model),
        place=_place(model),
        parameters=_parameters(trained),
        columns={role: c for role, c in (notes.get("columns") or {}).items() if c is not None},
        versions={"groupcm": saved.groupcm, **(notes.get("versions") or {})},
    )


def _features(model: Any, trained: Any) -> Features:
    names = getattr(model, "feature_names_in_", None)
    feature_map = getattr(trained, "feature_map_", None)
    return Features(
        count=int(getattr(model, "n_features_in_", 0)),
        names=None if names is None else [str(name) for name in names],
        map=None if feature_map is None else type(feature_map).__name__,
        count_of_map=None if feature_map is None else int(feature_map.n_features_out_),
    )


def _place(model: Any) -> str | None:
    place = place_model(model)
    return None if place is None else type(place).__name__


def _trained_on(trained: Any, notes: Mapping[str, Any]) -> TrainedOn:
    counts = notes.get("trained_on") or {}
    witnesses = getattr(trained, "witnesses_", None)
    known = None if witnesses is None else len(witnesses)
    return TrainedOn(
        tables=notes.get("tables") or ([counts["name"]] if "name" in counts else None),
        n_candidates=counts.get("n_candidates"),
        n_positive_groups=counts.get("n_positive_groups"),
        n_negative_groups=counts.get("n_negative_groups"),
        n_patients=counts.get("n_patients"),
        n_unannotated_groups=notes.get("n_unannotated_groups", known),
        date=notes.get("trained_at"),
    )


def _certificate(linear: Any) -> Certificate:
    names = ("objective_", "lower_bound_", "gap_", "n_passes_")
    objective, lower_bound, gap, passes = (
        np.ravel(getattr(linear, name)).astype(float).tolist() for name in names
    )
    of = ""
    if getattr(linear, "objective", "gcm") == "partial_auc":
        rate = float(getattr(linear, "max_fpr_", linear.max_fpr))
        part = f"up to a false-positive rate of {rate:g}" if rate < 1.0 else "as a whole"
        of = f"a convex bound of the area under the ROC curve of groups {part}, and the penalty"
    return Certificate(objective, lower_bound, gap, float(linear.tol), passes, of)


def _trees(trees: Any) -> Trees:
    counts = np.ravel(getattr(trees, "n_trees_", len(trees.trees_))).astype(int).tolist()
    return Trees(counts, best_validation(trees))


def _chosen_by_folds(trained: Any) -> ChosenByFolds | None:
    if not hasattr(trained, "lam_"):
        return None
    best = int(np.argmin(np.abs(trained.lams_ - trained.lam_)))
    scores = trained.scores_[:, best]
    return ChosenByFolds(
        lam=float(trained.lam_),
        metric=metric_name(trained.scoring),
        mean=float(scores.mean()),
        low=float(scores.min()),
        high=float(scores.max()),
        n_folds=len(scores),
    )


def _held_out(model: Any, notes: Mapping[str, Any], threshold: Threshold | None) -> HeldOut | None:
    if notes.get("held_out"):
        return HeldOut(**notes["held_out"])
    while model is not None and not hasattr(model, "held_out_scores_"):
        model = getattr(model, "estimator_", None)
    if model is None or held_out_groups_of(model) is None:
        return None
    return held_out_of(model, None if threshold is None else threshold.value)


def _threshold(model: Any) -> Threshold | None:
    own = resolve_threshold(model)
    if own is None:
        return None
    rule = own.decision
    return Threshold(
        own.value, own.chosen, rule.level, rule.target, rule.value, rule.guarantee, rule.k
    )


def _calibration(model: Any) -> str | None:
    calibrator = getattr(model, "calibrator_", None)
    return None if calibrator is None else type(calibrator).__name__.lower()


def _parameters(trained: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        is_plain = value is None or isinstance(value, bool | int | float | str | list | dict)
        return value if is_plain else " ".join(str(value).split())

    return {name: plain(value) for name, value in trained.get_params(deep=False).items()}


def fit_notes(fit: TableFit) -> dict[str, Any]:
    """Return the notes of a model that was fitted to tables, with its results on left-out groups.

    Parameters
    ----------
    fit : TableFit
        The result of `groupcm.estimators.tables.fit_tables`.

    Returns
    -------
    dict
        For `groupcm.save`: ``fit.notes()``, which the model keeps anyway, and how well groups
        that folds left out are ranked, with a confidence interval.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm import GroupClassifier
    >>> from groupcm.estimators.tables import fit_tables
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.1\\nb,0,1.2\\n")
    >>> notes = fit_notes(fit_tables(GroupClassifier(), path, group="frame", label="polyp"))
    >>> notes["columns"]["group"], notes["trained_on"]["n_negative_groups"]
    ('frame', 1)
    """
    candidates, model, notes = fit.candidates, fit.cross_validated, fit.notes()
    if model is not None:
        drawn = "groups" if candidates.n_patients is None else "patients"
        announce_stage(f"resampling {drawn} for an interval")
        patients = candidates.patient_of_groups()
        if patients is not None:
            patients = patients[candidates.weighted_groups()]
        held_out = held_out_of(model, model.threshold_, patients)
        notes["held_out"] = asdict(held_out)
    return notes
