"""The paper's experiment: what each method sees, its analysis, its verdicts, and a killed run."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from groupcm.cli.commands import experiment
from groupcm.errors import InputError
from groupcm.evaluation.comparison.contenders import contenders
from groupcm.experiments import paper, testing, training
from groupcm.experiments.areas import Areas, crossed, mean_roc
from groupcm.experiments.checkpoint import Checkpoint
from groupcm.experiments.claims import FAILS, HOLDS, OPEN, Finding, joint_verdict, verdict
from groupcm.experiments.datasets import best_rows, draw_training_set
from groupcm.experiments.paper import identity_of, run_paper
from groupcm.experiments.paper_report import paper_into_folder, paper_json
from groupcm.experiments.paper_text import claims_markdown, dataset_rows
from groupcm.experiments.sizes import (
    GCM,
    MISVM,
    SCALES,
    SVM,
    UNGROUPED,
    Sizes,
    TestSize,
    Trained,
    Trial,
    trials_of,
)
from groupcm.experiments.testing import draw_test_plan, score_models
from groupcm.experiments.training import _trained, _Training
from groupcm.kernels.placements import count_placements
from groupcm.metrics import Interval, candidate_roc_auc, group_roc_auc, obuchowski_interval
from groupcm.simulate import capsule, frames
from groupcm.simulate.world import make_plan

TINY = Sizes(
    negatives=(400, 800, 1600),
    test=TestSize(800, 30, 12, 40),
    power=TestSize(1200, 45, 18, 60),
    repeats=2,
    further=1,
    n_positive=40,
    n_polyps=16,
    n_misvm_polyps=8,
    n_patients=40,
    group_size=10,
    n_settings=2,
    n_folds=2,
    tune_on=400,
    n_resamples=20,
)
EVERY_CLAIM = {"a", "b", "c", "d", "e", "f", "g", "h", "i"}


@pytest.fixture(scope="module")
def drawn_and_found():
    """A run, and the plan of every set that it drew, in order."""
    plans = []

    def spied(*arguments, **options):
        plans.append(make_plan(*arguments, **options))
        return plans[-1]

    with pytest.MonkeyPatch.context() as patch:
        for module in (frames, testing):
            patch.setattr(module, "make_plan", spied)
        return plans, run_paper(TINY, seed=3)


@pytest.fixture(scope="module")
def plans(drawn_and_found):
    return drawn_and_found[0]


@pytest.fixture(scope="module")
def found(drawn_and_found):
    return drawn_and_found[1]


def test_the_full_scale_is_the_papers_table():
    full = SCALES["full"]
    assert (full.n_positive, full.n_polyps, full.n_misvm_polyps) == (293, 100, 25)
    assert full.negatives == (5_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
    assert full.test == TestSize(326_000_000, 362, 115, full.test.n_patients)
    assert full.group_size == 200
    assert full.world == 3
    plan = draw_test_plan(full, full.test, 0)
    assert (plan.polyp >= 0).sum() == 362
    negatives = np.diff(plan.row_ptr)[plan.polyp < 0].sum()
    assert negatives == pytest.approx(326e6, rel=0.005)


def test_each_method_sees_its_rows():
    made = draw_training_set(TINY, seed=1)
    seen = _Training(made, TINY, seed=1)
    svm, alone = (seen.data_of(Trial(SVM, 400, v)) for v in ("", "one by one"))
    misvm, one = (seen.data_of(Trial(MISVM, 400, v)) for v in ("", "one frame per polyp"))
    gcm = seen.data_of(Trial(GCM, 400))
    for data in (svm, alone, gcm):
        assert len(np.unique(data.groups[data.y == 1])) == 40
    # The same negatives: the candidates of 40 frames.
    negatives = [set(d.groups[~np.isin(d.groups, d.groups[d.y == 1])]) for d in (svm, misvm, gcm)]
    assert negatives[0] == negatives[1] == negatives[2]
    assert len(negatives[0]) == 40
    # The best candidate of a positive frame alone, or all its candidates.
    assert (svm.y == 1).sum() == (alone.y == 1).sum() == 40
    assert (alone.y == 0).sum() == 400
    assert len(misvm.y) > len(svm.y) - 40 + 8
    polyp = {int(group): int(p) for group, p in zip(made.held.groups, made.polyp, strict=True)}
    assert len({polyp[group] for group in np.unique(misvm.groups)} - {-1}) == 8
    frames = [polyp[group] for group in np.unique(one.groups) if polyp[group] >= 0]
    assert len(frames) == len(set(frames)) == 8
    assert set(frames) == {polyp[group] for group in np.unique(misvm.groups)} - {-1}


def test_training_sets_are_nested():
    made = draw_training_set(TINY, seed=1)
    few, more = made.first(40), made.first(80)
    assert set(few.groups) < set(more.groups)
    assert len(set(few.groups)) == 40 + 40
    assert made.first(160) is made.held


def test_every_set_of_the_small_scale_can_be_drawn():
    """The smallest further set has fewer frames than a training set has patients."""
    small = SCALES["small"]
    last = draw_training_set(small, seed=1, number=small.n_sets - 1)
    negative = last.held.groups[last.polyp < 0]
    assert len(np.unique(negative)) == 20_000 // small.group_size < small.n_patients
    assert len(np.unique(last.held.patients)) <= small.n_patients


def test_the_best_row_of_a_positive_group_has_its_largest_overlap():
    held = draw_training_set(TINY, seed=1).held
    assert held.overlap is not None
    for row in best_rows(held):
        rows = (held.groups == held.groups[row]) & (held.y == 1)
        assert held.overlap[row] == held.overlap[rows].max()


def test_the_sets_of_a_run_have_their_sizes(plans):
    """Three training sets, of which two have the largest size, and two test sets."""
    sizes = [
        (int((plan.polyp < 0).sum()), int((plan.polyp >= 0).sum()), len(set(plan.polyp)) - 1)
        for plan in plans
    ]
    assert sizes == [(160, 40, 16), (160, 40, 16), (80, 40, 16), (80, 30, 12), (120, 45, 18)]


def test_no_patient_is_in_two_sets_of_a_run(plans):
    """A patient is what their frames share; no training or test set has that of another."""
    effects = [{row.tobytes() for row in plan.patient_effects} for plan in plans]
    assert [len(each) for each in effects] == [40, 40, 40, 40, 60]
    assert len(set.union(*effects)) == sum(map(len, effects))


def test_each_model_of_a_run_is_trained_on_its_rows(found):
    for number, models in enumerate(found.models):
        seed = 3001 + number
        seen = _Training(draw_training_set(TINY, seed, number=number), TINY, seed)
        assert [model.trial for model in models] == trials_of(TINY, number)
        assert [m.n_rows for m in models] == [len(seen.data_of(m.trial).y) for m in models]
    assert len(found.models[0]) - 2 == len(found.models[2])


def test_the_streamed_set_has_the_same_rows(tmp_path):
    held = draw_training_set(TINY, seed=1)
    streamed = draw_training_set(replace(TINY, held_in_memory=800), seed=1, folder=tmp_path)
    for n_groups in (40, 80):
        one, other = held.first(n_groups), streamed.first(n_groups)
        assert np.array_equal(one.X, other.X)
        assert np.array_equal(one.groups, other.groups)
        assert np.array_equal(one.y, other.y)


def some_models(n=3):
    rng = np.random.default_rng(0)
    return [Trained(Trial(GCM, 5), 1.0 + rng.standard_normal(13), 0.5, "") for _ in range(n)]


def test_a_test_set_has_the_areas_of_its_scores():
    # Far from 1, where both intervals are nearly symmetric.
    sizes = replace(TINY, world=2)
    plan = draw_test_plan(sizes, sizes.test, seed=5)
    models = some_models()
    tested = score_models(plan, models, with_bands=True)
    size = sizes.test
    data = capsule(
        80, n_positive=30, n_polyps=12, n_patients=40, group_size=10, seed=5, world=sizes.world
    )
    assert size.negatives == 800
    begins = data.group_ptr[:-1]
    kept = data.polyp < 0
    kept[best_rows_of(data)] = True
    for m, model in enumerate(models):
        scores = (data.X @ model.coef + model.intercept).astype(np.float64)
        best = np.maximum.reduceat(scores, begins)
        truth, patient = data.polyp[begins] >= 0, data.patient[begins]
        assert tested.auc[1, m] == pytest.approx(group_roc_auc(truth, best), abs=1e-4)
        assert tested.auc[0, m] == pytest.approx(
            candidate_roc_auc(data.y[kept], scores[kept]), abs=1e-4
        )
        # The influences give the interval of Obuchowski, but for its counts of patients.
        error = math.sqrt(40 / 39 * np.sum(tested.influence[1, m] ** 2))
        expected = obuchowski_interval(truth, best, clusters=patient)
        assert tested.influence[1, m].sum() == pytest.approx(0.0, abs=1e-9)
        assert error == pytest.approx((expected.high - expected.low) / 2 / 1.96, rel=0.15)
    assert tested.coarse_negatives[0, 0].sum() == (data.polyp < 0).sum()
    assert tested.coarse_positives.sum() == 2 * 3 * 30
    assert tested.tpr[..., -1] == pytest.approx(1.0)


def best_rows_of(data):
    from groupcm.evaluation.comparison.data import LabelledCandidates

    return best_rows(LabelledCandidates(data.X, data.y, data.groups, data.overlap))


def test_placements_are_counted_as_the_slow_twin_counts():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 30)).astype(np.float32)
    start, patient = np.array([0, 7, 19, 30]), np.array([1, -1, 0])
    low, scale = np.full((2, 2), -1.0), np.full((2, 2), 2.5)  # five bins from −1 to 1
    worth = rng.integers(0, 9, (2, 2, 7))
    coarse = rng.integers(0, 3, (2, 2, 7)).astype(np.uint8)
    counts = [np.zeros(shape, np.int64) for shape in ((2, 2, 7), (2, 2, 2), (2, 2, 2, 3))]
    assert count_placements(scores, start, patient, low, scale, worth, coarse, *counts) == -1
    expected = [np.zeros_like(each) for each in counts]
    for m in range(2):
        for f in (0, 2):
            of_frame = scores[m, start[f] : start[f + 1]]
            for level, values in enumerate((of_frame, [of_frame.max()])):
                for s in values:
                    k = int(np.clip(np.floor((s + 1.0) * 2.5) + 1, 0, 6))
                    expected[0][level, m, k] += 1
                    expected[1][level, m, patient[f]] += worth[level, m, k]
                    expected[2][level, m, patient[f], coarse[level, m, k]] += 1
    for one, other in zip(counts, expected, strict=True):
        assert np.array_equal(one, other)
    scores[1, 3] = np.nan
    assert count_placements(scores, start, patient, low, scale, worth, coarse, *counts) == 3


def test_the_test_pass_continues_where_it_was_stopped(tmp_path):
    plan = make_plan(1500, 30, 12, 40, 400, 5, 2)
    assert plan.n_chunks > 5
    whole = score_models(plan, some_models(), with_bands=True)

    def stop(done, of):
        if done == 3:
            raise KeyboardInterrupt

    checkpoint = Checkpoint(tmp_path, {})
    with pytest.raises(KeyboardInterrupt):
        score_models(plan, some_models(), with_bands=True, checkpoint=checkpoint, on_part=stop)
    parts = []
    again = score_models(
        plan,
        some_models(),
        with_bands=True,
        checkpoint=Checkpoint(tmp_path, {}),
        on_part=lambda done, of: parts.append(done),
    )
    assert parts[0] == 4
    for name, values in vars(whole).items():
        assert np.array_equal(values, getattr(again, name))


@pytest.mark.parametrize(
    ("low", "high", "claimed", "effect", "expected"),
    [
        (0.01, 0.03, "higher", 0.01, HOLDS),
        (0.001, 0.004, "higher", 0.01, HOLDS),
        (-0.03, -0.01, "higher", 0.01, FAILS),
        (-0.004, 0.006, "higher", 0.01, FAILS),
        (-0.01, 0.03, "higher", 0.01, OPEN),
        (-0.03, -0.01, "lower", 0.01, HOLDS),
        (-0.006, 0.004, "lower", 0.01, FAILS),
        (0.01, 0.03, "lower", 0.01, FAILS),
        (-0.03, 0.01, "lower", 0.01, OPEN),
        (0.001, 0.004, "no noticeable gain", 0.005, HOLDS),
        (-0.1, -0.05, "no noticeable gain", 0.005, HOLDS),
        (0.006, 0.01, "no noticeable gain", 0.005, FAILS),
        (0.001, 0.01, "no noticeable gain", 0.005, OPEN),
        (math.nan, math.nan, "higher", 0.01, OPEN),
        (math.nan, math.nan, "lower", 0.01, OPEN),
    ],
)
def test_verdicts_on_made_numbers(low, high, claimed, effect, expected):
    assert verdict(Interval((low + high) / 2, low, high), claimed, effect) == expected


def test_a_claim_of_several_differences_needs_all_and_fails_with_one():
    assert joint_verdict([HOLDS, HOLDS]) == HOLDS
    assert joint_verdict([HOLDS, OPEN]) == OPEN
    assert joint_verdict([OPEN, FAILS, HOLDS]) == FAILS


def test_an_open_claim_says_what_would_settle_it():
    contributions, influence = np.array([0.001, 0.0005, 0.002]), 1e-3 * np.array([6, -6, 3, -3.0])
    difference = crossed([contributions], influence, 4, n_sets=3)
    finding = Finding(Trial(GCM, 5), Trial(SVM, 5), "group", "higher", difference, (), 0.01)
    assert finding.verdict == OPEN
    _, patients, factor = finding.needed
    assert patients > 4
    assert factor > 1
    # So many patients do give an interval that excludes 0 or the effect size.
    estimate = difference.interval.estimate
    away = max(abs(estimate), abs(0.01 - estimate))
    total = difference.of_sets + difference.of_patients
    width = (difference.interval.high - estimate) * math.sqrt(
        (difference.of_sets + difference.of_patients * 4 / patients) / total
    )
    assert width == pytest.approx(away)


def test_every_claim_is_judged(found):
    assert {claim.id for claim in found.claims} >= EVERY_CLAIM
    assert all(claim.verdict in (HOLDS, FAILS, OPEN) for claim in found.claims)
    by_id = {claim.id: claim for claim in found.claims}
    (a,) = by_id["a"].findings
    assert (a.of, a.a, a.b) == ("group", Trial(GCM, 1600), Trial(UNGROUPED, 1600))
    assert len(a.repeats) == 2
    (c,) = by_id["c"].findings
    assert (c.of, c.a, c.b) == ("candidate", Trial(UNGROUPED, 400), Trial(SVM, 400))
    assert c.found.interval.estimate == pytest.approx(np.mean(c.repeats))
    assert len(c.repeats) == 3
    assert len(by_id["g"].findings) == 6


def test_claims_are_in_the_words_and_numbers(found):
    text, numbers = claims_markdown(found), json.loads(paper_json(found))
    for claim in found.claims:
        assert f"| {claim.id} | {claim.statement} | **{claim.verdict}** |" in text
    assert [claim["verdict"] for claim in numbers["claims"]] == [c.verdict for c in found.claims]
    assert len(numbers["models"]) == len(trials_of(TINY)) == 11
    assert numbers["world"]["version"] == 3
    assert len(numbers["world"]["sha256"]) == 64
    assert dataset_rows(found)[0][2:] == (
        "40 (16 polyps)",
        "about 200 (8 polyps)",
        "40 (16 polyps)",
    )


def test_the_largest_size_is_a_mean_of_all_sets_and_a_correction_from_few(found):
    areas = found.areas["group"]
    largest, smaller = Trial(GCM, 1600), Trial(GCM, 800)
    expected = areas.repeats(smaller).mean() + np.mean(
        areas.repeats(largest) - areas.repeats(smaller)[:2]
    )
    assert areas.of(largest).interval.estimate == pytest.approx(expected)


def test_a_seed_gives_the_same_numbers_and_another_seed_others():
    one, other = (draw_training_set(TINY, seed=seed).held.X[:9] for seed in (4, 5))
    assert not np.array_equal(one, other)
    assert np.array_equal(one, draw_training_set(TINY, seed=4).held.X[:9])


def test_the_svm_is_unfolded_from_its_scaling():
    data = draw_training_set(TINY, seed=1).first(40)
    contender = contenders(["svm"], 1)[0]
    model = contender.fit(contender.settings[0], data)
    trained = _trained(Trial(SVM, 400), model, "", 1.0, len(data.y))
    expected = model.decision_function(data.X)
    assert data.X @ trained.coef + trained.intercept == pytest.approx(expected, abs=1e-4)


def crossed_interval(rng, n_sets, n_few, n_patients, shift):
    """One study of two crossed factors, of which the few sets have one more size."""
    patients = rng.normal(size=n_patients)
    sets = 0.5 * rng.normal(size=n_sets)
    both = rng.normal(size=(n_sets, n_patients))
    smaller = shift + sets[:, None] + patients + both
    larger = smaller[:n_few] + 0.2 * rng.normal(size=(n_few, 1))
    of_set = [np.array([row.mean()]) for row in smaller]
    trials, auc, influence = [], [], []
    for r in range(n_sets):
        rows = [smaller[r], larger[r]] if r < n_few else [smaller[r]]
        trials.append([Trial(GCM, 5), Trial(GCM, 50)][: len(rows)])
        auc += [row.mean() for row in rows]
        influence += [(row - row.mean()) / n_patients for row in rows]
    assert len(of_set) == n_sets
    areas = Areas(trials, np.array(auc), np.array(influence), n_patients)
    return areas.of(Trial(GCM, 50)).interval


@pytest.mark.parametrize(("n_sets", "n_few", "n_patients"), [(3, 3, 20), (12, 3, 30)])
def test_intervals_cover_the_truth(n_sets, n_few, n_patients):
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(600):
        low, high = crossed_interval(rng, n_sets, n_few, n_patients, 0.2)[1:]
        inside += low <= 0.2 <= high
    assert 0.935 <= inside / 600 <= 0.99


def test_the_band_of_a_curve_is_around_it():
    plan = draw_test_plan(TINY, TINY.test, seed=5)
    tested = score_models(plan, some_models(2), with_bands=True)
    for level in range(2):
        roc = mean_roc(tested, level, [0, 1], Interval(0.8, 0.7, 0.9), n_resamples=50)
        assert np.all(roc.band_low <= roc.curve.tpr)
        assert np.all(roc.curve.tpr <= roc.band_high)
        assert np.all(np.diff(roc.curve.tpr) >= 0)
        assert np.mean(roc.band_high - roc.band_low) > 0.02
        area = np.trapezoid(roc.curve.tpr, roc.curve.fpr)
        assert area == pytest.approx(tested.auc[level].mean(), abs=0.01)


def numbers_of(results):
    return paper_json(results)


def test_a_killed_run_ends_with_the_same_numbers(found, tmp_path, monkeypatch):
    """Stopped in the first set, in the last one, and in the second test set."""
    n_trained, stop_at = 0, {7, 20}
    train = training._Training.train

    def counted(self, trial):
        nonlocal n_trained
        n_trained += 1
        if n_trained in stop_at:
            raise KeyboardInterrupt
        return train(self, trial)

    monkeypatch.setattr(training._Training, "train", counted)
    runs = 0
    while True:
        runs += 1
        checkpoint = Checkpoint(tmp_path, identity_of(TINY, 3))
        try:
            results = run_paper(TINY, 3, checkpoint=checkpoint)
            break
        except KeyboardInterrupt:
            pass
    assert runs == 3
    assert len(results.runs) == 3
    # Each model was trained once, but for the two that were stopped.
    assert n_trained == sum(map(len, found.models)) + 2
    assert numbers_of(results) == numbers_of(found)
    with pytest.raises(InputError, match="progress of another experiment"):
        Checkpoint(tmp_path, identity_of(TINY, 4))


def paper_arguments(output, **options):
    return argparse.Namespace(
        experiment="paper",
        **{
            "scale": "small",
            "seed": 3,
            "repeats": None,
            "further": None,
            "world": None,
            "keep": False,
            "output": output,
        }
        | options,
    )


@pytest.mark.slow
def test_the_command_writes_everything(found, tmp_path, capsys):
    sizes = replace(TINY, held_in_memory=800)
    folder = tmp_path / "paper"
    assert experiment.run_paper_experiment(sizes, paper_arguments(folder)) == 0
    names = {file.name for file in folder.iterdir()}
    assert names == {"paper.html", "paper_figures", "claims.md", "datasets.csv", "results.json"}
    figures = {file.name for file in (folder / "paper_figures").iterdir()}
    for level in ("candidate", "group"):
        by_size = [f"{method}_sizes_per_{level}" for method in ("gcm", "ungrouped")]
        for name in (f"per_{level}", f"per_{level}_training_size", f"claims_per_{level}", *by_size):
            assert {f"{name}.png", f"{name}.svg"} <= figures
    page = (folder / "paper.html").read_text(encoding="utf-8")
    assert page.count("<svg") == len(figures) // 2
    assert "src=" not in page
    told = capsys.readouterr()
    assert "Of 12 claims" in told.out
    assert "training set 1 of 3" in told.err
    # The streamed fits are those of memory, to their certified gap.
    models = json.loads((folder / "results.json").read_text())["models"]
    for model in models:
        if model["negatives"] == 1600:
            trial = Trial(model["method"], 1600)
            expected = found.areas["group"].repeats(trial)
            assert model["group_auc"]["repeats"] == pytest.approx(expected, abs=5e-3)
            assert max(model["gap"]) <= TINY.tol


@pytest.mark.parametrize("held_in_memory", [800, 10_000])
def test_ctrl_c_before_the_first_model_leaves_nothing(tmp_path, monkeypatch, held_in_memory):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "train_all", interrupted)
    sizes = replace(TINY, held_in_memory=held_in_memory)
    with pytest.raises(KeyboardInterrupt):
        paper_into_folder(sizes, 3, tmp_path / "paper")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_users_data_is_left_alone(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.csv").write_text("1")
    with pytest.raises(InputError, match="exists already"):
        paper_into_folder(replace(TINY, held_in_memory=800), 3, tmp_path)
    assert (tmp_path / "data" / "mine.csv").read_text() == "1"
    assert {file.name for file in tmp_path.iterdir()} == {"data"}


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "paper"
    file.write_text("mine")
    with pytest.raises(InputError, match="it is a file, not a folder"):
        experiment.run(paper_arguments(file))
    assert file.read_text() == "mine"


def test_no_repeats_are_refused(tmp_path):
    with pytest.raises(InputError, match="--repeats must be at least 1"):
        experiment.run(paper_arguments(tmp_path, repeats=0))
    with pytest.raises(InputError, match="--further must be at least 0"):
        experiment.run(paper_arguments(tmp_path, further=-1))


def test_a_seed_of_the_calibration_is_refused():
    with pytest.raises(InputError, match="--seed must be at most 899"):
        run_paper(TINY, 900)
