"""Embeddings: crops against their formula, and small networks against NumPy."""

from __future__ import annotations

import base64
import json
import pickle
import re
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper
from PIL import Image
from small_networks import HEIGHT, OPSET, RGB, VIEW, WEIGHTS, WIDTH, onnx_file, small_recipe

from groupcm.errors import InputError
from groupcm.images.features import network_family
from groupcm.images.features.colour import Colour
from groupcm.images.features.embedding import Embedding, crops
from groupcm.images.features.network_embedding import NetworkEmbedding, with_networks
from groupcm.images.recipe import Recipe
from groupcm.images.regions import Regions
from groupcm.images.view import View

BOXES = Regions.from_boxes([[2, 3, 9, 9], [0, 0, 30, 20], [28.5, 1, 30, 19]], HEIGHT, WIDTH)


# Crops


def slow_crop(box, size, margin, square):
    """One pixel of the crop after another, every pixel of the picture and far around it."""
    centre = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    sides = [(box[2] - box[0]) * (1 + 2 * margin), (box[3] - box[1]) * (1 + 2 * margin)]
    if square:
        sides = [max(sides)] * 2
    beyond = 100
    weights = []
    for middle, side, length in zip(centre, sides, (WIDTH, HEIGHT), strict=True):
        step = side / size
        pixels = np.arange(-beyond, length + beyond)
        places = middle - side / 2 + (np.arange(size) + 0.5) * step
        near = np.maximum(0, 1 - abs(pixels + 0.5 - places[:, None]) / max(1, step))
        weights.append(near / near.sum(axis=1, keepdims=True))
    padded = np.pad(RGB.astype(float), [(beyond, beyond), (beyond, beyond), (0, 0)], mode="edge")
    return np.moveaxis(weights[1] @ np.moveaxis(padded, 2, 0) @ weights[0].T, 0, 2)


def ends(most):
    numbers = st.floats(0, most, allow_nan=False, width=32)
    return st.tuples(numbers, numbers).map(sorted).filter(lambda pair: pair[1] - pair[0] > 0.01)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(ends(WIDTH), ends(HEIGHT), st.integers(1, 40), st.sampled_from([0, 0.1, 0.7]), st.booleans())
def test_crops_are_their_formula(across, down, size, margin, square):
    box = across[0], down[0], across[1], down[1]
    found = crops(VIEW, Regions.from_boxes([box], HEIGHT, WIDTH), size, margin, square)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], slow_crop(box, size, margin, square), atol=2e-6)


@pytest.mark.parametrize("size", [5, 48])
def test_crops_within_the_picture_are_those_of_pillow(size):
    box = 6.25, 5, 20.5, 14
    found = crops(VIEW, Regions.from_boxes([box], HEIGHT, WIDTH), size, margin=0, square=False)
    for colour in range(3):
        plane = Image.fromarray(np.ascontiguousarray(RGB[:, :, colour]))
        by_pillow = plane.resize((size, size), Image.Resampling.BILINEAR, box=box)
        np.testing.assert_allclose(found[0, :, :, colour], np.asarray(by_pillow), atol=2e-5)


def test_a_mask_is_cut_out_by_its_box():
    mask = np.zeros((1, HEIGHT, WIDTH), dtype=bool)
    mask[0, 3, 2], mask[0, 8, 8] = True, True
    by_mask = crops(VIEW, Regions.from_masks(mask), 16)
    np.testing.assert_array_equal(by_mask[0], crops(VIEW, BOXES, 16)[0])


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 1)])
def test_crops_of_tiny_pictures(shape):
    view = View(np.full((*shape, 3), 0.25, dtype=np.float32))
    whole = Regions.from_boxes([[0, 0, shape[1], shape[0]]], *shape)
    np.testing.assert_allclose(crops(view, whole, 9, 0.5), 0.25, rtol=1e-6)


# A function


def means(batch):
    return batch.mean(axis=(2, 3))


def test_a_function_gets_colours_first_and_few_crops_at_a_time():
    seen = []

    def function(batch):
        seen.append(batch.shape)
        assert batch.flags.c_contiguous
        return batch.mean(axis=(2, 3))

    many = BOXES.take(np.arange(70) % 3)
    values = Embedding(function, 3, size=12, margin=0.2).measure(VIEW, many)
    assert seen == [(32, 3, 12, 12), (32, 3, 12, 12), (6, 3, 12, 12)]
    expected = crops(VIEW, BOXES, 12, 0.2).mean(axis=(1, 2))
    np.testing.assert_allclose(values, expected[np.arange(70) % 3], rtol=1e-5)
    assert values.dtype == np.float32


def test_no_candidates_give_no_rows():
    assert Embedding(means, 3).measure(VIEW, BOXES.take(np.zeros(3, dtype=bool))).shape == (0, 3)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda batch: batch, "gave the shape (3, 3, 64, 64) for 3 crops; it must give (3, 3)"),
        (
            lambda batch: means(batch) * np.nan,
            "'embedding' gave a value that is not a finite number",
        ),
    ],
)
def test_a_function_that_is_wrong(function, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Embedding(function, 3).measure(VIEW, BOXES)


@pytest.mark.parametrize(
    "wrong", [{"n_features": 0}, {"size": 0}, {"margin": -1}, {"margin": np.nan}]
)
def test_settings_of_crops_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is .*; it must be"):
        Embedding(**({"function": means, "n_features": 3} | wrong))


def test_a_function_cannot_be_written_into_a_recipe():
    recipe = small_recipe(Embedding(means, 3))
    assert recipe.candidates(RGB).values.shape[1] == 3
    with pytest.raises(ValueError, match="Embedding"):
        recipe.to_json()
    assert "NetworkEmbedding.of(FILE)" in Embedding.cannot_be_written


# Networks


def by_numpy(cut):
    """The same network, from crops of the shape (n, size, size, 3)."""
    windows = sliding_window_view(cut.astype(float), (3, 3), axis=(1, 2))
    conv = np.einsum("nyxcij,kcij->nyxk", windows, WEIGHTS)
    return np.maximum(conv, 0).mean(axis=(1, 2))


@pytest.mark.parametrize(
    "shape", [("n", 3, "h", "w"), (1, 3, 16, 16), (2, 3, "h", "w"), (8, 3, 16, 16), None]
)
def test_an_onnx_network_gives_what_numpy_gives(tmp_path, shape):
    file = onnx_file(tmp_path / "small.onnx", shape or ["n", 3, 16, "w"])
    network = NetworkEmbedding.of(file, size=16, mean=(0.5, 0.4, 0.3), scale=(0.2, 0.3, 0.4))
    assert network.names == tuple(f"embedding 00{number}" for number in range(4))
    standard = (crops(VIEW, BOXES, 16) - [0.5, 0.4, 0.3]) / [0.2, 0.3, 0.4]
    values = network.measure(VIEW, BOXES)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, by_numpy(standard), rtol=1e-5, atol=1e-5)


def test_margin_and_stretching_reach_the_network(tmp_path):
    file = onnx_file(tmp_path / "small.onnx")
    plain = {"size": 16, "mean": (0, 0, 0), "scale": (1, 1, 1)}
    values = NetworkEmbedding.of(file, margin=0.4, square=False, **plain).measure(VIEW, BOXES)
    expected = by_numpy(crops(VIEW, BOXES, 16, 0.4, square=False))
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5)


def test_the_network_says_its_size(tmp_path):
    fixed = onnx_file(tmp_path / "fixed.onnx", ("n", 3, 24, 24))
    assert NetworkEmbedding.of(fixed).size == 24
    assert NetworkEmbedding.of(onnx_file(tmp_path / "free.onnx")).size == 96
    said = "fixed.onnx takes crops of 24 × 24 pixels, not of 32 × 32; leave the size out or give 24"
    with pytest.raises(InputError, match=said):
        NetworkEmbedding.of(fixed, size=32)
    with pytest.raises(ValueError, match="size is 0; it must be 1 or more"):
        NetworkEmbedding.of(fixed, size=0)


def test_one_output_of_several(tmp_path):
    file = onnx_file(tmp_path / "small.onnx", more=["pooled", "positive"])
    flat = NetworkEmbedding.of(file, size=16, output="flat").measure(VIEW, BOXES)
    pooled = NetworkEmbedding.of(file, size=16, output="pooled").measure(VIEW, BOXES)
    np.testing.assert_array_equal(flat, pooled)
    for output, said in (
        (None, "small.onnx has 3 outputs, flat, pooled, positive; choose with output=NAME"),
        ("Pool", "small.onnx has no output 'Pool'; did you mean 'pooled'?"),
        ("positive", "small.onnx gives the shape (1, 4, 14, 14) for 1 crops; it must give one row"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            NetworkEmbedding.of(file, size=16, output=output)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shape": ("n", 16, 16, 3)}, "takes input of the shape (any, 16, 16, 3); it must take"),
        ({"shape": ("n", 1, 16, 16)}, "takes input of the shape (any, 1, 16, 16); it must take"),
        ({"shape": ("n", 3, 16, 24)}, "takes input of the shape (any, 3, 16, 24); it must take"),
        ({"kind": TensorProto.FLOAT16}, "takes tensor(float16); it must take float32"),
        ({"weights": WEIGHTS * np.float32(np.nan)}, "gives values that are not finite numbers"),
        ({"weights": WEIGHTS[:, :2]}, "cannot"),
    ],
)
def test_networks_that_do_not_fit(tmp_path, options, said):
    if options.get("kind"):
        options = options | {"weights": WEIGHTS.astype(np.float16)}
    file = onnx_file(tmp_path / "not this.onnx", **options)
    with pytest.raises(InputError, match=re.escape("not this.onnx " + said)):
        NetworkEmbedding.of(file, size=16)


def test_crops_too_small_for_the_network(tmp_path):
    with pytest.raises(InputError, match=r"cannot run on crops of the shape \(1, 3, 2, 2\): "):
        NetworkEmbedding.of(onnx_file(tmp_path / "small.onnx"), size=2)


def test_two_inputs_are_refused(tmp_path):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "abc"]
    graph = helper.make_graph(
        [helper.make_node("Add", ["a", "b"], ["c"])], "g", values[:2], values[2:]
    )
    onnx.save(helper.make_model(graph, opset_imports=OPSET, ir_version=9), tmp_path / "two.onnx")
    with pytest.raises(InputError, match=r"two\.onnx takes 2 inputs; it must take one, the crops"):
        NetworkEmbedding.of(tmp_path / "two.onnx")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x02}q\x00."])
def test_files_that_are_no_network(tmp_path, content):
    (tmp_path / "notes.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"notes\.txt (is not a network|cannot be run)"):
        NetworkEmbedding.of(tmp_path / "notes.txt")


def test_weights_in_another_file_are_refused(tmp_path, monkeypatch):
    file = onnx_file(tmp_path / "small.onnx")
    onnx.save(onnx.load(file), file, save_as_external_data=True, location="rest", size_threshold=0)
    assert (tmp_path / "rest").stat().st_size >= WEIGHTS.nbytes
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"small\.onnx keeps its weights in another file; save"):
        NetworkEmbedding.of("small.onnx")


@pytest.mark.parametrize(
    ("library", "called", "extra"),
    [("onnxruntime", "onnxruntime", "onnx"), ("torch", "PyTorch", "torch")],
)
def test_what_runs_the_network_is_missing(tmp_path, monkeypatch, library, called, extra):
    file = tmp_path / "small"
    if library == "torch":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("small/archive_format", "pt2")
    else:
        onnx_file(file, weights=WEIGHTS + 1)
    monkeypatch.setitem(sys.modules, library, None)
    said = f'small requires {called}; install it with: pip install "groupcm[{extra}]"'
    with pytest.raises(InputError, match=re.escape(said)):
        NetworkEmbedding.of(file)


@pytest.mark.parametrize(
    "wrong", [{"mean": (0, 0)}, {"scale": (1, 1, np.inf)}, {"scale": (1, 0, 1)}]
)
def test_colours_that_cannot_be(tmp_path, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is .*; "):
        NetworkEmbedding.of(onnx_file(tmp_path / "small.onnx"), **wrong)


# The recipe of a model


def test_a_small_network_travels_in_the_recipe(tmp_path):
    file = onnx_file(tmp_path / "small.onnx")
    recipe = small_recipe(Colour(), NetworkEmbedding.of(file, size=16))
    values = recipe.candidates(RGB).values
    assert values.shape == (6, len(Colour.names) + 4)
    file.unlink()
    network_family.open_found.cache_clear()
    text = json.dumps(recipe.to_json())
    again = Recipe.from_json(json.loads(text))
    assert again == recipe
    assert with_networks(again.features) == recipe.features
    np.testing.assert_array_equal(again.candidates(RGB).values, values)
    assert str(tmp_path) not in text
    assert "content" not in repr(recipe)


MEASURE_ELSEWHERE = """
import pickle, sys
networks, view, regions = pickle.load(open(sys.argv[1], "rb"))
values = [network.measure(view, regions) for network in networks]
pickle.dump(values, open(sys.argv[2], "wb"))
"""


def test_another_process_measures_the_same(tmp_path, monkeypatch):
    file = onnx_file(tmp_path / "small.onnx")
    carried = NetworkEmbedding.of(file, size=16)
    monkeypatch.setattr(network_family, "_MOST_STORED", 10)
    large = NetworkEmbedding.of(file, size=16)
    assert carried.content is not None
    assert large.content is None
    values = carried.measure(VIEW, BOXES)
    (tmp_path / "given").write_bytes(pickle.dumps(((carried, large), VIEW, BOXES)))
    run = [sys.executable, "-c", MEASURE_ELSEWHERE, tmp_path / "given", tmp_path / "measured"]
    subprocess.run(run, check=True, timeout=120)
    for measured in pickle.loads((tmp_path / "measured").read_bytes()):
        np.testing.assert_array_equal(measured, values)


def test_a_large_network_is_named_again(tmp_path, monkeypatch):
    monkeypatch.setattr(network_family, "_MOST_STORED", 10)
    file = onnx_file(tmp_path / "large.onnx")
    recipe = small_recipe(NetworkEmbedding.of(file, size=16))
    values = recipe.candidates(RGB).values
    plain = recipe.to_json()
    assert plain["features"][0]["content"] is None
    again = Recipe.from_json(plain)
    assert again == recipe
    assert again.feature_names == recipe.feature_names
    said = "the model needs the network large.onnx and does not carry it; give the file with"
    with pytest.raises(InputError, match=said):
        again.candidates(RGB)
    with pytest.raises(InputError, match=said):
        with_networks(again.features)
    other = onnx_file(tmp_path / "other.onnx", weights=WEIGHTS * 2)
    with pytest.raises(InputError, match=r"other\.onnx is not a network of this model"):
        with_networks(again.features, [file, other])
    moved = file.rename(tmp_path / "renamed.onnx")
    whole = replace(again, features=with_networks(again.features, [moved]))
    assert whole == recipe
    np.testing.assert_array_equal(whole.candidates(RGB).values, values)


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(network_family, "_MOST_STORED", 10)
    network = NetworkEmbedding.of(onnx_file(tmp_path / "small.onnx"), size=16)
    onnx_file(tmp_path / "small.onnx", weights=WEIGHTS * 2)
    network_family.open_found.cache_clear()
    with pytest.raises(InputError, match="is not the requested network: its SHA-256"):
        network.measure(VIEW, BOXES)
    with pytest.raises(InputError, match="is not the requested network: its SHA-256"):
        NetworkEmbedding.of(tmp_path / "small.onnx", sha256=network.sha256)
    (tmp_path / "small.onnx").unlink()
    with pytest.raises(InputError, match=r"cannot read the network .*small\.onnx: No such file"):
        network.measure(VIEW, BOXES)


def test_a_damaged_recipe_is_refused(tmp_path):
    network = NetworkEmbedding.of(onnx_file(tmp_path / "small.onnx"), size=16)
    assert network.content is not None
    for wrong, said in (
        ({"content": network.content[:-4]}, "in the model is not the requested network"),
        ({"content": "?"}, "the network small.onnx in the model is damaged: it is not in base64"),
        ({"n_features": 5}, "small.onnx gives 4 numbers per crop, but the recipe names 5"),
    ):
        with pytest.raises(InputError, match=said):
            replace(network, **wrong).measure(VIEW, BOXES)


def test_a_recipe_cannot_name_a_place_on_this_machine(tmp_path):
    recipe = small_recipe(NetworkEmbedding.of(onnx_file(tmp_path / "small.onnx"), size=16))
    plain = recipe.to_json()
    plain["features"][0] |= {"path": str(tmp_path / "small.onnx"), "content": None}
    with pytest.raises(ValueError, match="'network' has no hyperparameter 'path'"):
        Recipe.from_json(plain)
    del plain["features"][0]["path"]
    plain["features"][0]["file"] = str(tmp_path / "small.onnx")
    with pytest.raises(InputError, match="does not carry it"):
        Recipe.from_json(plain).candidates(RGB)


# Networks of torch


@pytest.fixture(scope="module")
def torch_files(tmp_path_factory):
    """The same small network, exported with free and with fixed numbers of crops, and scripted."""
    torch = pytest.importorskip("torch")

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3, bias=False)
            self.conv.weight.data = torch.from_numpy(WEIGHTS.copy())

        def forward(self, crops):
            positive = self.conv(crops).relu()
            return positive.mean((2, 3)), positive

    folder = tmp_path_factory.mktemp("torch")
    small, example = Small().eval(), torch.zeros(2, 3, 16, 16)
    free = ({0: torch.export.Dim("n")},)
    torch.export.save(
        torch.export.export(small, (example,), dynamic_shapes=free), folder / "free.pt2"
    )
    torch.export.save(torch.export.export(small, (example,)), folder / "two.pt2")
    torch.save(small.state_dict(), folder / "weights.pt")
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.save(torch.jit.trace(small, example), folder / "script.pt")
    return folder


@pytest.mark.parametrize("name", ["free.pt2", "two.pt2", "script.pt"])
def test_a_network_of_torch_gives_what_numpy_gives(torch_files, name):
    import torch

    threads = torch.get_num_threads()
    network = NetworkEmbedding.of(
        torch_files / name, size=16, mean=(0, 0, 0), scale=(1, 1, 1), output="0"
    )
    values = network.measure(VIEW, BOXES)
    np.testing.assert_allclose(values, by_numpy(crops(VIEW, BOXES, 16)), rtol=1e-5, atol=1e-5)
    assert network.content is None, "a program never travels in a model"
    assert torch.get_num_threads() == threads
    recipe = small_recipe(network)
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    with pytest.raises(InputError, match=f"needs the network {name} and does not carry it"):
        again.candidates(RGB)
    here = with_networks(again.features, [torch_files / name])
    np.testing.assert_array_equal(here[0].measure(VIEW, BOXES), values)


def test_an_exported_program_knows_its_size(torch_files):
    assert NetworkEmbedding.of(torch_files / "free.pt2", output="0").size == 16
    with pytest.raises(InputError, match="takes crops of 16 × 16 pixels, not of 20 × 20"):
        NetworkEmbedding.of(torch_files / "free.pt2", output="0", size=20)
    with pytest.raises(InputError, match=r"free\.pt2 has 2 outputs, 0, 1; choose with output="):
        NetworkEmbedding.of(torch_files / "free.pt2")


def test_a_model_that_carries_a_program_is_refused(torch_files):
    network = NetworkEmbedding.of(torch_files / "free.pt2", output="0")
    content = base64.b64encode((torch_files / "free.pt2").read_bytes()).decode()
    with pytest.raises(InputError, match="is a PyTorch file; a model can contain only ONNX"):
        replace(network, content=content).measure(VIEW, BOXES)


def test_files_of_torch_that_do_not_run(torch_files, tmp_path, capfd):
    with pytest.raises(InputError, match=r"weights\.pt holds weights or Python objects, not a"):
        NetworkEmbedding.of(torch_files / "weights.pt")
    whole = (torch_files / "free.pt2").read_bytes()
    (tmp_path / "half.pt2").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"half\.pt2 is damaged: it begins as a file of torch"):
        NetworkEmbedding.of(tmp_path / "half.pt2")
    with zipfile.ZipFile(tmp_path / "empty.pt2", "w") as archive:
        archive.writestr("empty/archive_format", "pt2")
    with pytest.raises(InputError, match=r"empty\.pt2 cannot be read by torch: "):
        NetworkEmbedding.of(tmp_path / "empty.pt2")
    assert capfd.readouterr().err == ""
