"""``groupcm images`` as a user meets it, and the commands that follow on its tables."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, read, write
from groupcm.cli._main import build_parser, main
from groupcm.cli.commands.images_propose import recipe_from
from groupcm.cli.options import images as image_options
from groupcm.cli.options import pictures as picture_options
from groupcm.data.tables.roles import described
from groupcm.images.features import FAMILIES
from groupcm.images.overlap import OVERLAPS
from groupcm.images.proposals import PROPOSERS
from groupcm.images.reading import MOST_PIXELS
from groupcm.images.recipe import Recipe
from groupcm.images.synthetic import write_frames
from groupcm.images.tables import propose
from groupcm.persistence.model_file import read as read_model

# Columns that describe candidates and are no features.
DESCRIPTIVE = ["mask", "object", "patient", "centre_inside", "centre_distance"]
QUICK = ["--proposals=windows", "--features=shape,colour", "--at-most=8", "--workers=1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_frames(folder / "made", 12, share_with_polyps=0.5, n_patients=3, height=32, width=40)
    return folder / "made"


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """The current folder, with ``frames`` and ``marks.json``."""
    (tmp_path / "frames").mkdir()
    for path in (made / "frames").iterdir():
        (tmp_path / "frames" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "marks.json").write_bytes((made / "annotations.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main(["images", "propose", "frames", *QUICK, "-o", "c.parquet", *arguments])


@pytest.fixture
def table(folder, capsys):
    """A table of candidates with labels."""
    assert run("--annotations", "marks.json") == 0
    capsys.readouterr()
    return "c.parquet"


# Proposing.


def test_propose_says_what_came_of_it(folder, capsys):
    assert run("--annotations", "marks.json") == 0
    shown = capsys.readouterr()
    lines = [line.split(None, 1) for line in shown.out.splitlines()]
    told = dict(lines[:5])
    assert told["pictures"] == "12, of them 6 with an object"
    assert re.fullmatch(r"96, 8 per picture; \d+ positive", told["candidates"])
    n_features = len(FAMILIES["shape"]().names) + len(FAMILIES["colour"]().names)
    assert told["features"] == f"{n_features}"
    assert re.fullmatch(
        r"[01]\.\d{3} of 6 objects have a candidate with box_iou ≥ 0.5 "
        r"\(mean of the best: 0\.\d\d\)",
        told["recall"],
    )
    assert "Wrote c.parquet." in shown.out
    assert "groupcm fit c.parquet --cv -o model.json" in shown.out
    assert shown.err.splitlines()[0] == "looking at the pictures"
    assert pq.read_table("c.parquet").num_rows == 96


def test_recall_by_the_overlap_asked_for(folder, capsys):
    assert run("--annotations", "marks.json", "--overlap", "object_coverage") == 0
    out = capsys.readouterr().out
    assert "have a candidate with box_iou ≥ 0.5" in out
    assert "1.000 of 6 objects have a candidate with object_coverage ≥ 0.5" in out


def test_what_was_left_out_is_counted(folder, capsys):
    marked = read("marks.json")
    some = Annotations(marked.pictures[:10], marked.categories)
    write(some, "some.json", "coco")
    assert run("--annotations", "some.json") == 0
    assert re.search(r"left out +2 unannotated; --unmarked negative", capsys.readouterr().out)
    assert run("--annotations", "some.json", "--unmarked", "negative") == 0
    shown = capsys.readouterr()
    assert "left out" not in shown.out
    assert "warning: some.json: the patient is known of 10 of 12 pictures" in shown.err


def test_pictures_in_progress_are_counted_and_never_finished_by_an_option(folder, capsys):
    content = json.loads((folder / "marks.json").read_text())
    marked = {each["image_id"] for each in content["annotations"]}
    for image in content["images"]:
        image["done"] = image["id"] not in marked
    (folder / "some.json").write_text(json.dumps(content))
    assert run("--annotations", "some.json", "--unmarked", "negative") == 0
    out = capsys.readouterr().out
    assert re.search(r"pictures +6, of them 0 with an object", out)
    assert re.search(r"left out +6 in progress; finish them", out)


def test_masks_next_to_the_pictures_are_set_aside(folder, capsys):
    marked = read("marks.json")
    for picture in marked.pictures[:3]:
        file = folder / "frames" / picture.name
        mask = Image.new("L", (picture.width, picture.height))
        mask.save(file.with_name(f"{file.stem}_label.png"))
    assert run("--annotations", "marks.json", "--unmarked", "negative") == 0
    shown = capsys.readouterr()
    assert re.search(r"pictures +12, of them 6 with an object", shown.out)
    assert re.search(
        r"warning: frames: 3 masks are stored with the pictures and set aside, such as \S+_label",
        shown.err,
    )


def test_without_annotations(folder, capsys):
    assert run("--patient-from", r"^(patient\d+)") == 0
    out = capsys.readouterr().out
    assert "object" not in out
    assert "groupcm fit" not in out
    assert described(["c.parquet"]).roles == {"group": "picture", "patient": "patient"}


def test_unreadable_pictures_are_listed(folder, capsys):
    (folder / "frames" / "an empty one.png").write_bytes(b"")
    assert run() == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error == (
        "groupcm: the picture frames/an empty one.png cannot be read: the file is empty; "
        "--skip-unreadable leaves such pictures out"
    )
    assert not (folder / "c.parquet").exists()
    assert run("--skip-unreadable") == 0
    shown = capsys.readouterr()
    assert "groupcm: left out: the picture frames/an empty one.png cannot be read" in shown.err
    assert re.search(r"unreadable +1, listed above", shown.out)


def test_ctrl_c_keeps_what_was_done(folder, capsys, monkeypatch):
    add, added = propose.Parts.add, []

    def adding(self, place, done, rows):
        if len(added) == 5:
            raise KeyboardInterrupt
        added.append(done.name)
        add(self, place, done, rows)

    with monkeypatch.context() as patch:
        patch.setattr(propose.Parts, "add", adding)
        assert run() == 130
    assert capsys.readouterr().err.splitlines()[-1] == (
        "groupcm: stopped by Ctrl-C; 5 pictures are done and kept: repeat this to continue after "
        "them"
    )
    assert run() == 0
    shown = capsys.readouterr()
    assert "continuing after 5 pictures that an earlier run did" in shown.err
    assert re.search(r"pictures +12; 5 done by an earlier run", shown.out)


def test_ctrl_c_before_anything_is_done(folder, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(propose.Parts, "add", stop)
    assert run() == 130
    assert capsys.readouterr().err.splitlines()[-1] == "groupcm: stopped by Ctrl-C"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--proposals blobs", "--proposals: there is no 'blobs'; choose from superpixels, merging"),
        ("--features hog", "--features: there is no 'hog'; choose from shape"),
        ("--features shape,shape", "--features: 'shape' is named twice"),
        ("--features shape,network", "--features names network; give one with --network FILE"),
        ("--network no.onnx", "cannot read the network no.onnx"),
        ("--at-most 0", "--at-most is 0; it must be 1 or more"),
        ("--longest-side 0", "--longest-side is 0; it must be 1 or more"),
        ("--workers 0", "--workers is 0; it must be 1 or more"),
        ("--positive-overlap 0", "--positive-overlap is 0; it must be above 0"),
        ("--overlap area", "invalid choice: 'area'"),
        ("--category polyp", "--category is given and no --annotations"),
        ("--annotations marks.json --category ulcer", "there is no category 'ulcer'; there is 'po"),
        ("--annotations no.json", "no.json"),
        ("--patient-from (", "--patient-from '(' is not a regular expression"),
        ("--proposals given", "give them with --given"),
        ("--given marks.json", "does not ask for them; add 'given' to the --proposals"),
        ("--video a.mp4", "give either a folder of pictures or --video"),
        ("--most-pixels 9", "million are read unless --most-pixels allows more"),
        ("-o c.csv", "end its name in .parquet"),
        ("-o marks.json/c.parquet", "marks.json is not a folder"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_command(folder, capsys, arguments, said):
    try:
        status = run(*arguments.split())
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("groupcm")
    assert said in error
    assert not list(folder.glob("*.parquet*"))


def test_a_folder_or_a_video_is_needed(folder, capsys):
    assert main(["images", "propose", "-o", "c.parquet"]) == 2
    assert "give either a folder of pictures or --video" in capsys.readouterr().err


# Options.


def test_options_name_what_there_is():
    assert set(picture_options.PROPOSALS) == set(PROPOSERS)
    assert set(image_options.OVERLAPS) == set(OVERLAPS)
    assert set(picture_options.FEATURES) == set(FAMILIES)
    arguments = build_parser().parse_args(["images", "propose", "x", "-o", "y"])
    assert arguments.most_pixels == MOST_PIXELS
    assert recipe_from(arguments) == Recipe()


def test_defaults_in_the_help_are_the_recipe_s(capsys):
    with pytest.raises(SystemExit):
        main(["images", "propose", "--help"])
    help = " ".join(capsys.readouterr().out.split())
    recipe = Recipe().to_json()
    kinds = dict.fromkeys(part["kind"] for part in recipe["proposals"])
    assert f"(default: {','.join(kinds)})" in help
    spelled = ["images", "propose", "frames", "--proposals", ",".join(kinds), "-o", "c.parquet"]
    assert recipe_from(build_parser().parse_args(spelled)) == Recipe()
    assert f"per picture (default: {recipe['at_most']})" in help
    assert f"this many pixels (default: {recipe['longest_side']})" in help
    kinds = {part["kind"] for part in recipe["features"]}
    assert set(picture_options.FEATURES) - kinds == {"place", "network"}


def test_a_detector_s_candidates_join_the_default_ones():
    arguments = ["images", "propose", "frames", "--given", "x.json", "-o", "c.parquet"]
    recipe = recipe_from(build_parser().parse_args(arguments))
    usual = [part["kind"] for part in Recipe().to_json()["proposals"]]
    assert [part["kind"] for part in recipe.to_json()["proposals"]] == ["given", *usual]


@pytest.mark.parametrize("arguments", [["images", "--help"], ["images", "propose", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\nfrom groupcm.cli._main import main\n"
        f"try:\n    main({arguments!r})\n"
        "except SystemExit:\n    print('heavy:', *{'numpy', 'PIL', 'skimage'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "heavy:"


# What follows: no column has to be named.


def test_fit_score_and_evaluate_need_no_columns(table, capsys):
    assert main(["fit", table, "-o", "m.json"]) == 0
    saved = read_model("m.json")
    columns = {"group": "picture", "label": "label", "overlap": "overlap", "patient": "patient"}
    columns |= {"annotated": None, "object": "object", "weight": None}
    assert saved.notes["columns"] == columns
    about = described([table])
    assert saved.model.feature_names_in_.tolist() == list(about.features)
    assert saved.notes["recipe"] == about.recipe
    assert "patients" in capsys.readouterr().out
    assert main(["score", "m.json", table, "-o", "s.csv"]) == 0
    assert "group AUC" in capsys.readouterr().out
    assert main(["evaluate", "m.json", table]) == 0
    shown = capsys.readouterr()
    assert re.search(r"objects found .*\d of 6", shown.out)
    assert "patients" in shown.out
    assert "winner on the object" in shown.out


def test_given_columns_win(table, capsys):
    feature = described([table]).features[3]
    one = ["--features", feature, "-o", "m.json"]
    assert main(["fit", table, "--group", "patient", "--label", "candidate", *one]) == 0
    saved = read_model("m.json")
    assert saved.notes["columns"] == {
        "group": "patient",
        "label": "candidate",
        "overlap": "overlap",
        "patient": None,
        "annotated": None,
        "object": None,
        "weight": None,
    }
    assert saved.model.feature_names_in_.tolist() == [feature]
    assert main(["fit", table, "--overlap", "mask", "-o", "m.json"]) == 2
    assert "the overlap column 'mask' holds text" in capsys.readouterr().err


def test_fit_says_what_a_table_lacks(folder, capsys):
    assert run() == 0
    assert main(["fit", "c.parquet", "-o", "m.json"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error == (
        "groupcm: c.parquet has no labels, since it was made without annotations; make it again "
        "with annotations, label it with groupcm images label, or name a column with --label"
    )
    pq.write_table(pq.read_table("c.parquet").replace_schema_metadata(), "plain.parquet")
    for command in (["fit", "-o", "m.json"], ["compare"], ["sort", "-o", "s.parquet"]):
        assert main([command[0], "plain.parquet", *command[1:]]) == 2
        assert capsys.readouterr().err.splitlines()[-1] == (
            "groupcm: plain.parquet does not record which column is the group; name it with --group"
        )
    assert main(["fit", "plain.parquet", "--group", "picture", "-o", "m.json"]) == 2
    assert "which column is the label; name it with --label" in capsys.readouterr().err


def test_a_plain_table_gets_no_recipe(folder, table):
    rows = pq.read_table(table).replace_schema_metadata()
    pq.write_table(rows.drop_columns(DESCRIPTIVE), "plain.parquet")
    columns = ["--group", "picture", "--label", "label", "--overlap", "overlap"]
    assert main(["fit", "plain.parquet", *columns, "-o", "m.json"]) == 0
    saved = read_model("m.json")
    assert "recipe" not in saved.notes
    assert "left" in saved.model.feature_names_in_


def test_sort_needs_no_column(folder, table):
    rows = pq.read_table(table)
    order = np.random.default_rng(0).permutation(rows.num_rows)
    pq.write_table(rows.take(order), "mixed.parquet")
    assert main(["sort", "mixed.parquet", "-o", "sorted.parquet"]) == 0
    assert described(["sorted.parquet"]) == described([table])
    assert main(["fit", "sorted.parquet", "-o", "m.json"]) == 0
    assert read_model("m.json").notes["recipe"] == described([table]).recipe


@pytest.mark.slow
def test_compare_needs_no_column(table, capsys):
    options = ["--models", "gcm", "--folds", "3", "--settings", "1", "--no-learning"]
    assert main(["compare", table, *options]) == 0
    assert "of 3 patients" in capsys.readouterr().out


# Labels made anew.


def test_label(folder, table, capsys):
    marked = read("marks.json")
    none = Annotations([Picture(p.name, p.width, p.height) for p in marked], marked.categories)
    write(none, "none.json", "coco")
    assert main(["images", "label", table, "--annotations", "none.json", "-o", "n.parquet"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"pictures +12, of them 0 with an object", shown.out)
    assert "groupcm fit" not in shown.out
    label = ["images", "label", "n.parquet", "--annotations", "marks.json"]
    assert main([*label, "-o", "again.parquet"]) == 0
    assert "groupcm fit again.parquet" in capsys.readouterr().out
    assert pq.read_table("again.parquet").equals(pq.read_table(table), check_metadata=True)
    assert main([*label, "-o", "n.parquet"]) == 2
    assert "n.parquet is one of the tables" in capsys.readouterr().err
    assert main([*label, "--positive-overlap", "7", "-o", "o.parquet"]) == 2
    assert "--positive-overlap is 7" in capsys.readouterr().err


def test_label_with_annotations_of_more_pictures(folder, table, capsys):
    Image.new("L", (40, 32)).save(folder / "frames" / "new.png")
    marked = read("marks.json")
    new = Picture("new.png", 40, 32, [AnnotatedObject("polyp", Box(1, 1, 9, 9))])
    write(Annotations((*marked.pictures, new), marked.categories), "more.json", "coco")
    label = ["images", "label", table, "--annotations", "more.json", "-o", "l.parquet"]
    assert main(label) == 2
    assert "more.json" in (error := capsys.readouterr().err)
    assert "'new.png' is not there" in error
    assert main([*label, "--images", "frames"]) == 0


# Files that fit the folder only in part: annotations of more pictures, patients, splits.


def with_one_more(name: str) -> None:
    marked = read("marks.json")
    gone = Picture("gone.png", 40, 32, [AnnotatedObject("polyp", Box(1, 1, 9, 9))])
    write(Annotations((*marked.pictures, gone), marked.categories), name, "coco")


def test_annotations_of_absent_pictures_are_an_error_or_skipped_and_counted(folder, table, capsys):
    with_one_more("more.json")
    label = ["images", "label", table, "-o", "l.parquet"]
    for command in (lambda *options: run(*options), lambda *options: main([*label, *options])):
        assert command("--annotations", "more.json") == 2
        error = capsys.readouterr().err
        assert "'gone.png' is not there" in error
        assert "--missing-pictures skip leaves such pictures out" in error
        assert command("--annotations", "more.json", "--missing-pictures", "skip") == 0
        shown = capsys.readouterr()
        assert "warning: more.json: skipped 1 picture not found, such as gone.png." in shown.err
        assert re.search(r"pictures +12, of them 6 with an object", shown.out)


def test_pictures_to_do_are_no_negatives_unless_asked(folder, capsys):
    """A COCO file of another program lists all 12 pictures, and six of them have objects."""
    content = json.loads((folder / "marks.json").read_text())
    for image in content["images"]:
        del image["done"]
    (folder / "listed.json").write_text(json.dumps(content))
    assert run("--annotations", "listed.json") == 0
    out = capsys.readouterr().out
    assert re.search(r"pictures +6, of them 6 with an object", out)
    assert re.search(r"left out +6 unannotated; --unmarked negative", out)
    assert run("--annotations", "listed.json", "--unmarked", "negative") == 0
    assert re.search(r"pictures +12, of them 6 with an object", capsys.readouterr().out)


def patients_file(folder, header: str = "image,patient,split") -> list[str]:
    names = sorted(path.name for path in (folder / "frames").iterdir())
    rows = [f"{name},person {k % 4},{'test' if k < 4 else 'train'}" for k, name in enumerate(names)]
    (folder / "patients.csv").write_text("\n".join([header, *rows]) + "\n")
    return names


@pytest.mark.parametrize("header", ["image,patient,split", "picture,patient,split"])
def test_a_file_tells_the_patient_and_the_split_of_each_picture(folder, table, capsys, header):
    names = patients_file(folder, header)
    options = ["--annotations", "marks.json", "--patients", "patients.csv"]
    label = ["images", "label", table, "-o", "l.parquet"]
    for command, made in ((run, "c2.parquet"), (None, "l.parquet")):
        if command is None:
            assert main([*label, *options]) == 0
        else:
            assert run(*options, "-o", made) == 0
        rows = pq.read_table(made)
        found = dict(zip(rows["picture"].to_pylist(), rows["patient"].to_pylist(), strict=True))
        assert found == {name: f"person {k % 4}" for k, name in enumerate(names)}
        splits = dict(zip(rows["picture"].to_pylist(), rows["split"].to_pylist(), strict=True))
        assert [splits[name] for name in names] == ["test"] * 4 + ["train"] * 8
        assert described([made]).roles["patient"] == "patient"
        assert "split" not in described([made]).features
    for command in (
        lambda *more: run(*options, *more),
        lambda *more: main([*label, *options, *more]),
    ):
        assert command("--split", "test", "-o", "t.parquet") == 0
        assert set(pq.read_table("t.parquet")["picture"].to_pylist()) == set(names[:4])
        capsys.readouterr()
        assert command("--split", "tset", "-o", "t.parquet") == 2
        assert "into the split 'tset'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("image,patient\na.png,p1\n", (), "patients.csv has no row for the picture"),
        ("image,age\na.png,3\n", (), "the columns should be image and patient"),
        ("image,patient\na.png,\n", (), "line 2: the column 'patient' is empty"),
        ("image,patient\na.png,p\na.png,q\n", (), "line 3: the picture 'a.png' has another row"),
        ("image,patient\na.png\n", (), "line 2: 1 cells are below 2 columns"),
        ("image,patient\na.png,p\n", ("--split", "train"), "no column 'split', which --split tr"),
        ("image,patient\na.png,p\n", ("--patient-from", "(p)"), "both give the patients"),
        (None, ("--split", "train"), "--split is given and no --patients with"),
    ],
)
def test_mistakes_in_a_file_of_patients(folder, capsys, text, options, said):
    if text is not None:
        (folder / "patients.csv").write_text(text)
        options = ("--patients", "patients.csv", *options)
    assert run(*options) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "c.parquet").exists()
