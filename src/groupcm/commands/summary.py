"""What a fit ends with: the numbers, and what they prove."""

from __future__ import annotations

from typing import Any

import numpy as np

from groupcm.commands.inputs import Candidates
from groupcm.commands.words import seconds
from groupcm.model_card import best_validation
from groupcm.weights import feature_names, feature_weights, linear_part

__all__ = ["certificate", "summary"]

_MOST_WEIGHTS = 5
_OUTCOMES = {
    "settled": "no choice changed",
    "cycled": "the same choices came back",
    "exhausted": "there were too many",
    "interrupted": "Ctrl-C",
}
_SMALLEST_WEIGHT = 1e-6  # of a standard deviation; what is smaller decides nothing


def summary(model: Any, candidates: Candidates, took: float) -> list[tuple[str, str]]:
    """What was read and what came out, as names and values."""
    n_features = len(candidates.feature_names)
    rows = [
        ("rows", f"{candidates.n_rows:,} × {n_features} features, {candidates.dtype}"),
        ("groups", _count_groups(model, candidates)),
        *_positive(model),
    ]
    if candidates.n_patients is not None:
        rows.append(("patients", f"{candidates.n_patients:,}"))
    of_model = _of_linear if linear_part(model) is not None else _of_trees
    return rows + of_model(model, took)


def _of_linear(model: Any, took: float) -> list[tuple[str, str]]:
    rows = []
    if model.feature_map_ is not None:
        name = type(model.feature_map_).__name__
        rows.append(("feature map", f"{name}, to {model.feature_map_.n_features_out_:,} features"))
    for name, value in (
        ("objective", model.objective_),
        ("lower bound", model.lower_bound_),
        ("certified gap", model.gap_),
    ):
        rows.append((name, ", ".join(f"{number:.6g}" for number in np.ravel(value))))
    rows.append(("passes", f"{np.max(model.n_passes_):.3g} over the rows, {seconds(took)}"))
    return rows + _unannotated(model) + _largest_weights(model)


def _of_trees(model: Any, took: float) -> list[tuple[str, str]]:
    """How many trees there are, and the features whose splits gained most in training."""
    scorer, names = model._scorer, feature_names(model)
    counts = ", ".join(f"{n:,}" for n in scorer.n_trees())
    rows = [("trees", f"{counts}, {seconds(took)}"), *_validation(model), *_unannotated(model)]
    shares = scorer.gain_shares()
    for label, share in zip(model.classes_[-len(shares) :], shares, strict=True):
        largest = [j for j in np.argsort(-share, kind="stable")[:_MOST_WEIGHTS] if share[j] > 0.0]
        shown = ", ".join(f"{names[j]} {100 * share[j]:.3g} %" for j in largest)
        name = f"for {label}" if len(shares) > 1 else "largest gains"
        rows.append((name, f"{shown}  (of what all splits gain)" if largest else "no split"))
    return rows


def _validation(model: Any) -> list[tuple[str, str]]:
    """What the number of trees was chosen by, where it was."""
    found = best_validation(model)
    if found is None:
        return []
    told = f"{found.value:.4f} on groups left out, chosen of up to {found.most:,} trees"
    return [(found.metric.replace("_", " "), told)]


def _unannotated(model: Any) -> list[tuple[str, str]]:
    """Positive groups whose candidate the fit chose, and how the choosing ended."""
    n_groups = len(getattr(model, "witnesses_", ()))
    if n_groups == 0:
        return []
    told = f"{n_groups:,} positive groups: the fit chose a candidate of each"
    ended = _OUTCOMES.get(str(getattr(model, "outcome_", "")))
    if ended is not None:
        told += f", in {model.n_rounds_:,} rounds until {ended}"
    return [("not annotated", told)]


def _positive(model: Any) -> list[tuple[str, str]]:
    """Which class a large score means."""
    if len(model.classes_) != 2:
        return []
    negative, positive = model.classes_.tolist()
    return [("positive", f"{positive} (negative: {negative})")]


def _count_groups(model: Any, candidates: Candidates) -> str:
    classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    holding = [candidates.groups_with(value) for value in classes]
    counts = [
        f"{holds.sum():,} with {value}" for value, holds in zip(classes, holding, strict=True)
    ]
    return f"{len(holding[0]):,}, of them {', '.join(counts)}"


def _largest_weights(model: Any) -> list[tuple[str, str]]:
    """Rank features by what one standard deviation of them adds to the score."""
    unit = "per standard deviation" if model.standardize else "per unit of the feature"
    found = feature_weights(model)
    rows = []
    for of_class in found:
        weights = of_class.trained
        largest = np.argsort(-np.abs(weights))[:_MOST_WEIGHTS]
        largest = [j for j in largest if abs(weights[j]) >= _SMALLEST_WEIGHT]
        shown = ", ".join(f"{of_class.names[j]} {weights[j]:+.3g}" for j in largest)
        name = f"for {of_class.label}" if len(found) > 1 else "largest weights"
        rows.append((name, f"{shown}  ({unit})" if largest else f"none above {_SMALLEST_WEIGHT:g}"))
    return rows


def certificate(model: Any) -> str:
    """Say in words what the gap proves, or that nothing is proved."""
    if not hasattr(model, "gap_"):
        return "No certificate: how far these trees are from the best possible is not known."
    gap, tol = float(np.max(model.gap_)), model.tol
    chosen = len(getattr(model, "witnesses_", ()))
    proof = (
        f"Certificate: no weights whatever have an objective more than {100 * gap:.2g} % "
        f"below this model's{', with the candidates it chose' if chosen else ''}."
    )
    return proof if gap <= tol else f"{proof} That is not yet the {100 * tol:.2g} % asked for."
