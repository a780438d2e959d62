"""How often the winner overlaps the object, counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groupcm import GroupClassifier
from groupcm.cli.summaries import evaluation_rows
from groupcm.data.groups import index_groups
from groupcm.evaluation._evaluate import evaluate
from groupcm.evaluation.outcomes import localisation_of
from groupcm.evaluation.results import Localisation
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics import Interval
from groupcm.metrics.intervals import share_interval
from groupcm.report.evaluation import localisation_sentence
from groupcm.sources import from_parquet

pytestmark = pytest.mark.filterwarnings("ignore::groupcm.metrics.clusters.FewClustersWarning")

# Frame, score, whether positive, overlap. The winners are marked by a star.
FRAMES = [
    ("a", 2.0, 1, 0.50),  # *  on the object
    ("a", 1.0, 1, 0.90),
    ("b", 3.0, 0, 0.00),  # *  elsewhere, though b could be reached
    ("b", 0.5, 1, 0.30),
    ("c", 1.5, 1, 0.20),  # *  the best there is, and not enough
    ("c", 1.0, 0, 0.00),
    ("d", 0.1, 1, 0.30),  # *  just enough
    ("e", 4.0, 0, 0.80),  # *  a negative group does not count, whatever its overlap
    ("e", 0.0, 0, 0.00),
    ("f", 0.0, 0, 0.00),
]
GROUP, SCORE, LABEL, OVERLAP = (np.array(column) for column in zip(*FRAMES, strict=True))
PATIENT = np.array(["p", "p", "p", "p", "q", "q", "r", "q", "q", "r"])


def scored(order: Any = slice(None), **changed) -> ScoredCandidates:
    made = ScoredCandidates(
        index_groups(GROUP[order]),
        SCORE[order],
        LABEL[order] == 1,
        lambda rows: np.zeros((len(rows), 1)),
        overlap=OVERLAP[order],
    )
    return replace(made, **changed)


def counts(found: Localisation | None) -> tuple[int, int, int]:
    assert found is not None
    return found.n_on_object, found.n_positive_groups, found.n_reachable


def test_counts_by_hand():
    found = localisation_of(scored())
    assert counts(found) == (2, 4, 3)
    assert found is not None
    assert found.share == share_interval([True, False, False, True], range(4))
    assert (found.share.estimate, found.least_overlap) == (0.5, 0.3)


@pytest.mark.parametrize(
    ("least", "expected"),
    [(0.1, (3, 4, 4)), (0.3001, (1, 4, 1)), (0.51, (0, 4, 1)), (0.95, (0, 4, 0))],
)
def test_from_which_overlap_on(least, expected):
    assert counts(localisation_of(scored(), least_overlap=least)) == expected


def test_rows_in_any_order():
    order = np.random.default_rng(0).permutation(len(FRAMES))
    assert counts(localisation_of(scored(order))) == (2, 4, 3)


def test_intervals_draw_patients():
    alone = localisation_of(scored())
    together = localisation_of(scored(by_patient=index_groups(PATIENT)))
    assert alone is not None
    assert together is not None
    assert together.share == share_interval([True, False, False, True], ["p", "p", "q", "r"])
    assert together.share != alone.share
    narrower = localisation_of(scored(), level=0.5)
    assert narrower is not None
    assert narrower.share.low > alone.share.low


def test_an_overlap_that_is_no_number_is_none():
    overlap = np.where(OVERLAP == 0.5, np.nan, OVERLAP)
    assert counts(localisation_of(scored(overlap=overlap))) == (1, 4, 3)


def test_without_overlap_nothing_is_said():
    assert localisation_of(scored(overlap=None)) is None


@pytest.mark.parametrize("least", [0.0, -1.0, float("nan")])
def test_a_least_overlap_that_means_nothing(least):
    with pytest.raises(ValueError, match=r"least_overlap is .* must be above 0"):
        localisation_of(scored(), least_overlap=least)


@pytest.fixture(scope="module")
def model():
    """The score is the only feature."""
    X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    return GroupClassifier(0.9).fit(X, [0, 1, 0, 1], groups=[0, 1, 2, 3])


def test_evaluate_tells_it_beside_the_auc(model):
    options = {"groups": GROUP, "n_resamples": 20}
    found = evaluate(model, SCORE[:, None], LABEL, overlap=OVERLAP, **options)
    assert counts(found.localisation) == (2, 4, 3)
    other = evaluate(model, SCORE[:, None], LABEL, overlap=OVERLAP, least_overlap=0.6, **options)
    assert counts(other.localisation) == (0, 4, 1)
    names = [name for name, _ in evaluation_rows(found)]
    assert names[names.index("group AUC") + 1] == "winner on the object"
    row = dict(evaluation_rows(found))["winner on the object"]
    assert row.startswith("0.5000 (95 % CI ")
    assert row.endswith(
        "; 2 of 4 positive groups, with an overlap of 0.3 or more; the candidates allow 3"
    )
    without = evaluate(model, SCORE[:, None], LABEL, **options)
    assert without.localisation is None
    assert "winner on the object" not in dict(evaluation_rows(without))
    with pytest.raises(ValueError, match="overlap has 3"):
        evaluate(model, SCORE[:, None], LABEL, GROUP, overlap=[0, 0, 0])


def test_cases_know_the_overlap_of_their_winner(model):
    found = evaluate(model, SCORE[:, None], LABEL, GROUP, overlap=OVERLAP, n_resamples=20)
    assert [(case.group, case.winner_overlap) for case in found.highest_positives] == [
        ("b", 0.0),
        ("a", 0.5),
        ("c", 0.2),
        ("d", 0.3),
    ]
    assert [case.group for case in found.lowest_positives] == ["d", "c", "a", "b"]
    assert [case.group for case in found.highest_negatives] == ["e", "f"]
    without = evaluate(model, SCORE[:, None], LABEL, GROUP, n_resamples=20)
    assert {case.winner_overlap for case in without.lowest_positives} == {None}


def test_a_source_brings_its_overlap(model, tmp_path):
    table = pa.table({"frame": GROUP, "y": LABEL, "fit": OVERLAP, "score": SCORE})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    roles = {"group": "frame", "label": "y", "features": ["score"]}
    source = from_parquet(tmp_path / "t.parquet", **roles, overlap="fit")
    assert counts(evaluate(model, source, n_resamples=20).localisation) == (2, 4, 3)
    with pytest.raises(ValueError, match="overlap comes with the source"):
        evaluate(model, source, overlap=OVERLAP)
    bare = from_parquet(tmp_path / "t.parquet", **roles)
    assert evaluate(model, bare, n_resamples=20).localisation is None


def test_words():
    all_there = Localisation(1, 1, Interval(1.0, 0.0, 1.0), 1, 0.5)
    assert localisation_sentence(all_there) == (
        "In 1 of 1 positive group (1.000, 95 % interval 0.000 to 1.000) the winner overlaps the "
        "object by 0.5 or more. In every one some candidate does."
    )
    unknown = Localisation(4, 2, Interval(0.5, float("nan"), float("nan")), 3)
    assert "(0.500, 95 % interval not known)" in localisation_sentence(unknown)
