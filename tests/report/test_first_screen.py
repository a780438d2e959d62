"""The first screen of an evaluation: the decision, its outcomes, the flow of data, the words."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import chromium, visiting
from report_numbers import full_evaluation, made_comparison, made_evaluation
from report_pages import NASTY, WIDER_THAN_THE_WINDOW, Reader

from groupcm.evaluation.comparison.results import Pair
from groupcm.evaluation.provenance import DataStep
from groupcm.evaluation.results import Evaluation
from groupcm.metrics import Comparison, Interval
from groupcm.metrics.decision import DecisionRule
from groupcm.report import comparison_page, evaluation_page
from groupcm.report.at_a_glance import (
    Kinds,
    decision_rows,
    level_rows,
    typical_cases,
    verdict_sentences,
    whole_percent,
    yield_at_threshold,
)
from groupcm.report.comparison import against_reference, summary_sentences
from groupcm.report.details import flow_of, yield_rows
from groupcm.report.evaluation import metric_tiles
from groupcm.report.save import FIGURE_NAMES, save_evaluation


@pytest.fixture(scope="module")
def full() -> Evaluation:
    return full_evaluation()


@pytest.fixture(scope="module")
def page(full) -> str:
    return evaluation_page(full)


def test_the_verdict_has_the_shares_and_their_intervals(full):
    frames, patients, reader = verdict_sentences(full)
    share, point = full.decision.sensitivity, full.decision.point
    found = 100 * point.true_positives / 40
    assert frames.startswith(f"At this threshold, {found:.0f} % of the frames with a polyp raise")
    assert f"CI {100 * share.low:.0f} % to {100 * share.high:.0f} %)" in frames
    assert "of those without raise none (95 % CI" in frames
    assert "of the patients with a polyp raise an alarm" in patients
    shown, n_found, n_polyps, word = yield_at_threshold(full)
    assert shown == pytest.approx((point.true_positives + point.false_positives) / 160)
    assert (n_polyps, word) == (full.objects.n_objects, "polyp")
    assert reader.endswith(f"of the frames, show {n_found} polyps.")
    # Counted by hand: a polyp is seen where a frame that shows it raises an alarm.
    assert n_found >= full.objects.n_found


def test_alarms_in_most_negatives_are_named_as_such(full):
    quiet = Interval(0.0, 0.0, 0.1)
    many = replace(full, decision=replace(full.decision, specificity=quiet))
    assert verdict_sentences(many)[0].endswith(
        ", but so do 100 % of those without (95 % CI 90 % to 100 %)."
    )


def test_a_share_has_the_decimal_of_its_bounds(full):
    """A specificity of 89.6 % is below a target of 90 %, and must not read as 90 %."""
    quiet = Interval(0.8958, 0.882, 0.908)
    page = evaluation_page(replace(full, decision=replace(full.decision, specificity=quiet)))
    assert "89.6 %" in Reader(page).text.replace("\u00a0", " ")


def test_the_precision_in_use_names_its_prevalence(full):
    tiles = [each.title for each in metric_tiles(replace(full, prevalence=0.01))]
    assert "Alarms that are right where 1 % of the frames are positive (precision)" in tiles


def test_the_verdict_has_the_share_of_frames_that_shows_most_polyps(full):
    words = verdict_sentences(full)[-1]
    # By hand: the least share of frames from the top that shows 95 % of the polyps.
    curve = full.yields
    shown = curve.shown[np.searchsorted(curve.found["objects"], 0.95)]
    assert words.startswith(
        f"Showing the {whole_percent(shown)} of the frames with the highest scores finds 95 % of "
        f"the {full.objects.n_objects} polyps; the alarms, "
    )
    less = {kind: np.minimum(each, 0.9) for kind, each in curve.found.items()}
    missed = replace(full, yields=replace(curve, found=less))
    assert verdict_sentences(missed)[-1].startswith("Even all frames do not show 95 % of the ")


def test_a_decision_about_patients_comes_first(full):
    rule = DecisionRule("patient", "sensitivity", 0.9, 0.95, "90 groups, of 40 patients")
    decided = replace(full, decision=replace(full.decision, rule=rule))
    first, second, _ = verdict_sentences(decided)
    patients = full.levels[0].decision.sensitivity.estimate
    assert first.startswith(f"At this threshold, {whole_percent(patients)} of the patients with a")
    assert "of the frames with a polyp raise an alarm" in second
    assert [row.name for row in level_rows(decided, brief=True)] == ["Patients", "Frames"]
    assert [row.name for row in level_rows(decided)] == ["Frames", "Patients"]
    text = Reader(evaluation_page(decided)).text
    assert "The decision for each patient" in text
    rows = dict(decision_rows(decided))
    assert rows["Target"] == "A sensitivity of at least 90 % for patients"
    assert rows["Guarantee"] == "Holds for new patients with a confidence of 95 %"
    assert rows["Chosen on"] == "90 frames, of 40 patients"
    assert "The decision for each frame" in Reader(evaluation_page(full)).text


def test_the_words_follow_the_user(page):
    text = Reader(page).text
    assert not re.search(r"\bgroups?\b", text, re.IGNORECASE)
    drawn = [attributes for tag, attributes in Reader(page).elements if tag == "svg"]
    assert not any(re.search(r"\bgroups?\b", str(each["aria-label"])) for each in drawn)
    for words in ("frames with a polyp", "Patients", "31 polyps", "By site"):
        assert words in text or "31" in words


def test_an_irregular_plural_is_used(full):
    text = Reader(evaluation_page(replace(full, unit="query/queries"))).text
    assert "queries with a polyp raise an alarm" in text
    assert "query/queries" not in text
    assert "querys" not in text


def test_no_internals_before_the_appendix(page):
    text = Reader(page).text
    before, appendix = text.split("How this was computed", 2)[1:]
    for words in ("lam", "row ", "seed", "SHA"):
        assert not re.search(rf"\b{words}", before), words
    assert "lam" in appendix
    assert "50 resamples of 40 patients, seed 0" in appendix


def test_every_part_is_drawn(full, page, tmp_path):
    ids = {a.get("id") for tag, a in Reader(page).elements if tag == "figure"}
    assert {"flow", "levels_roc", "yield", "subgroups_1_sensitivity"} <= ids
    others = {"subgroups_1_sensitivity", "subgroups_1_specificity"}
    assert ids - others <= FIGURE_NAMES
    save_evaluation(full, tmp_path / "r.html")
    save_evaluation(made_evaluation(is_full=False), tmp_path / "r.html")
    left = {file.name for file in (tmp_path / "r_figures").iterdir()}
    assert not any(name.startswith(("subgroups", "yield", "levels")) for name in left)


@pytest.mark.parametrize(
    ("rule", "found", "target", "guarantee", "held"),
    [
        (
            DecisionRule("group", "specificity", 0.9, None, "40 groups"),
            0.95,
            "A specificity of at least 90 %",
            "None: the target was met on the data that the threshold was chosen on",
            "The target is reached",
        ),
        (
            DecisionRule("group", "specificity", 0.97, 0.9, "40 groups, of 1 patient"),
            0.95,
            "A specificity of at least 97 %",
            "Holds for new patients with a confidence of 90 %",
            "Below the target, by no more than chance allows",
        ),
        (
            DecisionRule("group", "false_alarms", 2.0, 0.9, "40 groups"),
            0.95,
            "At most 2 false alarms per group",
            "Holds for new groups with a confidence of 90 %",
            None,
        ),
    ],
)
def test_the_decision_has_its_target_and_guarantee(rule, found, target, guarantee, held):
    made = made_evaluation()
    shares = Interval(found, found - 0.03, found + 0.03)
    rows = dict(
        decision_rows(replace(made, decision=replace(made.decision, rule=rule, specificity=shares)))
    )
    assert (rows["Target"], rows["Guarantee"]) == (target, guarantee)
    assert rows.get("Found here") == held


def test_a_target_that_is_not_kept_is_on_the_first_screen(full):
    sentence = "The threshold does not hold here: it was chosen for something else."
    rule = DecisionRule("group", "specificity", 0.99, None, "40 groups")
    decision = replace(full.decision, contradiction=sentence, rule=rule, is_chosen_here=False)
    changed = replace(full, decision=decision)
    assert dict(decision_rows(changed))["Found here"].startswith("Less than the target")
    text = Reader(evaluation_page(changed)).text
    assert text.index(sentence) < text.index("What the threshold does")


def test_levels_are_in_their_order(full):
    assert [row.name for row in level_rows(full)] == ["Frames", "Patients"]
    assert level_rows(full)[0].about == "40 with, 120 without"


def test_typical_cases_are_those_of_median_score(full):
    scores = np.sort(full.positive_scores[full.positive_scores >= full.decision.point.threshold])
    assert full.typical["found"].score == scores[len(scores) // 2]
    assert [each.title for each in typical_cases(full)] == ["Found", "Missed", "False alarm"]
    none = replace(full, typical={}, decision=replace(full.decision, point=replace(
        full.decision.point, true_positives=40, false_negatives=0)))  # fmt: skip
    assert typical_cases(none)[1].about == "No frame with a polyp was missed."
    assert typical_cases(none)[0].about == "40 frames, without candidates to show"


def test_the_flow_adds_up(full):
    figure = flow_of(full)
    texts = [text.get_text() for text in figure.drawing.axes[0].texts]
    point = full.decision.point
    outcomes = [point.true_positives, point.false_negatives, point.false_positives,
                point.true_negatives]  # fmt: skip
    assert [int(text) for text in texts if text.isdigit()] == [40, 120, *outcomes]
    assert "No frame was left out." in figure.caption
    steps = [DataStep("in the data", 170), DataStep("left out: too blurred", 10, True)]
    less = flow_of(replace(full, flow=[*steps, DataStep("evaluated", 160)]))
    texts = [text.get_text() for text in less.drawing.axes[0].texts]
    assert "170 frames of 40 patients" in texts
    assert "10 frames" in texts
    assert "left out: too blurred" in texts
    assert "160 frames evaluated" in texts


def test_yields_that_are_not_reached_say_so(full):
    found = {kind: np.minimum(each, 0.97) for kind, each in full.yields.found.items()}
    rows = yield_rows(replace(full, yields=replace(full.yields, found=found)))
    assert [row.words for row in rows if row.share == 1.0] == ["not reached"] * 2
    assert all(math.isnan(row.shown) == (row.words == "not reached") for row in rows)


def test_odd_words_and_names_break_nothing(full):
    long = "x" * 300
    levels = [replace(full.levels[0], name=NASTY)]
    subgroups = [replace(full.subgroups[0], column=NASTY)]
    odd = replace(full, unit=NASTY, title=long, levels=levels, subgroups=subgroups)
    odd = replace(odd, object_word=long)
    reader = Reader(evaluation_page(odd))
    assert {tag for tag, _ in reader.elements}.isdisjoint({"script", "img"})
    assert Kinds("unit", "ulcer").positive(1) == "unit with an ulcer"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_is_one_screen_and_accessible(page, tmp_path, scheme):
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    with chromium() as browser, visiting(browser, file, color_scheme=scheme) as visit:
        visit.page.set_viewport_size({"width": 1280, "height": 900})
        bottom = visit.page.evaluate(
            "document.querySelector('.glance').getBoundingClientRect().bottom"
        )
        assert bottom <= 900
        serious = [
            each["id"]
            for each in Axe().run(visit.page).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == []
        visit.page.set_viewport_size({"width": 390, "height": 844})
        assert visit.page.evaluate(WIDER_THAN_THE_WINDOW) <= 0
        assert visit.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        assert visit.errors == []


def test_a_comparison_is_against_one_reference():
    comparison = made_comparison()
    opening, best, cost = summary_sentences(comparison)
    assert opening == (
        "GCM is better than MI-SVM and SVM, and ties with GCM without grouping: the difference is "
        "within chance."
    )
    assert best.startswith("GCM has the largest AUC: of a positive and a negative group drawn at")
    assert cost.startswith("Of GCM and the models that tie with it, GCM without grouping takes the")
    against = against_reference(comparison)
    verdicts = {name: found.verdict for name, found in against.items()}
    assert verdicts == {"GCM without grouping": "tie", "MI-SVM": "behind", "SVM": "behind"}
    for found in against.values():
        assert found.difference.low < found.difference.estimate < found.difference.high
    alone = made_comparison(["GCM"], is_full=False)
    assert summary_sentences(alone)[0] == "GCM is the only model."
    assert summary_sentences(made_comparison(["SVM", "GCM"]))[0] == "GCM is better than SVM."
    text = Reader(comparison_page(comparison)).text
    assert "Against GCM" in text
    assert "reference" in text


def test_a_model_that_was_not_tested_does_not_tie():
    made = made_comparison()
    pairs = [pair for pair in made.pairs if pair.a == "MI-SVM"]
    comparison = replace(made, pairs=pairs)
    assert comparison.reference == "MI-SVM"
    assert list(against_reference(comparison)) == ["SVM"]
    opening, best, *rest = summary_sentences(comparison)
    assert "GCM" not in opening
    assert best.startswith("GCM has the largest AUC")
    assert not any("GCM" in sentence for sentence in rest)
    assert Reader(comparison_page(comparison)).text.count("not tested") == 2
    nothing = replace(made, pairs=[])
    assert summary_sentences(nothing)[0] == "No two models were tested against each other."
    assert "tie" not in " ".join(summary_sentences(nothing)).replace("times", "")


@pytest.mark.parametrize(
    ("low", "high", "p_value", "verdict"),
    [
        (0.01, 0.03, 0.001, "better"),
        (-0.03, -0.01, 0.001, "behind"),
        (-0.01, 0.03, 0.3, "tie"),
        (0.001, 0.03, 0.06, "tie"),
        (-0.001, 0.03, 0.04, "not clear"),
        (math.nan, math.nan, math.nan, "not clear"),
    ],
)
def test_a_tie_needs_a_test_that_finds_chance(low, high, p_value, verdict):
    made = made_comparison(["SVM", "GCM"])
    auc = made.models[0].group_roc.auc
    estimate = 0.01 if math.isnan(low) else (low + high) / 2
    difference = Interval(-estimate, -high, -low)  # of the reference minus the model
    result = Comparison(auc, auc, difference, p_value, 2000, "group_roc_auc")
    comparison = replace(made, pairs=[Pair("GCM", "SVM", result)])
    assert against_reference(comparison)["SVM"].verdict == verdict
    assert ("tie" in summary_sentences(comparison)[0]) == (verdict == "tie")
    assert verdict in Reader(comparison_page(comparison)).text


def test_a_comparison_in_the_words_of_the_user():
    text = Reader(comparison_page(replace(made_comparison(), unit="query/queries"))).text
    found = re.findall(r".{30}\bgroups?\b.{20}", text.replace("negative groups. A", ""))
    assert found == []
    before, appendix = text.split("How this was computed", 2)[1:]
    assert "lam" not in before
    assert "lam=0.9 (3 folds)" in appendix
