"""From a folder of pictures to a table of candidates: order, truth, interruptions, bad input."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from groupcm.annotations import AnnotatedObject, Annotations, Box, Picture, read, write
from groupcm.data.tables.roles import described
from groupcm.errors import InputError, SmallRangeWarning
from groupcm.images.features import FAMILIES
from groupcm.images.parallel import PictureFile, Unreadable, VideoFrame, map_pictures
from groupcm.images.proposals import Given, Proposals, Windows
from groupcm.images.recipe import Recipe
from groupcm.images.synthetic import write_frames
from groupcm.images.tables import _checkpoint
from groupcm.images.tables.propose import propose_folder
from groupcm.utils.progress import Reading, listening

RECIPE = Recipe(Proposals((Windows(),), at_most=6), (FAMILIES["shape"](), FAMILIES["colour"]()))


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """Ten synthetic frames, half of them with a polyp."""
    folder = tmp_path_factory.mktemp("synthetic")
    write_frames(folder, 10, share_with_polyps=0.5, n_patients=2, height=32, width=40)
    return folder


@pytest.fixture
def folder(synthetic, tmp_path):
    """A copy of the frames that a test may damage, and a place for the table."""
    (tmp_path / "frames").mkdir()
    for path in sorted((synthetic / "frames").iterdir()):
        (tmp_path / "frames" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "marks.json").write_bytes((synthetic / "annotations.json").read_bytes())
    return tmp_path


def propose(folder: Path, output: str = "c.parquet", **options):
    options = {"annotations": folder / "marks.json", "recipe": RECIPE, "workers": 1} | options
    return propose_folder(folder / "frames", folder / output, **options)


def rows(folder: Path, output: str = "c.parquet"):
    return pq.read_table(folder / output)


@pytest.fixture
def looked_at(monkeypatch):
    """Names of pictures as their candidates are looked for."""
    seen: list[str] = []
    read_file = PictureFile.read

    def noting(self):
        seen.append(self.name)
        return read_file(self)

    monkeypatch.setattr(PictureFile, "read", noting)
    return seen


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(_checkpoint, "_PICTURES_PER_PART", 3)
    monkeypatch.setattr(_checkpoint, "_ROWS_PER_ROW_GROUP", 20)


# What is written.


def test_a_table_of_all_pictures(folder):
    done = propose(folder)
    table = rows(folder)
    assert (done.n_pictures, done.n_positive, done.n_left_out) == (10, 5, 0)
    assert done.n_candidates == table.num_rows == 60
    assert done.n_features == len(RECIPE.feature_names)
    marked = read(folder / "marks.json")
    names = [f"patient{1 + (k > 5)}_frame{k:02d}.png" for k in range(1, 11)]
    assert table["picture"].unique().to_pylist() == names
    assert table["candidate"].to_pylist() == list(range(6)) * 10
    assert table["patient"].unique().to_pylist() == ["patient1", "patient2"]
    shown = {name for name in names if marked[name].objects}
    frame = table.to_pandas()
    assert set(frame.picture[frame.label == 1]) == shown
    assert done.n_positive_candidates == frame.label.sum()
    best = frame.groupby("picture").overlap.max()[sorted(shown)]
    assert done.recall["box_iou"].mean_best == pytest.approx(best.mean(), rel=1e-6)
    assert done.recall["box_iou"].n_candidates == 6
    assert not (folder / "c.parquet.parts").exists()
    about = described([folder / "c.parquet"])
    assert Recipe.from_json(about.recipe) == RECIPE
    assert about.features == RECIPE.feature_names


def test_features_are_those_of_the_recipe(folder):
    propose(folder)
    name = "patient2_frame07.png"
    found = RECIPE.candidates(np.asarray(Image.open(folder / "frames" / name)))
    table = rows(folder).filter(rows(folder)["picture"].to_numpy() == name)
    values = np.stack([table[feature].to_numpy() for feature in RECIPE.feature_names], axis=1)
    np.testing.assert_array_equal(values, found.values)
    np.testing.assert_array_equal(table["left"].to_numpy(), found.regions.edges[:, 0].astype("f4"))


def test_the_same_table_whatever_the_number_of_processes(folder, small_parts):
    heard: list[Reading] = []
    with listening(lambda step: None, heard.append):
        propose(folder, "two.parquet", workers=2)
    propose(folder, "one.parquet", workers=1)
    assert rows(folder, "one.parquet").equals(rows(folder, "two.parquet"), check_metadata=True)
    assert [(each.doing, each.unit, each.of_rows) for each in heard] == [
        ("proposing", "pictures", 10)
    ] * 11
    assert [each.rows for each in heard] == list(range(11))
    # In few row groups, however many parts there were.
    assert pq.ParquetFile(folder / "one.parquet").num_row_groups == 2


def test_pictures_come_in_the_order_of_their_numbers(tmp_path):
    (tmp_path / "frames" / "été à la mer").mkdir(parents=True)
    names = ["frame 2.png", "frame 10.png", "été à la mer/№ 1.png", "a b.png"]
    for name in names:
        Image.new("L", (8, 8)).save(tmp_path / "frames" / name)
    propose(tmp_path, annotations=None)
    expected = ["a b.png", "été à la mer/№ 1.png", "frame 2.png", "frame 10.png"]
    assert rows(tmp_path)["picture"].unique().to_pylist() == expected


def test_without_annotations_there_are_no_labels(folder):
    done = propose(folder, annotations=None)
    assert (done.n_positive, done.n_positive_candidates, dict(done.recall)) == (None, None, {})
    assert not {"label", "overlap", "object", "patient"} & set(rows(folder).schema.names)
    assert described([folder / "c.parquet"]).roles == {"group": "picture"}


def test_pictures_that_are_not_finished_are_left_out_and_counted(folder):
    """One picture is in progress, which is left out always, and one is not named at all."""
    marked = read(folder / "marks.json")
    first = next(picture for picture in marked if picture.objects)
    second, *others = (picture for picture in marked if picture is not first)
    in_progress = Picture(first.name, first.width, first.height, first.objects, done=False)
    some = Annotations((in_progress, *others), marked.categories)
    done = propose(folder, annotations=some)
    assert (done.n_pictures, done.n_left_out, done.n_in_progress) == (8, 2, 1)
    names = rows(folder)["picture"].unique().to_pylist()
    assert sorted(names) == sorted(picture.name for picture in others)
    with pytest.warns(UserWarning, match="patient is known of 8 of 9 pictures"):
        done = propose(folder, annotations=some, unmarked="negative")
    assert (done.n_pictures, done.n_left_out, done.n_in_progress) == (9, 1, 1)
    assert done.n_positive == sum(bool(picture.objects) for picture in others)
    assert second.name in rows(folder)["picture"].to_pylist()
    assert first.name not in rows(folder)["picture"].to_pylist()


def test_pictures_of_16_bits_that_use_few_of_their_values_are_named(folder):
    """One of two 16-bit pictures has values from 1000 to 1300 alone."""
    values = np.linspace(0, 1, 32 * 40).reshape(32, 40)
    for name, low, high in (("low.tif", 1000, 1300), ("whole.tif", 0, 65_535)):
        pixels = (low + values * (high - low)).astype(np.uint16)
        Image.fromarray(pixels).save(folder / "frames" / name)
    with pytest.warns(SmallRangeWarning, match=r"^1 picture of more than 8 bits, such as low"):
        propose(folder, annotations=None)
    for file in (folder / "frames").glob("*.png"):
        file.unlink()
    (folder / "frames" / "low.tif").unlink()
    assert propose(folder, annotations=None).n_pictures >= 1  # without a warning


def test_a_category_decides_what_is_positive(folder):
    marked = read(folder / "marks.json")
    first, *others = marked.pictures
    box = AnnotatedObject("crack", Box(1, 1, 9, 9))
    crack = Picture(first.name, first.width, first.height, [box], extra=first.extra)
    both = Annotations((crack, *others))
    assert propose(folder, annotations=both, category="crack").n_positive == 1
    n_polyps = sum(bool(p.objects) for p in others)
    assert propose(folder, annotations=both, category=["polyp"]).n_positive == n_polyps
    assert propose(folder, annotations=both).n_positive == n_polyps + 1


def test_patients_from_names(folder):
    propose(folder, annotations=None, patient_from=r"^patient(\d+)")
    assert rows(folder)["patient"].unique().to_pylist() == ["1", "2"]
    assert described([folder / "c.parquet"]).roles["patient"] == "patient"


def test_candidates_of_a_detector(folder):
    name, other = "patient1_frame01.png", "patient1_frame02.png"
    found = [AnnotatedObject("x", Box(0, 0, k, k), score=k / 40) for k in (4, 9, 6)]
    write(Annotations([Picture(name, 40, 32, found)]), folder / "given.json", "coco")
    recipe = Recipe(Proposals((Given(),)), RECIPE.features)
    propose(folder, recipe=recipe, given=folder / "given.json")
    table = rows(folder).to_pandas()
    right = table.right[table.picture == name].tolist()
    assert right == [9, 6, 4, 40]  # the surest first, and the whole picture
    assert (table.picture == other).sum() == 1


def test_pages_of_a_stack_are_pictures(tmp_path):
    (tmp_path / "frames").mkdir()
    pages = [Image.new("L", (20, 10), grey) for grey in (10, 200)]
    pages[0].save(tmp_path / "frames" / "s.tif", save_all=True, append_images=pages[1:])
    marked = Annotations(
        [
            Picture("s.tif#1", 20, 10),
            Picture("s.tif#2", 20, 10, [AnnotatedObject("x", Box(1, 1, 9, 9))]),
        ]
    )
    write(marked, tmp_path / "marks.json", "coco")
    assert propose(tmp_path).n_positive == 1
    whole = Annotations([Picture("s.tif", 20, 10)])
    with pytest.raises(InputError, match=r"'s.tif' is not there.*a stack, whose pages are called"):
        propose(tmp_path, annotations=whole)


# Going on after an interruption.


def stop_after(monkeypatch, n: int, error: BaseException):
    """Let the work be stopped while it looks at the picture after n of them."""
    count = 0
    read_file = PictureFile.read

    def counting(self):
        nonlocal count
        count += 1
        if count > n:
            raise error
        return read_file(self)

    monkeypatch.setattr(PictureFile, "read", counting)


def test_an_interrupted_run_goes_on(folder, small_parts, monkeypatch, looked_at):
    propose(folder, "whole.parquet")
    expected = list(looked_at)
    with monkeypatch.context() as patch:
        stop_after(patch, 7, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt, match="7 pictures are done and kept"):
            propose(folder)
    assert not (folder / "c.parquet").exists()
    looked_at.clear()
    said: list[str] = []
    with listening(lambda step: None, None, said.append):
        done = propose(folder)
    assert looked_at == expected[7:]
    assert "continuing after 7 pictures that an earlier run did" in said
    assert (done.n_pictures, done.n_before) == (10, 7)
    assert rows(folder).equals(rows(folder, "whole.parquet"), check_metadata=True)
    assert done.recall == propose(folder, "whole.parquet").recall
    assert not (folder / "c.parquet.parts").exists()


def interrupt(folder, monkeypatch, n: int = 7, **options) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, n, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            propose(folder, **options)


def test_a_changed_picture_is_looked_at_again(folder, small_parts, monkeypatch, looked_at):
    interrupt(folder, monkeypatch)
    changed = folder / "frames" / "patient1_frame05.png"
    Image.new("RGB", (40, 32), "red").save(changed)
    looked_at.clear()
    said: list[str] = []
    with listening(lambda step: None, None, said.append):
        assert propose(folder).n_before == 4
    # Its part of three pictures, and what was never done.
    assert looked_at == [f"patient{1 + (k > 5)}_frame{k:02d}.png" for k in (4, 5, 6, 8, 9, 10)]
    assert any(text.startswith("doing 3 pictures again") for text in said)
    table = rows(folder)
    propose(folder, "whole.parquet")
    assert table.equals(rows(folder, "whole.parquet"))


def test_a_changed_mark_is_labelled_again(folder, small_parts, monkeypatch, looked_at):
    interrupt(folder, monkeypatch)
    marked = read(folder / "marks.json")
    first, *others = marked.pictures
    box = AnnotatedObject("polyp", Box(1, 1, 9, 9))
    again = Picture(first.name, first.width, first.height, [box], extra=first.extra)
    write(Annotations((again, *others)), folder / "marks.json", "coco")
    looked_at.clear()
    assert propose(folder).n_before == 4
    assert looked_at[:3] == [f"patient1_frame0{k}.png" for k in (1, 2, 3)]


def test_new_and_lost_pictures_do_no_harm(folder, small_parts, monkeypatch):
    interrupt(folder, monkeypatch, annotations=None)
    frames = folder / "frames"
    (frames / "patient1_frame02.png").rename(frames / "patient2_frame99.png")
    Image.new("RGB", (40, 32), "red").save(frames / "a first one.png")
    done = propose(folder, annotations=None)
    assert done.n_before == 4
    table = rows(folder)
    propose(folder, "whole.parquet", annotations=None)
    assert table.equals(rows(folder, "whole.parquet"))


@pytest.mark.parametrize(
    "options",
    [
        {"recipe": Recipe(Proposals((Windows(),), at_most=5), RECIPE.features)},
        {"overlap": "iou"},
        {"positive_overlap": 0.4},
        {"annotations": None},
    ],
)
def test_other_options_start_anew(folder, small_parts, monkeypatch, options):
    interrupt(folder, monkeypatch)
    assert propose(folder, **options).n_before == 0
    table = rows(folder)
    propose(folder, "whole.parquet", **options)
    assert table.equals(rows(folder, "whole.parquet"), check_metadata=True)


def test_remnants_are_cleared_away_and_strangers_are_not(folder, small_parts, monkeypatch):
    interrupt(folder, monkeypatch)
    parts = folder / "c.parquet.parts"
    (parts / ".part-000000000-ab.parquet.cd.part").write_bytes(b"half")
    (parts / "part-000000009-ab.parquet").write_bytes(b"damaged")
    (parts / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes.txt is in the way"):
        propose(folder)
    (parts / "notes.txt").unlink()
    assert propose(folder).n_before == 7
    assert not parts.exists()
    parts.write_text("a file")
    with pytest.raises(InputError, match=r"c.parquet.parts is a file, and a folder is needed"):
        propose(folder)


def test_two_runs_do_not_make_one_table(folder, monkeypatch):
    def propose_again(parts):
        with pytest.raises(InputError, match=r"another run is making .*c.parquet; wait for it"):
            propose(folder)
        join(parts)

    join = _checkpoint.Parts.join
    monkeypatch.setattr(_checkpoint.Parts, "join", propose_again)
    propose(folder)
    assert (folder / "c.parquet").exists()
    assert not (folder / "c.parquet.parts").exists()


def test_a_picture_that_changes_while_it_is_read_is_done_again(folder, small_parts, monkeypatch):
    first = folder / "frames" / sorted(os.listdir(folder / "frames"))[0]
    add = _checkpoint.Parts.add

    def changing(parts, place, *rest):
        if place == 0:
            os.utime(first, ns=(1, 1))
        return add(parts, place, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint.Parts, "add", changing)
        interrupt(folder, patch)
    assert propose(folder).n_before < 7


KILLED = """
import os, signal, sys
from groupcm.images.tables import _checkpoint
from groupcm.images.features import FAMILIES
from groupcm.images.proposals import Proposals, Windows
from groupcm.images.tables.propose import propose_folder
from groupcm.images.recipe import Recipe

if __name__ == "__main__":
    _checkpoint._PICTURES_PER_PART = 3
    flush, flushed = _checkpoint.Parts.flush, 0

    def flush_and_die(self):
        global flushed
        flush(self)
        flushed += 1
        if flushed == 2:
            print(*[child.pid for child in __import__("multiprocessing").active_children()])
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    _checkpoint.Parts.flush = flush_and_die
    recipe = Recipe(
        Proposals((Windows(),), at_most=6), (FAMILIES["shape"](), FAMILIES["colour"]())
    )
    propose_folder(sys.argv[1] + "/frames", sys.argv[1] + "/c.parquet",
                   annotations=sys.argv[1] + "/marks.json", recipe=recipe, workers=2)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_run_goes_on_and_leaves_no_process(folder, looked_at, small_parts):
    script = folder / "run.py"
    script.write_text(KILLED)
    # Its processes hold the pipe open: only when all of them have ended does the run return.
    run = subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == -signal.SIGKILL
    assert len(run.stdout.split()) == 2
    assert propose(folder).n_before == 6
    assert len(looked_at) == 4


# Pictures that cannot be read.


def test_an_unreadable_picture_stops_the_work_and_loses_nothing(folder, small_parts, looked_at):
    broken = folder / "frames" / "patient1_frame05.png"
    broken.write_bytes(broken.read_bytes()[:300])
    with pytest.raises(
        InputError, match=r"frame05.png cannot be read.*4 pictures are done"
    ) as caught:
        propose(folder)
    assert "skip_unreadable=True leaves such pictures out" in str(caught.value)
    looked_at.clear()
    done = propose(folder, skip_unreadable=True)
    assert looked_at == [f"patient{1 + (k > 5)}_frame{k:02d}.png" for k in range(5, 11)]
    assert (done.n_pictures, done.n_before) == (9, 4)
    assert [each.name for each in done.skipped] == [broken.name]
    assert "cannot be read" in done.skipped[0].reason
    assert broken.name not in rows(folder)["picture"].to_pylist()


def damage(path: Path, how: str) -> None:
    if how == "empty":
        path.write_bytes(b"")
    elif how == "no picture":
        path.write_text("hello")
    elif how == "large":
        Image.new("1", (10_001, 10_000)).save(path)
    else:
        Image.effect_noise((64, 64), 90).save(path, format="jpeg")
        path.write_bytes(path.read_bytes()[:700])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("empty", "the file is empty"),
        ("no picture", "not a picture of a known kind"),
        ("truncated", "truncated"),
        ("large", "100.0 million; at most 50.0 million"),
    ],
)
def test_each_kind_of_damage_has_its_sentence(folder, how, said):
    damage(folder / "frames" / "a.png", how)
    with pytest.raises(InputError, match=rf"frames/a.png .*{said}"):
        propose(folder, annotations=None)
    done = propose(folder, annotations=None, skip_unreadable=True)
    assert [each.name for each in done.skipped] == ["a.png"]
    assert done.n_pictures == 10


def test_skipped_pictures_are_remembered_as_long_as_the_limits_stay(
    folder, small_parts, monkeypatch, looked_at
):
    Image.new("L", (50, 50)).save(folder / "frames" / "large.png")  # among the first three
    options = {"annotations": None, "skip_unreadable": True}
    interrupt(folder, monkeypatch, most_pixels=2000, **options)
    looked_at.clear()
    assert len(propose(folder, most_pixels=2000, **options).skipped) == 1
    assert len(looked_at) == 4
    interrupt(folder, monkeypatch, most_pixels=2000, **options)
    looked_at.clear()
    assert propose(folder, **options).skipped == ()
    assert len(looked_at) == 7
    interrupt(folder, monkeypatch, most_pixels=2000, **options)
    with pytest.raises(InputError, match=r"large.png has 50 × 50 pixels"):
        propose(folder, annotations=None, most_pixels=2000)


def test_where_nothing_can_be_read_there_is_no_table(tmp_path):
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "a.png").write_bytes(b"")
    with pytest.raises(InputError, match=r"no picture could be read; the first is a.png: .*empty"):
        propose(tmp_path, annotations=None, skip_unreadable=True)
    assert not (tmp_path / "c.parquet").exists()


@pytest.mark.parametrize("size", [(1, 1), (30, 2)])
def test_pictures_of_one_colour_and_tiny_ones(tmp_path, size):
    (tmp_path / "frames").mkdir()
    Image.new("RGB", size, "red").save(tmp_path / "frames" / "a.png")
    marked = Annotations([Picture("a.png", *size, [AnnotatedObject("x", Box(0, 0, *size))])])
    done = propose(tmp_path, annotations=marked, recipe=Recipe())
    assert done.recall["box_iou"].mean_best == 1
    values = np.stack([rows(tmp_path)[name].to_numpy() for name in Recipe().feature_names])
    assert np.isfinite(values).all()


# Other mistakes.


def test_an_annotation_of_a_picture_that_is_not_there(folder):
    (folder / "frames" / "patient1_frame03.png").unlink()
    for skip in (False, True):
        with pytest.raises(InputError, match=r"marks.json.*patient1_frame03.png.* is not there in"):
            propose(folder, skip_unreadable=skip)
    marked = read(folder / "marks.json")
    with pytest.raises(InputError, match=r"the annotations: .*patient1_frame03.png.* not there"):
        propose(folder, annotations=marked)


def test_annotations_of_another_size(folder):
    marked = read(folder / "marks.json")
    turned = [Picture(p.name, p.height, p.width, done=p.done) for p in marked]
    with pytest.raises(InputError, match=r"'patient1_frame01.png' 32 × 40 pixels, and it has"):
        propose(folder, annotations=Annotations(turned))


def test_boxes_and_masks_that_are_no_objects(folder):
    csv = folder / "marks.csv"
    csv.write_text("image,x,y,width,height,category\npatient1_frame01,90,4,10,10,polyp\n")
    with pytest.raises(InputError, match=r"marks.csv, line 2: .* lies outside its picture"):
        propose(folder, annotations=csv)
    outside = Picture("patient1_frame01.png", 40, 32, [AnnotatedObject("x", Box(90, 4, 9, 9))])
    with pytest.raises(
        InputError, match=r"the annotations: the picture 'patient1_frame01.png': obj"
    ):
        propose(folder, annotations=Annotations([outside]))
    text = (folder / "marks.json").read_text()
    empty = '"segmentation": {"size": [32, 40], "counts": [1280]}'
    start = text.index('"segmentation"')
    end = text.index("}", start) + 1
    (folder / "marks.json").write_text(text[:start] + empty + text[end:])
    with pytest.raises(InputError, match=r"marks.json, .*the mask is empty"):
        propose(folder)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"category": "crack"}, r"marks.json: there is no category 'crack'; there is 'polyp'"),
        ({"category": "x", "annotations": None}, "category is given and no annotations"),
        (
            {"unmarked": "negative", "annotations": None},
            'unmarked="negative" is given and no annotations',
        ),
        ({"overlap": "area"}, "overlap is 'area'"),
        ({"positive_overlap": 2}, "positive_overlap is 2"),
        ({"unmarked": "drop"}, "unmarked is 'drop'"),
        ({"workers": 0}, "workers is 0; it must be 1 or more"),
        ({"patient_from": "("}, "'(' is not a regular expression"),
        ({"patient_from": "x"}, "'x' has no group"),
        ({"patient_from": "(x+)"}, "finds no patient in the name of the picture 'patient1_frame01"),
        ({"recipe": Recipe(Proposals((Given(),)))}, "uses the candidates of your own detector"),
        ({"given": "given.json"}, "the recipe does not ask for them"),
        ({"video": "a.mp4"}, "give either a folder of pictures or video"),
        ({"annotations": "no.json"}, "no.json"),
        ({"annotations": Annotations([])}, "the annotations mark none of the 10 pictures"),
    ],
)
def test_mistakes_in_options(folder, monkeypatch, options, said):
    monkeypatch.chdir(folder)
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        propose(folder, **options)
    assert not (folder / "c.parquet.parts").exists()


def test_mistakes_in_places(folder):
    with pytest.raises(InputError, match=r"end its name in .parquet"):
        propose(folder, "c.csv")
    (folder / "file").touch()
    with pytest.raises(InputError, match="file is not a folder"):
        propose(folder, "file/c.parquet")
    with pytest.raises(InputError, match=r"folder of pictures .*nothing.* does not exist"):
        propose_folder(folder / "nothing", folder / "c.parquet")
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=r"there is no picture in the folder .*empty"):
        propose_folder(folder / "empty", folder / "c.parquet")


def test_an_error_of_the_recipe_names_the_picture(folder):
    given = Annotations(
        [Picture("patient1_frame02.png", 40, 32, [AnnotatedObject("x", Box(50, 1, 9, 9))])]
    )
    recipe = Recipe(Proposals((Given(),)), RECIPE.features)
    with pytest.raises(
        InputError, match=r"patient1_frame02.png: given candidate 0 .* covers nothing"
    ):
        propose(folder, recipe=recipe, given=given)


# Videos.


@pytest.fixture
def video(monkeypatch):
    """A video of five frames, one of which has an object."""
    frames = [(f"frame {n:06d}", np.full((16, 20, 3), 40 * n, np.uint8)) for n in range(1, 6)]
    monkeypatch.setattr(
        "groupcm.images.tables.tasks.video_frames", lambda path, every: iter(frames[::every])
    )
    return frames


def test_frames_of_a_video(tmp_path, video, small_parts):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"film")
    box = AnnotatedObject("x", Box(1, 1, 9, 9))
    pictures = [Picture(name, 20, 16, [box] if name.endswith("3") else []) for name, _ in video[1:]]

    def run(marked=pictures, **options):
        return propose_folder(
            None,
            tmp_path / "c.parquet",
            video=path,
            annotations=Annotations(marked),
            recipe=RECIPE,
            **options,
        )

    done = run()
    assert (done.n_pictures, done.n_positive, done.n_left_out) == (4, 1, 1)
    names = [f"frame {n:06d}" for n in (2, 3, 4, 5)]
    assert rows(tmp_path)["picture"].unique().to_pylist() == names
    with pytest.warns(
        UserWarning, match=r"2 pictures that are not frames .* such as 'frame 000002'"
    ):
        assert run(every=2).n_pictures == 2
    whole = run() and rows(tmp_path)
    wrong = [*pictures[:3], Picture("frame 000005", 3, 3)]
    with pytest.raises(
        InputError, match=r"'frame 000005' 3 × 3 pixels, .*; 3 pictures are done and kept"
    ):
        run(wrong)
    # Other marks may mean other places: the video is done again as a whole.
    assert run().n_before == 0
    assert rows(tmp_path).equals(whole)


def test_a_video_goes_on(tmp_path, video, small_parts, monkeypatch):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"film")

    def run():
        return propose_folder(None, tmp_path / "c.parquet", video=path, recipe=RECIPE)

    with monkeypatch.context() as patch:
        broken = [*video[:4], ("frame 000005", None)]
        patch.setattr("groupcm.images.tables.tasks.video_frames", lambda *_: iter(broken))
        with pytest.raises(Exception, match="shape"):
            run()
    assert run().n_before == 4
    assert rows(tmp_path)["picture"].unique().to_pylist() == [name for name, _ in video]


# Work in processes.


def brightness(task, pixels):
    """Work that fails for one picture."""
    if task.name == "bad":
        raise ValueError("too bad")
    return os.getpid(), int(pixels[0, 0])


def test_results_come_in_order_from_other_processes():
    frames = [VideoFrame(f"{n}", np.full((2, 2), n, np.uint8)) for n in range(12)]
    tasks = iter([*frames, VideoFrame("bad", np.ones((2, 2), np.uint8))])
    with closing(map_pictures(brightness, tasks, workers=2)) as going:
        found = [next(going) for _ in frames]
        with pytest.raises(ValueError, match="too bad") as caught:
            next(going)
    assert [task.name for task, _ in found] == [frame.name for frame in frames]
    assert [value for _, (_, value) in found] == list(range(12))
    assert os.getpid() not in {process for _, (process, _) in found}
    assert caught.value.__notes__ == ["This was the picture bad."]


def test_few_pictures_stay_in_this_process():
    frames = [VideoFrame(f"{n}", np.full((2, 2), n, np.uint8)) for n in range(7)]
    found = list(map_pictures(brightness, frames))
    assert {process for _, (process, _) in found} == {os.getpid()}


def test_the_remaining_time_is_known_from_the_first_picture_on(monkeypatch):
    ticks = itertools.count(100)
    readings = []

    def seconds() -> float:
        """A clock that moves on by a second each time it is read."""
        return float(next(ticks))

    frames = [VideoFrame(f"{n}", np.full((2, 2), n, np.uint8)) for n in range(3)]
    monkeypatch.setattr("groupcm.images.parallel.time.perf_counter", seconds)
    with listening(lambda step: None, readings.append):
        list(map_pictures(brightness, frames, n_tasks=3))
    # A picture takes one second by the clock, and results come four seconds apart.
    assert [each.seconds_left for each in readings] == [None, 2.0, 4.0, 0.0]


class Prepared:
    """Work that needs preparation."""

    ready = 0

    def prepare(self) -> None:
        Prepared.ready += 1

    def __call__(self, task, pixels) -> int:
        return Prepared.ready


@pytest.mark.parametrize("workers", [1, 2])
def test_work_is_prepared_once_in_each_process(workers):
    frames = [VideoFrame(f"{n}", np.full((2, 2), n, np.uint8)) for n in range(16)]
    Prepared.ready = 0
    assert {found for _, found in map_pictures(Prepared(), frames, workers=workers)} == {1}


def test_an_error_of_the_work_stops_it():
    frames = [VideoFrame(name, np.ones((2, 2), np.uint8)) for name in ("good", "bad", "other")]
    with closing(map_pictures(brightness, frames, skip_unreadable=True)) as going:
        assert next(going)[0].name == "good"
        with pytest.raises(ValueError, match="too bad") as caught:
            next(going)
    assert caught.value.__notes__ == ["This was the picture bad."]


def die(task, pixels):
    """Work that ends its process, as a lack of memory would."""
    os._exit(9)


def test_a_process_that_ends_by_itself_is_reported():
    frames = [VideoFrame("a", np.ones((2, 2), np.uint8))]
    with pytest.raises(InputError, match="ended by itself, as happens where memory runs out"):
        list(map_pictures(die, frames, workers=2))


def test_unreadable_pictures_are_results_by_request(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    Image.new("L", (2, 2), 7).save(tmp_path / "b.png")
    files = [PictureFile(tmp_path, name) for name in ("a.png", "b.png")]
    found = [result for _, result in map_pictures(brightness, files, skip_unreadable=True)]
    assert found[0] == Unreadable(
        "a.png", f"the picture {tmp_path / 'a.png'} cannot be read: the file is empty"
    )
    assert found[1] == (os.getpid(), 7)
