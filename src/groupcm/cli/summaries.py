"""Terminal summaries of fits, evaluations and proposals, as names and values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from math import isinf, isnan
from typing import Any

from groupcm.cli.output import print_line, seconds
from groupcm.estimators.group_model import scorer_of
from groupcm.estimators.path import chosen_lams
from groupcm.estimators.tables import TableFit
from groupcm.estimators.thresholds import held_out_groups_of
from groupcm.estimators.weights import feature_names, feature_weights, linear_part
from groupcm.evaluation.data_summary import unannotated_note
from groupcm.evaluation.metric_table import CountOf, Section, shown
from groupcm.evaluation.results import Evaluation
from groupcm.images.proposals import Recall
from groupcm.images.tables.labelling import Proposed
from groupcm.metrics import Interval, at_threshold, group_roc_auc
from groupcm.metrics.decision import rule_words
from groupcm.metrics.registry import metric_label
from groupcm.report.model_card import best_validation
from groupcm.sources.candidates import Candidates
from groupcm.utils.formatting import certified_gap, interval
from groupcm.utils.text import in_unit, plural, singular

__all__ = [
    "certificate",
    "evaluation_rows",
    "format_threshold",
    "held_out_rows",
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


def summary(fit: TableFit) -> list[tuple[str, str]]:
    """Return the data and the result of a fit, as names and values."""
    model, candidates = fit.trained, fit.candidates
    n_features = len(candidates.feature_names)
    rows = [
        ("rows", f"{candidates.n_rows:,} × {n_features} features, {candidates.dtype}"),
        ("groups", _count_groups(model, candidates)),
        *_positive(model),
    ]
    if candidates.n_patients is not None:
        rows.append(("patients", f"{candidates.n_patients:,}"))
    of_model = _of_linear if linear_part(model) is not None else _of_trees
    return rows + of_model(model, fit.seconds)


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
        rows.append((name, ", ".join(f"{number:.6g}" for number in _values(value))))
    rows.append(("passes", f"{max(_values(model.n_passes_)):.3g} over the rows, {seconds(took)}"))
    return rows + _unannotated(model) + _largest_weights(model)


def _of_trees(model: Any, took: float) -> list[tuple[str, str]]:
    """Return the number of trees, and the features whose splits gained most in training."""
    scorer, names = scorer_of(model), feature_names(model)
    counts = ", ".join(f"{n:,}" for n in scorer.n_trees())
    rows = [("trees", f"{counts}, {seconds(took)}"), *_validation(model), *_unannotated(model)]
    passes = getattr(model, "n_passes_", 0)
    if passes:
        # No certificate: this is the sign of how far the trees are settled.
        new = f"{model.new_winners_:,} groups with a new winner in the last"
        rows.append(("passes", f"{passes:,} over the rows, {new}"))
    shares = scorer.gain_shares()
    for label, share in zip(model.classes_[-len(shares) :], shares, strict=True):
        largest = [j for j in _largest(share) if share[j] > 0.0]
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
    return [(metric_label(found.metric), text)]


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
    called = [f"with {value}" for value in classes] if len(classes) > 1 else ["positive"]
    counts = [f"{holds.sum():,} {name}" for name, holds in zip(called, holding, strict=True)]
    return f"{len(holding[0]):,}, of them {', '.join(counts)}"


def _largest_weights(model: Any) -> list[tuple[str, str]]:
    """Rank features by what one standard deviation of them adds to the score."""
    unit = "per standard deviation" if model.standardize else "per unit of the feature"
    found = feature_weights(model)
    rows = []
    for of_class in found:
        weights = of_class.trained
        largest = [j for j in _largest(weights) if abs(weights[j]) >= _SMALLEST_WEIGHT]
        shown = ", ".join(f"{of_class.names[j]} {weights[j]:+.3g}" for j in largest)
        name = f"for {of_class.label}" if len(found) > 1 else "largest weights"
        rows.append((name, f"{shown}  ({unit})" if largest else f"none above {_SMALLEST_WEIGHT:g}"))
    return rows


def _largest(values: Any) -> list[int]:
    """Return the places of the values of largest size, the largest first."""
    return sorted(range(len(values)), key=lambda j: -abs(values[j]))[:_MOST_WEIGHTS]


def _values(value: Any) -> list[float]:
    """Return a number, or those of an array, as a list."""
    return value.ravel().tolist() if hasattr(value, "ravel") else [float(value)]


def certificate(model: Any) -> str:
    """Return what the certificate proves, or that there is none."""
    if not hasattr(model, "gap_"):
        return "No certificate: the distance of these trees from the optimum is not known."
    gap, chose = max(_values(model.gap_)), len(getattr(model, "witnesses_", ())) > 0
    return f"Certified: {certified_gap(gap, model.tol, chose_candidates=chose)}."


def held_out_rows(fit: TableFit) -> list[tuple[str, str]]:
    """Return how groups that folds left out were ranked, and the threshold, as names and values."""
    model = fit.cross_validated
    found = held_out_groups_of(model)
    if found is None:
        return []
    positive, scores = found
    there = at_threshold(positive, scores, threshold=model.threshold_)
    if hasattr(model, "lam_"):
        rows = _chosen_lam(model)
    else:
        auc = group_roc_auc(positive, scores)
        rows = [("group AUC", f"{auc:.4f} on the {len(scores):,} groups that folds left out")]
    return [
        *rows,
        (
            "threshold",
            f"{model.threshold_:.4g}: sensitivity {there.sensitivity:.3f}, specificity "
            f"{there.specificity:.3f} on left-out groups",
        ),
    ]


def _chosen_lam(model: Any) -> list[tuple[str, str]]:
    best = model.lams_.tolist().index(model.lam_)
    scores = model.scores_[:, best]
    spread = f"{scores.min():.4f} to {scores.max():.4f}"
    edge = {0: ", the smallest tried", len(model.lams_) - 1: ", the largest tried"}
    more = len(model.lams_) - len(chosen_lams(model.lams))
    extended = f", {more} of them beyond the end of the grid" if more else ""
    tried = f", of {len(model.lams_)} values{extended}{edge.get(best, '')}"
    if len(model.lams_) == 1:
        tried = ", the only one tried"
    return [
        ("chosen λ", f"{model.lam_:.4g}{tried}"),
        (
            metric_label(model.scoring),
            f"{scores.mean():.4f} (range over {len(scores)} folds: {spread})",
        ),
    ]


def evaluation_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return the data, the metrics and the threshold of an evaluation, as names and values."""
    data, decision, unit = evaluation.data, evaluation.decision, evaluation.unit
    n_groups = data.n_positive_groups + data.n_negative_groups
    rows = [
        ("candidates", f"{data.n_candidates:,}"),
        (plural(unit), f"{n_groups:,}, of them {data.n_positive_groups:,} positive"),
    ]
    if evaluation.n_unannotated:
        note = unannotated_note(evaluation.n_unannotated, data.n_positive_groups)
        rows.append(("not annotated", in_unit(note, unit)))
    if data.n_patients is not None:
        rows.append(("patients", f"{data.n_patients:,}"))
    rows += _metric_rows(evaluation, "ranking")
    threshold = f"{format_threshold(decision.point.threshold)} ({decision.chosen})"
    rows.append(("threshold", in_unit(threshold, unit)))
    rows += _metric_rows(evaluation, "threshold", "probabilities")
    rows += _level_rows(evaluation) + _subgroup_rows(evaluation)
    if decision.contradiction is not None:
        rows.append(("caution", in_unit(decision.contradiction, unit)))
    if decision.is_chosen_here:
        rows.append(
            (
                "note",
                f"the threshold was chosen on the evaluated {plural(unit)}, so these results are "
                "optimistic",
            )
        )
    return rows


def _level_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return the main metrics of each level above the group."""
    rows = []
    for found in evaluation.levels:
        units = plural(found.name)
        total = found.n_positive + found.n_negative
        rows.append((units, f"{total:,}, of them {found.n_positive:,} positive"))
        if found.roc is not None:
            rows.append(
                (f"{singular(found.name)} AUC", with_interval(found.roc.auc, evaluation.level))
            )
        if found.decision is not None:
            for name, share in (
                ("sensitivity", found.decision.sensitivity),
                ("specificity", found.decision.specificity),
            ):
                rows.append((name, f"{with_interval(share, evaluation.level)} of {units}"))
        if found.reliability is not None:
            rows.append(("Brier score", f"{found.reliability.brier:.4f} of {units}"))
    return rows


def _subgroup_rows(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return the AUC, the sensitivity and the specificity of each subgroup."""
    rows = []
    for found in evaluation.subgroups:
        for row in found.rows:
            shown = [
                f"{name} {interval(value)}"
                for name, value in (
                    ("AUC", row.auc),
                    ("sensitivity", row.sensitivity),
                    ("specificity", row.specificity),
                )
                if value is not None
            ]
            counts = f"{row.n_positive:,} positive, {row.n_negative:,} negative"
            rows.append((f"{found.column} {row.value}", "; ".join([counts, *shown])))
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
    '0.9000 (95 % CI 0.8500 to 0.9400)'
    >>> with_interval(Interval(1.0, float("nan"), float("nan")))
    '1.0000 (interval not known)'
    """
    if isnan(value.low) or isnan(value.high):
        return f"{value.estimate:.4f} (interval not known)"
    return f"{value.estimate:.4f} ({100 * level:g} % CI {value.low:.4f} to {value.high:.4f})"


def proposed_rows(done: Proposed) -> list[tuple[str, str]]:
    """Return names and values: pictures, candidates, features, recall."""
    pictures = f"{done.n_pictures:,}"
    if done.n_positive is not None:
        pictures += f", of them {done.n_positive:,} with an object"
    if done.n_before:
        pictures += f"; {done.n_before:,} done by an earlier run"
    rows = [("pictures", pictures)]
    n_to_do = done.n_left_out - done.n_in_progress
    if n_to_do:
        unannotated = f"{n_to_do:,} unannotated; --unmarked negative takes them to show no object"
        rows.append(("left out", unannotated))
    if done.n_in_progress:
        unfinished = f"{done.n_in_progress:,} in progress; finish them on the annotate page"
        rows.append(("left out", unfinished))
    if done.skipped:
        rows.append(("unreadable", f"{len(done.skipped):,}, listed above"))
    candidates = f"{done.n_candidates:,}, {done.n_candidates / done.n_pictures:,.0f} per picture"
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
    """Print what was written, and the next command."""
    print_line(f"Wrote {done.output}.")
    if not done.n_positive:
        return
    if done.n_positive == done.n_pictures:
        print_line("To train on it, pictures without an object are needed too.")
        return
    print_line(f"Train on it with: groupcm fit {shlex.quote(str(done.output))} --cv -o model.json")
