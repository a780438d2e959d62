"""The representation of models in notebooks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from groupcm import (
    CalibratedGroupClassifier,
    GroupBoostingClassifier,
    GroupClassifier,
    MISVMClassifier,
    load,
    save,
)
from groupcm.simulate import capsule

DATA = capsule(40, n_positive=15, group_size=4)
LINEAR = [GroupClassifier(), MISVMClassifier(), CalibratedGroupClassifier(GroupClassifier(), cv=2)]


def html_of(model) -> str:
    html = model._repr_mimebundle_()["text/html"]
    strip = [text.split("</style>")[-1] for text in html.split('<div class="groupcm-panel">')[1:]]
    return strip[0] if strip else ""


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_linear_models_show_certificate_threshold_and_weights(model):
    model.fit(DATA.X, DATA.y, DATA.groups)
    shown = html_of(model)
    for text in ("of the global optimum", "Lower bound", "Threshold", "Largest weights"):
        assert text in shown


def test_trees_show_importances_and_no_certificate():
    model = GroupBoostingClassifier(5, early_stopping=False).fit(DATA.X, DATA.y, DATA.groups)
    shown = html_of(model)
    assert "Largest importances" in shown
    assert "Threshold" in shown
    assert "optimum" not in shown


@pytest.mark.parametrize("model", [*LINEAR, GroupBoostingClassifier()], ids=lambda m: str(m)[:9])
def test_an_unfitted_model_has_the_diagram_alone(model):
    from sklearn.base import clone

    model = clone(model)
    assert html_of(model) == ""
    assert "sk-top-container" in model._repr_html_()
    assert "fit" in dir(model)


def test_names_of_features_are_escaped():
    names = [f"<script>alert({j})</script>" for j in range(DATA.X.shape[1])]
    model = GroupClassifier().fit(pd.DataFrame(DATA.X, columns=names), DATA.y, DATA.groups)
    assert "<script>alert" not in model._repr_html_()
    assert "&lt;script&gt;alert" in html_of(model)


def test_the_panel_respects_the_display_option():
    model = GroupClassifier().fit(DATA.X, DATA.y, DATA.groups)
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_several_classes_have_weights_each():
    y = np.where(DATA.y == 1, 1 + np.arange(len(DATA.y)) % 2, 0)
    model = GroupClassifier().fit(DATA.X, y, "none")
    assert html_of(model).count("Largest weights of class") == 3


def test_importances_of_trees_survive_a_file(tmp_path):
    model = GroupBoostingClassifier(5, early_stopping=False).fit(DATA.X, DATA.y, DATA.groups)
    found = model.feature_importances_
    assert found.shape == (DATA.X.shape[1],)
    assert found.sum() == pytest.approx(1.0)
    gain = model.boosters_[0].feature_importance("gain")
    np.testing.assert_allclose(found, gain / gain.sum(), rtol=1e-6)
    save(model, tmp_path / "trees.json")
    np.testing.assert_array_equal(load(tmp_path / "trees.json").feature_importances_, found)
    with pytest.raises(AttributeError):
        _ = GroupBoostingClassifier().feature_importances_
