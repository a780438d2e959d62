"""The datasets: generated ones, and readers of public sets on files of the same format."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import groupcm
from groupcm import GroupClassifier
from groupcm.data.tables.formats import write_table
from groupcm.datasets import (
    DownloadError,
    download,
    fetch_amazon_google,
    fetch_bccd,
    fetch_cvc_clinicdb,
    fetch_magnetic_tiles,
    fetch_signalp6,
    fetch_targetp2,
    fetch_wikiqa,
    load_capsule,
    load_digit_groups,
    pictures,
    texts,
)
from groupcm.datasets.proteins import RESIDUES
from groupcm.errors import InputError, ParameterError
from groupcm.images import propose_folder
from groupcm.metrics import group_roc_auc


@pytest.fixture(autouse=True)
def _first_use(monkeypatch) -> None:
    """Let each test be the first use of the licences."""
    monkeypatch.setattr(download, "_printed", set())


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def residues_at(data, row: int) -> dict[str, str]:
    """Return the letter at each place of the window of a position."""
    names = [data.feature_names[j] for j in data.X[row].indices]
    return {name[1:]: name[0] for name in names if "@" in name}


def test_datasets_are_part_of_the_package():
    assert groupcm.datasets.load_capsule is load_capsule


def test_capsule_is_the_same_each_time_and_can_be_learned():
    data = load_capsule()
    np.testing.assert_array_equal(data.X, load_capsule().X)
    assert data["overlap"] is data.overlap
    assert set(data.fit_arguments()) == {"X", "y", "groups", "overlap"}
    with pytest.raises(KeyError):
        data["fit_arguments"]
    is_test = data.patients % 3 == 0
    train, test = data.rows(~is_test), data.rows(is_test)
    assert set(train.patients).isdisjoint(test.patients)
    model = GroupClassifier().fit(**train.fit_arguments())
    assert group_roc_auc(test.y, model.decision_function(test.X), test.groups) > 0.7


def test_digit_groups_hold_one_target_and_each_picture_once():
    data = load_digit_groups(3, random_state=1)
    per_group = np.bincount(data.groups, weights=data.y)
    assert set(per_group) == {0, 1}
    assert abs(per_group.mean() - 1 / 3) < 0.02
    pixels = np.unique(data.X, axis=0)
    assert len(pixels) == len(data)
    assert len(np.unique(np.stack([data.groups, data.folds]), axis=1).T) == data.n_groups
    for fold in range(5):
        assert data.rows(data.folds == fold).n_positive_groups >= 5
    with pytest.raises(ParameterError):
        load_digit_groups(10)
    with pytest.raises(ParameterError):
        load_digit_groups(group_size=2)


def test_rows_of_different_lengths_are_refused():
    data = load_digit_groups()
    with pytest.raises(ParameterError, match="groups"):
        replace(data, groups=data.groups[1:])


SIGNALP6 = """\
>P1|EUKARYA|SP|0
MKLAVC
SSSSOO
>P2|EUKARYA|NO_SP|2
MXW
III
>P3|POSITIVE|LIPO|1
MAGCC
LLLOO
>P4|ARCHAEA|PILIN|1
MAG
PPO
"""


def write_signalp6(home: Path, text: str = SIGNALP6) -> dict:
    path = home / "proteins" / "signalp6_train_set.fasta"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return {"data_home": home, "sha256": sha256(path)}


def test_signalp6(tmp_path, capsys):
    data = fetch_signalp6(**write_signalp6(tmp_path), window=(2, 1))
    assert "CC BY-NC-ND" in capsys.readouterr().out
    assert data.groups.tolist() == [0] * 6 + [1] * 3 + [2] * 5
    assert np.flatnonzero(data.y).tolist() == [3, 11]
    assert data.folds.tolist() == [0] * 6 + [2] * 3 + [1] * 5
    assert data.X.shape == (14, 4 * 20 + 2)
    assert len(data.feature_names) == data.X.shape[1]
    assert data.X.dtype == np.float32
    assert residues_at(data, 3) == {"@-2": "K", "@-1": "L", "@+0": "A", "@+1": "V"}
    assert residues_at(data, 0) == {"@+0": "M", "@+1": "K"}  # nothing before the first residue
    assert residues_at(data, 7) == {"@-1": "M", "@+1": "W"}  # the residue itself is unknown
    assert data.feature_names[data.X[5].indices[-1]] == "position 6-10"


def test_signalp6_types_and_numbers_of_proteins(tmp_path):
    given = write_signalp6(tmp_path)
    assert fetch_signalp6(**given, types=["PILIN"]).groups.max() == 1
    few = fetch_signalp6(**given, max_proteins=2)
    assert few.n_groups == 2
    again = fetch_signalp6(**given, max_proteins=2)
    np.testing.assert_array_equal(few.X.indices, again.X.indices)
    for wrong in ({"types": "SP"}, {"types": ["SPI"]}, {"max_proteins": 0}, {"window": (-1, 2)}):
        with pytest.raises(ParameterError) as error:
            fetch_signalp6(**given, **wrong)
        assert error.value.parameter in wrong


def test_another_version_of_signalp6_is_refused(tmp_path):
    write_signalp6(tmp_path)
    with pytest.raises(DownloadError, match="checksum"):
        fetch_signalp6(data_home=tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("SSSSOO", "SSSSO", 1),
        ("|NO_SP|2", "|NO_SP", 4),
        ("LLLOO", "IIIOO", 9),
        ("PPO\n", "", 10),
    ],
)
def test_a_damaged_line_of_signalp6_is_named(tmp_path, old, new, line):
    given = write_signalp6(tmp_path, SIGNALP6.replace(old, new))
    with pytest.raises(InputError, match=f"line {line}:"):
        fetch_signalp6(**given, types=["SP", "LIPO", "PILIN"])


def test_targetp2(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPCM_DATA", str(tmp_path))
    (tmp_path / "proteins").mkdir()
    path = tmp_path / "proteins" / "targetp_data.npz"
    # Frequencies as in BLOSUM62: proportional to the background, but for the residue itself.
    background = np.full(20, 0.05)
    background[[RESIDUES.index(letter) for letter in "LMWA"]] = 0.099, 0.025, 0.013, 0.074
    background /= background.sum()
    rows = {"X": background}
    for place, letter in enumerate(RESIDUES):
        row = background.copy()
        row[place] *= 3
        rows[letter] = row / row.sum()
    assert rows["M"].argmax() == RESIDUES.index("L")  # the largest entry alone does not decide
    sequences = ["MALWX", "MKV", "WWAC"]
    x = np.array([[rows[letter] for letter in f"{s:X<5}"] for s in sequences], np.float32)
    sites = np.zeros((3, 5), np.int32)
    sites[0, 2] = sites[2, 1] = 1
    y_type, lengths = np.array([2, 0, 1]), np.array([5, 3, 4])
    np.savez(path, x=x, y_cs=sites, y_type=y_type, len_seq=lengths, fold=np.array([4, 0, 1]))
    data = fetch_targetp2(sha256=sha256(path), window=(1, 0))
    assert np.flatnonzero(data.y).tolist() == [2, 9]
    assert data.folds.tolist() == [4] * 5 + [0] * 3 + [1] * 4
    assert residues_at(data, 1) == {"@-1": "M", "@+0": "A"}
    assert residues_at(data, 3) == {"@-1": "L", "@+0": "W"}
    assert residues_at(data, 4) == {"@-1": "W"}
    only = fetch_targetp2(sha256=sha256(path), types=["MT"])
    assert (only.n_groups, only.n_positive_groups) == (2, 1)


WIKIQA_HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"


def write_wikiqa(home: Path, header: str = WIKIQA_HEADER) -> None:
    (home / "wikiqa").mkdir()
    with zipfile.ZipFile(home / "wikiqa" / "WikiQACorpus.zip", "w") as archive:
        for split in ("train", "dev", "test"):
            rows = (
                'Q1\twhen was the "Eiffel tower built\tD1\tT\tD1-0\tIt is a tower.\t0\n'
                "Q1\twhen was the Eiffel tower built\tD1\tT\tD1-1\tThe tower, built 1889.\t1\n"
                "Q2\twho wrote it\tD2\tT\tD2-0\tNothing is known.\t0\n"
            )
            archive.writestr(f"WikiQACorpus/WikiQA-{split}.tsv", header + rows)


def test_wikiqa(tmp_path):
    write_wikiqa(tmp_path)
    data = fetch_wikiqa(data_home=tmp_path)
    assert data.groups.tolist() == [0, 0, 1, 2, 2, 3, 4, 4, 5]
    assert data.folds.tolist() == ["train"] * 3 + ["dev"] * 3 + ["test"] * 3
    assert data.y.tolist() == [0, 1, 0] * 3
    values = dict(zip(data.feature_names, data.X[1], strict=True))
    assert (values["has_year"], values["asks_when_evidence"], values["place"]) == (1, 1, 1)
    assert values["shared_words"] == 3
    assert dict(zip(data.feature_names, data.X[0], strict=True))["shared_words"] == 1


def test_wikiqa_of_another_format_is_refused(tmp_path):
    write_wikiqa(tmp_path, WIKIQA_HEADER.replace("Label", "Answer"))
    with pytest.raises(InputError, match="Label"):
        fetch_wikiqa(data_home=tmp_path)


def test_wikiqa_from_a_prepared_table(tmp_path):
    columns = {"question": [0, 0, 1], "label": [1, 0, 0], "split": ["train", "train", "dev"]}
    write_table(pa.table(columns | {"a": [1.0, 2, 3]}), tmp_path / "wikiqa" / "sentences.parquet")
    data = fetch_wikiqa(data_home=tmp_path)
    assert (data.feature_names, data.X.ravel().tolist()) == (["a"], [1, 2, 3])
    assert data.folds.tolist() == columns["split"]


def test_amazon_google(tmp_path, monkeypatch):
    monkeypatch.setattr(
        texts, "AMAZON_GOOGLE", [replace(file, sha256=None) for file in texts.AMAZON_GOOGLE]
    )
    (tmp_path / "matching").mkdir()
    record = "COL title VAL {} COL manufacturer VAL {} COL price VAL {} "
    one = record.format("photo editor 7", "acme", "99.0")
    two = record.format("accounts 2007", "sum", "")
    same = record.format("acme photo editor 7 upgrade", "", "99.0")
    other = record.format("word processor", "", "10")
    parts = {"train": [(one, same, 1), (two, other, 0)], "valid": [(one, other, 0)], "test": []}
    for part, pairs in parts.items():
        lines = "".join(f"{left}\t{right}\t{label}\n" for left, right, label in pairs)
        (tmp_path / "matching" / f"amazon_google_{part}.txt").write_text(lines)
    data = fetch_amazon_google(data_home=tmp_path)
    assert data.groups.tolist() == [0, 0, 1]  # the pairs of a product come from several files
    assert data.y.tolist() == [1, 0, 0]
    same_values, other_values, _ = (dict(zip(data.feature_names, x, strict=True)) for x in data.X)
    assert same_values["same_price"] == same_values["maker_in_right"] == 1
    assert same_values["shared_weight_of_left"] == pytest.approx(1)
    assert other_values["shared_weight"] == 0
    assert other_values["log_price_ratio"] == pytest.approx(np.log(9.9))


def grey(path: Path, *boxes: tuple[int, int, int, int], size=(40, 30), value=255) -> None:
    """Write a picture that is black but for some boxes."""
    pixels = np.zeros(size[::-1], np.uint8)
    for left, top, right, bottom in boxes:
        pixels[top:bottom, left:right] = value
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def test_magnetic_tiles_from_the_archive_of_the_authors(tmp_path, monkeypatch):
    source = tmp_path / "source"
    for name, boxes in {
        "MT_Crack/Imgs/exp1_num_100": [(2, 3, 12, 9), (30, 20, 31, 21)],
        "MT_Uneven/Imgs/exp1_num_900": [],
        "MT_Fray/Imgs/exp1_num_950": [(0, 0, 9, 9)],
        "MT_Free/Imgs/exp2_num_150": [],
        "MT_Free/Imgs/exp2_num_400": [],
    }.items():
        grey(source / f"{name}.jpg", (0, 0, 40, 30), value=90)
        grey(source / f"{name}.png", *boxes)
    with zipfile.ZipFile(tmp_path / "tiles.zip", "w") as archive:
        for file in sorted(source.rglob("*.*")):
            archive.write(file, f"tiles-cc4e/{file.relative_to(source).as_posix()}")
        archive.writestr("tiles-cc4e/README.md", "text")
    remote = replace(pictures.MAGNETIC_TILES.file, url=(tmp_path / "tiles.zip").as_uri())
    archive = replace(pictures.MAGNETIC_TILES, file=remote, digest=None)
    monkeypatch.setattr(pictures, "MAGNETIC_TILES", archive)
    data = fetch_magnetic_tiles(data_home=tmp_path, defects=["crack", "uneven"], verbose=0)
    assert [(p.name, p.state) for p in data.annotations] == [
        ("crack_exp1_num_100.jpg", "annotated"),
        ("free_exp2_num_150.jpg", "verified empty"),
        ("free_exp2_num_400.jpg", "verified empty"),
        ("uneven_exp1_num_900.jpg", "to do"),  # its mask is empty
    ]
    (crack,) = data.annotations.objects()  # without the speck of one pixel
    assert (crack.category, crack.region.area) == ("crack", 60)
    assert data.patients is not None
    assert data.patients.tolist() == ["0", "0", "1", "2"]
    assert len(data) == 4
    assert data.n_positive == 1
    done = propose_folder(
        data.folder, tmp_path / "candidates.parquet", annotations=data.annotations, workers=1
    )
    assert (done.n_pictures, done.n_positive) == (3, 1)
    with pytest.raises(ParameterError):
        fetch_magnetic_tiles(data_home=tmp_path, defects=["scratch"])


VOC = """<annotation><filename>{0}.jpg</filename><size><width>40</width><height>30</height>
<depth>3</depth></size><object><name>Platelets</name><bndbox><xmin>3</xmin><ymin>4</ymin>
<xmax>12</xmax><ymax>10</ymax></bndbox></object></annotation>"""


def test_bccd(tmp_path):
    home = tmp_path / "bccd"
    (home / "Annotations").mkdir(parents=True)
    (home / "ImageSets" / "Main").mkdir(parents=True)
    for number, split in enumerate(("train", "val", "test")):
        stem = f"BloodImage_{number:05d}"
        grey(home / "JPEGImages" / f"{stem}.jpg")
        (home / "Annotations" / f"{stem}.xml").write_text(VOC.format(stem))
        (home / "ImageSets" / "Main" / f"{split}.txt").write_text(f"{stem}\n")
    data = fetch_bccd(data_home=tmp_path)
    assert data.folds is not None
    assert data.folds.tolist() == ["train", "val", "test"]
    assert data.annotations["BloodImage_00001.jpg"].objects[0].region.area == 70
    assert (data.patients, repr(data)[:27]) == (None, "<PictureDataset bccd: 3 pic")


@pytest.fixture(params=[("images", "masks", "png"), ("Original", "Ground Truth", "tif")])
def frames(request, tmp_path) -> Path:
    """Three frames of two sequences, in both layouts."""
    images, masks, suffix = request.param
    home = tmp_path / "cvc_clinicdb"
    for number in (1, 25, 26):
        grey(home / images / f"{number}.{suffix}", (0, 0, 384, 288), size=(384, 288), value=90)
        grey(home / masks / f"{number}.{suffix}", (20, 30, 60, 50), size=(384, 288))
    return tmp_path


def test_cvc_clinicdb(frames):
    data = fetch_cvc_clinicdb(data_home=frames)
    assert data.patients is not None
    assert data.patients.tolist() == ["1", "1", "2"]
    assert [each.region.area for each in data.annotations.objects()] == [800] * 3


def test_windows_of_cvc_clinicdb(frames):
    data = fetch_cvc_clinicdb(data_home=frames, windows=frames / "windows")
    assert [picture.is_positive for picture in data.annotations] == [True, False] * 3
    assert {(picture.width, picture.height) for picture in data.annotations} == {(176, 144)}
    assert [each.region.area for each in data.annotations.objects()] == [800] * 3
    assert len(list((frames / "windows").glob("*.png"))) == 6
    assert data.patients is not None
    assert data.patients.tolist() == ["1", "1", "1", "1", "2", "2"]


def test_listed_windows_of_cvc_clinicdb(frames):
    listing = "image,sequence,x0,y0,x1,y1,positive\n1,1,10,20,70,60,1\n26,2,100,100,160,140,0\n"
    (frames / "cvc_clinicdb" / "tiles.csv").write_text(listing)
    data = fetch_cvc_clinicdb(data_home=frames, windows=frames / "windows")
    assert [(p.name, p.is_positive) for p in data.annotations] == [
        ("1_polyp.png", True),
        ("26_none.png", False),
    ]
    (polyp,) = data.annotations.objects()
    assert (polyp.region.box.x, polyp.region.box.y) == (10, 10)


def test_cvc_clinicdb_is_downloaded_by_hand(tmp_path):
    with pytest.raises(DownloadError, match="grand-challenge") as error:
        fetch_cvc_clinicdb(data_home=tmp_path)
    assert error.value.file == tmp_path / "cvc_clinicdb"
