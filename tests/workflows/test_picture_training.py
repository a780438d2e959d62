"""One call from a folder of pictures to a model and its report: split, resumption, mistakes."""

from __future__ import annotations

import csv
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_networks import onnx_file

import groupcm
from groupcm.cli import main
from groupcm.errors import InputError, ParameterError
from groupcm.estimators.place import place_model
from groupcm.evaluation import model_choice
from groupcm.evaluation.model_choice import choose_model, model_named
from groupcm.images.augmentation import copy_name
from groupcm.images.features import network_family
from groupcm.images.synthetic import write_frames
from groupcm.images.tables.table import table_recipe
from groupcm.persistence.model_file import read
from groupcm.simulate import capsule_to_parquet
from groupcm.workflows import TrainingChoices, picture_training, read_choices, train_folder

QUICK = {
    "model": "linear",
    "proposals": ("windows",),
    "at_most": 12,
    "workers": 1,
    "features": ("colour",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("pictures") / "set"
    write_frames(home, 24, n_patients=12, share_with_polyps=0.5, height=48, width=64)
    return home


@pytest.fixture(scope="module")
def done(folder, tmp_path_factory):
    output = tmp_path_factory.mktemp("training") / "out"
    with pytest.warns(UserWarning, match="fewer than 10"):
        return train_folder(folder, output, **QUICK)


def n_tested(done):
    return done.evaluation.data.n_positive_groups + done.evaluation.data.n_negative_groups


def test_no_patient_is_in_both_parts_and_both_have_both_classes(done):
    patients = {part: set() for part in ("train", "test")}
    positive = {part: set() for part in ("train", "test")}
    with (done.output / "split.csv").open() as file:
        for row in csv.DictReader(file):
            patients[row["split"]].add(row["patient"])
            positive[row["split"]].add(done.pictures.is_positive(row["image"]))
    assert not patients["train"] & patients["test"]
    assert positive["train"] == positive["test"] == {True, False}
    assert n_tested(done) == sum(part == "test" for part in done.split.values())


def test_everything_is_written_and_the_model_scores(done, tmp_path):
    for name in ("report.html", "model.json", "scores.parquet", "train.toml", "annotations.json"):
        assert (done.output / name).stat().st_size
    drawn = list((done.output / "overlays").iterdir())
    assert len(drawn) == n_tested(done)
    assert groupcm.load(done.output / "model.json").threshold_ == done.fit.model.threshold_


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_repeated_training_measures_only_what_changed(done, folder, monkeypatch):
    proposed = []
    original = picture_training.propose_folder

    def counting(*args, **options):
        proposed.append(options["split"])
        return original(*args, **options)

    monkeypatch.setattr(picture_training, "propose_folder", counting)
    (done.output / "test.parquet").unlink()
    again = train_folder(folder, done.output, **QUICK)
    assert proposed == ["test"]
    assert again.fit.model.coef_.tolist() == done.fit.model.coef_.tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_command_takes_choices_of_a_file_and_options_over_them(
    folder, tmp_path, capsys, monkeypatch
):
    config = tmp_path / "train.toml"
    config.write_text(TrainingChoices(**QUICK, seed=3).to_toml())
    taken = []
    original = train_folder

    def noting(*arguments):
        taken.append(arguments[2])
        return original(*arguments)

    monkeypatch.setattr("groupcm.cli.commands.images_train.train_folder", noting)
    arguments = ["images", "train", str(folder), "-o", str(tmp_path / "out"), "--seed", "1"]
    assert main([*arguments, "--config", str(config)]) == 0
    assert taken == [TrainingChoices(**QUICK, seed=1)]
    shown = capsys.readouterr().out
    assert "24 pictures in" in shown
    assert "Test: " in shown
    assert read_choices(tmp_path / "out/train.toml")["seed"] == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour = 1", "there is no choice 'colour'"),
        ("seed = 'a'", "seed is 'a'; it must be of the type int"),
        ("test_share = true", "test_share is True"),
        ("category = 'a'", "category is 'a'"),
        ("context = ['wide']", "context is ['wide']; it must be of the type tuple[float, ...]"),
        ("crop_size = 9.5", "crop_size is 9.5; it must be of the type int"),
        ("seed = ", "cannot be read as TOML"),
    ],
)
def test_a_wrong_file_of_choices_is_refused(tmp_path, text, sentence):
    path = tmp_path / "train.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_choices(path)


def test_choices_survive_their_file(tmp_path):
    choices = TrainingChoices(
        category=('"quoted" ö', "b"),
        test_share=0.3,
        at_most=7,
        network=("timm:resnet18",),
        network_mode="pool",
        components=64,
        context=(0.5, 1),
    )
    path = tmp_path / "train.toml"
    path.write_text(choices.to_toml(), encoding="utf-8")
    assert TrainingChoices(**read_choices(path)) == choices


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_network_too_large_to_be_stored_is_used_with_its_options(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(network_family, "_MOST_STORED", 0)
    weights = np.random.default_rng(3).normal(size=(6, 3, 3, 3)).astype(np.float32)
    network = onnx_file(tmp_path / "small.onnx", weights=weights)
    command = ["images", "train", str(folder), "-o", str(tmp_path / "out"), "--workers", "1"]
    command += ["--model", "linear", "--proposals", "windows", "--features", "network"]
    command += ["--network", str(network), "--crop-size", "16", "--context", "0.5"]
    command += ["--components", "5", "--at-most", "6", "--cache", str(tmp_path / "kept")]
    assert main(command) == 0
    [family] = table_recipe(tmp_path / "out" / "test.parquet").features
    assert (family.size, family.context, family.n_components) == (16, (0.5,), 5)
    assert family.content is None
    assert any((tmp_path / "kept").iterdir())
    assert not (tmp_path / "out" / "cache").exists()


@pytest.mark.parametrize("wrong", [{"test_share": 0.0}, {"test_share": 0.7}, {"specificity": 2.0}])
def test_shares_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TrainingChoices(**wrong)


def test_the_output_may_not_be_among_the_pictures_or_other_files(folder, tmp_path):
    for output, sentence in (
        (folder.parent, "the pictures are in it"),
        (folder / "out", "in the folder of pictures"),
        (folder / "annotations.json", "it is a file"),
    ):
        with pytest.raises(InputError, match=sentence):
            train_folder(folder, output, **QUICK)
    (tmp_path / "mine.txt").touch()
    with pytest.raises(InputError, match="files of something else"):
        train_folder(folder, tmp_path, **QUICK)


def test_a_set_without_negatives_is_refused(tmp_path):
    write_frames(tmp_path / "set", 4, share_with_polyps=1.0, height=48, width=64)
    with pytest.raises(InputError, match="0 of the 4 pictures show no object"):
        train_folder(tmp_path / "set", tmp_path / "out", **QUICK)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_better_model_is_chosen(tmp_path, monkeypatch):
    path = tmp_path / "frames.parquet"
    capsule_to_parquet(path, 80, n_positive=60, group_size=8, n_patients=40)
    columns = {"group": "frame", "label": "label", "overlap": "overlap", "patient": "patient"}
    candidates = groupcm.read_candidates(path, **columns, exclude=["polyp"])

    class Scorer:
        def __init__(self, sign):
            self.sign = sign

        def fit(self, X, y):
            return self

        def decision_function(self, X):
            return self.sign * X.sum(axis=1)

    for better in ("trees", "linear"):
        monkeypatch.setattr(
            "groupcm.evaluation.model_choice.model_named",
            lambda name, better=better, **_: Scorer(1.0 if name == better else -1.0),
        )
        choice = choose_model(candidates)
        assert choice.name == better
        assert str(choice).startswith(better)
        assert "trained in" in str(choice)


def test_trees_hold_out_one_share_where_there_are_groups_enough(tmp_path, monkeypatch):
    path = tmp_path / "frames.parquet"
    capsule_to_parquet(path, 30, n_positive=12, group_size=2)
    columns = {"group": "frame", "label": "label", "overlap": "overlap"}
    candidates = groupcm.read_candidates(path, **columns, exclude=["patient", "polyp"])
    assert model_choice.tree_validation(candidates) == 3
    monkeypatch.setattr(model_choice, "_ENOUGH_FOR_A_SHARE", 12)
    assert model_choice.tree_validation(candidates) == 0.25
    assert model_named("trees", validation=0.25).validation == 0.25


def test_a_model_has_a_known_name():
    with pytest.raises(ParameterError, match="'forest'; it must be one of 'linear', 'trees'"):
        model_named("forest")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_pair_is_trained_on_copies_and_evaluated_on_pictures_alone(folder, tmp_path):
    changes = {"place": "linear", "augment": 1, "refine": True, "highlights": "fill"}
    done = train_folder(folder, tmp_path / "out", **QUICK, **changes)
    assert read_choices(tmp_path / "out/train.toml") == {**asdict_of_quick(), **changes}
    found = {part: pq.read_table(done.output / f"{part}.parquet") for part in ("train", "test")}
    names = {part: set(table["picture"].to_pylist()) for part, table in found.items()}
    originals = {name for name, part in done.split.items() if part == "train"}
    assert names["train"] == originals | {copy_name(name, 1) for name in originals}
    assert names["test"] == {name for name, part in done.split.items() if part == "test"}
    saved = read(done.output / "model.json")
    assert saved.notes["recipe"]["highlights"] == "fill"
    assert (
        place_model(saved.model).feature_names_in_.tolist()
        == saved.model.feature_names_in_.tolist()
    )
    scores = pq.read_table(done.output / "scores.parquet")
    assert "located" in scores.column_names
    # Copies are not in the folds without their picture.
    patients = found["train"].group_by("picture").aggregate([("patient", "min")]).to_pylist()
    owner = {row["picture"]: row["patient_min"] for row in patients}
    assert all(owner[name] == owner[copy_name(name, 1)] for name in originals)


def asdict_of_quick():
    """The choices of a quick training, without those that are left to the library."""
    kept = TrainingChoices(**QUICK)
    return {k: v for k, v in vars(kept).items() if v is not None and v != ()}


def test_a_place_model_that_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="place is 'forest'; it must be one of 'linear'"):
        TrainingChoices(place="forest")
