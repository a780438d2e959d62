"""Components of embeddings, their cache, features of the user, and the fitting of a recipe."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import imageio.v3
import numpy as np
import pytest
from small_networks import RGB, VIEW, onnx_file, small_recipe

from groupcm.data.tables.formats import open_table
from groupcm.errors import InputError
from groupcm.images import Recipe, fit_recipe, propose_folder, register_family, table_recipe
from groupcm.images.features.colour import Colour
from groupcm.images.features.components import Components
from groupcm.images.features.embedding_cache import region_keys
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.features.user_families import import_family, registered_families
from groupcm.images.parallel import VideoFrame
from groupcm.images.regions import Regions
from groupcm.images.synthetic import make_frames, write_frames
from groupcm.images.tables.table import check_candidates

FRAMES = [
    VideoFrame(frame.picture.name, frame.pixels) for frame in make_frames(4, height=40, width=56)
]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    weights = np.random.default_rng(3).normal(size=(12, 3, 3, 3)).astype(np.float32)
    return onnx_file(tmp_path_factory.mktemp("network") / "small.onnx", weights=weights)


# Principal components


def test_components_are_those_of_a_singular_value_decomposition():
    rng = np.random.default_rng(0)
    embeddings = (rng.normal(size=(200, 9)) @ rng.normal(size=(9, 9)) + 3).astype(np.float32)
    found = Components.of(embeddings, 4)
    centred = embeddings.astype(float) - embeddings.mean(axis=0)
    left, _, _ = np.linalg.svd(centred, full_matrices=False)
    expected = left[:, :4] * np.sqrt(len(embeddings))
    values = found(embeddings)
    signs = np.sign((values * expected).sum(axis=0))
    np.testing.assert_allclose(values, expected * signs, atol=2e-4)


def test_there_are_no_more_components_than_the_rows_have():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 6))
    assert Components.of(flat.astype(np.float32), 5).n_components == 2
    assert Components.of(rng.normal(size=(3, 6)).astype(np.float32), 5).n_components == 2
    for wrong, said in ((np.ones((1, 6)), "of 2 candidates or more"), (np.ones((9, 6)), "equal")):
        with pytest.raises(ValueError, match=said):
            Components.of(wrong.astype(np.float32), 5)


@pytest.mark.parametrize("text", ["?", "AAAA", "", "AACAfwAAgH8AAIB/AACAfw=="])
def test_damaged_components_are_refused(text):
    with pytest.raises(ValueError, match="principal components of a network"):
        Components.from_text(text, 2)


# Recipes with components


def test_a_recipe_learns_its_components_and_carries_them(network):
    unknown = small_recipe(Colour(), NetworkEmbedding.of(network, size=16, n_components=5))
    assert not unknown.is_fitted
    with pytest.raises(ValueError, match="compute them from training pictures with"):
        unknown.candidates(RGB)
    recipe = fit_recipe(unknown, FRAMES)
    assert recipe.is_fitted
    assert recipe == fit_recipe(unknown, FRAMES, workers=2)
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    values = again.candidates(FRAMES[0].pixels).values
    plain = small_recipe(NetworkEmbedding.of(network, size=16))
    raw = np.concatenate([plain.candidates(frame.pixels).values for frame in FRAMES])
    expected = Components.of(raw, 5)(raw[: len(values)])
    np.testing.assert_allclose(values[:, -5:], expected, atol=1e-4)
    assert recipe.feature_names[-5:] == tuple(f"embedding 00{number}" for number in range(5))


def test_components_that_do_not_fit_the_network(network):
    recipe = fit_recipe(small_recipe(NetworkEmbedding.of(network, size=16, n_components=5)), FRAMES)
    for wrong, said in (
        ({"n_components": 4}, "has 5 principal components and names 4"),
        ({"n_features": 11}, "the principal components of a network are damaged"),
        ({"n_components": -1}, "n_components is -1; it must be 0 or more"),
    ):
        plain = recipe.to_json()
        plain["features"][0] |= wrong
        with pytest.raises(ValueError, match=re.escape(said)):
            Recipe.from_json(plain)


def test_further_crops_show_the_surroundings(network):
    options = {"size": 16, "n_components": 0}
    both = NetworkEmbedding.of(network, context=(0.6,), **options)
    regions = Regions.from_boxes([[4, 5, 12, 12], [1, 1, 9, 19]], *RGB.shape[:2])
    parts = [NetworkEmbedding.of(network, margin=m, **options) for m in (0.1, 0.6)]
    expected = np.concatenate([part.measure(VIEW, regions) for part in parts], axis=1)
    np.testing.assert_array_equal(both.measure(VIEW, regions), expected)
    assert len(both.names) == 24
    with pytest.raises(ValueError, match="margin is -1"):
        NetworkEmbedding.of(network, context=(-1.0,), size=16)


def test_a_table_has_the_components_of_its_pictures_and_lends_them(network, tmp_path):
    write_frames(tmp_path, 4, share_with_polyps=0.5, height=40, width=56)
    recipe = small_recipe(Colour(), NetworkEmbedding.of(network, size=16, n_components=3))
    train, test = tmp_path / "train.parquet", tmp_path / "test.parquet"
    done = propose_folder(tmp_path / "frames", train, recipe=recipe, workers=1)
    assert done.n_pictures == 4
    fitted = table_recipe(train)
    assert fitted.is_fitted
    propose_folder(tmp_path / "frames", test, recipe=fitted, workers=1)
    assert check_candidates(open_table(test)).recipe == fitted.to_json()
    assert check_candidates(open_table(test)).features[-1] == "embedding 002"


def test_pictures_that_cannot_be_read_teach_nothing(network):
    class Broken:
        name = "broken.png"

        def read(self):
            raise InputError("broken.png is no picture")

    recipe = small_recipe(NetworkEmbedding.of(network, size=16, n_components=3))
    assert fit_recipe(recipe, [Broken(), *FRAMES]).is_fitted
    with pytest.raises(InputError, match="no picture could be read to compute"):
        fit_recipe(recipe, [Broken()])


# The cache


def test_a_second_run_computes_nothing(network, tmp_path, monkeypatch):
    recipe = small_recipe(NetworkEmbedding.of(network, size=16)).with_cache(tmp_path / "cache")
    values = recipe.candidates(RGB).values
    (file,) = (tmp_path / "cache").rglob("*.npz")
    monkeypatch.setattr(NetworkEmbedding, "compute", None)
    np.testing.assert_array_equal(recipe.candidates(RGB).values, values)
    assert recipe == recipe.with_cache(None)
    assert str(tmp_path) not in json.dumps(recipe.to_json())
    monkeypatch.undo()
    file.write_bytes(b"damaged")
    np.testing.assert_array_equal(recipe.candidates(RGB).values, values)
    other = small_recipe(NetworkEmbedding.of(network, size=18)).with_cache(tmp_path / "cache")
    assert not np.allclose(other.candidates(RGB).values, values)


def test_only_new_candidates_are_computed(network, tmp_path, monkeypatch):
    counts = []
    compute = NetworkEmbedding.compute

    def counted(self, view, regions):
        counts.append(len(regions))
        return compute(self, view, regions)

    monkeypatch.setattr(NetworkEmbedding, "compute", counted)
    family = NetworkEmbedding.of(network, size=16, cache=tmp_path)
    regions = Regions.from_boxes([[4, 5, 12, 12], [1, 1, 9, 19], [2, 2, 9, 9]], *RGB.shape[:2])
    family.measure(VIEW, regions.take([0, 2]))
    several = family.measure(VIEW, regions)
    assert counts == [2, 1]
    expected = NetworkEmbedding.of(network, size=16).measure(VIEW, regions)
    np.testing.assert_allclose(several, expected, rtol=1e-5)


def test_regions_of_equal_boxes_and_other_pixels_have_other_keys():
    masks = np.zeros((3, 6, 6), dtype=bool)
    masks[:, 1, 1], masks[:, 4, 4] = True, True
    masks[1, 2, 2] = True
    keys = region_keys(Regions.from_masks(masks)).tolist()
    assert keys[0] == keys[2] != keys[1]


def test_a_cache_that_cannot_be_written(network, tmp_path):
    (tmp_path / "file").write_text("")
    family = NetworkEmbedding.of(network, size=16, cache=tmp_path / "file")
    with pytest.raises(InputError, match=r"cannot keep embeddings in .*file"):
        family.measure(VIEW, Regions.from_boxes([[4, 5, 12, 12]], *RGB.shape[:2]))


# Families of the user


BLOBS = """
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Blobs:
    scale: float = 1.0
    names = ("blob_area",)

    def measure(self, view, regions):
        return (self.scale * regions.areas[:, None]).astype(np.float32)
"""


def test_a_family_of_the_user_is_part_of_a_recipe(tmp_path, monkeypatch):
    (tmp_path / "my_blobs.py").write_text(BLOBS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    monkeypatch.setattr("groupcm.images.features.user_families._REGISTERED", {})
    recipe = small_recipe(Colour(), import_family("my_blobs.Blobs")(2.0))
    found = recipe.candidates(RGB)
    np.testing.assert_allclose(found.values[:, -1], 2 * found.regions.areas)
    plain = recipe.to_json()
    assert plain["features"][1] == {"kind": "my_blobs.Blobs", "scale": 2.0}
    assert Recipe.from_json(plain) == recipe
    with pytest.raises(ValueError, match="scale of the family of features 'my_blobs"):
        Recipe.from_json(plain | {"features": [plain["features"][1] | {"scale": "2"}]})


def test_no_file_can_bring_code_along(monkeypatch):
    monkeypatch.setattr("groupcm.images.features.user_families._REGISTERED", {})
    plain = small_recipe(Colour()).to_json()
    plain["features"].append({"kind": "antigravity.Fly"})
    said = "antigravity.Fly is code of the user, which no file can bring along; pass it with --fam"
    with pytest.raises(ValueError, match=re.escape(said)):
        Recipe.from_json(plain)
    assert "antigravity" not in __import__("sys").modules
    assert registered_families() == {}


def test_classes_that_are_no_family():
    class Plain:
        names = ("a",)

    @dataclass
    class NoMeasure:
        names = ("a",)

    @dataclass
    class OddField:
        names = ("a",)
        table: dict = field(default_factory=dict)

        def measure(self, view, regions): ...

    for wrong, said in (
        (Plain, "Plain is not a dataclass"),
        (NoMeasure, "NoMeasure has no 'measure'"),
        (OddField, "the field 'table' of OddField is of the type dict, which a recipe cannot"),
    ):
        with pytest.raises(InputError, match=said):
            register_family(wrong)
    for name, said in (
        ("Blobs", "is not of the form MODULE.CLASS"),
        ("json.Blobs", "json has no 'Blobs'"),
    ):
        with pytest.raises(InputError, match=said):
            import_family(name)


def test_a_network_that_fails_on_one_picture_names_it_and_loses_no_other(tmp_path):
    weights = np.full((2, 3, 3, 3), 3e38, dtype=np.float32)  # infinite where a picture is bright
    network = onnx_file(tmp_path / "small.onnx", weights=weights)
    (tmp_path / "frames").mkdir()
    for name in "abc":
        pixels = np.full((20, 30, 3), 255 if name == "c" else 0, dtype=np.uint8)
        imageio.v3.imwrite(tmp_path / "frames" / f"{name}.png", pixels)
    recipe = small_recipe(NetworkEmbedding.of(network, size=16, n_components=0))
    told = "^the picture c.png: small.onnx gives values that are not finite.*; 2 pictures are done"
    with pytest.raises(InputError, match=told):
        propose_folder(tmp_path / "frames", tmp_path / "out.parquet", recipe=recipe, workers=1)
    imageio.v3.imwrite(tmp_path / "frames" / "c.png", np.zeros((20, 30, 3), dtype=np.uint8))
    done = propose_folder(tmp_path / "frames", tmp_path / "out.parquet", recipe=recipe, workers=1)
    assert (done.n_pictures, done.n_before) == (3, 2)
