"""``groupcm images score``: tables, overlays, marks, and what is said when something is wrong."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from picture_model import (
    FRAMES,
    HEIGHT,
    WIDTH,
    calibrated,
    cheap_recipe,
    fitted,
    saved_model,
    some_frames,
)
from PIL import Image

import groupcm
from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, read, write
from groupcm.annotations.runs import decompress
from groupcm.cli._main import main
from groupcm.estimators.place import set_place
from groupcm.images.features import FAMILIES
from groupcm.images.overlap import overlap
from groupcm.images.proposals import PROPOSERS, Proposals
from groupcm.images.recipe import Recipe
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.scoring.vote import vote
from groupcm.images.synthetic import write_frames
from groupcm.images.tables.propose import propose_folder
from groupcm.metrics import group_roc_auc

THRESHOLD = 0.25


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder of six frames with annotations, and models."""
    home = tmp_path_factory.mktemp("été 1")
    write_frames(home / "made", 6, seed=1, **FRAMES)
    saved = saved_model(operating_point={"threshold": THRESHOLD, "chosen": "there"})
    groupcm.save(saved.model, home / "model.json", notes=saved.notes)
    groupcm.save(fitted(), home / "plain.json", notes=saved_model().notes)
    groupcm.save(calibrated(), home / "calibrated.json", notes=saved_model().notes)
    groupcm.save(fitted(), home / "tables.json")
    return home


def score(home: Path, *options, model: str = "model.json", folder=None, output=None) -> int:
    folder = home / "made" / "frames" if folder is None else folder
    arguments = ["images", "score", home / model, folder, "--workers", "1", *options]
    return main([str(each) for each in arguments if each != ""] + ["-o", str(output)])


def rows_of(path: Path) -> list[dict]:
    return pyarrow.parquet.read_table(path).to_pylist()


def expected(model=None, **options) -> dict:
    scorer = PictureScorer(model or fitted(), cheap_recipe(), threshold=THRESHOLD, **options)
    frames = some_frames(6)
    return {each.picture.name: scorer(each.pixels) for each in frames}


def truth_of(home: Path) -> Annotations:
    return read(home / "made" / "annotations.json")


def test_a_row_a_picture(home, tmp_path, capsys):
    assert score(home, output=tmp_path / "scores.parquet") == 0
    table = pyarrow.parquet.read_table(tmp_path / "scores.parquet")
    assert table.column_names == [
        *("image", "score", "alarm", "winner", "left", "top", "right", "bottom", "mask"),
        *("height", "width", "n_candidates", "n_marked"),
    ]
    rows, known = table.to_pylist(), expected()
    assert [row["image"] for row in rows] == list(known)
    for row, found in zip(rows, known.values(), strict=True):
        assert row["score"] == pytest.approx(found.score, rel=1e-9)
        assert row["winner"] == found.winner
        edges = [row[name] for name in ("left", "top", "right", "bottom")]
        assert edges == pytest.approx(found.regions.edges[found.winner].tolist())
        assert row["mask"] is None
        assert (row["height"], row["width"]) == (HEIGHT, WIDTH)
        assert row["n_candidates"] == len(found.scores)
        assert row["alarm"] == (row["score"] >= THRESHOLD)
        assert row["n_marked"] == (found.scores >= THRESHOLD).sum()
    assert {row["alarm"] for row in rows} == {True, False}
    assert f"{tmp_path / 'scores.parquet'}" in capsys.readouterr().out


def test_probabilities_and_the_threshold_that_follows_from_them(home, tmp_path):
    assert score(home, model="calibrated.json", output=tmp_path / "s.csv") == 0
    table = pyarrow.csv.read_csv(tmp_path / "s.csv")
    assert table.column_names[:4] == ["image", "score", "probability", "alarm"]
    alarms = [value > 0.5 for value in table.column("probability").to_pylist()]
    assert table.column("alarm").to_pylist() == alarms
    known = expected(calibrated())
    probabilities = table.column("probability").to_pylist()
    assert probabilities == pytest.approx([each.probability for each in known.values()])


def test_what_people_marked_is_compared_with(home, tmp_path, capsys):
    annotations = home / "made" / "annotations.json"
    assert score(home, "--annotations", annotations, output=tmp_path / "s.parquet") == 0
    told = {line.split("  ")[1]: line for line in capsys.readouterr().out.splitlines()[:-1]}
    truth, known = truth_of(home), expected()
    positive = np.array([truth[name].is_positive for name in known])
    auc = group_roc_auc(positive, [found.score for found in known.values()])
    assert f"{auc:.4f}" in told["AUC"]
    on = {"winner": 0, "vote": 0}
    for name, found in known.items():
        objects = [marked.region for marked in truth[name].objects]
        if objects:
            fit = overlap(found.regions, objects, "box_iou").max(axis=1)
            on["winner"] += fit[found.winner] >= 0.3
            on["vote"] += fit[vote(found.regions, found.scores)] >= 0.3
    assert f"{on['winner']} of {positive.sum()} positive" in told["winner on object"]
    assert f"{on['vote']} of {positive.sum()} positive" in told["vote on object"]


def test_pictures_that_nobody_has_looked_at_do_not_count(home, tmp_path, capsys):
    truth = truth_of(home)
    pictures = [
        Picture(each.name, each.width, each.height, each.objects, done=each.is_positive)
        for each in truth
    ]
    write(Annotations(tuple(pictures), truth.categories), tmp_path / "some.json", "coco")
    assert score(home, "--annotations", tmp_path / "some.json", output=tmp_path / "s.csv") == 0
    assert "not defined: every annotated picture shows an object" in capsys.readouterr().out


def test_the_vote_places(home, tmp_path):
    assert score(home, "--vote", output=tmp_path / "s.parquet") == 0
    known = expected(vote=True)
    for row in rows_of(tmp_path / "s.parquet"):
        found = known[row["image"]]
        assert (row["winner"], row["located"]) == (found.winner, found.located)
        assert row["left"] == pytest.approx(found.regions.edges[found.located, 0])


def test_a_pair_places_by_its_second_model_and_refines_on_request(home, tmp_path):
    pair, place = deepcopy(fitted()), deepcopy(fitted())
    place.coef_ = -place.coef_
    set_place(pair, place)
    groupcm.save(pair, home / "pair.json", notes=saved_model().notes)
    scorers = expected(pair), expected(pair, refine=True), expected()
    for option, wanted in (("", scorers[0]), ("--refine", scorers[1])):
        assert score(home, option, model="pair.json", output=tmp_path / "s.parquet") == 0
        for row in rows_of(tmp_path / "s.parquet"):
            found, alone = wanted[row["image"]], scorers[2][row["image"]]
            assert row["score"] == alone.score
            assert row["winner"] == alone.winner
            assert row["located"] == found.located == np.argmax(found.place_scores)
            assert row["located"] == np.argmin(alone.scores)
            edges = [row[edge] for edge in ("left", "top", "right", "bottom")]
            assert edges == pytest.approx(found.place.edges[0])
    assert any(one.refined is not None for one in scorers[1].values())


def test_masks_are_written_as_coco_does(home, tmp_path):
    recipe = Recipe(Proposals((PROPOSERS["superpixels"](),)), (FAMILIES["colour"](),))
    names = recipe.feature_names
    model = fitted(names)
    groupcm.save(model, tmp_path / "m.json", notes={"recipe": recipe.to_json()})
    assert score(home, model=tmp_path / "m.json", output=tmp_path / "s.parquet") == 0
    scorer, masks = PictureScorer(model, recipe), 0
    by_name = {each.picture.name: each.pixels for each in some_frames(6)}
    for row in rows_of(tmp_path / "s.parquet"):
        found = scorer(by_name[row["image"]])
        if row["mask"] is None:
            assert found.regions.is_box[found.winner]
            continue
        masks += 1
        runs = decompress(row["mask"])
        flat = np.repeat(np.arange(runs.size) % 2 == 1, runs)
        np.testing.assert_array_equal(
            flat.reshape(WIDTH, HEIGHT).T, found.regions.mask(found.winner)
        )
    assert masks


def test_marks_go_to_a_file_of_annotations(home, tmp_path):
    options = ("--threshold", "0.1", "--marks", tmp_path / "marks.json")
    assert score(home, *options, output=tmp_path / "s.parquet") == 0
    marked, known = read(tmp_path / "marks.json"), expected()
    rows = {row["image"]: row for row in rows_of(tmp_path / "s.parquet")}
    assert [picture.name for picture in marked] == list(known)
    for picture in marked:
        scores = known[picture.name].scores
        wanted = sorted(scores[scores >= 0.1], reverse=True)
        assert [each.score for each in picture.objects] == pytest.approx(wanted)
        assert rows[picture.name]["n_marked"] == len(wanted)
        assert rows[picture.name]["alarm"] == bool(wanted)
    assert any(picture.objects for picture in marked)


def test_overlays(home, tmp_path):
    folder = tmp_path / "frames"
    (folder / "day 1").mkdir(parents=True)
    frames = some_frames(3)
    Image.fromarray(frames[0].pixels).save(folder / "été.png")
    Image.fromarray(frames[1].pixels).save(folder / "day 1" / "b.jpg")
    pages = [Image.fromarray(frame.pixels) for frame in frames[:2]]
    pages[0].save(folder / "stack.tif", save_all=True, append_images=pages[1:])
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    drawn = tmp_path / "drawn"
    for _ in range(2):  # a second time overlays are replaced
        options = ("--overlays", drawn)
        assert score(home, *options, folder=folder, output=tmp_path / "s.csv") == 0
        names = sorted(path.relative_to(drawn).as_posix() for path in drawn.rglob("*.*"))
        assert names == ["day 1/b.jpg", "stack_1.png", "stack_2.png", "été.png"]
    with Image.open(drawn / "été.png") as picture:
        assert picture.size == (480, 360)
        assert len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 1000
    assert before == {path: path.read_bytes() for path in folder.rglob("*.*")}


def test_the_truth_is_drawn_into_overlays(home, tmp_path):
    truth = truth_of(home)
    for name, options in (
        ("with", ("--annotations", home / "made" / "annotations.json")),
        ("without", ()),
    ):
        options = (*options, "--overlays", tmp_path / name)
        assert score(home, *options, output=tmp_path / "s.csv") == 0
    for picture in truth:
        files = [tmp_path / name / picture.name for name in ("with", "without")]
        same = files[0].read_bytes() == files[1].read_bytes()
        assert same == (not picture.is_positive)


def test_pictures_that_cannot_be_read(home, tmp_path, capsys):
    folder = tmp_path / "frames"
    folder.mkdir()
    Image.fromarray(some_frames(3)[0].pixels).save(folder / "a.png")
    (folder / "b.png").write_bytes(b"")
    whole = (folder / "a.png").read_bytes()
    (folder / "c d.png").write_bytes(whole[: len(whole) // 2])
    Image.fromarray(some_frames(3)[1].pixels).save(folder / "e.png")
    output, drawn = tmp_path / "s.parquet", tmp_path / "drawn"
    assert score(home, "--overlays", drawn, folder=folder, output=output) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert "b.png cannot be read: the file is empty (and 1 more)" in told
    assert "--skip-unreadable" in told
    assert not output.exists()
    # Nothing is lost of what was done.
    assert str(tmp_path / "s.partial.parquet") in told
    assert [row["image"] for row in rows_of(tmp_path / "s.partial.parquet")] == ["a.png", "e.png"]
    assert sorted(path.name for path in drawn.iterdir()) == ["a.png", "e.png"]
    assert score(home, "--skip-unreadable", folder=folder, output=output) == 0
    heard = capsys.readouterr()
    assert "left out: the picture" in heard.err
    assert "b.png" in heard.err
    assert "c d.png" in heard.err
    assert "2 unreadable" in heard.out
    assert len(rows_of(output)) == 2


def test_ctrl_c_loses_nothing(home, tmp_path, monkeypatch, capsys):
    from groupcm.images.scoring import scored_picture

    draw, done = scored_picture.draw_overlay, []

    def interrupted(*arguments, **options):
        done.append(1)
        if len(done) == 4:
            raise KeyboardInterrupt
        return draw(*arguments, **options)

    monkeypatch.setattr(scored_picture, "draw_overlay", interrupted)
    options = ("--overlays", tmp_path / "drawn")
    assert score(home, *options, output=tmp_path / "s.parquet") == 130
    assert len(rows_of(tmp_path / "s.partial.parquet")) == 3
    assert not (tmp_path / "s.parquet").exists()
    assert "s.partial.parquet" in capsys.readouterr().err


def test_frames_of_a_video(home, tmp_path, capsys):
    import imageio.v3

    video = tmp_path / "film.mp4"
    frames = np.stack([frame.pixels for frame in some_frames(3)])
    imageio.v3.imwrite(video, frames, plugin="FFMPEG", fps=5, quality=10)
    options = ("--video", video, "--overlays", tmp_path / "drawn")
    assert score(home, *options, folder="", output=tmp_path / "s.parquet") == 0
    names = [row["image"] for row in rows_of(tmp_path / "s.parquet")]
    assert names == ["frame 000001", "frame 000002", "frame 000003"]
    drawn = sorted(path.name for path in (tmp_path / "drawn").iterdir())
    assert drawn == [f"{name}.jpg" for name in names]
    options = ("--video", video, "--every", "2")
    assert score(home, *options, folder="", output=tmp_path / "s.parquet") == 0
    names = [row["image"] for row in rows_of(tmp_path / "s.parquet")]
    assert names == ["frame 000001", "frame 000003"]
    assert score(home, "--video", video, "--every", "0", folder="", output=tmp_path / "s.csv") == 2
    assert "--every is 0; it must be 1 or more" in capsys.readouterr().err


def test_candidates_of_a_detector(home, tmp_path, capsys):
    recipe = Recipe(Proposals((PROPOSERS["given"](),)), cheap_recipe().features)
    groupcm.save(fitted(), tmp_path / "m.json", notes={"recipe": recipe.to_json()})
    model = tmp_path / "m.json"
    name = some_frames(6)[0].picture.name
    box = AnnotatedObject("thing", Box(5, 6, 20, 21))
    write(Annotations((Picture(name, WIDTH, HEIGHT, (box,)),)), tmp_path / "given.json", "coco")
    assert score(home, model=model, output=tmp_path / "s.parquet") == 2
    assert "trained on candidates of a detector" in capsys.readouterr().err
    options = ("--given", tmp_path / "given.json")
    assert score(home, *options, output=tmp_path / "s.parquet") == 2
    assert "leave out --given" in capsys.readouterr().err
    assert score(home, *options, model=model, output=tmp_path / "s.parquet") == 0
    counts = {row["image"]: row["n_candidates"] for row in rows_of(tmp_path / "s.parquet")}
    # The whole picture is always a candidate.
    assert counts.pop(name) == 2
    assert set(counts.values()) == {1}


@pytest.mark.parametrize(
    ("options", "change", "sentence"),
    [
        ((), {"model": "tables.json"}, "trained on a table without pictures; make the table with"),
        ((), {"model": "none.json"}, "none.json: no such file"),
        ((), {"folder": "nowhere"}, "the folder of pictures nowhere does not exist"),
        ((), {"folder": ""}, "give either a folder of pictures or --video"),
        (("--video", "film.mp4"), {}, "give either a folder of pictures or --video"),
        (("--video", "film.mp4"), {"folder": ""}, "the video film.mp4 does not exist"),
        (("--threshold", "nan"), {}, "--threshold"),
        ((), {"output": "scores.xlsx"}, "end its name in .parquet, .csv or .arrow"),
        ((), {"output": "/dev/null/s.csv"}, "/dev/null is not a folder"),
        (("--marks", "marks.txt"), {}, "cannot write marks.txt: end its name in .json"),
        (("--annotations", "none.json"), {}, "none.json"),
        (("--annotations", "truth.json", "--marks", "truth.json"), {}, "truth.json is an input"),
        (("--overlays", "HOME/made/frames/drawn"), {}, "mix them with the pictures"),
        (("--workers", "0"), {}, "--workers is 0; it must be 1 or more"),
    ],
)
def test_mistakes(home, tmp_path, monkeypatch, capsys, options, change, sentence):
    monkeypatch.chdir(tmp_path)
    options = [each.replace("HOME", str(home)) for each in options]
    change = {"output": "s.csv", **change}
    try:
        status = score(home, *options, **change)
    except SystemExit as ended:  # argparse itself
        status = ended.code
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert status == 2
    assert sentence in told
    assert list(tmp_path.iterdir()) == []


def test_annotations_of_another_size_name_the_picture(home, tmp_path, capsys):
    name = some_frames(6)[1].picture.name
    marked = Picture(name, 640, 480, (AnnotatedObject("polyp", Box(5, 4, 5, 5)),))
    write(Annotations((marked,)), tmp_path / "truth.json", "coco")
    options = ("--annotations", tmp_path / "truth.json")
    assert score(home, *options, output=tmp_path / "s.csv") == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"the annotations give the picture '{name}' 640 × 480 pixels" in told


def test_an_empty_folder(home, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert score(home, folder=tmp_path / "empty", output=tmp_path / "s.csv") == 2
    assert "there is no picture in the folder" in capsys.readouterr().err


# Tables of candidates, pictures to do, patients.


@pytest.fixture(scope="module")
def candidates(home) -> Path:
    """A table of the same frames, made by the model's recipe."""
    propose_folder(
        home / "made" / "frames", home / "candidates.parquet", recipe=cheap_recipe(), workers=1
    )
    return home / "candidates.parquet"


def test_a_table_of_candidates_is_scored_like_its_pictures(home, candidates, tmp_path, capsys):
    options = ["--annotations", home / "made" / "annotations.json"]
    told, rows = [], []
    for folder, name in ((None, "folder"), (candidates, "table")):
        marks = tmp_path / f"{name}.json"
        output = tmp_path / f"{name}.parquet"
        assert score(home, *options, "--marks", marks, "--vote", folder=folder, output=output) == 0
        lines = capsys.readouterr().out.splitlines()
        told.append([line for line in lines if not line.startswith("Wrote")])
        rows.append(rows_of(output))
    assert told[0] == told[1]
    for one, other in zip(*rows, strict=True):
        assert list(one) == list(other)
        for name, value in one.items():
            is_number = isinstance(value, float)
            assert other[name] == (pytest.approx(value, rel=1e-6) if is_number else value)
    assert [len(each.objects) for each in read(tmp_path / "folder.json")] == [
        len(each.objects) for each in read(tmp_path / "table.json")
    ]


def test_what_a_table_cannot_do_is_refused(home, candidates, tmp_path, capsys):
    output = tmp_path / "s.parquet"
    assert score(home, "--overlays", tmp_path / "o", folder=candidates, output=output) == 2
    assert "--overlays needs pictures" in capsys.readouterr().err
    other = tmp_path / "other.parquet"
    propose_folder(
        home / "made" / "frames", other, recipe=replace(cheap_recipe(), longest_side=40), workers=1
    )
    assert score(home, folder=other, output=output) == 2
    assert "made in another way than those that" in capsys.readouterr().err
    pyarrow.parquet.write_table(pyarrow.table({"picture": ["a"]}), tmp_path / "plain.parquet")
    assert score(home, folder=tmp_path / "plain.parquet", output=output) == 2
    assert "give a table that groupcm images propose wrote" in capsys.readouterr().err
    assert score(home, folder=candidates, output=candidates) == 2
    assert "is an input and cannot be overwritten" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["folder", "table"])
def test_pictures_to_do_are_compared_only_where_asked(home, candidates, tmp_path, capsys, source):
    marked = truth_of(home)
    some = [picture for picture in marked if picture.objects]
    gone = Picture("gone.png", WIDTH, HEIGHT, (AnnotatedObject("polyp", Box(1, 1, 4, 4)),))
    write(Annotations((*some, gone), marked.categories), tmp_path / "some.json", "coco")
    where = {"folder": candidates if source == "table" else None, "output": tmp_path / "s.parquet"}
    options = ["--annotations", tmp_path / "some.json"]
    assert score(home, *options, **where) == 2
    error = capsys.readouterr().err
    assert "'gone.png' is not there" in error
    assert "--missing-pictures skip leaves such pictures out" in error
    options += ["--missing-pictures", "skip"]
    assert score(home, *options, **where) == 0
    shown = capsys.readouterr()
    assert "skipped 1 picture" in shown.err
    assert f"{len(some)} pictures, {len(some)} of them with an object" in shown.out
    assert score(home, *options, "--unmarked", "negative", **where) == 0
    assert f"6 pictures, {len(some)} of them with an object" in capsys.readouterr().out
    assert score(home, "--unmarked", "negative", **where) == 2
    assert "--unmarked negative is given and no --annotations" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["folder", "table"])
def test_scores_carry_the_patient_and_the_split(home, candidates, tmp_path, capsys, source):
    names = [picture.name for picture in truth_of(home)]
    lines = [f"{name};p{k // 3};{'ab'[k % 2]}" for k, name in enumerate(names)]
    (tmp_path / "patients.csv").write_text("\n".join(["image;patient;split", *lines]))
    where = {"folder": candidates if source == "table" else None, "output": tmp_path / "s.csv"}
    assert score(home, "--patients", tmp_path / "patients.csv", "--split", "b", **where) == 0
    rows = pyarrow.csv.read_csv(tmp_path / "s.csv").to_pylist()
    assert [(row["image"], row["patient"], row["split"]) for row in rows] == [
        (name, f"p{k // 3}", "b") for k, name in enumerate(names) if k % 2
    ]
    (tmp_path / "few.csv").write_text("\n".join(["image;patient;split", *lines[:-1]]))
    capsys.readouterr()
    assert score(home, "--patients", tmp_path / "few.csv", **where) == 2
    error = capsys.readouterr().err
    assert f"few.csv has no row for the picture '{names[-1]}'" in error
    assert "partial" not in error


def test_pictures_of_16_bits_that_use_few_of_their_values_are_named(home, tmp_path, capsys):
    (tmp_path / "frames").mkdir()
    for name in ("a.tif", "b.tif"):
        values = np.linspace(1000, 1300, HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
        Image.fromarray(values.astype(np.uint16)).save(tmp_path / "frames" / name)
    assert score(home, folder=tmp_path / "frames", output=tmp_path / "s.csv") == 0
    told = capsys.readouterr().err
    assert "warning: 2 pictures of more than 8 bits, such as a.tif, use less than 5% of the" in told
    assert "or convert them to 8 bits." in told


def test_the_patient_and_the_split_of_a_table_are_kept(home, candidates, tmp_path, capsys):
    table = pyarrow.parquet.read_table(candidates)
    pictures = table["picture"].to_pylist()
    place = {name: at for at, name in enumerate(dict.fromkeys(pictures))}
    for column, values in (
        ("split", ["test" if place[name] % 2 else "train" for name in pictures]),
        ("patient", [f"p{place[name] // 2}" for name in pictures]),
    ):
        table = table.append_column(column, pyarrow.array(values))
    noted, output = tmp_path / "noted.parquet", tmp_path / "s.parquet"
    pyarrow.parquet.write_table(table, noted)
    assert score(home, folder=noted, output=output) == 0
    rows = rows_of(output)
    assert list(rows[0])[:4] == ["image", "patient", "split", "score"]
    assert [row["patient"] for row in rows] == [f"p{at // 2}" for at in place.values()]
    assert score(home, "--split", "test", folder=noted, output=output) == 0
    tested = rows_of(output)
    assert tested == [row for row in rows if row["split"] == "test"]
    # A file of the user is what counts where there is one.
    lines = [f"{name},mine" for name in place]
    (tmp_path / "p.csv").write_text("\n".join(["image,patient", *lines]))
    assert score(home, "--patients", tmp_path / "p.csv", folder=noted, output=output) == 0
    assert {row["patient"] for row in rows_of(output)} == {"mine"}
    assert "split" not in rows_of(output)[0]
    changed = table.set_column(
        table.column_names.index("patient"), "patient", pyarrow.array(map(str, range(len(table))))
    )
    pyarrow.parquet.write_table(changed, noted)
    capsys.readouterr()
    assert score(home, folder=noted, output=output) == 2
    assert "have different patients or splits" in capsys.readouterr().err
