"""Reports: their words, their figures, their files, and how they open in a browser."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from browser import visiting
from report_numbers import made_comparison, made_evaluation
from report_pages import NASTY, WIDER_THAN_THE_WINDOW, Reader

from groupcm.cli.summaries import evaluation_rows
from groupcm.errors import InputError
from groupcm.evaluation.comparison.results import ModelComparison
from groupcm.evaluation.results import Evaluation, Importance
from groupcm.metrics import Interval
from groupcm.report import (
    check_report,
    comparison_page,
    evaluation_page,
    save_comparison,
    save_evaluation,
)
from groupcm.report.comparison import comparison_figures, looks_of
from groupcm.report.evaluation import evaluation_figures
from groupcm.report.save import FIGURE_NAMES

LONG_NAMES = [f"texture_gabor_orientation_{k}_scale_{k % 5}_pattern_mean" for k in range(60)]
LONG_ID = "hospital-B_series-2024-03-17_video_0007_reader_2_frame_{:08d}"
SEVEN = [
    "SVM",
    "MI-SVM",
    "GCM without grouping",
    "GCM",
    "Logistic regression",
    "Trees",
    "Cubic GCM",
]

NUMBERS: dict[str, Evaluation | ModelComparison] = {
    "evaluation": made_evaluation(),
    "evaluation_long": made_evaluation(
        features=LONG_NAMES, group=LONG_ID, is_chosen_here=True, n_positive=15, is_full=False
    ),
    "evaluation_small": made_evaluation(
        features=["a"], is_full=False, n_cases=0, n_positive=3, n_negative=9
    ),
    "evaluation_nasty": made_evaluation(
        features=[NASTY, "b"], group=NASTY, title=NASTY, n_cases=1, is_full=False
    ),
    "evaluation_trees": replace(
        made_evaluation(features=["a"], is_full=False, n_cases=0, n_positive=3, n_negative=9),
        weights=(),
        importances=[Importance(NASTY, 0.75), Importance("b", 0.0)],
    ),
    "comparison": made_comparison(SEVEN),
    "comparison_small": made_comparison(["SVM", "GCM"], is_full=False),
    "comparison_nasty": made_comparison([NASTY, "GCM"], title=NASTY, is_full=False),
}
FIGURES = {
    "evaluation": [
        "flow",
        "score_distribution",
        "group_roc",
        "group_roc_high_specificity",
        "group_precision_recall",
        "candidate_roc",
        "froc",
        "reliability",
        "weights",
        "learning_curve",
    ],
    "evaluation_small": [
        "flow",
        "score_distribution",
        "group_roc",
        "group_precision_recall",
        "weights",
    ],
    "evaluation_trees": [
        "flow",
        "score_distribution",
        "group_roc",
        "group_precision_recall",
        "importances",
    ],
    "comparison": [
        "group_auc",
        "candidate_auc",
        "paired_differences",
        "group_roc",
        "group_roc_high_specificity",
        "candidate_roc",
        "learning_curve",
    ],
    "comparison_small": [
        "group_auc",
        "paired_differences",
        "group_roc",
        "group_roc_high_specificity",
    ],
}


@cache
def page(name: str) -> str:
    """A page, written once for all tests of a process."""
    numbers = NUMBERS[name]
    if isinstance(numbers, Evaluation):
        return evaluation_page(numbers)
    return comparison_page(numbers)


def test_an_evaluation_begins_with_plain_words():
    evaluation = NUMBERS["evaluation"]
    assert isinstance(evaluation, Evaluation)
    point, text = evaluation.decision.point, Reader(page("evaluation")).text
    assert f"{point.true_positives} of 80 positive groups are found" in text
    assert f"{point.false_positives} of 300 negative groups raise a false alarm" in text
    assert "of the groups with a polyp raise an alarm (95 % CI" in text
    beginning = text.index("The decision for each group")
    assert beginning < text.index("raise an alarm") < text.index("Certificate")
    assert "Certified: within 0.00049 % of the global optimum" in text


def test_a_threshold_chosen_here_is_flagged():
    assert "Optimistic." in page("evaluation_long")
    assert "Optimistic." not in page("evaluation")


def test_parts_without_numbers_are_left_out():
    full, small = Reader(page("evaluation")).text, Reader(page("evaluation_small")).text
    for words in ("found against false alarms", "What more data would buy", "Patients", "Columns"):
        assert words in full
        assert words not in small
    assert "There are none to show." in small
    assert "There is none: how far" in small


def test_a_comparison_says_who_is_better_by_how_much():
    comparison = NUMBERS["comparison"]
    assert isinstance(comparison, ModelComparison)
    text = Reader(page("comparison")).text
    pair = comparison.pairs[0]
    difference = pair.group.difference
    assert (
        f"{pair.a} is better than {pair.b} by {difference.estimate:.3f} "
        f"({difference.low:.3f} to {difference.high:.3f}), p" in text
    )
    assert "5 folds by patients" in text
    assert "lam=0.9 (3 folds)" in text
    for model in comparison.models:
        assert f"{model.group_roc.auc.estimate:.3f}" in text


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_there_and_described(name):
    elements = Reader(page(name)).elements
    figures = [attributes["id"] for tag, attributes in elements if tag == "figure"]
    assert figures == FIGURES[name]
    drawings = [attributes for tag, attributes in elements if tag == "svg"]
    assert len(drawings) == len(figures)
    assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in drawings)
    assert sum(tag == "desc" for tag, _ in elements) == len(figures)


@pytest.mark.parametrize("name", ["evaluation", "comparison"])
def test_ids_are_unique_and_references_lead_somewhere(name):
    html = page(name)
    ids = Counter(a["id"] for _, a in Reader(html).elements if "id" in a)
    assert set(ids.values()) == {1}
    references = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', html))
    assert references
    assert {a or b for a, b in references} <= set(ids)


@pytest.mark.parametrize("name", ["evaluation", "comparison"])
def test_nothing_comes_from_elsewhere(name):
    html = page(name)
    elements = Reader(html).elements
    assert {tag for tag, _ in elements}.isdisjoint({"script", "iframe", "img", "object", "form"})
    addresses = {a.get("href") or a.get("src") for _, a in elements} - {None}
    assert all(str(address).startswith(("#", "data:")) for address in addresses)
    assert "@import" not in html
    policy = next(a["content"] for _, a in elements if "http-equiv" in a)
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


@pytest.mark.parametrize("name", ["evaluation_nasty", "comparison_nasty"])
def test_markup_in_names_stays_text(name):
    reader = Reader(page(name))
    assert {tag for tag, _ in reader.elements}.isdisjoint({"script", "img"})
    assert not any(key.startswith("on") for _, attributes in reader.elements for key in attributes)
    assert "<script>alert('x')</script> & \"$a_1$\" <img src=x onerror=alert(1)>" in reader.text
    assert "\x07" not in page(name)


def test_markup_in_names_stays_text_in_drawings():
    figures = comparison_figures(made_comparison([NASTY, "GCM"], is_full=False))
    for figure in figures:
        root = ElementTree.fromstring(figure.svg)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags.isdisjoint({"script", "img"})
        assert "script>" in "".join(root.itertext())


def test_files_are_named_after_what_they_show(tmp_path):
    files = save_evaluation(made_evaluation(is_full=False), tmp_path / "frames.v2.html")
    folder = tmp_path / "frames.v2_figures"
    names = ["flow", "score_distribution", "group_roc", "group_roc_high_specificity"]
    names += ["group_precision_recall", "weights"]
    expected = [folder / f"{name}.{kind}" for name in names for kind in ("svg", "png")]
    assert files == [tmp_path / "frames.v2.html", *expected, folder / "metrics.json"]
    assert {*tmp_path.rglob("*")} == {*files, folder}
    for file in expected:
        content = file.read_bytes()
        if file.suffix == ".png":
            assert content.startswith(b"\x89PNG")
            assert int.from_bytes(content[16:20]) > 800
        else:
            root = ElementTree.fromstring(content)
            assert root.attrib["width"].endswith("pt")
            assert any(element.tag.endswith("}text") for element in root.iter())


def test_figures_of_an_earlier_report_do_not_stay(tmp_path):
    report = tmp_path / "report.html"
    earlier = save_comparison(made_comparison(["SVM", "GCM"]), report)
    folder = tmp_path / "report_figures"
    mine = [folder / "notes.txt", folder / "my_own.png", folder / "learning_curve.pdf"]
    for file in mine:
        file.write_text("mine")
    now = save_evaluation(made_evaluation(is_full=False), report)
    assert {*earlier} - {*now}
    assert {*tmp_path.rglob("*")} == {*now, *mine, folder}


def test_every_figure_is_known_by_name():
    of_levels = {"levels_roc", "yield"}  # see test_first_screen.py
    assert {name for names in FIGURES.values() for name in names} | of_levels == FIGURE_NAMES


def test_a_missing_extra_is_said_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r'pip install "groupcm\[report\]"'):
        save_evaluation(made_evaluation(is_full=False), tmp_path / "report.html")
    with pytest.raises(InputError, match="requires matplotlib and Jinja2"):
        comparison_page(made_comparison(is_full=False))
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_place_of_the_figures_is_said_before_anything_is_written(tmp_path):
    (tmp_path / "report_figures").write_text("mine")
    with pytest.raises(InputError, match="is a file, where a folder is needed"):
        check_report(tmp_path / "report.html")
    with pytest.raises(InputError, match="report_figures"):
        save_comparison(made_comparison(is_full=False), tmp_path / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report_figures"]


def test_a_model_has_one_colour_in_all_figures():
    comparison = made_comparison()
    looks = looks_of(comparison)
    figures = {figure.name: figure.drawing for figure in comparison_figures(comparison)}
    for name in ("group_roc", "candidate_roc", "learning_curve"):
        colours = {
            str(line.get_label()).split(":")[0]: line.get_color()
            for line in figures[name].axes[0].get_lines()
            if not str(line.get_label()).startswith("_")
        }
        assert colours == {model: look.colour for model, look in looks.items()}, name
    marks = [
        line for line in figures["group_auc"].axes[0].get_lines() if line.get_marker() != "None"
    ]
    best_first = sorted(comparison.models, key=lambda model: -model.group_roc.auc.estimate)
    assert [mark.get_color() for mark in marks] == [looks[m.name].colour for m in best_first]


def test_the_threshold_is_marked_where_it_is():
    evaluation = made_evaluation(is_full=False)
    point = evaluation.decision.point
    figures = {figure.name: figure.drawing for figure in evaluation_figures(evaluation)}
    for name, expected in (
        ("group_roc", (1 - point.specificity, point.sensitivity)),
        ("group_roc_high_specificity", (1 - point.specificity, point.sensitivity)),
        ("group_precision_recall", (point.sensitivity, point.precision)),
    ):
        lines = figures[name].axes[0].get_lines()
        mark = next(line for line in lines if line.get_label() == "chosen threshold")
        np.testing.assert_allclose(np.asarray(mark.get_xydata())[0], expected)


def test_numbers_that_are_not_known_are_said_to_be_so():
    evaluation = made_evaluation(is_full=False)
    unknown = Interval(0.9, math.nan, math.nan)
    point = replace(
        evaluation.decision.point,
        threshold=math.inf,
        sensitivity=0.0,
        specificity=1.0,
        precision=math.nan,
        true_positives=0,
        false_negatives=80,
        false_positives=0,
        true_negatives=300,
    )
    evaluation = replace(
        evaluation,
        group_roc=replace(
            evaluation.group_roc,
            auc=unknown,
            band_low=np.full_like(evaluation.group_roc.band_low, math.nan),
            band_high=np.full_like(evaluation.group_roc.band_high, math.nan),
        ),
        metrics={"average_precision": unknown},
        decision=replace(
            evaluation.decision, point=point, sensitivity=unknown, specificity=unknown
        ),
    )
    text = Reader(evaluation_page(evaluation)).text
    assert "Where no group raises an alarm, 0 of 80 positive groups are found" in text
    assert "∞: no group raises an alarm" in text
    assert "At the threshold" not in text
    assert "0 of the 0 groups" not in text
    rows = dict(evaluation_rows(evaluation))
    assert rows["threshold"].startswith("∞, no group raises an alarm (")
    assert "AUC 0.900 (interval not known)" in text
    assert "nan" not in text.lower().split()


def test_a_user_s_own_settings_of_matplotlib_neither_matter_nor_change():
    expected = page("comparison_small")
    with matplotlib.rc_context({"text.usetex": True, "font.size": 30, "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams)
        numbers = NUMBERS["comparison_small"]
        assert isinstance(numbers, ModelComparison)
        assert comparison_page(numbers) == expected
        assert dict(matplotlib.rcParams) == before


EMPTY_FIGURES = """
[...document.querySelectorAll("figure")].filter(figure => {
  const box = figure.querySelector("svg").getBoundingClientRect()
  return !(box.width > 100 && box.height > 60)
}).map(figure => figure.id)
"""
HEADINGS = "[...document.querySelectorAll('h1, h2, h3')].map(heading => +heading.tagName[1])"


@pytest.mark.parametrize("name", NUMBERS)
def test_pages_open_in_a_browser(name, browser, tmp_path):
    file = tmp_path / f"{name}.html"
    file.write_text(page(name), encoding="utf-8")
    with visiting(browser, file) as visit:
        n_figures = visit.page.locator("figure svg").count()
        assert n_figures == page(name).count("<figure")
        assert visit.page.evaluate(EMPTY_FIGURES) == []
        headings = visit.page.evaluate(HEADINGS)
        assert headings.count(1) == 1
        assert headings[0] == 1
        assert max(np.diff(headings)) == 1
        for width in (1200, 768, 360):
            visit.page.set_viewport_size({"width": width, "height": 700})
            assert visit.page.evaluate(WIDER_THAN_THE_WINDOW) <= 0, width
            assert visit.page.evaluate(EMPTY_FIGURES) == []
        assert visit.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        assert visit.messages == []
        assert visit.errors == []
        assert visit.requests == [file.as_uri()]


def test_a_browser_would_tell_of_a_request(browser, tmp_path):
    (tmp_path / "style.css").write_text("p { color: red }")
    file = tmp_path / "page.html"
    file.write_text("<link rel=stylesheet href=style.css><script>console.log('hm'); no()</script>")
    with visiting(browser, file) as visit:
        assert [Path(address).name for address in visit.requests] == ["page.html", "style.css"]
        assert visit.messages[0] == "hm"
        assert len(visit.errors) == 1


def test_text_is_readable_in_the_dark(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page("comparison_small"), encoding="utf-8")
    contrast = """
    () => {
      const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(v => v / 255)
          .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      }
      return [...document.querySelectorAll("figure text")].map(text => {
        const card = getComputedStyle(text.closest("figure")).backgroundColor
        const [a, b] = [light(getComputedStyle(text).fill), light(card)].sort((a, b) => b - a)
        return (a + 0.05) / (b + 0.05)
      })
    }
    """
    for scheme in ("light", "dark"):
        with visiting(browser, file, color_scheme=scheme) as visit:
            contrasts = visit.page.evaluate(contrast)
            assert len(contrasts) > 20
            assert min(contrasts) > 4.5, scheme
