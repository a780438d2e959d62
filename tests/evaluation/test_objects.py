"""Objects found, missed and shown, against counts by brute force."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcm import GroupClassifier, fit_tables
from groupcm.data.groups import index_groups
from groupcm.errors import InputError, ParameterError
from groupcm.evaluation import evaluate, metric_values
from groupcm.evaluation.object_rows import HitRule, with_listed
from groupcm.evaluation.objects import object_result, yields_of
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.evaluation.table_evaluation import evaluate_tables
from groupcm.metrics import afroc_interval, hits, wafroc_auc, yield_curve, yield_interval
from groupcm.simulate import capsule, capsule_to_parquet

pytestmark = pytest.mark.filterwarnings("ignore::groupcm.metrics.clusters.FewClustersWarning")
QUICK: dict[str, Any] = {"n_resamples": 20}


def study(seed: int, n_groups: int = 24, n_patients: int = 8) -> ScoredCandidates:
    """Make frames of patients; a third shows one or two of the two polyps of its patient."""
    rng = np.random.default_rng(seed)
    rows = []
    for group in range(n_groups):
        patient = group % n_patients
        polyps = rng.permutation(2)[: rng.integers(1, 3)] if group % 3 == 0 else []
        for polyp in polyps:
            n_on = rng.integers(1, 3)
            name = 10 * patient + polyp
            rows += [(group, patient, name, 1, rng.uniform(0.2, 0.9)) for _ in range(n_on)]
        rows += [(group, patient, -1, 0, 0.0)] * rng.integers(1, 4)
    group, patient, polyp, label, overlap = (np.array(part) for part in zip(*rows, strict=True))
    score = rng.integers(0, 9, len(rows)) + 2.0 * label
    return ScoredCandidates(
        index_groups(group),
        score,
        label == 1,
        lambda chosen: np.zeros((len(chosen), 1)),
        index_groups(patient),
        polyp,
        overlap,
    )


def result(scored: ScoredCandidates, threshold: float = 5.0, **options: Any):
    found = object_result(scored, threshold, **{**QUICK, **options})
    assert found is not None
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), least=st.sampled_from([None, 0.3, 0.6]))
def test_objects_and_false_alarms_are_counted_as_by_hand(seed, least):
    scored = study(seed)
    group, polyp, score = scored.index.codes, scored.objects, scored.score
    assert polyp is not None
    assert scored.overlap is not None
    on = scored.is_positive if least is None else scored.overlap >= least
    rule = HitRule() if least is None else HitRule("overlap", least)
    found = result(scored, rule=rule)
    names = set(polyp[scored.is_positive].tolist())
    assert found.n_objects == len(names)
    assert found.n_found == sum(np.any(on & (polyp == o) & (score >= 5)) for o in names)
    assert found.n_without_candidates == sum(not np.any(on & (polyp == o)) for o in names)
    alarms = (score >= 5) & ~on
    negative = np.flatnonzero(~scored.group_positive)
    assert found.false_alarms_per_negative is not None
    assert found.false_alarms_per_negative.estimate == pytest.approx(
        np.isin(group[alarms], negative).sum() / len(negative)
    )
    assert found.false_alarms_per_patient is not None
    assert found.false_alarms_per_patient.estimate == pytest.approx(alarms.sum() / 8)
    assert found.false_alarms_per_group == pytest.approx(alarms.sum() / 24)
    best = 0.0
    for t in np.unique(score):
        if ((score >= t) & ~on).sum() <= 0.5 * 24:
            best = max(best, np.mean([np.any(on & (polyp == o) & (score >= t)) for o in names]))
    assert found.sensitivity_at.estimate[2] == pytest.approx(best)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_areas_are_those_of_the_metrics(seed):
    scored = study(seed)
    rows = scored.is_positive, scored.score, scored.index.codes, scored.objects
    assert scored.by_patient is not None
    expected = afroc_interval(*rows, clusters=scored.by_patient.codes)
    found = result(scored)
    assert found.afroc_auc == pytest.approx(expected)
    assert found.wafroc_auc is not None
    assert found.wafroc_auc.estimate == pytest.approx(wafroc_auc(*rows))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), n_missed=st.integers(1, 5))
def test_listed_objects_that_no_candidate_is_on_are_missed(seed, n_missed):
    scored = study(seed)
    assert scored.objects is not None
    known = np.unique(scored.objects[scored.is_positive])
    pairs = [(o, scored.index.codes[scored.objects == o][0]) for o in known.tolist()]
    # Group 1 shows an object that none of its candidates is on; 99 has no candidates at all.
    more = [(1000 + k, 99 if k % 2 else 1) for k in range(n_missed)]
    patients = {99: 3}
    listed = with_listed(None, scored, all_objects=[*pairs, *more], all_patients=patients)
    before, found = result(scored), result(listed)
    assert found.n_objects == len(known) + n_missed == listed.n_objects
    assert found.n_found == before.n_found
    assert found.n_without_candidates == n_missed
    assert found.found.estimate == pytest.approx(before.n_found / (len(known) + n_missed))
    assert listed.group_positive[1]
    assert listed.n_groups == scored.n_groups + (n_missed > 1)
    assert found.sensitivity_at.mean.estimate < before.sensitivity_at.mean.estimate
    yields = yields_of(listed)
    assert yields is not None
    # A reader of group 1 sees its object, though no candidate is on it.
    assert yields.found["objects"][-1] == pytest.approx(1 - (n_missed // 2) / found.n_objects)


def test_a_listed_object_that_has_candidates_changes_nothing():
    scored = study(0)
    assert scored.objects is not None
    pairs = {
        o: scored.index.codes[(scored.objects == o)][0]
        for o in np.unique(scored.objects[scored.is_positive]).tolist()
    }
    listed = with_listed(None, scored, all_objects=pairs)
    assert result(listed).sensitivity_at.mean == result(scored).sensitivity_at.mean


def test_a_group_that_only_the_list_names_needs_its_patient():
    with pytest.raises(ValueError, match="its patient is not known"):
        with_listed(None, study(0), all_objects={1000: 99})
    with pytest.raises(ParameterError, match="objects too"):
        with_listed(None, replace(study(0), objects=None), all_objects={1000: 99})


def test_the_hit_rule_best_overlap_needs_overlap():
    scored = study(1)
    assert result(scored, hit="best_overlap").hit == "best_overlap"
    with pytest.raises(ParameterError, match="overlap"):
        result(replace(scored, overlap=None), hit="best_overlap")


def test_rules_by_centre_and_distance():
    scored = study(2)
    assert scored.overlap is not None
    inside = scored.overlap >= 0.6
    distance = np.where(scored.is_positive, 10 * (1 - scored.overlap), np.nan)
    scored = replace(scored, centre_inside=inside, centre_distance=distance)
    by_overlap = result(scored, rule=HitRule("overlap", 0.6))
    for rule in (HitRule("centre"), HitRule("distance", most_distance=4.0)):
        found = result(scored, rule=rule)
        assert (found.n_found, found.n_objects) == (by_overlap.n_found, by_overlap.n_objects)
        assert found.afroc_auc == by_overlap.afroc_auc
        assert found.rule != by_overlap.rule


def test_bad_rules_are_one_sentence():
    with pytest.raises(ParameterError, match="not known"):
        HitRule("nearest")
    with pytest.raises(ParameterError, match="most_distance"):
        HitRule("distance")
    with pytest.raises(ParameterError, match="needs overlap"):
        hits("overlap")
    with pytest.raises(ParameterError, match="above 0"):
        hits("overlap", overlap=[0.1], least_overlap=0.0)
    with pytest.raises(ParameterError, match="needs centre_inside"):
        result(study(0), rule=HitRule("centre"))
    assert hits("centre", centre_inside=[True, False, np.nan]).tolist() == [True, False, False]


def test_an_object_of_two_patients_is_refused_and_groups_that_share_one_are_drawn_together():
    scored = study(3)
    assert scored.objects is not None
    same = replace(scored, objects=np.where(scored.is_positive, 7, -1))
    with pytest.raises(ValueError, match="an id of its own"):
        result(same)
    alone = result(replace(scored, by_patient=None))
    assert alone.false_alarms_per_patient is None
    assert alone.n_objects == result(scored).n_objects


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_yields_are_those_of_single_thresholds(seed):
    scored = study(seed)
    curve = yields_of(scored)
    assert curve is not None
    assert scored.objects is not None
    assert scored.group_patient is not None
    shown_by = scored.group_score
    for at, threshold in enumerate(curve.thresholds):
        shown = shown_by >= threshold
        seen = scored.is_positive & shown[scored.index.codes]
        names = np.unique(scored.objects[scored.is_positive])
        assert curve.shown[at] == pytest.approx(shown.mean())
        assert curve.found["objects"][at] == pytest.approx(
            len(np.unique(scored.objects[seen])) / len(names)
        )
        positive = scored.group_positive
        assert curve.found["patient"][at] == pytest.approx(
            len(np.unique(scored.group_patient[positive & shown]))
            / len(np.unique(scored.group_patient[positive]))
        )


def test_levels_have_yields():
    scored = study(4)
    assert scored.by_patient is not None
    patient = scored.by_patient.codes
    levels = {"video": patient // 2, "site": patient // 4}
    curve = yields_of(replace(scored, levels=levels, by_patient=None))
    assert curve is not None
    rows = scored.is_positive, scored.score, scored.index.codes
    expected = yield_curve(*rows, objects=scored.objects, levels=levels)
    assert list(curve.found) == ["objects", "video", "site"]
    for unit in curve.found:
        for share in (0.5, 0.95, 1.0):
            assert curve.at_yield(share, unit) == expected.at_yield(share, unit)
    assert curve.time_saved(1.0, "video", groups_per_second=2) == pytest.approx(
        expected.time_saved(1.0, "video", groups_per_second=2)
    )


def test_thinning_keeps_the_named_yields():
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2 == 0
    curve = yield_curve(y, y + rng.standard_normal(4000), np.arange(4000))
    thin = curve.thinned(100)
    assert len(thin.thresholds) < 120
    for share in (0.5, 0.9, 0.95, 0.99, 1.0):
        assert thin.at_yield(share) == curve.at_yield(share)
    assert curve.at_yield(0.7).shown <= thin.at_yield(0.7).shown <= 1.0


def test_the_interval_of_a_share_shown():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2 == 0
    rows = y, y + rng.standard_normal(2000), np.arange(2000)
    patient = np.arange(2000) // 5
    found = yield_interval(*rows, share=0.9, clusters=patient, n_resamples=200)
    assert found.estimate == yield_curve(*rows).at_yield(0.9).shown
    assert found.low < found.estimate < found.high
    y, scores = (np.concatenate([part, part]) for part in rows[:2])
    groups, both = np.arange(4000), np.concatenate([patient, 400 + patient])
    narrow = yield_interval(y, scores, groups, share=0.9, clusters=both, n_resamples=200)
    ratio = (found.high - found.low) / (narrow.high - narrow.low)
    assert ratio == pytest.approx(np.sqrt(2), rel=0.3)
    every = yield_interval(*rows, share=1.0, clusters=patient)
    assert np.isnan(every.low)


def test_an_evaluation_has_objects_and_yields(tmp_path):
    sizes: dict[str, Any] = {"n_positive": 30, "n_polyps": 20, "n_patients": 40, "group_size": 6}
    train, test = (capsule(60, **sizes, seed=seed) for seed in (0, 1))
    model = GroupClassifier(0.9).fit(train.X, train.y, train.groups)
    known: dict[str, Any] = {
        "patients": test.patient,
        "objects": test.polyp,
        "overlap": test.overlap,
    }
    rows = test.X, test.y, test.groups
    found = evaluate(model, *rows, **known, **QUICK, groups_per_second=5.0)
    assert found.objects is not None
    assert found.yields is not None
    assert found.froc is not None
    assert found.groups_per_second == 5.0
    assert found.objects.n_objects == found.froc.n_objects == found.data.n_objects
    point = found.decision.point
    assert (point.objects_found, point.n_objects) == (
        found.objects.n_found,
        found.objects.n_objects,
    )
    values = metric_values(found)
    assert values["cpm"]["value"] == found.objects.sensitivity_at.mean.estimate
    assert {"afroc_auc", "wafroc_auc", "objects_found", "false_alarms_per_negative"} <= set(values)
    several = evaluate(
        model, *rows, **known, **QUICK, hit_rule="overlap", least_overlap=(0.3, 0.5, 0.7)
    )
    assert several.objects is several.objects_by_rule[0]
    assert [each.rule for each in several.objects_by_rule] == [
        f"an overlap of {least} or more" for least in (0.3, 0.5, 0.7)
    ]
    assert [each.least_overlap for each in several.localisations] == [0.3, 0.5, 0.7]
    n_missed = [each.n_without_candidates for each in several.objects_by_rule]
    assert n_missed == sorted(n_missed)
    with pytest.raises(ParameterError, match="above 0"):
        evaluate(model, *rows, groups_per_second=0.0)


def test_all_objects_of_tables(tmp_path):
    for seed, name in enumerate(("train", "test")):
        capsule_to_parquet(tmp_path / f"{name}.parquet", 40, n_positive=20, group_size=5, seed=seed)
    columns: dict[str, Any] = {"group": "frame", "label": "label", "patient": "patient"}
    exclude = ["overlap", "polyp"]
    fit = fit_tables(GroupClassifier(), tmp_path / "train.parquet", **columns, exclude=exclude)
    table = tmp_path / "polyps.csv"
    options: dict[str, Any] = {**columns, "object": "polyp", **QUICK}
    before = evaluate_tables(fit.model, tmp_path / "test.parquet", **options)
    table.write_text("frame,polyp,patient\n123456,new one,1\n123456,another,1\n")
    found = evaluate_tables(fit.model, tmp_path / "test.parquet", **options, all_objects=table)
    assert before.objects is not None
    assert found.objects is not None
    assert found.objects.n_objects == before.objects.n_objects + 2
    assert found.objects.n_without_candidates == 2
    assert found.data.n_positive_groups == before.data.n_positive_groups + 1
    assert "missed" in found.notes["All objects"]
    with pytest.raises(InputError, match="name their column with object"):
        evaluate_tables(fit.model, tmp_path / "test.parquet", **columns, **QUICK, all_objects=table)
    with pytest.raises(InputError, match="hit_column"):
        evaluate_tables(fit.model, tmp_path / "test.parquet", **options, hit_rule="centre")
    by_centre = evaluate_tables(
        fit.model, tmp_path / "test.parquet", **options, hit_rule="centre", hit_column="overlap"
    )
    assert by_centre.objects is not None
    assert by_centre.objects.rule == "its centre inside the object"
