"""Trees on a stream: they are grown on the rows that decide, which passes over all rows find.

1. Some trees are grown on a sample of whole groups.
2. A pass scores every row by the trees so far and keeps those that decide
   (`groupcm.boosting.kept_rows`). The trees are grown again, on these.
3. Another pass looks whether any group now has a winner that is not among them. Where there are
   such, and their scores are higher than those of the rows kept by more than a little, the rows
   are kept too, and the trees are grown once more.

The linear solver does the same (`groupcm.solvers.streamed`) and can prove what it keeps to be
enough. For trees there is no such proof: the number of new winners of the last pass shows how far
they are settled.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groupcm.boosting.forest import Forest
from groupcm.boosting.growing import Grown, Plan, Rows, grow
from groupcm.boosting.kept_rows import (
    Chosen,
    KeptRows,
    Quota,
    Sizes,
    Watched,
    Winners,
    look_for_rows,
    rows_per_group,
)
from groupcm.boosting.lightgbm_text import read_forest
from groupcm.boosting.objective import BoostingTerms
from groupcm.boosting.power_loss import Groupwise
from groupcm.boosting.scorer import TreeScorer, score_in_thread
from groupcm.boosting.validation import ChosenNumber, TrainedRows, choose_number, count_trees
from groupcm.data.group_table import GroupTable
from groupcm.errors import Argument, TreesWarning
from groupcm.estimators.training.data import TrainingData
from groupcm.objective.terms import NO_ORDER, Groups, Index, Terms
from groupcm.sources.rows.chunk import Chunk
from groupcm.sources.rows.reader import SourceReader
from groupcm.sources.rows.sample import Sample, choose_units, units_of
from groupcm.sources.rows.screening import TermRows
from groupcm.utils.progress import announce_stage
from groupcm.utils.typing import Vector

__all__ = ["train_on_stream"]

# The shares of the memory allowed for the rows kept, with what LightGBM makes of them, and for
# the sample; where there is memory for it, the sample has at most so many rows.
_KEPT_MEMORY, _SAMPLE_MEMORY = 0.6, 0.1
_LARGEST_SAMPLE = 1_000_000
# Bytes per row of LightGBM's bookkeeping, of the derivatives, and of what a pass notes.
_PER_ROW_OF_A_SET, _PER_ROW = 48, 96
# Trees that the sample is worth.
_FIRST_TREES = 100
# Of each group at least so many candidates are kept, or else fewer groups; of a positive group so
# many of those that do not take part, for validation.
_LEAST, _SHOWN = 4, 3
# New winners that raise the scores of all groups by less than this share of their deviation, on
# average, change nothing.
_UNCHANGED = 5e-3


def train_on_stream(
    plan: Plan,
    data: TrainingData,
    terms: Sequence[Terms],
    unannotated: Terms | None,
    factors: tuple[float, float] | None,
    table: GroupTable,
    has_patients: bool,
) -> Grown:
    """Grow trees on the rows of a stream that decide.

    Parameters
    ----------
    plan : Plan
    data : TrainingData
        Rows that must be read.
    terms : sequence of Terms
        Those of `groupcm.objective.grouping.binary_terms`.
    unannotated : Terms, optional
        The positive groups without annotation.
    factors : (float, float) or None
        The weights of the two classes.
    table : GroupTable
    has_patients : bool
    """
    reader = data.stream
    assert reader is not None
    groups = data.groups or Groups.of_each_row(data.n_rows)
    search = _Search.of(plan, terms, unannotated, groups, table, _room(plan, data), factors)
    forest = _first_trees(plan, data, search)
    kept = KeptRows.none(data.n_features, reader.source.dtype)
    chosen, booster, n_new, n_pass = ChosenNumber(plan.n_trees), None, 0, 0
    rows = TrainedRows(kept.X, search.terms(kept, []), NO_ORDER)
    for n_pass in range(1, plan.max_passes + 1):
        found, of_groups, winners = look_for_rows(
            reader,
            forest,
            search.watched,
            search.fixed,
            kept,
            _sizes(plan, reader, forest),
            plan.seed,
        )
        if booster is not None:
            counted = winners[: search.n_trained]
            n_new = sum(int(np.count_nonzero(each.is_new)) for each in counted)
            is_settled = _is_settled(counted)
            announce_stage(f"pass {n_pass}: {n_new:,} new winners of {search.n_groups:,} groups")
            if is_settled or n_pass == plan.max_passes:
                if not is_settled:
                    _warn_of_new_winners(n_new, search.n_groups, n_pass)
                break
        kept, booster = found, None
        rows = TrainedRows(kept.X, search.terms(kept, of_groups), groups.of_rows(kept.row))
        binned = Rows(kept.X, plan)
        if n_pass == 1:
            is_positive = table.positive[rows.group]
            chosen = choose_number(plan, rows, binned, is_positive, table, has_patients)
        on_tree = count_trees("growing", chosen.n_trees)
        booster = grow(binned, rows.terms, plan, chosen.n_trees, on_tree)
        del binned
        forest = read_forest(booster.model_to_string())
        if not search.n_groups:  # the rows kept are the same in every pass
            break
    witnesses = NO_ORDER
    if unannotated is not None:
        scores = TreeScorer([forest]).of_rows(kept.X)[:, 0]
        witnesses = kept.row[rows.terms.unannotated.winners(scores)]
    held_out = _held_out_scores(reader, chosen, groups)
    return Grown.of(
        booster,
        chosen.curve,
        witnesses,
        held_out,
        table.positive,
        n_passes=n_pass,
        new_winners=n_new,
    )


def _room(plan: Plan, data: TrainingData) -> int:
    """Return how many rows may be kept."""
    n_folds = plan.validation if plan.validation >= 1 else 1 if plan.validation else 0
    # All rows in bins, and a copy of those that take part: of each fold, or in the end.
    n_sets = 1 + max(1, int(n_folds))
    raw = data.n_features * np.dtype(data.take(NO_ORDER).dtype).itemsize
    of_row = 2 * raw + n_sets * (2 * data.n_features + _PER_ROW_OF_A_SET) + _PER_ROW
    return max(1000, int(_KEPT_MEMORY * data.memory / of_row))


def _sizes(plan: Plan, reader: SourceReader, forest: Forest) -> Sizes:
    """Return how likely rows are drawn, from the scores of the rows in memory."""
    scores = np.empty(0)
    if len(reader.resident):
        scores = TreeScorer([forest]).of_rows(reader.resident)[:, 0]
    return Sizes.of(plan.loss, scores)


def _first_trees(plan: Plan, data: TrainingData, search: _Search) -> Forest:
    """Return trees of a sample of groups; none where it lacks one of the classes."""
    reader = data.stream
    assert reader is not None
    source = reader.source
    ptr = source.unit_ptr
    most = min(_LARGEST_SAMPLE, _SAMPLE_MEMORY * data.memory * source.n_rows / source.nbytes)
    positive = search.positive.rows(np.arange(search.positive.n_rows))
    of_positive = units_of(ptr, np.sort(positive))
    choices = [(of_positive, most / 2), (range(source.n_units), most)]
    reader.load(choose_units(np.diff(ptr), choices))
    sample = Sample(reader)
    parts = [sample.restrict(part) for part in search.whole]
    if len(parts[0]) == 0 or sum(map(len, parts[1:])) == 0:
        return Forest.of_no_trees(source.n_features)
    found = BoostingTerms.of(parts, factors=search.factors)
    n_trees = min(plan.n_trees, _FIRST_TREES)
    on_tree = count_trees("growing on a sample", n_trees)
    booster = grow(Rows(reader.resident, plan), found, plan, n_trees, on_tree)
    return read_forest(booster.model_to_string())


@dataclass(frozen=True)
class _Search:
    """What passes look for.

    Attributes
    ----------
    positive : Terms
        Candidates that represent positive groups; all are kept.
    alone : list of Terms
        Negative candidates that count alone; all of these are kept.
    grouped : list of Terms
        Negative groups.
    unannotated : Terms or None
    watched : list of Watched
        The negative groups, the groups without annotation, and the positive groups, of which some
        candidates are validated with.
    fixed : ndarray
        Rows that are kept in any case.
    factors : (float, float) or None
    """

    positive: Terms
    alone: list[Terms]
    grouped: list[Terms]
    unannotated: Terms | None
    watched: list[Watched]
    fixed: Index
    factors: tuple[float, float] | None

    @classmethod
    def of(
        cls,
        plan: Plan,
        terms: Sequence[Terms],
        unannotated: Terms | None,
        groups: Groups,
        table: GroupTable,
        room: int,
        factors: tuple[float, float] | None,
    ) -> _Search:
        """Divide the room for rows among the groups."""
        positive = _some(terms[0], room // 4)
        alone = [_some(part, room // 2) for part in terms[1:] if part.alone]
        room -= len(positive) + sum(map(len, alone))
        shown = None
        if plan.validation:
            shown = Terms.of_groups(-1, groups, np.flatnonzero(table.positive))
            shown = _some(shown, room // (4 * _SHOWN))
            room -= _SHOWN * len(shown)
        grouped = [part for part in terms[1:] if not part.alone]
        n_groups = sum(map(len, grouped)) + (0 if unannotated is None else len(unannotated))
        share = min(1.0, room / max(1, _LEAST * n_groups))
        grouped = [_some(part, math.ceil(share * len(part))) for part in grouped]
        of_each = [part for part in (*grouped, unannotated) if part is not None]
        sizes = np.concatenate([NO_ORDER, *(part.stop - part.start for part in of_each)])
        n_each = max(_LEAST, rows_per_group(sizes, room))
        watched = [Watched(TermRows.of(part), Quota.of(n_each)) for part in grouped]
        if unannotated is not None:
            watched.append(Watched(TermRows.of(unannotated), Quota(n_each, 0)))
        if shown is not None:
            watched.append(Watched(TermRows.of(shown), Quota(_SHOWN, 0)))
        fixed = [part.rows(np.arange(part.n_rows)) for part in (positive, *alone)]
        return cls(
            positive,
            alone,
            grouped,
            unannotated,
            watched,
            np.unique(np.concatenate(fixed)),
            factors,
        )

    @property
    def whole(self) -> list[Terms]:
        """The terms on all rows, those of the positives first; none without annotation."""
        return [self.positive, *self.alone, *self.grouped]

    @property
    def n_trained(self) -> int:
        """How many of ``watched`` trees are grown on."""
        return len(self.grouped) + (self.unannotated is not None)

    @property
    def n_groups(self) -> int:
        """How many groups these are."""
        return sum(len(each.terms.start) for each in self.watched[: self.n_trained])

    def terms(self, kept: KeptRows, chosen: Sequence[Chosen]) -> BoostingTerms:
        """Return the terms on the rows kept."""

        def at(rows: Index) -> Index:
            return np.searchsorted(kept.row, rows)

        def of_part(part: Terms, found: Chosen) -> Groupwise:
            weight = np.broadcast_to(part.weight, len(part)).astype(np.float64)
            return Groupwise(at(found.row), found.ptr, weight, found.count)

        parts = [Groupwise.of_terms([part]).at(kept.row) for part in self.alone]
        parts += [of_part(*each) for each in zip(self.grouped, chosen, strict=False)]
        open_groups = Groupwise.of_terms([])
        if self.unannotated is not None and chosen:
            open_groups = of_part(self.unannotated, chosen[len(self.grouped)])
        positive = at(self.positive.rows(np.arange(self.positive.n_rows)))
        weight = np.broadcast_to(self.positive.weight, len(positive)).astype(np.float64)
        return BoostingTerms(positive, weight, Groupwise.joined(parts), open_groups, self.factors)


def _some(terms: Terms, most: int) -> Terms:
    """Return at most so many of some terms, evenly spread, their weights raised for the others."""
    if len(terms) <= max(1, most):
        return terms
    return terms.subset(np.linspace(0, len(terms) - 1, max(1, most)).astype(np.int64))


def _is_settled(winners: Sequence[Winners]) -> bool:
    """Return whether no winner is new, or the new ones hardly raise the scores of the groups."""
    best = np.concatenate([np.empty(0), *(each.best for each in winners)])
    held = np.concatenate([np.empty(0), *(each.held for each in winners)])
    raised = np.maximum(best - held, 0.0)
    return float(np.sum(raised)) <= _UNCHANGED * len(best) * float(np.std(best))


def _warn_of_new_winners(n_new: int, n_groups: int, n_passes: int) -> None:
    warning = TreesWarning(
        f"{n_new:,} of {n_groups:,} groups still had a new winner in pass {n_passes}, and their "
        "scores rise by that; raise ",
        Argument("max_passes"),
        " or ",
        Argument("memory"),
        ".",
    )
    warnings.warn(warning, stacklevel=5)


def _held_out_scores(reader: SourceReader, chosen: ChosenNumber, groups: Groups) -> Vector:
    """Return the score of each group by the trees of the fold that left it out, in one pass."""
    scores = np.full(len(groups), np.nan)
    if not chosen.texts:
        return scores
    fold = np.full(len(groups), -1, dtype=np.int8 if len(chosen.texts) < 128 else np.int64)
    for number, left_out in enumerate(chosen.left_out):
        fold[left_out] = number
    forests = [read_forest(text) for text in chosen.texts]
    ptr = reader.source.unit_ptr

    def job(unit: int) -> _ScoreLeftOut:
        first = int(np.searchsorted(groups.ptr, ptr[unit], side="right")) - 1
        stop = int(np.searchsorted(groups.ptr, ptr[unit + 1], side="left"))
        return _ScoreLeftOut(forests, first, groups.ptr[first : stop + 1], fold[first:stop])

    best = np.full(len(groups), -np.inf)
    for group, found in reader.run(job, range(len(ptr) - 1), "scoring groups left out"):
        np.maximum.at(best, group, found)
    is_left_out = fold >= 0
    scores[is_left_out] = best[is_left_out]
    return scores


@dataclass(frozen=True)
class _ScoreLeftOut:
    """Score the rows of a chunk by the trees of the fold that left their group out.

    Group ``first + k`` holds rows ``ptr[k]`` to ``ptr[k + 1]``, and fold ``fold[k]`` left it out.
    """

    forests: list[Forest]
    first: int
    ptr: Index
    fold: NDArray[np.integer]

    def __call__(self, chunk: Chunk) -> tuple[Index, Vector]:
        assert chunk.features is not None
        X = chunk.features.matrix()
        edges = np.clip(self.ptr, chunk.first, chunk.stop) - chunk.first
        group = np.flatnonzero((edges[1:] > edges[:-1]) & (self.fold >= 0))
        best = np.empty(len(group))
        for number, forest in enumerate(self.forests):
            of_fold = np.flatnonzero(self.fold[group] == number)
            size = edges[group[of_fold] + 1] - edges[group[of_fold]]
            rows = Groups(edges, NO_ORDER).rows_of(group[of_fold])
            if len(rows):
                scores = score_in_thread(forest, X[rows])
                best[of_fold] = np.maximum.reduceat(scores, np.cumsum(size) - size)
        return group + self.first, best
