"""``groupcm evaluate --images``: pictures of the groups to look at, in the report."""

from __future__ import annotations

import re
import warnings
from base64 import b64decode
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from groupcm import GroupClassifier
from groupcm.annotations import Annotations, Mask, read
from groupcm.annotations.runs import compress
from groupcm.cli import main
from groupcm.data.tables.formats import write_table
from groupcm.data.tables.roles import ColumnRoles, TableDescription, describe
from groupcm.evaluation import table_evaluation
from groupcm.images.synthetic import write_frames
from groupcm.persistence.model_file import read as load_saved
from groupcm.persistence.model_file import save

HEIGHT, WIDTH, N_CANDIDATES = 48, 64, 3
COLUMNS = {"group": "picture", "label": "label", "overlap": "overlap"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Curves and intervals take most of the time, and other tests look at them."""
    monkeypatch.setattr("groupcm.report.evaluation.evaluation_figures", lambda _: [])
    quick = table_evaluation.evaluate_scored
    monkeypatch.setattr(
        table_evaluation, "evaluate_scored", lambda *a, **k: quick(*a, **k, n_resamples=20)
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Twelve frames, a table of three candidates each, and a model that knows the truth."""
    monkeypatch.chdir(tmp_path)
    marked = write_frames(
        tmp_path / "made", 12, share_with_polyps=0.5, height=HEIGHT, width=WIDTH, seed=5
    )
    table = as_table(marked)
    write_table(table, "test.parquet")
    model = GroupClassifier(0.9).fit(
        table["truth"].to_numpy()[:, None], table["label"].to_numpy(), picture_numbers(table)
    )
    model.feature_names_in_ = np.array(["truth"], dtype=object)
    save(model, "m.json", notes={"columns": COLUMNS})
    return tmp_path


def picture_numbers(table: pa.Table) -> np.ndarray:
    return np.repeat(np.arange(len(table) // N_CANDIDATES), N_CANDIDATES)


def as_table(marked: Annotations) -> pa.Table:
    """Of each frame a box in the middle, the polyp's own pixels if it has one, a box aside."""
    rows = []
    for number, picture in enumerate(marked):
        for candidate in range(N_CANDIDATES):
            left = 20.0 if candidate == 0 else 2.0
            mask, label = None, candidate == 1 and picture.is_positive
            if label:
                region = picture.objects[0].region
                assert isinstance(region, Mask)
                mask = compress(region.counts)
            rows.append(
                {
                    "picture": picture.name,
                    "label": int(label),
                    "overlap": float(label),
                    "left": left,
                    "top": 10.0,
                    "right": left + 12,
                    "bottom": 30.0,
                    "mask": mask,
                    "height": HEIGHT,
                    "width": WIDTH,
                    "truth": float(label) + 0.01 * number,
                }
            )
    return pa.Table.from_pylist(rows)


PICTURES = ["--images", "made/frames"]
MARKED = ["--annotations", "made/annotations.json"]


def evaluate(*options: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return main(["evaluate", "m.json", "test.parquet", *options])


def shown(page: str) -> list[np.ndarray]:
    found = re.findall(r'<img src="data:image/jpeg;base64,([^"]+)"', page)
    return [np.asarray(Image.open(BytesIO(b64decode(each))), dtype=float) for each in found]


def test_pictures_show_the_winner_and_what_was_marked(folder):
    assert evaluate(*PICTURES, "--report", "winner.html") == 0
    assert evaluate(*PICTURES, *MARKED, "--report", "both.html") == 0
    winner, both = ((folder / f"{name}.html").read_text() for name in ("winner", "both"))
    alone, beside = shown(winner), shown(both)
    assert len(alone) == len(beside) == 19  # a typical one, six surest, six hardest, six negative
    assert {each.shape for each in alone} == {(360, 480, 3)}
    # Dashes lie on the polyps of the positive ones, and nothing on the others.
    changed = [np.abs(a - b).mean() > 0.1 for a, b in zip(alone, beside, strict=True)]
    assert changed == [True] * 13 + [False] * 6


def test_the_outline_is_where_the_winner_is(folder):
    assert evaluate(*PICTURES, "--report", "r.html") == 0
    page = (folder / "r.html").read_text()
    name = re.findall(r'alt="([^":]+): the winner', page)[0]
    with Image.open(folder / "made" / "frames" / name) as frame:
        plain = np.asarray(frame.convert("RGB").resize((480, 360)), dtype=float)
    region = read(folder / "made" / "annotations.json")[name].objects[0].region
    rows, columns = np.nonzero(region.mask(HEIGHT, WIDTH))
    drawn = np.abs(shown(page)[0] - plain).max(axis=2) > 90
    down, across = (np.median(each) * WIDTH / 480 for each in np.nonzero(drawn))
    assert rows.min() - 8 < down < rows.max() + 2  # the score stands above it
    assert columns.min() - 2 < across < columns.max() + 2


def test_a_picture_that_is_not_there_is_named(folder, capsys):
    (folder / "made" / "frames" / "patient1_frame03.png").unlink()
    Image.new("RGB", (20, 10)).save(folder / "made" / "frames" / "patient1_frame04.png")
    (folder / "made" / "frames" / "patient1_frame05.png").write_bytes(b"")
    assert evaluate(*PICTURES, "--report", "r.html") == 0
    page = (folder / "r.html").read_text()
    told = capsys.readouterr().err
    for sentence in (
        "the picture made/frames/patient1_frame03.png does not exist",
        "the picture made/frames/patient1_frame04.png has 20 × 10 pixels, and its candidates are "
        "of one of 64 × 48",
        "the picture made/frames/patient1_frame05.png cannot be read: the file is empty",
    ):
        assert f"Not shown: {sentence}." in page
        assert f"groupcm: warning: {sentence}; the report does not show it." in told
    assert 0 < len(shown(page)) < 19


def test_a_name_that_leads_out_of_the_folder(folder):
    table = pq.read_table("test.parquet")
    names = pa.array([f"../{name}" for name in table["picture"].to_pylist()])
    write_table(table.set_column(0, "picture", names), "test.parquet")
    assert evaluate(*PICTURES, "--report", "r.html") == 0
    page = (folder / "r.html").read_text()
    assert shown(page) == []
    assert page.count("lies outside the folder of pictures") == 19


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--images", "made/frames"], "--images is for the report; give --report"),
        (["--annotations", "made/annotations.json"], "give their folder as --images"),
        (["--images", "no", "--report", "r.html"], "the folder of pictures no does not exist"),
        (["--images", "empty", "--report", "r.html"], "there is no picture in the folder empty"),
        ([*PICTURES, "--annotations", "no.json", "--report", "r.html"], "no.json"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(folder, options, sentence, capsys):
    (folder / "empty").mkdir()
    assert evaluate(*options) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1
    assert not (folder / "r.html").exists()


def test_a_table_that_does_not_tell_where_candidates_are(folder, capsys):
    write_table(pq.read_table("test.parquet").drop_columns(["mask"]), "test.parquet")
    assert evaluate(*PICTURES, "--report", "r.html") == 2
    assert "test.parquet has no column 'mask', so where" in capsys.readouterr().err
    assert not (folder / "r.html").exists()


@pytest.mark.parametrize(("recipe", "warned"), [({"at_most": 9}, True), ({"at_most": 3}, False)])
def test_candidates_made_by_another_recipe_are_told(folder, recipe, warned, capsys):
    table = pq.read_table("test.parquet")
    about = TableDescription(ColumnRoles.of(COLUMNS), ("truth",), recipe)
    pq.write_table(table.cast(describe(table.schema, about)), "test.parquet")
    saved = load_saved("m.json")
    save(saved.model, "m.json", notes={"columns": COLUMNS, "recipe": {"at_most": 3}})
    assert main(["evaluate", "m.json", "test.parquet"]) == 0
    assert ("made by another recipe" in capsys.readouterr().err) == warned
