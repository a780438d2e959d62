"""Tables of candidates: labels, regions, and what a table says of its own columns."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as coco

from groupcm import GroupClassifier, sources
from groupcm.annotations import AnnotatedObject, Annotations, Box, Mask, Picture, Polygons
from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.roles import (
    ColumnRoles,
    TableDescription,
    agreed,
    describe,
    described,
    description_of,
)
from groupcm.data.tables.sorting import sort_tables
from groupcm.errors import InputError
from groupcm.images.features import FAMILIES
from groupcm.images.overlap import OVERLAPS, overlap
from groupcm.images.proposals import Proposals, Windows
from groupcm.images.recipe import PictureCandidates, Recipe
from groupcm.images.regions import Regions
from groupcm.images.synthetic import make_frames
from groupcm.images.tables.labelling import Labelling
from groupcm.images.tables.propose import propose_folder
from groupcm.images.tables.relabel import label_table
from groupcm.images.tables.table import candidate_rows, candidate_schema, row_regions
from groupcm.images.truth import MarkedPicture, Truth, known_patients, object_regions

RECIPE = Recipe(Proposals((Windows(),), at_most=6), (FAMILIES["shape"](),))


def boxes(*edges, height: int = 20, width: int = 20) -> Regions:
    return Regions.from_boxes(np.array(edges).reshape(-1, 4), height, width)


# Labels.


def test_candidates_that_fit_are_positive():
    candidates = boxes([0, 0, 10, 10], [0, 0, 10, 8], [0, 0, 10, 2], [15, 15, 20, 20])
    labels = Labelling(positive_overlap=0.5).of(candidates, boxes([0, 0, 10, 10]))
    assert labels.label.tolist() == [1, 1, 0, 0]
    np.testing.assert_allclose(labels.overlap, [1.0, 0.8, 0.2, 0.0], rtol=1e-6)
    assert labels.object.tolist() == [0, 0, 0, -1]
    assert [each.dtype for each in (labels.label, labels.overlap, labels.object)] == [
        np.int8,
        np.float32,
        np.int32,
    ]


def test_an_overlap_of_exactly_the_limit_is_positive():
    labels = Labelling(positive_overlap=0.5).of(
        boxes([0, 0, 10, 10], [0, 0, 10, 5], [0, 0, 10, 4]), boxes([0, 0, 10, 10])
    )
    assert labels.label.tolist() == [1, 1, 0]


def test_the_best_candidate_is_positive_however_badly_it_fits():
    candidates = boxes([0, 0, 1, 1], [0, 0, 2, 2], [15, 15, 20, 20])
    labels = Labelling().of(candidates, boxes([0, 0, 10, 10]))
    assert labels.label.tolist() == [0, 1, 0]
    assert labels.overlap[1] == pytest.approx(0.04)


def test_a_picture_that_no_candidate_touches_is_positive_all_the_same():
    labels = Labelling().of(boxes([0, 0, 1, 1], [2, 2, 3, 3]), boxes([10, 10, 20, 20]))
    assert labels.label.tolist() == [1, 0]
    assert labels.overlap.tolist() == [0, 0]
    assert labels.object.tolist() == [0, -1]


def test_without_objects_nothing_is_positive():
    labels = Labelling().of(boxes([0, 0, 1, 1], [2, 2, 3, 3]), boxes())
    assert labels.label.tolist() == [0, 0]
    assert labels.object.tolist() == [-1, -1]


def test_each_candidate_has_the_object_it_fits_best():
    candidates = boxes([0, 0, 5, 5], [10, 10, 15, 15], [0, 0, 15, 15])
    labels = Labelling(positive_overlap=0.9).of(
        candidates, boxes([10, 10, 15, 15], [0, 0, 5, 5], [0, 0, 6, 6])
    )
    assert labels.object.tolist() == [1, 0, 2]
    assert labels.label.tolist() == [1, 1, 0]


@pytest.mark.parametrize("kind", list(OVERLAPS))
def test_labels_follow_the_overlap_asked_for(kind):
    rng = np.random.default_rng(0)
    masks = rng.random((5, 20, 20)) < 0.3
    candidates = Regions.joined([Regions.from_masks(masks), boxes([0, 0, 20, 20], [3, 3, 9, 9])])
    objects = Regions.from_masks(rng.random((2, 20, 20)) < 0.2)
    found = Labelling(kind, 0.2).of(candidates, objects)
    table = overlap(candidates, objects, kind)
    best = table.max(axis=1)
    np.testing.assert_allclose(found.overlap, best, rtol=1e-6)
    expected = best >= 0.2
    for place, of_object in enumerate(table.T):
        fittest = of_object.argmax()
        expected[fittest] |= table[fittest].argmax() == place
    np.testing.assert_array_equal(found.label, expected)


def test_each_object_has_its_best_candidate_however_badly_it_fits():
    candidates = boxes([0, 0, 5, 5], [10, 10, 11, 11], [10, 10, 12, 12], [19, 19, 20, 20])
    labels = Labelling().of(candidates, boxes([0, 0, 5, 5], [10, 10, 18, 18], [0, 15, 4, 19]))
    assert labels.label.tolist() == [1, 0, 1, 0]  # nothing touches the third object
    assert labels.object.tolist() == [0, 1, 1, -1]
    assert labels.overlap[2] == pytest.approx(4 / 64)


def test_a_candidate_is_the_best_of_one_object_only():
    # The second fits the first object badly, the other one worse, and better than any does.
    candidates = boxes([0, 0, 10, 9], [0, 8, 10, 12])
    labels = Labelling().of(candidates, boxes([0, 0, 10, 10], [0, 11, 10, 20]))
    assert labels.label.tolist() == [1, 0]
    assert labels.object.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"overlap": "ious"}, "overlap is 'ious'; it must be one of 'iou'"),
        ({"positive_overlap": 0.0}, "positive_overlap is 0; it must be above 0"),
        ({"positive_overlap": 1.5}, "positive_overlap is 1.5"),
        ({"positive_overlap": float("nan")}, "positive_overlap is nan"),
    ],
)
def test_labelling_refuses(options, said):
    with pytest.raises(ValueError, match=said):
        Labelling(**options)


# Truth.


POLYP = AnnotatedObject("polyp", Box(1, 1, 4, 4))
ULCER = AnnotatedObject("ulcer", Box(5, 5, 4, 4))
MARKED = Annotations(
    [
        Picture("both.png", 20, 10, [POLYP, ULCER], extra={"patient": 7}),
        Picture("none.png", 20, 10, extra={"patient": 8}),
        Picture("to do.png", 20, 10, [ULCER], done=False),
    ]
)


def test_pictures_that_nobody_has_looked_at_are_left_out():
    truth = Truth(MARKED, "marks.json")
    assert truth.of("to do.png") is None
    assert truth.of("unknown.png") is None
    assert truth.of("none.png") == MarkedPicture((), (20, 10))
    assert truth.of("both.png") == MarkedPicture((POLYP.region, ULCER.region), (20, 10))


def test_or_count_as_negative_by_request():
    truth = Truth(MARKED, "marks.json", unmarked="negative")
    assert truth.of("unknown.png") == MarkedPicture()
    assert truth.of("to do.png") is None  # in progress: an object is marked


def test_other_categories_are_no_objects():
    truth = Truth(MARKED, "marks.json", ("polyp",))
    assert truth.of("both.png") == MarkedPicture((POLYP.region,), (20, 10))
    with pytest.raises(
        InputError, match=r"marks.json: there is no category 'crack'; there are 'polyp', 'ulcer'"
    ):
        Truth(MARKED, "marks.json", ("polyp", "crack"))


def test_a_mistaken_wish_for_unmarked_is_reported():
    with pytest.raises(ValueError, match="unmarked is 'skip'; it must be 'leave_out' or 'negative"):
        Truth(MARKED, "marks.json", unmarked="skip")


def test_patients_are_known_of_all_pictures_or_of_none():
    truth = Truth(MARKED, "marks.json")
    assert known_patients(["both.png", "none.png"], truth) == {"both.png": "7", "none.png": "8"}
    with pytest.warns(UserWarning, match=r"known of 2 of 3 pictures, and not of to do.png"):
        assert known_patients(["both.png", "none.png", "to do.png"], truth) == {}


def test_an_object_that_covers_nothing_names_file_and_picture():
    outside = MarkedPicture((Box(1, 1, 2, 2), Box(30, 30, 5, 5)))
    with pytest.raises(InputError, match=r"marks.json: the picture 'a.png': object 1 \(30 to 35"):
        object_regions("a.png", outside, 10, 20, "marks.json")
    between_pixels = MarkedPicture((Polygons([[(1.1, 1.1), (1.2, 1.1), (1.2, 1.2)]]),))
    with pytest.raises(InputError, match=r"marks.json: the picture 'a.png': object 0 covers no"):
        object_regions("a.png", between_pixels, 10, 20, "marks.json")


# Rows.


def rows_of(regions: Regions, **more) -> pa.RecordBatch:
    schema = candidate_schema(RECIPE, labels="labels" in more, patients="patient" in more)
    features = np.arange(len(regions) * len(RECIPE.feature_names), dtype=np.float32)
    found = PictureCandidates(regions, features.reshape(-1, len(RECIPE.feature_names)))
    return candidate_rows(schema, "été 1.png", found, **more)


@settings(max_examples=60, deadline=None)
@given(st.lists(arrays(bool, (5, 7)).filter(np.any), max_size=4))
def test_masks_are_those_of_coco(masks):
    regions = Regions.of([Mask.from_array(mask) for mask in masks], 5, 7)
    rows = rows_of(regions)
    found = rows.column("mask").to_pylist()
    expected = [
        coco.encode(np.asfortranarray(mask).astype(np.uint8))["counts"].decode() for mask in masks
    ]
    assert found == expected
    if masks:
        again = row_regions(rows)
        for place, mask in enumerate(masks):
            np.testing.assert_array_equal(again.mask(place), mask)


def test_rows_tell_boxes_masks_and_sizes():
    regions = Regions.joined(
        [boxes([1.5, 2, 9, 10], height=10, width=20), Regions.from_masks(np.eye(10, 20)[None] > 0)]
    )
    labels = Labelling().of(regions, regions.take([1]))
    rows = rows_of(regions, labels=labels, patient="p1").to_pydict()
    assert rows["picture"] == ["été 1.png"] * 2
    assert rows["candidate"] == [0, 1]
    assert rows["patient"] == ["p1"] * 2
    assert rows["label"] == [1, 1]
    assert rows["object"] == ["été 1.png object 1"] * 2
    assert [rows[name][0] for name in ("left", "top", "right", "bottom")] == [1.5, 2, 9, 10]
    assert [rows[name][1] for name in ("left", "top", "right", "bottom")] == [0, 0, 10, 10]
    assert rows["mask"][0] is None
    assert rows["mask"][1] is not None
    assert (rows["height"], rows["width"]) == ([10, 10], [20, 20])
    last = RECIPE.feature_names[-1]
    assert rows[last] == [len(RECIPE.feature_names) - 1, 2 * len(RECIPE.feature_names) - 1]


def test_candidates_that_touch_no_object_name_none():
    regions = boxes([0, 0, 5, 5], [10, 10, 15, 15])
    rows = rows_of(regions, labels=Labelling().of(regions, regions.take([1])))
    assert rows.column("object").to_pylist() == [None, "été 1.png object 1"]


def test_boxes_around_regions_can_be_had_alone():
    regions = Regions.from_masks(np.eye(10, 20)[None] > 0)
    assert row_regions(rows_of(regions), boxes=True).areas.tolist() == [100]


def test_a_table_has_only_the_columns_it_can_fill():
    plain = candidate_schema(RECIPE, labels=False, patients=False)
    assert not {"label", "overlap", "object", "patient"} & set(plain.names)
    assert description_of(plain).roles == {"group": "picture"}
    full = candidate_schema(RECIPE, labels=True, patients=True)
    assert full.names[:5] == ["picture", "candidate", "patient", "label", "overlap"]
    assert set(description_of(full).roles) == {"group", "label", "overlap", "patient", "object"}
    assert Recipe.from_json(description_of(full).recipe) == RECIPE
    assert full.names[-len(RECIPE.feature_names) :] == list(RECIPE.feature_names)


# Descriptions.


@pytest.fixture
def table(tmp_path):
    """A described table, with a column that is neither feature nor role."""
    about = TableDescription(
        ColumnRoles.of({"group": "who", "label": "is"}), ("size", "red"), {"version": 1}
    )
    columns = {
        "who": ["a", "a", "b", "b"],
        "is": [1, 0, 0, 0],
        "size": np.array([5, 1, 2, 1], np.float32),
        "red": np.array([9, 1, 3, 1], np.float32),
        "left": np.array([0, 1, 2, 3], np.float32),
    }
    rows = pa.table(columns)
    path = tmp_path / "described.parquet"
    pq.write_table(rows.cast(describe(rows.schema, about)), path)
    return path


def test_a_description_survives_the_file(table):
    about = described([table])
    assert about == TableDescription(
        {"group": "who", "label": "is"}, ("size", "red"), {"version": 1}
    )
    # A folder of such tables says the same.
    assert described([table.parent]) == about


def test_features_are_those_described(table, tmp_path):
    source = sources.from_parquet(table, group="who", label="is")
    assert source.feature_names == ["size", "red"]
    assert read_tables([table], group="who", label="is").feature_names == ["size", "red"]
    # What is named wins, and a column with a role is no feature.
    assert sources.from_parquet(table, group="who", features=["left"]).feature_names == ["left"]
    source = sources.from_parquet(table, group="who", label="is", overlap="red")
    assert source.feature_names == ["size"]
    plain = tmp_path / "plain.parquet"
    pq.write_table(pq.read_table(table).replace_schema_metadata().drop_columns("who"), plain)
    source = sources.from_parquet(plain, group=None, label="is")
    assert source.feature_names == ["size", "red", "left"]


def test_columns_that_were_taken_out_are_forgotten(table):
    rows = pq.read_table(table).drop_columns(["red", "is"])
    pq.write_table(rows, table)
    about = described([table])
    assert (about.roles, about.features) == ({"group": "who"}, ("size",))


def test_a_sorted_table_is_described_still(table, tmp_path):
    rows = pq.read_table(table)
    pq.write_table(rows.take([0, 2, 1, 3]), table)
    sort_tables([table], tmp_path / "sorted.parquet", group="who")
    assert described([tmp_path / "sorted.parquet"]) == described([table])


def test_tables_must_agree(table, tmp_path):
    rows, about = pq.read_table(table), described([table])
    others = {
        "columns of groups": TableDescription(
            ColumnRoles.of({"group": "who"}), about.features, about.recipe
        ),
        "features": TableDescription(about.roles, ("size",), about.recipe),
        "recipes of candidates": TableDescription(about.roles, about.features, {"version": 2}),
    }
    for number, (what, other) in enumerate(others.items()):
        path = tmp_path / f"other{number}.parquet"
        pq.write_table(rows.cast(describe(rows.schema, other)), path)
        with pytest.raises(InputError, match=rf"described.parquet and .*{path.name}.* {what}"):
            described([table, path])
    plain = tmp_path / "plain.csv"
    plain.write_text("who,is,size,red\na,1,2,3\n")
    with pytest.raises(InputError, match=r"described.parquet describes .*plain.csv does not"):
        described([plain, table])
    assert described([plain]) is None


@pytest.mark.parametrize(
    ("description", "said"),
    [
        (b"{", "cannot be read"),
        (b"[]", "cannot be read"),
        (json.dumps({"version": 1, "roles": {}}).encode(), "cannot be read"),
        (
            json.dumps({"version": 1, "roles": {}, "features": [], "recipe": 3}).encode(),
            "cannot be read",
        ),
        (json.dumps({"version": 2}).encode(), "in the form 2, newer than 1"),
    ],
)
def test_a_damaged_description_is_reported(table, description, said):
    rows = pq.read_table(table)
    pq.write_table(rows.replace_schema_metadata({"groupcm": description}), table)
    with pytest.raises(InputError, match=rf"described.parquet describes its columns .*{said}"):
        described([table])


def test_other_metadata_stay():
    schema = pa.schema({"size": pa.float32()}, metadata={"pandas": "{}"})
    found = describe(schema, TableDescription(ColumnRoles.of({}), ("size",)))
    assert set(found.metadata) == {b"pandas", b"groupcm"}
    assert agreed([]) is None


# New labels.


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """Four frames as tables: proposed with labels, and without."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("frames")
    (folder / "pictures").mkdir()
    frames = list(make_frames(4, share_with_polyps=0.5, height=48, width=64))
    for frame in frames:
        Image.fromarray(frame.pixels).save(folder / "pictures" / frame.picture.name)
    marked = Annotations([frame.picture for frame in frames])
    propose_folder(folder / "pictures", folder / "plain.parquet", recipe=RECIPE)
    propose_folder(
        folder / "pictures", folder / "labelled.parquet", recipe=RECIPE, annotations=marked
    )
    return folder, marked


@pytest.mark.parametrize("start", ["plain", "labelled"])
@pytest.mark.parametrize("kind", ["box_iou", "iou"])
def test_labels_made_anew_are_those_of_proposing(frames, tmp_path, start, kind):
    folder, marked = frames
    out, same = tmp_path / "out.parquet", tmp_path / "same.parquet"
    done = label_table(folder / f"{start}.parquet", out, annotations=marked, overlap=kind)
    expected = propose_folder(
        folder / "pictures",
        same,
        recipe=RECIPE,
        annotations=marked,
        overlap=kind,
        # Patients are a matter of proposing.
        patient_from=None if start == "labelled" else "(.)",
    )
    assert done.recall == expected.recall
    assert done.recall[kind].n_objects == 2
    assert (done.n_pictures, done.n_positive) == (4, 2)
    assert done.n_positive_candidates == expected.n_positive_candidates
    found, wanted = pq.read_table(out), pq.read_table(same)
    if start == "plain":
        wanted = wanted.drop_columns("patient")
    assert found.schema.names == wanted.schema.names
    assert found.equals(wanted)
    roles = {"group", "label", "overlap", "object"} | (
        {"patient"} if start == "labelled" else set()
    )
    assert set(described([out]).roles) == roles


def test_labelling_leaves_out_what_nobody_has_looked_at(frames, tmp_path):
    folder, marked = frames
    some = Annotations(marked.pictures[1:], marked.categories)
    out = tmp_path / "out.parquet"
    done = label_table(folder / "plain.parquet", out, annotations=some)
    assert (done.n_pictures, done.n_left_out) == (3, 1)
    names = pq.read_table(out)["picture"].unique().to_pylist()
    assert names == [picture.name for picture in some]
    done = label_table(folder / "plain.parquet", out, annotations=some, unmarked="negative")
    assert (done.n_pictures, done.n_left_out) == (4, 0)
    none = Annotations([], marked.categories)
    with pytest.raises(
        InputError, match=r"no picture of .*plain.parquet is finished in the annotations"
    ):
        label_table(folder / "plain.parquet", tmp_path / "none.parquet", annotations=none)
    assert not (tmp_path / "none.parquet").exists()


def test_labelling_finds_names_and_sizes_in_the_table(frames, tmp_path):
    folder, marked = frames
    csv = tmp_path / "boxes.csv"
    name = marked.pictures[0].name.removesuffix(".png")
    csv.write_text(f"image,x,y,width,height,category\n{name},3,4,10,10,polyp\n")
    done = label_table(folder / "plain.parquet", tmp_path / "out.parquet", annotations=csv)
    assert (done.n_pictures, done.n_positive) == (1, 1)
    csv.write_text("image,x,y,width,height,category\nother,3,4,10,10,polyp\n")
    with pytest.raises(InputError, match=r"boxes.csv, .*'other' is not there"):
        label_table(folder / "plain.parquet", tmp_path / "out.parquet", annotations=csv)


def test_labelling_compares_sizes(frames, tmp_path):
    folder, marked = frames
    turned = Annotations([Picture(marked.pictures[0].name, 48, 64)])
    with pytest.raises(InputError, match=r"48 × 64 pixels, and it has 64 × 48"):
        label_table(folder / "plain.parquet", tmp_path / "out.parquet", annotations=turned)


def test_labelling_refuses_other_tables(frames, table, tmp_path):
    folder, marked = frames
    with pytest.raises(InputError, match=r"described.parquet does not record where its candidates"):
        label_table(table, tmp_path / "out.parquet", annotations=marked)
    with pytest.raises(InputError, match=r"is one of the tables"):
        label_table(folder / "plain.parquet", folder / "plain.parquet", annotations=marked)
    with pytest.raises(InputError, match=r"end its name in .parquet"):
        label_table(folder / "plain.parquet", tmp_path / "out.csv", annotations=marked)
    rows = pq.read_table(folder / "plain.parquet")
    apart = tmp_path / "apart.parquet"
    pq.write_table(rows.take([0, 6, 1]), apart)
    with pytest.raises(InputError, match=r"are not contiguous; sort first: groupcm sort"):
        label_table(apart, tmp_path / "out.parquet", annotations=marked)


@pytest.mark.parametrize(
    ("column", "wrong", "said"),
    [
        ("mask", "~~~", "has no place in it: the compressed mask has a character"),
        ("mask", "1", "has no place in it: the mask is empty"),
        ("left", float("nan"), "has no place in it: candidate 0 has an edge that is not a number"),
        ("height", None, "the picture's height is None"),
    ],
)
def test_labelling_refuses_candidates_without_a_place(frames, tmp_path, column, wrong, said):
    folder, marked = frames
    rows = pq.read_table(folder / "plain.parquet")
    values = pa.array([wrong] * len(rows), rows.schema.field(column).type)
    rows = rows.set_column(rows.schema.names.index(column), rows.schema.field(column), values)
    damaged = tmp_path / "damaged.parquet"
    pq.write_table(rows, damaged)
    with pytest.raises(InputError, match=rf"damaged\.parquet: .*{said}"):
        label_table(damaged, tmp_path / "out.parquet", annotations=marked, overlap="iou")
    assert not (tmp_path / "out.parquet").exists()


def test_labelling_in_small_pieces(frames, tmp_path, monkeypatch):
    folder, marked = frames
    out = [tmp_path / "whole.parquet", tmp_path / "pieces.parquet"]
    label_table(folder / "plain.parquet", out[0], annotations=marked)
    monkeypatch.setattr("groupcm.data.tables.formats._BATCH_ROWS", 5)
    monkeypatch.setattr("groupcm.images.tables.relabel._ROWS_AT_ONCE", 7)
    label_table(folder / "plain.parquet", out[1], annotations=marked)
    assert pq.read_table(out[0]).equals(pq.read_table(out[1]))


def test_mask_objects_count_by_their_pixels(frames, tmp_path):
    folder, marked = frames
    picture = marked.pictures[0]
    corner = np.zeros((48, 64), dtype=bool)
    corner[:2, :2] = True
    other = Picture(picture.name, 64, 48, [AnnotatedObject("x", Mask.from_array(corner))])
    out = tmp_path / "out.parquet"
    label_table(
        folder / "plain.parquet", out, annotations=Annotations([other]), overlap="object_coverage"
    )
    rows = pq.read_table(out)
    inside = (np.asarray(rows["left"]) == 0) & (np.asarray(rows["top"]) == 0)
    np.testing.assert_array_equal(np.asarray(rows["label"]) == 1, inside)


def test_a_fit_takes_the_objects_of_a_table(frames, tmp_path):
    folder, marked = frames
    plain = pq.read_table(folder / "plain.parquet")
    first, *others = marked.pictures
    regions = row_regions(plain.slice(0, 6), boxes=True)  # of the first picture
    apart = [0, int(np.argmin(overlap(regions, regions, "box_iou")[0]))]
    shown = tuple(AnnotatedObject("polyp", Box(*regions.edges[k].tolist())) for k in apart)
    two = replace(first, objects=shown)
    out = tmp_path / "two.parquet"
    label_table(folder / "plain.parquet", out, annotations=Annotations((two, *others)))
    found = read_tables([out], group="picture", label="label", overlap="overlap")
    assert found.feature_names == list(RECIPE.feature_names)
    rows = pq.read_table(out)
    objects = np.array(rows["object"].to_pylist(), dtype=object)
    y, overlaps, groups = (rows[name].to_numpy() for name in ("label", "overlap", "picture"))
    assert objects[apart].tolist() == [f"{first.name} object {k}" for k in (1, 2)]
    assert None in objects.tolist()
    X = np.random.default_rng(0).normal(size=(len(y), 6)) + y[:, None]  # windows are all alike
    with_objects = GroupClassifier(0.9).fit(X, y, groups, overlaps, objects=objects)
    one_a_group = GroupClassifier(0.9).fit(X, y, groups, overlaps)
    assert with_objects.objective_ != pytest.approx(one_a_group.objective_, rel=1e-3)
