"""Feature maps of a network pooled over candidates: against NumPy, and networks that do not fit."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_networks import OPSET, RGB, WEIGHTS, onnx_file, small_recipe

from groupcm.errors import InputError
from groupcm.images import Recipe
from groupcm.images.features import network_family
from groupcm.images.features._areas import margins, pixel_edges, strips_of
from groupcm.images.features.feature_maps import choose_maps
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.features.pooled_embedding import PooledEmbedding
from groupcm.images.proposals import Merging, Proposals
from groupcm.images.recipe_options import recipe_named
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.pooling import pool_cells

PLAIN = {"mean": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0)}


def strided_network(path, weights=WEIGHTS[:3], side=None):
    """Five convolutions of stride 2 with 3 channels; the third is doubled by a sum."""
    nodes, last = [], "picture"
    for number in range(5):
        options = {"strides": [2, 2], "pads": [1, 1, 1, 1]}
        nodes.append(helper.make_node("Conv", [last, "weights"], [f"conv{number}"], **options))
        last = f"conv{number}"
        if number == 2:
            nodes.append(helper.make_node("Add", [last, last], ["twice"]))
            nodes.append(helper.make_node("Relu", ["twice"], ["positive"]))
            last = "positive"
    nodes.append(helper.make_node("GlobalAveragePool", [last], ["pooled"]))
    shape = ["n", 3, side or "h", side or "w"]
    graph = helper.make_graph(
        nodes,
        "strided",
        [helper.make_tensor_value_info("picture", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("pooled", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "weights")],
    )
    onnx.save(helper.make_model(graph, opset_imports=OPSET, ir_version=9), path)
    return path


def slow_pooling(maps, stride, regions, outer):
    """Weights of cells pixel by pixel, from masks."""
    rows, columns, channels = maps.shape
    found = np.empty((len(regions), 4, channels))
    cell_row = np.minimum(np.arange(regions.height) // stride, rows - 1)
    cell_column = np.minimum(np.arange(regions.width) // stride, columns - 1)
    for k in range(len(regions)):
        mask = regions.mask(k)
        box = np.zeros_like(mask)
        left, top, right, bottom = outer[k]
        box[top:bottom, left:right] = True
        for part, area in ((0, mask), (2, box & ~mask)):
            cover = np.zeros((rows, columns))
            np.add.at(cover, np.ix_(cell_row, cell_column), area)
            if not cover.any():
                found[k, 2:] = found[k, :2]
                continue
            found[k, part] = np.tensordot(cover / cover.sum(), maps, 2)
            found[k, part + 1] = maps[cover >= cover.max() / 2].max(axis=0)
    return found


@pytest.mark.parametrize("stride", [1, 4, 8])
def test_pooling_is_that_of_the_slow_twin(stride):
    rng = np.random.default_rng(stride)
    view = View(rng.random((29, 37, 3), dtype=np.float32))
    regions = Proposals((Merging(),), at_most=30).propose(view)
    rows, columns = -(-29 // stride), -(-37 // stride)
    maps = rng.normal(size=(rows, columns, 5)).astype(np.float32)
    edges = pixel_edges(regions)
    step = margins(edges, 0.25)[:, None]
    outer = np.hstack(
        [np.maximum(edges[:, :2] - step, 0), np.minimum(edges[:, 2:] + step, [37, 29])]
    )
    found = np.empty((len(regions), 4, 5), dtype=np.float32)
    pool_cells(maps, stride, *strips_of(regions).by_area, outer, found)
    np.testing.assert_allclose(found, slow_pooling(maps, stride, regions, outer), atol=1e-5)


def test_the_last_map_of_each_stride_is_chosen(tmp_path):
    file = strided_network(tmp_path / "net.onnx")
    assert choose_maps(file.read_bytes(), "net.onnx") == ("twice", "conv3", "conv4")
    family = PooledEmbedding.of(file)
    assert family.n_features == 9
    assert len(family.names) == 36
    assert family.names[0] == "pooled 000"


def test_the_numbers_are_means_of_the_maps(tmp_path):
    file = strided_network(tmp_path / "net.onnx")
    rng = np.random.default_rng(0)
    view = View(rng.random((64, 64, 3), dtype=np.float32))
    whole = Regions.from_boxes([[0, 0, 64, 64]], 64, 64)
    family = PooledEmbedding.of(file, maps=("conv4",)).changed(**PLAIN)
    values = family.measure(view, whole).reshape(4, 3)
    (maps,) = family._network().run(view.rgb.transpose(2, 0, 1)[None])
    np.testing.assert_allclose(values[0], maps.mean(axis=(1, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(values[1], maps.max(axis=(1, 2)), rtol=1e-5)
    np.testing.assert_array_equal(values[2:], values[:2])


def test_a_recipe_carries_pooled_features(tmp_path):
    file = strided_network(tmp_path / "net.onnx")
    recipe = small_recipe(PooledEmbedding.of(file))
    values = recipe.candidates(RGB).values
    assert np.isfinite(values).all()
    file.unlink()
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    assert network_family.with_networks(again.features) == recipe.features
    np.testing.assert_array_equal(again.candidates(RGB).values, values)


def test_the_mode_of_a_network_is_chosen_by_name(tmp_path):
    file = strided_network(tmp_path / "net.onnx")
    recipe = recipe_named(network=[str(file)], network_mode="pool", components=4)
    assert isinstance(recipe.features[-1], PooledEmbedding)
    assert recipe.features[-1].n_components == 4
    both = recipe_named(network=[str(file)] * 2, network_mode="both", components=0).features[-4:]
    kinds = [(type(family), family.name) for family in both]
    assert kinds == [
        (NetworkEmbedding, "embedding1"),
        (PooledEmbedding, "pooled1"),
        (NetworkEmbedding, "embedding2"),
        (PooledEmbedding, "pooled2"),
    ]
    with pytest.raises(InputError, match="it must be 'auto', 'crop', 'pool' or 'both'"):
        recipe_named(network=[str(file)], network_mode="crops")


def test_by_default_maps_are_pooled_where_a_network_has_some(tmp_path):
    for file, kinds in (
        (strided_network(tmp_path / "net.onnx"), [NetworkEmbedding, PooledEmbedding]),
        (strided_network(tmp_path / "fixed.onnx", side=96), [NetworkEmbedding]),
        (onnx_file(tmp_path / "flat.onnx"), [NetworkEmbedding]),
    ):
        families = recipe_named(["windows"], ["shape"], network=[str(file)]).features
        assert [type(family) for family in families[1:]] == kinds
        if len(kinds) == 1:
            with pytest.raises(InputError):
                recipe_named(network=[str(file)], network_mode="both")


def test_two_families_store_their_network_once(tmp_path):
    file = strided_network(tmp_path / "net.onnx")
    recipe = recipe_named(["windows"], ["shape"], network=[str(file)], components=0)
    plain = json.loads(json.dumps(recipe.to_json()))
    assert [part.get("content") is None for part in plain["features"]] == [True, False, True]
    file.unlink()
    again = Recipe.from_json(plain)
    assert again == recipe
    np.testing.assert_array_equal(again.candidates(RGB).values, recipe.candidates(RGB).values)


def test_networks_that_cannot_be_pooled(tmp_path):
    good = strided_network(tmp_path / "net.onnx")
    nan = strided_network(tmp_path / "nan.onnx", weights=WEIGHTS[:3] * np.float32(np.nan))
    fixed = strided_network(tmp_path / "fixed.onnx", side=96)
    flat = onnx_file(tmp_path / "flat.onnx")
    (tmp_path / "no.onnx").write_bytes(b"\x08none")
    (tmp_path / "net.pt").write_bytes(b"PK\x03\x04")
    for file, options, said in (
        (good, {"maps": ("conv9",)}, "has no map 'conv9'"),
        (good, {"maps": ("pooled",)}, ""),
        (nan, {}, "gives values that are not finite numbers"),
        (fixed, {}, "pooling needs a network that takes pictures of any size"),
        (flat, {}, "has no feature maps of a stride of 8, 16 or 32 pixels"),
        (tmp_path / "no.onnx", {}, "is not a network that can be read"),
        (tmp_path / "net.pt", {}, "is a PyTorch file; pooling needs a network in ONNX"),
    ):
        if said:
            with pytest.raises(InputError, match=said):
                PooledEmbedding.of(file, **options)
    with pytest.raises(ValueError, match="maps is empty"):
        PooledEmbedding("a", "b", 1, maps=())
