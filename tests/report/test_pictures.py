"""Reports with pictures: what is shown of the groups to look at, and how it opens in a browser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from browser import chromium, visiting
from report_numbers import made_evaluation
from report_pages import NASTY, WIDER_THAN_THE_WINDOW, Reader

from groupcm.evaluation.results import Case, Evaluation, Localisation
from groupcm.metrics import Interval
from groupcm.report import CasePictures, evaluation_page, save_evaluation
from groupcm.report.evaluation import localisation_sentence
from groupcm.report.picture_folder import small_jpeg

FOUND = Localisation(80, 52, Interval(0.65, 0.54, 0.75), 77)


def made_cases(first_row: int, n: int = 4, overlap: float | None = 0.417) -> list[Case]:
    return [
        Case(f"patient{k}/frame{k}.png", 2.5 - k, first_row + k, winner_overlap=overlap)
        for k in range(n)
    ]


def with_cases(**changed) -> Evaluation:
    return replace(
        made_evaluation(is_full=False),
        localisation=FOUND,
        highest_positives=made_cases(100),
        lowest_positives=made_cases(200),
        highest_negatives=made_cases(300),
        **changed,
    )


def made_jpeg(row: int) -> bytes:
    rng = np.random.default_rng(row)
    small = rng.integers(60, 200, (9, 12, 3), dtype=np.uint8)
    return small_jpeg(np.kron(small, np.ones((20, 20, 1), dtype=np.uint8)))


def of_rows(*rows: int, **options) -> CasePictures:
    return CasePictures({row: made_jpeg(row) for row in rows}, **options)


ALL_ROWS = [first + k for first in (100, 200, 300) for k in range(4)]


@pytest.fixture(scope="module", autouse=True)
def _no_figures():
    """Drawing curves takes most of the time of a page, and other tests look at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groupcm.report.evaluation.evaluation_figures", lambda _: [])
        yield


@pytest.fixture(scope="module")
def page() -> str:
    missing = {302: "the picture frames/patient2/frame2.png does not exist"}
    shown = of_rows(*(row for row in ALL_ROWS if row != 302), missing=missing, marks_objects=True)
    return evaluation_page(with_cases(), shown)


def test_localisation_stands_beside_the_auc(page):
    text = Reader(page).text
    tiles = text[text.index("(AUC)") :]
    assert tiles.index("(localisation)") < tiles.index("positive groups are found")
    assert "65.0 %" in tiles[: tiles.index("positive groups are found")].replace("\u00a0", " ")
    assert localisation_sentence(FOUND).replace("95 %", "95\u00a0%") in page
    without = Reader(evaluation_page(replace(with_cases(), localisation=None))).text
    assert "localisation" not in without
    assert "overlaps the object" not in without


def test_every_case_has_its_picture(page):
    images = [attributes for tag, attributes in Reader(page).elements if tag == "img"]
    assert len(images) == 11
    assert all(str(each["src"]).startswith("data:image/jpeg;base64,/9j/") for each in images)
    assert len({each["src"] for each in images}) == 11
    assert images[0]["alt"] == (
        "patient0/frame0.png: the winner, which scores 2.5, and what was marked, outlined"
    )
    assert "Not shown: the picture frames/patient2/frame2.png does not exist." in page


def test_the_outlines_are_explained(page):
    assert "dashed blue outline" in page
    plain = evaluation_page(with_cases(), of_rows(*ALL_ROWS))
    assert "solid outline" in plain
    assert "dashed blue outline" not in plain
    assert "what was marked" not in plain


def test_the_surest_positives_are_there_with_pictures_alone(page):
    text = Reader(page).text
    surest, hardest, false = (
        text.index(f"{kind} groups that score {end}")
        for kind, end in (("Positive", "highest"), ("Positive", "lowest"), ("Negative", "highest"))
    )
    assert surest < hardest < false
    assert text.count("overlap with the object 0.42") == 8  # of positive groups
    assert "Positive groups that score highest" not in evaluation_page(with_cases())


def test_without_overlap_the_label_of_the_winner_is_told():
    cases = [replace(case, is_winner_positive=True) for case in made_cases(200, overlap=None)]
    text = Reader(evaluation_page(replace(with_cases(), lowest_positives=cases))).text
    assert text.count("the winner is positive") == 4


def test_nothing_to_show():
    none = replace(with_cases(), highest_positives=(), lowest_positives=(), highest_negatives=())
    assert evaluation_page(none, of_rows()).count("There are none to show.") == 3


def test_names_with_markup_stay_text():
    nasty = [Case(NASTY, 1.0, 100)]
    html = evaluation_page(with_cases(), of_rows(100, missing={200: NASTY}))
    html += evaluation_page(replace(with_cases(), highest_positives=nasty), of_rows(100))
    reader = Reader(html)
    assert "script" not in {tag for tag, _ in reader.elements}
    assert not any(key.startswith("on") for _, attributes in reader.elements for key in attributes)


def test_a_report_with_pictures_is_saved(tmp_path):
    files = save_evaluation(with_cases(), tmp_path / "r.html", of_rows(100))
    assert files[0].read_text(encoding="utf-8").count("<img") == 1


@pytest.mark.parametrize("shape", [(2000, 3000), (3000, 200), (1, 1), (480, 480)])
def test_jpegs_are_small(shape):
    from io import BytesIO

    from PIL import Image

    noise = np.random.default_rng(0).integers(0, 255, (*shape, 3), dtype=np.uint8)
    jpeg = small_jpeg(noise)
    assert len(jpeg) <= 40_000
    with Image.open(BytesIO(jpeg)) as picture:
        assert max(picture.size) <= 480
        assert picture.size[0] / picture.size[1] == pytest.approx(shape[1] / shape[0], rel=0.05)


PICTURES = """
[...document.querySelectorAll("img")].map(image => {
  const box = image.getBoundingClientRect()
  return image.complete && image.naturalWidth > 0 && box.width > 100 && box.height > 60
})
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_open_in_a_browser(page, scheme, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    with chromium() as browser, visiting(browser, file, color_scheme=scheme) as visit:
        for width in (1200, 768, 360):
            visit.page.set_viewport_size({"width": width, "height": 700})
            assert visit.page.evaluate(WIDER_THAN_THE_WINDOW) <= 0, width
            assert visit.page.evaluate(PICTURES) == [True] * 11, width
        assert visit.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        assert visit.messages == []
        assert visit.errors == []
        pages = [address for address in visit.requests if not address.startswith("data:")]
        assert pages == [file.as_uri()]
