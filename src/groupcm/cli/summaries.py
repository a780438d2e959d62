"""Terminal summaries of fits, evaluations and proposals, as names and values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from math import isinf, isnan
from typing import Any

import numpy as np

from groupcm.cli.commands.inputs import Candidates
from groupcm.cli.output import print_line, seconds
from groupcm.evaluation._evaluate import unannotated_note
from groupcm.evaluation.explanation import feature_names, feature_weights, linear_part
from groupcm.evaluation.metric_table import CountOf, Section, shown
from groupcm.evaluation.results import Evaluation
from groupcm.images.proposals import Recall
from groupcm.images.tables.labelling import Proposed
from groupcm.metrics import Interval
from groupcm.metrics.decision import rule_words
from groupcm.report.formatting import certified_gap
from groupcm.report.model_card import best_validation

__all__ = [
    "OPTION_OF_PARAMETER",
    "certificate",
    "evaluation_rows",
    "format_threshold",
    "proposed_rows",
    "show_written",
    "summary",
]

_MOST_WEIGHTS = 5
_OUTCOMES = {
    "settled": "no choice changed",
    "cycled": "the same choices came back",
    "exhausted": "there were too many",
    "interrupted": "Ctrl-C",
}
_SMALLEST_WEIGHT = 1e-6  # of a standard deviation; what is smaller decides nothing


def summary(model: Any, candidates: Candidates, took: float) -> list[tuple[str, str]]:
    """Return the data and the result of a fit, as names and values."""
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
    """Return the number of trees, and the features whose splits gained most in training."""
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
    """Return the validation metric that the number of trees was chosen by, if it was."""
    found = best_validation(model)
    if found is None:
        return []
    text = f"{found.value:.4f} on groups left out, chosen of up to {found.most:,} trees"
    return [(found.metric.replace("_", " "), text)]


def _unannotated(model: Any) -> list[tuple[str, str]]:
    """Return the positive groups whose candidate the fit chose, and how that ended."""
    n_groups = len(getattr(model, "witnesses_", ()))
    if n_groups == 0:
        return []
    text = f"{n_groups:,} positive groups: the fit chose a candidate of each"
    ended = _OUTCOMES.get(str(getattr(model, "outcome_", "")))
    if ended is not None:
        text += f", in {model.n_rounds_:,} rounds until {ended}"
    return [("not annotated", text)]


def _positive(model: Any) -> list[tuple[str, str]]:
    """Return the class of large scores."""
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
    """Return what the certificate proves, or that there is none."""
    if not hasattr(model, "gap_"):
        return "No certificate: the distance of these trees from the optimum is not known."
    gap, chose = float(np.max(model.gap_)), len(getattr(model, "witnesses_", ())) > 0
    return f"Certified: {certified_gap(gap, model.tol, chose_candidates=chose)}."


def evaluation_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return the data, the metrics and the threshold of an evaluation, as names and values."""
    data, decision = evaluation.data, evaluation.decision
    n_groups = data.n_positive_groups + data.n_negative_groups
    rows = [
        ("candidates", f"{data.n_candidates:,}"),
        ("groups", f"{n_groups:,}, of them {data.n_positive_groups:,} positive"),
    ]
    if evaluation.n_unannotated:
        note = unannotated_note(evaluation.n_unannotated, data.n_positive_groups)
        rows.append(("not annotated", note))
    if data.n_patients is not None:
        rows.append(("patients", f"{data.n_patients:,}"))
    rows += _metric_rows(evaluation, "ranking")
    rows.append(("threshold", f"{format_threshold(decision.point.threshold)} ({decision.chosen})"))
    rows += _metric_rows(evaluation, "threshold", "probabilities")
    if decision.contradiction is not None:
        rows.append(("caution", decision.contradiction))
    if decision.is_chosen_here:
        rows.append(("note", "the threshold was chosen on these very groups, which flatters it"))
    return rows


def _metric_rows(evaluation: Evaluation, *sections: Section) -> list[tuple[str, str]]:
    rows = []
    for metric, value, detail in shown(evaluation, *sections):
        if isinstance(value, Interval):
            text, separator = with_interval(value, evaluation.level), "; "
        elif isinstance(value, CountOf):
            text, separator = f"{value.n:,} of {value.total:,}", " "
        else:
            text, separator = f"{value:{'.3g' if metric.style == 'number' else '.4f'}}", " "
        if metric.label is not None:
            rows.append((metric.label, f"{text}{separator}{detail}" if detail else text))
    return rows


def format_threshold(value: float) -> str:
    """Format a threshold; an infinite one with its meaning.

    Examples
    --------
    >>> format_threshold(0.4213721), format_threshold(float("inf"))
    ('0.421372', '∞, no group raises an alarm')
    """
    if isinf(value):
        return f"{'∞' if value > 0 else '−∞'}, {rule_words(value)}"
    return f"{value:.6g}"


def with_interval(value: Interval, level: float = 0.95) -> str:
    """Format an estimate with its bounds.

    Examples
    --------
    >>> with_interval(Interval(0.9, 0.85, 0.94))
    '0.9000 (95 %: 0.8500 to 0.9400)'
    >>> with_interval(Interval(1.0, float("nan"), float("nan")))
    '1.0000 (interval not known)'
    """
    if isnan(value.low) or isnan(value.high):
        return f"{value.estimate:.4f} (interval not known)"
    return f"{value.estimate:.4f} ({100 * level:g} %: {value.low:.4f} to {value.high:.4f})"


OPTION_OF_PARAMETER = {
    "skip_unreadable=True": "--skip-unreadable",
    'unmarked="negative"': "--unmarked negative",
    'missing_pictures="skip"': "--missing-pictures skip",
    "patients=FILE": "--patients FILE",
    "split is given": "--split is given",
    "which split=": "which --split ",
    "unmarked is 'negative' and no annotations are given": (
        "--unmarked negative is given and no --annotations"
    ),
    "positive_overlap is": "--positive-overlap is",
    "patient_from ": "--patient-from ",
    "given=FILE": "--given FILE",
    "unless most_pixels allows": "unless --most-pixels allows",
    "longest_side is": "--longest-side is",
    "at_most is": "--at-most is",
    "workers is": "--workers is",
    "workers=1": "--workers 1",
    "every is": "--every is",
    "or a video, one of the two": "or --video FILE, one of the two",
    "a category is given and no annotations": "--category is given and no --annotations",
    "the same call": "the same command",
    "to its proposals": "to --proposals",
    ' (in a script of your own, also write if __name__ == "__main__": around the call)': "",
}


def proposed_rows(done: Proposed) -> list[tuple[str, str]]:
    """Names and values: pictures, candidates, features, recall."""
    pictures = f"{done.n_pictures:,}"
    if done.n_positive is not None:
        pictures += f", of them {done.n_positive:,} with an object"
    if done.n_before:
        pictures += f"; {done.n_before:,} done by an earlier run"
    rows = [("pictures", pictures)]
    n_to_do = done.n_left_out - done.n_in_progress
    if n_to_do:
        told = f"{n_to_do:,} still to do; --unmarked negative takes them to show no object"
        rows.append(("left out", told))
    if done.n_in_progress:
        told = f"{done.n_in_progress:,} in progress; finish them on the annotate page to use them"
        rows.append(("left out", told))
    if done.skipped:
        rows.append(("unreadable", f"{len(done.skipped):,}, listed above"))
    candidates = f"{done.n_candidates:,}, {done.n_candidates / done.n_pictures:,.0f} a picture"
    if done.n_positive_candidates is not None:
        candidates += f"; {done.n_positive_candidates:,} positive"
    rows += [("candidates", candidates), ("features", f"{done.n_features:,}")]
    return rows + _recall_rows(done.recall)


def _recall_rows(recall: Mapping[str, Recall]) -> list[tuple[str, str]]:
    return [
        (
            "recall",
            f"{found.share_half:.3f} of {found.n_objects:,} objects have a candidate with "
            f"{kind} ≥ 0.5 (mean of the best: {found.mean_best:.2f})",
        )
        for kind, found in recall.items()
        if found.n_objects
    ]


def show_written(done: Proposed) -> None:
    """Say what was written, and what to do with it."""
    print_line(f"Wrote {done.output}.")
    if not done.n_positive:
        return
    if done.n_positive == done.n_pictures:
        print_line("To train on it, pictures without an object are needed too.")
        return
    print_line(f"Train on it with: groupcm fit {shlex.quote(str(done.output))} --cv -o model.json")
