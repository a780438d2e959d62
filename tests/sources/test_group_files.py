"""Embeddings in one file per group, labelled by tables of slides and annotated regions."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groupcm import GroupBoostingClassifier, GroupClassifier, sources
from groupcm.annotations.geojson import SlideRegion, read_geojson
from groupcm.errors import InputError, LabelsWarning
from groupcm.sources.slide_labels import covered_shares

h5py = pytest.importorskip("h5py")

SIDE = 256


def write_slide(
    folder: Path, name: str, n: int = 12, d: int = 6, *, seed: int = 0, **changes: Any
) -> np.ndarray:
    """Write a file as TRIDENT does, four patches in a row; return its features."""
    rng = np.random.default_rng([seed, *map(ord, name)])
    values = rng.normal(size=(n, d)).astype(changes.get("dtype", np.float16))
    at = np.arange(n)
    coords = SIDE * np.stack([at % 4, at // 4], axis=1)
    with h5py.File(folder / f"{name}.h5", "w") as file:
        stored = values[None] if changes.get("batched") else values
        file.create_dataset("features", data=stored, **changes.get("layout", {}))
        file["coords"] = coords[None] if changes.get("batched") else coords
        for key, value in changes.get("attributes", {"patch_size_level0": SIDE}).items():
            file["coords"].attrs[key] = value
    return values


def rectangle(left: float, top: float, right: float, bottom: float) -> list[list[float]]:
    return [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]]


def write_regions(folder: Path, name: str, *rings: Any, category: str | None = "Tumor") -> Path:
    """Write a file as QuPath does: each of ``rings`` is a polygon without holes."""
    named = {} if category is None else {"classification": {"name": category, "color": [200, 0, 0]}}
    features = [
        {
            "type": "Feature",
            "id": "PathAnnotationObject",
            "geometry": {"type": "Polygon", "coordinates": [ring]},
            "properties": {"objectType": "annotation", **named},
        }
        for ring in rings
    ]
    path = folder / f"{name}.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


@pytest.fixture
def slides(tmp_path):
    """Six slides; s3 to s5 are positive, and of s5 it is unknown where."""
    folder, marked = tmp_path / "features", tmp_path / "annotations"
    folder.mkdir()
    marked.mkdir()
    for k in range(6):
        write_slide(folder, f"s{k}")
    write_regions(marked, "s3", rectangle(0, 0, 2 * SIDE, SIDE))  # patches 0 and 1
    write_regions(marked, "s4", rectangle(SIDE, SIDE, SIDE + 64, SIDE + 64))  # a part of patch 5
    lines = [f"s{k},{int(k > 2)},p{k // 2}" for k in range(6)]
    (tmp_path / "slides.csv").write_text("\n".join(["slide,label,patient", *lines]) + "\n")
    return tmp_path


def opened(slides: Path, **more: Any) -> Any:
    given = {"labels": slides / "slides.csv", "annotations": slides / "annotations"}
    with pytest.warns(LabelsWarning, match="12 candidates are of positive slides"):
        return sources.from_hdf5(slides / "features", **{**given, **more})


def test_labels_overlaps_and_patients(slides):
    source = opened(slides, patient="patient")
    index = source.index()
    assert index.ids.tolist() == [f"s{k}" for k in range(6)]
    assert index.classes.tolist() == [0, 1]
    positive = np.flatnonzero(index.labels_of_rows() == 1)
    assert positive.tolist() == [36, 37, 53, *range(60, 72)]
    assert source.overlap_of(positive).tolist() == [1.0, 1.0, 1 / 16, *[0.0] * 12]
    assert np.flatnonzero(~source.annotated).tolist() == list(range(60, 72))
    assert source.patients[[0, 13, 71]].tolist() == ["p0", "p0", "p2"]
    assert source.dtype == np.float32


def test_it_trains_scores_and_streams(slides):
    source = opened(slides, batch_rows=5)
    assert source.n_units == 18
    model = GroupClassifier(lam=0.9).fit(source, annotated=source.annotated)
    X = np.concatenate([write_slide(slides, f"s{k}") for k in range(6)]).astype(np.float32)
    groups, y = np.repeat(np.arange(6), 12), source.index().labels_of_rows()
    whole = GroupClassifier(lam=0.9).fit(X, y, groups, source.overlap, annotated=source.annotated)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-5)
    found = model.group_scores(source)
    assert found.group.tolist() == [f"s{k}" for k in range(6)]
    np.testing.assert_allclose(found.score, whole.group_scores(X, groups).score, atol=1e-5)
    assert pickle.loads(pickle.dumps(source)).n_rows == 72


def test_trees_in_little_memory(tmp_path):
    pytest.importorskip("lightgbm")
    for k in range(30):
        write_slide(tmp_path, f"s{k}", n=60)
    source = sources.from_hdf5(tmp_path, labels={f"s{k}": k % 2 for k in range(30)}, memory="20kB")
    model = GroupBoostingClassifier(5, early_stopping=False, n_annealed=2, n_jobs=1).fit(source)
    assert model.n_passes_ >= 2
    assert len(model.group_scores(source).score) == 30


def test_without_overlap_positive_patches_share_the_weight(slides):
    source = opened(slides, overlap=False)
    assert not source.has_overlap
    assert source.overlap is not None


def test_without_a_table_the_regions_say_which_slides_are_positive(slides):
    for name in ("s0", "s1", "s2", "s5"):
        write_regions(slides / "annotations", name)
    source = sources.from_hdf5(slides / "features", annotations=slides / "annotations")
    assert source.index().group_labels(1).tolist() == [False, False, False, True, True, False]


def test_categories_are_chosen_by_name(slides):
    write_regions(slides / "annotations", "s0", rectangle(0, 0, 99, 99), category="Artefact")
    source = opened(slides, category="Tumor")
    assert not source.index().group_labels(1)[0]
    given = {"labels": slides / "slides.csv", "annotations": slides / "annotations"}
    with pytest.raises(InputError, match=r"the slide s0 is labelled 0.* covers 15% of one"):
        sources.from_hdf5(slides / "features", **given)
    with pytest.raises(InputError, match=r"no region of the category 'tumour'; it has Artefact"):
        sources.from_hdf5(slides / "features", **given, category="tumour")


@pytest.mark.parametrize("changes", [
    {"batched": True},
    {"attributes": {"patch_size": 128, "patch_level": 1, "downsample": [2.0, 2.0]}},
    {"attributes": {"patch_size": SIDE, "patch_level": 0}},
    {"layout": {"chunks": (4, 6), "compression": "gzip"}},
    {"dtype": np.float64},
])  # fmt: skip
def test_the_layouts_that_programs_write(tmp_path, changes):
    values = write_slide(tmp_path, "a", **changes)
    marked = write_regions(tmp_path, "a", rectangle(0, 0, SIDE, SIDE))
    source = sources.from_hdf5(tmp_path / "a.h5", annotations=marked, batch_rows=5)
    assert source.overlap.tolist() == [1.0, *[0.0] * 11]
    chunks = [np.asarray(c) for _, found in source.run(
        [(unit, lambda chunk: chunk.features.matrix()) for unit in range(source.n_units)],
        columns_of_features(),
    ) for c in found]  # fmt: skip
    assert np.array_equal(np.concatenate(chunks), values.astype(source.dtype))


def columns_of_features() -> Any:
    from groupcm.sources.base import Columns

    return Columns(features=True)


def test_a_folder_of_npy_files(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=(4, 3)).astype(np.float16) for name in "cab"}
    for name, values in arrays.items():
        np.save(tmp_path / f"{name}.npy", values)
    source = sources.from_npy(tmp_path, labels={"a": 0, "b": 1, "c": 0})
    assert source.index().ids.tolist() == ["a", "b", "c"]
    model = GroupClassifier(lam=0.9).fit(source)
    X = np.concatenate([arrays[name] for name in "abc"]).astype(np.float32)
    np.testing.assert_allclose(model.decision_function(source), model.decision_function(X))
    with pytest.raises(ValueError, match="label is for one file; a folder takes labels"):
        sources.from_npy(tmp_path, label=[0, 1])
    (tmp_path / "b.npy").write_bytes((tmp_path / "b.npy").read_bytes()[:-5])
    with pytest.raises(InputError, match=r"b\.npy.*is not a complete \.npy file"):
        sources.from_npy(tmp_path)


def slow_share(x: float, y: float, side: float, inside: Any, n: int = 64) -> float:
    steps = (np.arange(n) + 0.5) * side / n
    u, v = np.meshgrid(x + steps, y + steps)
    return float(np.mean(inside(u, v)))


def even_odd(ring: np.ndarray) -> Any:
    def inside(u: Any, v: Any) -> Any:
        found = np.zeros(u.shape, dtype=bool)
        for (ax, ay), (bx, by) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            crosses = (ay > v) != (by > v)
            with np.errstate(divide="ignore", invalid="ignore"):
                found ^= crosses & (u < ax + (v - ay) / (by - ay) * (bx - ax))
        return found

    return inside


@pytest.mark.parametrize("seed", range(4))
def test_the_share_of_a_patch_in_a_polygon_with_a_hole(seed):
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 25))[:: 1 if seed % 2 else -1]
    radius = rng.uniform(60, 100, 25)  # a star, which is not convex
    outer = 100 + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    hole = 100 + 0.3 * (outer - 100)
    corner = rng.uniform(-20, 200, size=(60, 2))
    found = covered_shares(corner, 30, [SlideRegion("x", [outer, hole], [False, True])])
    is_outer, is_hole = even_odd(outer), even_odd(hole)
    wanted = [slow_share(x, y, 30, lambda u, v: is_outer(u, v) & ~is_hole(u, v)) for x, y in corner]
    np.testing.assert_allclose(found, wanted, atol=0.02)
    assert 0.0 < np.mean(found) < 1.0


def test_areas_add_up_to_that_of_the_polygon():
    ring = np.array([[10.0, 5], [90, 20], [60, 95], [55, 40]])
    corner = np.stack(np.meshgrid(np.arange(0, 100, 7), np.arange(0, 100, 7)), axis=-1)
    shares = covered_shares(corner.reshape(-1, 2), 7, [SlideRegion("x", [ring], [False])])
    x, y = ring.T
    area = 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert 49 * shares.sum() == pytest.approx(area)


def test_geojson_of_other_kinds(tmp_path):
    square, hole = rectangle(0, 0, 9, 9), rectangle(2, 2, 4, 4)
    features = [
        {"geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {}},
        {"geometry": {"type": "MultiPolygon", "coordinates": [[square, hole], [square]]},
         "properties": {"classification": {"name": "Tumor"}}},
        {"geometry": {"type": "GeometryCollection", "geometries": [
            {"type": "Polygon", "coordinates": [square]},
            {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}]}, "properties": None},
    ]  # fmt: skip
    path = tmp_path / "s.geojson"
    path.write_text(json.dumps(features))
    regions = read_geojson(path)
    assert [(each.category, each.is_hole) for each in regions] == [
        ("Tumor", [False, True, False]),
        ("unclassified", [False]),
    ]


def test_boxes_of_another_format(tmp_path):
    write_slide(tmp_path, "a")
    write_slide(tmp_path, "b")
    (tmp_path / "boxes.csv").write_text(
        "image,x,y,width,height,category,image_width,image_height\n"
        f"a.svs,0,0,{SIDE},{SIDE // 2},tumor,2048,2048\nb.svs,,,,,,2048,2048\n"
    )
    source = sources.from_hdf5(tmp_path, annotations=tmp_path / "boxes.csv")
    assert np.flatnonzero(source.overlap).tolist() == [0]
    assert source.index().group_labels(1).tolist() == [True, False]


def cut_short(folder: Path) -> None:
    path = folder / "s1.h5"
    path.write_bytes(path.read_bytes()[:900])


def without_features(folder: Path) -> None:
    with h5py.File(folder / "s1.h5", "a") as file:
        file["embeddings"] = file.pop("features")[()]


def wider(folder: Path) -> None:
    write_slide(folder, "s1", d=7)


def not_a_number(folder: Path) -> None:
    with h5py.File(folder / "s1.h5", "a") as file:
        file["features"][3, 2] = np.nan


def no_rows(folder: Path) -> None:
    write_slide(folder, "s1", n=0)


def no_size(folder: Path) -> None:
    write_slide(folder, "s3", attributes={})


def few_coordinates(folder: Path) -> None:
    with h5py.File(folder / "s3.h5", "a") as file:
        del file["coords"]
        file["coords"] = np.zeros((3, 2))


def removed(folder: Path) -> None:
    (folder / "s1.h5").unlink()


def another(folder: Path) -> None:
    write_slide(folder, "s9")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (cut_short, r"s1\.h5.* is not a complete HDF5 file; it may be cut short"),
        (without_features, r"s1\.h5.* has no data set 'features'; it has 'coords', 'embeddings'"),
        (wider, r"s1\.h5.* has 7 features per row, and .*s0\.h5 has 6; use files of one network"),
        (not_a_number, r"row 3 of .*s1\.h5 \(counted from 0\): the feature 2 is nan"),
        (no_rows, r"s1\.h5.*: the data set 'features' has no rows"),
        (no_size, r"s3\.h5.*'coords' has no attribute 'patch_size_level0'; give the sides"),
        (few_coordinates, r"s3\.h5.*'coords' has the shape \(3, 2\); it must be \(12, 2\)"),
        (removed, r"there is no file for the labelled slide s1; add it"),
        (another, r"the table of labels lacks the slides s9"),
    ],
)
@pytest.mark.filterwarnings("ignore::groupcm.errors.LabelsWarning")
def test_mistakes_are_one_sentence(slides, damage, sentence):
    damage(slides / "features")
    with pytest.raises(InputError, match=sentence):
        GroupClassifier().fit(sources.from_hdf5(
            slides / "features",
            labels=slides / "slides.csv",
            annotations=slides / "annotations",
        ))  # fmt: skip


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"type": "Topology"}', "is JSON of the type 'Topology'"),
        ("[{}]", r"feature 1: .*'geometry'"),
        ("3", "holds neither features nor a list"),
        ('[{"geometry": {"type": "Polygon", "coordinates": [["a"]]}}]', "not a list of pairs"),
        ('[{"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 1e30], [2, 2]]]}}]',
         "a corner is not a finite number"),
        ("[", "is not JSON"),
    ],
)  # fmt: skip
def test_damaged_geojson(tmp_path, content, sentence):
    path = tmp_path / "s.geojson"
    path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        read_geojson(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slide,class\ns0,1\n", "has no column 'label'; its columns are slide, class"),
        ("slide,label\ns0,1\ns0,0\n", "the slide s0 is there twice"),
        ("slide,label\ns0,\ns1,2\n", "the column 'label' is empty in row 0"),
    ],
)
def test_tables_of_slides(slides, text, sentence):
    (slides / "slides.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        sources.from_hdf5(slides / "features", labels=slides / "slides.csv")
