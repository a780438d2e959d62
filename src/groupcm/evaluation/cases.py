"""The cases of a report: groups that the model finds hardest or surest, with explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.explanation import (
    FeatureContribution,
    FeatureWeights,
    ScoreExplanation,
    explain_scores,
    feature_names,
    feature_weights,
    linear_part,
    tree_part,
)
from groupcm.evaluation.results import Case, Importance, Weight
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.decision import is_alarm
from groupcm.objective.terms import Index
from groupcm.utils.typing import Vector

__all__ = ["Findings", "find_cases"]

Matrix = NDArray[np.floating]

# Feature values that are in memory at once to measure deviations: 80 MB of float32.
_MOST_VALUES = 20_000_000
_MOST_ROWS = 20_000
_VALUES_AT_ONCE = 1 << 20
# The Shapley values of one row take as long as some thousand scores.
_MOST_ROWS_OF_TREES = 1_000


@dataclass(frozen=True)
class Findings:
    """The cases, and what explains them: weights, or importances of trees."""

    highest_negatives: Sequence[Case]
    lowest_positives: Sequence[Case]
    highest_positives: Sequence[Case]
    typical: Mapping[str, Case]
    weights: Sequence[Weight] = ()
    importances: Sequence[Importance] = ()
    baseline: str = ""


def find_cases(
    model: Any,
    candidates: ScoredCandidates,
    threshold: float,
    n_cases: int,
    n_contributions: int,
) -> Findings:
    """Find the groups that the model finds hardest or surest, and a typical one of each outcome."""
    n = candidates.index.n_groups  # without candidates there is no winner to look at
    positive, score = candidates.group_positive[:n], candidates.group_score[:n]
    highest = _first(np.flatnonzero(~positive), -score, n_cases)
    lowest = _first(np.flatnonzero(positive), score, n_cases)
    surest = _first(np.flatnonzero(positive), -score, n_cases)
    typical = _typical(positive, score, is_alarm(score, threshold))
    shown = np.concatenate([highest, lowest, surest, np.array([*typical.values()], np.int64)])
    why: Sequence[ScoreExplanation] = ()
    weights: Sequence[Weight] = ()
    importances: Sequence[Importance] = ()
    linear, trees, winners = linear_part(model), tree_part(model), candidates.winner[shown]
    if linear is not None:
        why, weights = _explain(linear, candidates, winners)
    elif trees is not None:
        why, importances = _explain_trees(trees, candidates, winners)
    listed = [each.largest(n_contributions) for each in why] if why else [()] * len(shown)
    because = dict(zip(shown.tolist(), listed, strict=True))
    baseline = why[0].baseline if why else ""

    def cases(groups: Index) -> list[Case]:
        return [_case(candidates, group, because[group]) for group in groups.tolist()]

    return Findings(
        cases(highest),
        cases(lowest),
        cases(surest),
        {name: cases(np.array([group]))[0] for name, group in typical.items()},
        weights,
        importances,
        baseline,
    )


def _typical(
    positive: NDArray[np.bool_], score: Vector, alarm: NDArray[np.bool_]
) -> dict[str, int]:
    """Return the group of median score of each outcome that occurs."""
    outcomes = {
        "found": positive & alarm,
        "missed": positive & ~alarm,
        "false_alarm": ~positive & alarm,
    }
    found = {}
    for name, mask in outcomes.items():
        groups = np.flatnonzero(mask)
        if len(groups):
            order = np.argsort(score[groups], kind="stable")
            found[name] = int(groups[order[len(groups) // 2]])
    return found


def _explain(
    linear: Any, candidates: ScoredCandidates, shown: Index
) -> tuple[Sequence[ScoreExplanation], Sequence[Weight]]:
    """Explain the winners shown, and list the weights of the model."""
    n_rows = min(_MOST_ROWS, max(1, _MOST_VALUES // linear.n_features_in_))
    (weights,) = feature_weights(linear)
    between = _spread(0 if weights.is_standardized else candidates.index.n_rows, n_rows)
    of_shown, of_between = _read(candidates, shown, between)
    listed = _listed_weights(weights, linear.feature_map_, of_between)
    return explain_scores(linear, of_shown), listed


def _listed_weights(weights: FeatureWeights, feature_map: Any, rows: Matrix) -> list[Weight]:
    """List the weights of all features, the largest for one standard deviation first.

    Training measured the deviations where it standardised the features; otherwise they are those
    of ``rows``.
    """
    per_deviation = weights.trained
    if not weights.is_standardized:
        per_deviation = weights.per_unit * _deviations(feature_map, rows, len(weights.names))
    # A constant feature has no influence, even if the solver left a weight there.
    per_deviation = np.where(weights.per_unit == 0.0, 0.0, per_deviation)
    order = np.argsort(-np.abs(per_deviation), kind="stable")
    return [
        Weight(weights.names[j], float(per_deviation[j]), float(weights.per_unit[j])) for j in order
    ]


def _deviations(feature_map: Any, rows: Matrix, n_outputs: int) -> NDArray[np.float64]:
    """Compute the standard deviation of each output of a map, block by block."""
    count, mean, square = 0, np.zeros(n_outputs), np.zeros(n_outputs)
    size = max(1, _VALUES_AT_ONCE // max(1, n_outputs))
    for lo in range(0, len(rows), size):
        block = rows[lo : lo + size]
        block = np.asarray(block if feature_map is None else feature_map.transform(block))
        # Chan, Golub and LeVeque: the moments of the blocks so far, and of one more.
        step = block.mean(axis=0, dtype=np.float64) - mean
        total = count + len(block)
        square += np.square(block - (mean + step)).sum(axis=0, dtype=np.float64)
        square += step**2 * (count * len(block) / total)
        mean, count = mean + step * (len(block) / total), total
    return np.sqrt(square / max(count, 1))


def _explain_trees(
    trees: Any, candidates: ScoredCandidates, shown: Index
) -> tuple[Sequence[ScoreExplanation], Sequence[Importance]]:
    """Explain the winners shown, and measure how much each feature moves the winners of all."""
    winners = candidates.winner[_spread(candidates.index.n_groups, _MOST_ROWS_OF_TREES)]
    of_shown, of_winners = _read(candidates, shown, winners)
    adds = np.array([found.contributions for found in explain_scores(trees, of_winners)])
    moves, names = np.abs(adds).mean(axis=0), feature_names(trees)
    order = np.argsort(-moves, kind="stable")
    importances = [Importance(names[j], float(moves[j])) for j in order]
    return explain_scores(trees, of_shown), importances


def _read(candidates: ScoredCandidates, *wanted: Index) -> list[np.ndarray]:
    """Return the features of several selections of rows, reading each row once."""
    rows, place = np.unique(np.concatenate(wanted), return_inverse=True)
    features = candidates.rows(rows.astype(np.int64))
    parts = np.split(place, np.cumsum([len(w) for w in wanted])[:-1])
    return [features[part] for part in parts]


def _first(groups: Index, key: np.ndarray, n: int) -> Index:
    """Return the ``n`` groups of smallest key, the earlier one first where they tie."""
    return groups[np.argsort(key[groups], kind="stable")[:n]]


def _spread(n: int, wanted: int) -> Index:
    """Return evenly spaced numbers below ``n``; none where ``n`` is 0."""
    if n == 0:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.linspace(0, n - 1, min(n, wanted)).astype(np.int64))


def _case(candidates: ScoredCandidates, group: int, because: Sequence[FeatureContribution]) -> Case:
    located = int(candidates.located[group])
    by_patient, patient_of = candidates.by_patient, candidates.group_patient
    patient = None
    if by_patient is not None and patient_of is not None:
        patient = str(by_patient.ids[patient_of[group]])
    is_judged = bool(candidates.group_has_labels[group])
    overlap = candidates.overlap if is_judged else None
    return Case(
        group=str(candidates.index.ids[group]),
        score=float(candidates.group_score[group]),
        winner_row=located,
        patient=patient,
        is_winner_positive=bool(candidates.is_positive[located]) if is_judged else None,
        contributions=because,
        winner_overlap=None if overlap is None else float(overlap[located]),
    )
