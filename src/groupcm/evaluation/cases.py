"""The groups worth looking at: where the model is most wrong, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from groupcm.candidates import Index
from groupcm.evaluation.explaining import Explanation, contributions_of, weights_of
from groupcm.evaluation.numbers import Case, Contribution, Importance, Weight
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.tree_explaining import TreeExplanation
from groupcm.weights import linear_part, tree_part

__all__ = ["Findings", "find_cases"]

# Features of winners that are in memory at once to find the mean one: 80 MB of float32.
_MOST_VALUES = 20_000_000
_MOST_ROWS = 20_000
# Shapley values of a row take as long as some thousand scores.
_MOST_ROWS_OF_TREES = 1_000


@dataclass(frozen=True)
class Findings:
    """The groups to look at, and what explains them: weights, or importances of trees."""

    highest_negatives: Sequence[Case]
    lowest_positives: Sequence[Case]
    highest_positives: Sequence[Case]
    weights: Sequence[Weight] = ()
    importances: Sequence[Importance] = ()


def find_cases(
    model: Any, candidates: ScoredCandidates, n_cases: int, n_contributions: int
) -> Findings:
    """The groups of each class that the model finds hardest, and its surest positives."""
    n = candidates.index.n_groups  # without candidates there is no winner to look at
    positive, score = candidates.group_positive[:n], candidates.group_score[:n]
    highest = _first(np.flatnonzero(~positive), -score, n_cases)
    lowest = _first(np.flatnonzero(positive), score, n_cases)
    surest = _first(np.flatnonzero(positive), -score, n_cases)
    shown = np.concatenate([highest, lowest, surest])
    why: Sequence[Sequence[Contribution]] = [()] * len(shown)
    weights: Sequence[Weight] = ()
    importances: Sequence[Importance] = ()
    linear, trees, winners = linear_part(model), tree_part(model), candidates.winner[shown]
    if linear is not None:
        why, weights = _explain(linear, candidates, winners, n_contributions)
    elif trees is not None:
        why, importances = _explain_trees(trees, candidates, winners, n_contributions)
    because = dict(zip(shown.tolist(), why, strict=True))

    def cases(groups: Index) -> list[Case]:
        return [_case(candidates, group, because[group]) for group in groups.tolist()]

    return Findings(cases(highest), cases(lowest), cases(surest), weights, importances)


def _explain(
    linear: Any, candidates: ScoredCandidates, shown: Index, n_contributions: int
) -> tuple[Sequence[Sequence[Contribution]], Sequence[Weight]]:
    """What the features add to the winners shown, and the weights.

    Features are read once: of the winners shown, of winners enough to know the mean one, and
    of some rows in between.
    """
    n_most = max(1, _MOST_VALUES // linear.n_features_in_)
    winners = candidates.winner[_spread(candidates.index.n_groups, n_most)]
    between = _spread(candidates.index.n_rows, min(n_most, _MOST_ROWS))
    of_shown, of_winners, of_between = _read(candidates, shown, winners, between)
    explanation = Explanation.of(linear, of_winners)
    return (
        contributions_of(explanation, of_shown, n_contributions),
        weights_of(explanation, of_between),
    )


def _explain_trees(
    trees: Any, candidates: ScoredCandidates, shown: Index, n_contributions: int
) -> tuple[Sequence[Sequence[Contribution]], Sequence[Importance]]:
    """What the features add to the winners shown, and how much they move those of all groups."""
    winners = candidates.winner[_spread(candidates.index.n_groups, _MOST_ROWS_OF_TREES)]
    of_shown, of_winners = _read(candidates, shown, winners)
    explanation = TreeExplanation.of(trees, of_winners)
    return explanation.contributions(of_shown, n_contributions), explanation.importances()


def _read(candidates: ScoredCandidates, *wanted: Index) -> list[np.ndarray]:
    """The features of several choices of rows, each row read once."""
    rows, place = np.unique(np.concatenate(wanted), return_inverse=True)
    features = candidates.rows(rows.astype(np.int64))
    parts = np.split(place, np.cumsum([len(w) for w in wanted])[:-1])
    return [features[part] for part in parts]


def _first(groups: Index, key: np.ndarray, n: int) -> Index:
    """The ``n`` groups of smallest key, the earlier one first where they tie."""
    return groups[np.argsort(key[groups], kind="stable")[:n]]


def _spread(n: int, wanted: int) -> Index:
    """Numbers below ``n``, at equal distances."""
    return np.unique(np.linspace(0, n - 1, min(n, wanted)).astype(np.int64))


def _case(candidates: ScoredCandidates, group: int, because: Sequence[Contribution]) -> Case:
    winner = int(candidates.winner[group])
    by_patient, patient_of = candidates.by_patient, candidates.group_patient
    patient = None
    if by_patient is not None and patient_of is not None:
        patient = str(by_patient.ids[patient_of[group]])
    is_judged = bool(candidates.group_has_labels[group])
    overlap = candidates.overlap if is_judged else None
    return Case(
        group=str(candidates.index.ids[group]),
        score=float(candidates.group_score[group]),
        winner_row=winner,
        patient=patient,
        is_winner_positive=bool(candidates.is_positive[winner]) if is_judged else None,
        contributions=because,
        winner_overlap=None if overlap is None else float(overlap[winner]),
    )
