"""Networks by name, with a library of the test in the place of timm."""

from __future__ import annotations

import sys
import types

import pytest
from small_networks import RGB, small_recipe

from groupcm.errors import InputError
from groupcm.images import Recipe
from groupcm.images.features import named_networks, network_family
from groupcm.images.features.network_embedding import NetworkEmbedding, with_networks

torch = pytest.importorskip("torch")


def network(seed=0):
    torch.manual_seed(seed)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 5, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )
    module.pretrained_cfg = {
        "license": "apache-2.0",
        "mean": (0.5, 0.5, 0.5),
        "std": (0.2, 0.2, 0.2),
        "input_size": (3, 32, 32),
        "pool_size": (1, 1),
    }
    return module


@pytest.fixture
def library(monkeypatch, tmp_path):
    """A library like timm, whose weights are there for ``small`` and cannot be had for ``far``."""
    timm = types.ModuleType("timm")
    seeds = {"small": 0}

    def create_model(name, pretrained, num_classes):
        assert pretrained
        assert num_classes == 0
        if name.startswith("far"):
            raise OSError("no connection\nto the hub")
        return network(seeds["small"])

    timm.create_model = create_model
    timm.list_models = lambda: ["small", "far", "bare"]
    timm.list_pretrained = lambda: ["small.made", "far.made"]
    timm.seeds = seeds
    monkeypatch.setitem(sys.modules, "timm", timm)
    monkeypatch.setenv("GROUPCM_DATA", str(tmp_path / "cache"))
    named_networks.named_network.cache_clear()
    network_family.open_found.cache_clear()
    yield timm
    named_networks.named_network.cache_clear()
    network_family.open_found.cache_clear()


def test_a_named_network_is_exported_and_carried(library, tmp_path):
    family = NetworkEmbedding.of("timm:small.made", size=16)
    assert family.licence == "apache-2.0"
    assert family.mean == (0.5, 0.5, 0.5)
    assert family.content is not None
    assert family.weights_sha256 not in (None, family.sha256)
    assert [each.suffix for each in (tmp_path / "cache" / "networks").iterdir()] == [".onnx"]
    recipe = small_recipe(family)
    again = Recipe.from_json(recipe.to_json())
    del sys.modules["timm"]
    values = again.candidates(RGB).values
    assert values.shape == (6, 5)


def test_a_large_named_network_is_found_again_by_its_weights(library, monkeypatch):
    monkeypatch.setattr(network_family, "_MOST_STORED", 10)
    family = NetworkEmbedding.of("timm:small", size=16)
    assert family.content is None
    assert family.sha256 == family.weights_sha256
    recipe = small_recipe(family)
    values = recipe.candidates(RGB).values
    again = Recipe.from_json(recipe.to_json())
    assert (again.candidates(RGB).values == values).all()
    assert with_networks(again.features, ["timm:small"]) == again.features
    with pytest.raises(InputError, match="timm:far is not a network of this model"):
        with_networks(again.features, ["timm:far"])
    library.seeds["small"] = 1
    named_networks.named_network.cache_clear()
    network_family.open_found.cache_clear()
    with pytest.raises(
        InputError, match="what is found as timm:small is not the requested network"
    ):
        again.candidates(RGB)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("timm:smal", "timm has no network 'smal'; did you mean 'small'"),
        ("timm:bare", "timm has no weights for bare"),
        (
            "timm:far",
            r"weights of timm:far are not on this computer .*\(no connection to the hub\)",
        ),
        ("timm:../small", "timm has no network '../small'; give a name such as timm:resnet18"),
    ],
)
def test_names_that_lead_nowhere(library, name, said):
    with pytest.raises(InputError, match=said):
        NetworkEmbedding.of(name)


def test_a_library_that_is_missing_or_broken(library, monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(InputError, match=r"timm:small requires timm; .*groupcm\[deep\]"):
        NetworkEmbedding.of("timm:small")


def test_a_recipe_of_a_stranger_names_no_repository(library):
    plain = small_recipe(NetworkEmbedding("timm:hf_hub:x/y", "0" * 64, 5, 16)).to_json()
    with pytest.raises(InputError, match="timm has no network 'hf_hub:x/y'"):
        Recipe.from_json(plain).candidates(RGB)
