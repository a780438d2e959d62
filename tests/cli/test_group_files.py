"""``groupcm fit`` and ``groupcm score`` on folders of one file of embeddings per group."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.csv as pacsv
import pytest

from groupcm.cli._main import main
from groupcm.persistence.model_file import read

h5py = pytest.importorskip("h5py")

CORNERS = 256 * np.stack(np.meshgrid(np.arange(4), np.arange(4)), axis=-1).reshape(-1, 2)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Thirty slides; every third shows an object in its first patch."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUPCM_NUM_THREADS", "1")
    rng = np.random.default_rng(0)
    for folder in ("slides", "matrices", "regions"):
        (tmp_path / folder).mkdir()
    lines = ["case,class,owner"]
    for k in range(30):
        features = rng.normal(size=(16, 8)).astype(np.float16)
        if k % 3 == 0:
            features[0] += 3
            ring = [[0, 0], [256, 0], [256, 256], [0, 256], [0, 0]]
            region = {"geometry": {"type": "Polygon", "coordinates": [ring]},
                      "properties": {"classification": {"name": "Tumor"}}}  # fmt: skip
            (tmp_path / "regions" / f"s{k}.geojson").write_text(json.dumps([region]))
        with h5py.File(tmp_path / "slides" / f"s{k}.h5", "w") as file:
            file["features"], file["coords"] = features, CORNERS
        np.save(tmp_path / "matrices" / f"s{k}.npy", features)
        lines.append(f"s{k},{int(k % 3 == 0)},p{k // 2}")
    (tmp_path / "cases.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


COLUMNS = ["--labels", "cases.csv", "--group", "case", "--label", "class"]
REGIONS = ["--annotations", "regions", "--category", "Tumor", "--patch-size", "256"]


def test_fit_and_score(here, capsys):
    columns = [*COLUMNS, "--patient", "owner"]
    assert main(["fit", "slides", "--format", "hdf5", *columns, *REGIONS, "-o", "m.json"]) == 0
    printed = capsys.readouterr().out
    assert "480 × 8 features" in printed
    assert "15" in printed.partition("patients")[2].partition("\n")[0]
    assert read("m.json").model.gap_ <= 1e-4
    assert main(["score", "m.json", "slides", "--format", "hdf5", *COLUMNS, "-o", "s.csv"]) == 0
    assert "group AUC" in capsys.readouterr().out
    scores = pacsv.read_csv("s.csv").to_pydict()
    assert set(scores["group"]) == {f"s{k}" for k in range(30)}
    positive = np.array([int(name[1:]) % 3 == 0 for name in scores["group"]])
    assert np.min(np.array(scores["score"])[positive]) > np.max(
        np.array(scores["score"])[~positive]
    )


def test_cross_validation_and_npy(here, capsys):
    files = ["matrices", "--format", "npy", *COLUMNS]
    assert main(["fit", *files, "--cv", "--folds", "2", "--lams", "0.5,0.9", "-o", "m.json"]) == 0
    assert "on left-out groups" in capsys.readouterr().out
    assert main(["score", "m.json", "matrices", "--format", "npy", "-o", "s.csv"]) == 0


def test_results_replace_earlier_ones_and_not_the_labels(here, capsys):
    files = ["matrices", "--format", "npy", *COLUMNS]
    for _ in range(2):
        assert main(["fit", *files, "-o", "m.json"]) == 0
        assert main(["score", "m.json", *files, "-o", "s.csv"]) == 0
    before = (here / "cases.csv").read_text()
    assert main(["score", "m.json", *files, "-o", "cases.csv"]) == 2
    assert "cases.csv is one of the tables; write to another file" in capsys.readouterr().err
    assert (here / "cases.csv").read_text() == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["slides", "--labels", "cases.csv"], "--labels is for --format hdf5 or npy"),
        (["slides", "--format", "hdf5", "--weight", "w"], "--weight is for tables; leave it out"),
        (["slides", "--format", "npy", *COLUMNS], "holds no files that end in .npy"),
        ([".", "--format", "hdf5", *COLUMNS], "end in .h5 or .hdf5; give the folder slides"),
        (["slides", "--format", "hdf5"], "no labels, which a fit needs; give a table of them with"),
        (["slides", "--format", "hdf5", "--labels", "cases.csv"], "has no column 'slide'"),
        (["slides", "--format", "hdf5", *COLUMNS, "--annotations", "regions"], "with --patch-size"),
        (["slides", "--format", "hdf5", "--patient", "p"], "give that table with --labels"),
        (["matrices", "--format", "npy", *COLUMNS, *REGIONS], "needs the coordinates of patches"),
    ],
)
def test_mistakes_are_one_sentence(here, capsys, options, sentence):
    assert main(["fit", *options, "-o", "m.json"]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("groupcm: ")
    assert sentence in said
    assert not (here / "m.json").exists()
