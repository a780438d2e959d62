"""A fit that is interrupted and goes on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from streams import make_data, read

from groupcm import GroupClassifier
from groupcm.errors import InputError
from groupcm.solvers import streamed, working_set


@pytest.fixture
def source(tmp_path):
    return read(make_data(7).write(tmp_path / "a.parquet", row_group=50))


def interrupt_after(monkeypatch, module, name: str, calls: int) -> None:
    """From the given call on, Ctrl-C."""
    real, count = getattr(module, name), iter(range(10**6))

    def call(*given, **named):
        if next(count) >= calls:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr(module, name, call)


def fit(source, checkpoint, **params):
    return GroupClassifier(
        lam=0.9, memory="2kB", checkpoint=checkpoint, random_state=0, **params
    ).fit(source)


def test_a_fit_that_ends_leaves_no_checkpoint(source, tmp_path):
    model = fit(source, tmp_path / "c.json")
    assert model.gap_ <= 1e-4
    assert not (tmp_path / "c.json").exists()


def test_interrupted_before_anything_is_certified_and_resumed(source, tmp_path, monkeypatch):
    whole = fit(source, None)
    with monkeypatch.context() as broken:
        interrupt_after(broken, streamed, "_pass", 0)
        with pytest.raises(KeyboardInterrupt):
            fit(source, tmp_path / "c.json")
    saved = json.loads((tmp_path / "c.json").read_text())
    begun = []
    real = streamed._pass
    monkeypatch.setattr(
        streamed, "_pass", lambda fits, *rest: (begun.append(fits[0].start), real(fits, *rest))
    )
    resumed = fit(source, tmp_path / "c.json")
    # The first pass is where the interrupted one was to be.
    np.testing.assert_array_equal(begun[0], saved["points"][0])
    assert resumed.lower_bound_ <= whole.objective_ * (1 + 1e-9)
    assert whole.lower_bound_ <= resumed.objective_ * (1 + 1e-9)
    assert not (tmp_path / "c.json").exists()


def test_interrupted_in_memory_and_resumed(tmp_path, monkeypatch):
    data = make_data(8, n_groups=900)
    arrays = (data.X, data.y, data.groups, data.overlap)
    with monkeypatch.context() as broken:
        interrupt_after(broken, working_set, "_pass", 1)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model = GroupClassifier(lam=0.9, checkpoint=tmp_path / "c.json").fit(*arrays)
    assert model.solution_.interrupted
    assert model.gap_ > 1e-4
    assert (tmp_path / "c.json").exists()
    resumed = GroupClassifier(lam=0.9, checkpoint=tmp_path / "c.json").fit(*arrays)
    assert resumed.gap_ <= 1e-4
    assert not (tmp_path / "c.json").exists()


def test_the_checkpoint_of_another_fit_is_refused(source, tmp_path, monkeypatch):
    with monkeypatch.context() as broken:
        interrupt_after(broken, streamed, "_pass", 0)
        with pytest.raises(KeyboardInterrupt):
            fit(source, tmp_path / "c.json")
    with pytest.raises(InputError, match="another fit"):
        fit(source, tmp_path / "c.json", penalty="l2")
    other = make_data(7)
    rows = np.flatnonzero(other.y == other.y.max())
    other.overlap[rows] = 1.0 - other.overlap[rows]  # other candidates stand for their groups
    other = read(other.write(tmp_path / "b.parquet", row_group=50), overlap="overlap")
    with pytest.raises(InputError, match="another fit"):
        fit(other, tmp_path / "c.json")
    assert fit(source, tmp_path / "c.json", tol=1e-3).gap_ <= 1e-3  # the tolerance may change


def test_a_damaged_point_is_refused(source, tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    with monkeypatch.context() as broken:
        interrupt_after(broken, streamed, "_pass", 0)
        with pytest.raises(KeyboardInterrupt):
            fit(source, path)
    saved = json.loads(path.read_text())
    for point in ([0.0], [float("nan")] * 6, ["a"] * 6, True):
        path.write_text(json.dumps(saved | {"points": [point]}))
        with pytest.raises(InputError, match="damaged"):
            fit(source, path)


def test_a_place_that_cannot_be_written_is_refused_before_the_fit(source, tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "c.json", tmp_path):
        with pytest.raises((InputError, OSError)):
            fit(source, place)
    with pytest.raises(ValueError, match="checkpoint must be"):
        fit(source, 5)


@pytest.mark.parametrize(
    "content", ["", "{}", "[1]", '{"format": "groupcm-model"}', "\x00", "[" * 99_999]
)
def test_a_file_that_is_no_checkpoint_is_refused_and_left(content, source, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(content)
    with pytest.raises(InputError, match="not a checkpoint"):
        fit(source, path)
    assert path.read_text() == content
