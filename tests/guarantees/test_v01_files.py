"""Files written by version 0.1 are read, resumed and scored as version 0.1 did.

They are in ``data/files_v0.1``, with the script that wrote them; models of the other kinds are in
``files/models_v0.1`` and checked in test_persistence.py.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groupcm import GroupClassifier, load, simulate, sources
from groupcm.annotations import Box, Mask, Polygons, read
from groupcm.cli import main
from groupcm.estimators.path import lambda_path
from groupcm.features import Polynomial
from groupcm.images.proposals import PROPOSERS
from groupcm.persistence.model_file import read as read_model
from groupcm.solvers.checkpoint import Checkpoint
from groupcm.web.annotate.store import AnnotationStore
from groupcm.web.review.flags import Flag, read_flags
from groupcm.web.server.library import PictureLibrary

FILES = Path(__file__).parents[1] / "files" / "files_v0.1"
FRAMES = FILES / "pictures" / "frames"
TABLE = FILES / "candidates.parquet"
MODELS = ["linear", "tuned", "trees"]


def path_of(name: str) -> str:
    return str(FILES / name)


# Models and candidate tables ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_a_candidate_table_is_scored_as_by_version_0_1(kind, tmp_path):
    output = tmp_path / "scores.parquet"
    assert main(["score", path_of(f"model_{kind}.json"), str(TABLE), "-o", str(output)]) == 0
    found, expected = pq.read_table(output), pq.read_table(FILES / f"scores_{kind}.parquet")
    assert set(expected.column_names) <= set(found.column_names)
    for name in expected.column_names:
        values, right = (table[name].to_numpy() for table in (found, expected))
        if right.dtype.kind == "f":
            np.testing.assert_allclose(values, right, rtol=1e-9, err_msg=name)
        else:
            assert values.tolist() == right.tolist(), name


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_of_a_candidate_table_is_loaded_in_python(kind):
    model, table = load(path_of(f"model_{kind}.json")), pq.read_table(TABLE)
    X = table.select(list(model.feature_names_in_)).to_pandas()
    found = model.group_scores(X, table["picture"].to_numpy())
    expected = pq.read_table(FILES / f"scores_{kind}.parquet")
    np.testing.assert_allclose(found.score, expected["score"].to_numpy(), rtol=1e-9)
    assert found.winner.tolist() == expected["winner"].to_pylist()


def picture_rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", ["all", *MODELS])
def test_pictures_are_scored_as_by_version_0_1(kind, tmp_path):
    """The recipe in the model file proposes the same candidates and measures the same features.

    Features are measured in single precision, so their last digits depend on the processor.
    """
    output = tmp_path / "scores.csv"
    model = path_of(f"model_{kind}.json")
    assert main(["images", "score", model, str(FRAMES), "--workers", "1", "-o", str(output)]) == 0
    found, expected = picture_rows(output), picture_rows(FILES / f"picture_scores_{kind}.csv")
    assert len(found) == len(expected) == 10
    for row, right in zip(found, expected, strict=True):
        # The column of names has another name since.
        assert row.pop("image") == right.pop("picture")
        for name in ("score", "probability"):
            if name in right:
                assert float(row[name]) == pytest.approx(float(right[name]), rel=1e-5, abs=1e-6)
                del row[name], right[name]
        assert right.items() <= row.items()


def test_the_recipe_of_a_model_names_every_proposer_and_family():
    """The stored model of all families would miss a renamed kind that it does not hold."""
    recipe = read_model(path_of("model_all.json")).notes["recipe"]
    stored = {part["kind"] for part in recipe["proposals"]}
    assert stored == {"superpixels", "merging", "extremal", "ridges", "windows"}
    assert stored <= set(PROPOSERS)
    assert [part["kind"] for part in recipe["features"]] == [
        "shape", "colour", "contrast", "sides", "lines", "texture", "gradients", "place",
    ]  # fmt: skip


def test_what_was_noted_in_training_is_kept():
    saved = read_model(path_of("model_tuned.json"))
    model, notes = saved.model, saved.notes
    assert model.threshold_ == notes["operating_point"]["threshold"] == 2.026076885350422
    assert notes["columns"]["group"] == "picture"
    assert notes["held_out"]["group_auc"] == 0.56
    assert model.estimator_.lam_ == pytest.approx(0.8227, abs=1e-4)


def test_the_model_card_of_a_model_of_version_0_1(capsys):
    assert main(["describe", path_of("model_tuned.json")]) == 0
    card = capsys.readouterr().out
    assert "candidates.parquet" in card
    assert "0.1.0" in card


def test_a_model_is_fitted_to_a_candidate_table_of_version_0_1(tmp_path):
    """The table says which columns are what, and the optimum is the same."""
    output = tmp_path / "model.json"
    options = ["--lam", "0.5", "--random-state", "0"]
    assert main(["fit", str(TABLE), *options, "-o", str(output)]) == 0
    found, before = load(output), load(path_of("model_linear.json"))
    assert found.gap_ <= 1e-4
    assert found.objective_ == pytest.approx(before.objective_, rel=1e-4)
    assert found.feature_names_in_.tolist() == before.feature_names_in_.tolist()
    np.testing.assert_allclose(found.coef_, before.coef_, rtol=1e-3, atol=1e-3)
    assert (
        read_model(output).notes["recipe"]
        == read_model(path_of("model_linear.json")).notes["recipe"]
    )


def test_a_candidate_table_of_version_0_1_is_evaluated(capsys):
    assert main(["evaluate", path_of("model_tuned.json"), str(TABLE)]) == 0
    assert "0.8400" in capsys.readouterr().out


def without_centres(table: pa.Table) -> pa.Table:
    """Return the columns that version 0.1 wrote: it did not measure distances between centres."""
    return table.drop_columns(["centre_inside", "centre_distance"])


def test_a_candidate_table_of_version_0_1_is_labelled_again(tmp_path):
    output = str(tmp_path / "labelled.parquet")
    marked = path_of("pictures/annotations.json")
    options = ["--annotations", marked, "--unmarked", "negative", "-o", output]
    assert main(["images", "label", str(TABLE), *options]) == 0
    found, before = pq.read_table(output), pq.read_table(TABLE)
    assert without_centres(found).column_names == before.column_names
    assert found["label"].equals(before["label"])
    np.testing.assert_allclose(found["overlap"].to_numpy(), before["overlap"].to_numpy())


def test_proposals_write_the_same_candidate_table(tmp_path):
    output = tmp_path / "candidates.parquet"
    assert main(
        ["images", "propose", str(FRAMES), "--annotations", path_of("pictures/annotations.json"),
         "--unmarked", "negative", "--features", "shape,colour", "--at-most", "8",
         "--workers", "1", "-o", str(output)]
    ) == 0  # fmt: skip
    found, before = pq.read_table(output), pq.read_table(TABLE)
    assert without_centres(found).schema.equals(before.schema)
    said = [json.loads((table.schema.metadata or {})[b"groupcm"]) for table in (found, before)]
    for name in ("roles", "features", "recipe"):
        assert said[0][name] == said[1][name]
    for name in before.column_names:
        if pa.types.is_floating(before.schema.field(name).type):
            values, right = (table[name].to_numpy() for table in (found, before))
            np.testing.assert_allclose(values, right, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            assert found[name].to_pylist() == before[name].to_pylist(), name


# Checkpoints -------------------------------------------------------------------------------------

STREAMED = {"memory": "2kB"}


def source():
    return sources.from_parquet(
        FILES / "rows.parquet",
        group="frame",
        label="label",
        overlap="overlap",
        features=simulate.FEATURE_NAMES,
    )


def arrays():
    table = pq.read_table(FILES / "rows.parquet")
    X = np.column_stack([table[name].to_numpy() for name in simulate.FEATURE_NAMES])
    return X, *(table[name].to_numpy() for name in ("label", "frame", "overlap"))


def model(checkpoint: Path | None, **options) -> GroupClassifier:
    return GroupClassifier(lam=0.9, random_state=0, checkpoint=checkpoint, **options)


@pytest.fixture
def started_from(monkeypatch):
    """The points that a fit took from its checkpoint."""
    taken = []
    real = Checkpoint.read

    def taking(self):
        taken.append(real(self))
        return taken[-1]

    monkeypatch.setattr(Checkpoint, "read", taking)
    return taken


def kept(name: str, folder: Path) -> Path:
    """A copy, because a fit that ends removes its checkpoint."""
    return Path(shutil.copy(FILES / f"checkpoint_{name}.json", folder))


def stored_points(name: str) -> list[list[float]]:
    return json.loads((FILES / f"checkpoint_{name}.json").read_text(encoding="utf-8"))["points"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("streamed", STREAMED),
        ("l1", STREAMED | {"penalty": "l1", "loss": "hinge"}),
        ("mapped", STREAMED | {"feature_map": Polynomial(2)}),
        ("memory", {}),
    ],
)
def test_a_fit_resumes_from_a_checkpoint_of_version_0_1(name, options, tmp_path, started_from):
    checkpoint = kept(name, tmp_path)
    data = arrays() if name == "memory" else (source(),)
    resumed = model(checkpoint, **options).fit(*data)
    (points,) = started_from
    np.testing.assert_array_equal(points[0], stored_points(name)[0])
    assert resumed.gap_ <= 1e-4
    assert not checkpoint.exists()
    whole = model(None, **options).fit(*data)
    assert resumed.lower_bound_ <= whole.objective_ * (1 + 1e-9)
    assert whole.lower_bound_ <= resumed.objective_ * (1 + 1e-9)


def test_a_fit_of_unscaled_features_resumes_where_version_0_1_was(tmp_path, started_from):
    """Version 0.1 wrote the weights of the raw features, and solvers see scaled ones since."""
    checkpoint = kept("unscaled", tmp_path)
    options = STREAMED | {"standardize": False, "penalty": "l2"}
    resumed = model(checkpoint, **options).fit(source())
    (points,) = started_from
    assert resumed.gap_ <= 1e-4
    assert not checkpoint.exists()
    # At both the scores of all rows are the same.
    X = arrays()[0]
    scale = np.maximum(X.std(axis=0, dtype=np.float64), 1.0)
    Z = (X - X.mean(axis=0, dtype=np.float64)) / scale
    w, b = np.split(np.array(stored_points("unscaled")[0]), [-1])
    np.testing.assert_allclose(Z @ points[0][:-1] + points[0][-1], X @ w + b, atol=1e-5)


def test_a_path_of_lambda_resumes_from_a_checkpoint_of_version_0_1(tmp_path, started_from):
    checkpoint = kept("path", tmp_path)
    path = lambda_path(source(), lams=[0.5, 0.9], estimator=model(checkpoint, **STREAMED))
    (points,) = started_from
    for k, point in enumerate(stored_points("path")):
        np.testing.assert_array_equal(points[k], point)
    assert path.gap.max() <= 1e-4
    assert not checkpoint.exists()


def test_the_command_resumes_from_a_checkpoint_of_version_0_1(tmp_path, started_from):
    checkpoint, output = kept("streamed", tmp_path), tmp_path / "model.json"
    columns = ["--group", "frame", "--label", "label", "--overlap", "overlap"]
    features = ["--features", ",".join(simulate.FEATURE_NAMES)]
    options = ["--lam", "0.9", "--memory", "2kB", "--checkpoint", str(checkpoint)]
    rows = path_of("rows.parquet")
    assert main(["fit", rows, *columns, *features, *options, "-o", str(output)]) == 0
    assert len(started_from) == 1
    assert load(output).gap_ <= 1e-4
    assert not checkpoint.exists()


# What the pages save -----------------------------------------------------------------------------


def test_annotations_of_the_annotate_page_are_read():
    first, second, third = read(FILES / "annotated.json")
    assert [each.state for each in (first, second)] == ["annotated", "verified empty"]
    assert not third.done
    assert first.objects[0].region == Box(1.5, 2.0, 9.0, 7.5)
    blood, polyp = third.objects
    assert isinstance(blood.region, Polygons)
    assert blood.category == "blood"
    assert isinstance(polyp.region, Mask)
    assert polyp.region.area == 11
    assert polyp.score == 0.5


def test_pictures_that_version_0_1_confirmed_to_be_empty_stay_so():
    found = read(FILES / "annotated_all_done.json")
    assert found.state_counts()._asdict() == {"annotated": 2, "verified_empty": 8, "todo": 0}


def test_the_annotate_page_opens_a_file_of_version_0_1(tmp_path):
    path = Path(shutil.copy(FILES / "annotated.json", tmp_path))
    store = AnnotationStore(PictureLibrary(FRAMES), path)
    assert store.categories == ["polyp", "blood"]
    totals = store.totals()
    assert (totals.done, totals.objects) == (2, 3)
    seen = store.picture(2)
    store.put(2, {"version": seen["version"], "done": True, "objects": seen["objects"]})
    store.close()
    again, before = read(path), read(FILES / "annotated.json")
    assert all(picture.done for picture in again)
    assert [p.objects for p in again] == [p.objects for p in before]


def test_marked_candidates_are_read():
    found = read(FILES / "found.json")
    assert len(found) == 10
    assert sum(len(picture.objects) for picture in found) == 11
    assert max(each.score for picture in found for each in picture.objects) == 1.969733138975351


def test_pictures_to_correct_are_read():
    assert read_flags(FILES / "review.csv") == {
        "patient1_frame01.png": Flag(0.25, "negative", "false positive", "is it one, or two?"),
        "patient2_frame03.png": Flag(None, "", "", 'A quote ", a comma, and é.'),
        "gone.png": Flag(-1e-3, "positive", "false negative", ""),
    }
