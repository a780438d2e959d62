"""The definitions of the synthetic worlds never change."""

from __future__ import annotations

import numpy as np
import pytest

from groupcm.errors import ParameterError
from groupcm.metrics import index_groups
from groupcm.simulate import capsule, capsule_chunks, capsule_to_parquet
from groupcm.simulate.definition import world_of
from groupcm.simulate.frames import draw_chunk
from groupcm.simulate.world import FOLD_KIND, make_plan

SHA256 = {
    1: "1af706a5a27e068d8a4460a21bb4082d880d8748ea6a5bff7f5d6fb30a3cd0e9",
    2: "16c877d2a7ba5775408dd8a542e9c91c9b8ff5b77bf395cc6ff809d8dfacb591",
    3: "8dd9cd41afb90d1e63bd7325f4f25e8593f4d7f60e2cb50fd9b6722482e95735",
}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_definition_never_changes(version):
    """Other numbers need another version: results quote this digest."""
    assert world_of(version).sha256 == SHA256[version]


def test_an_unknown_version_is_refused():
    for draw in (capsule, capsule_chunks):
        with pytest.raises(ParameterError, match="world must be 1, 2 or 3; got 4"):
            draw(30, world=4)


def test_the_default_is_the_first_version():
    default, first, second = capsule(30), capsule(30, world=1), capsule(30, world=2)
    assert np.array_equal(default.X, first.X)
    assert not np.array_equal(default.X, second.X)


def test_less_than_a_percent_of_a_positive_group_is_positive():
    data = capsule(500, n_positive=300, world=2)
    positive = data.polyp >= 0
    counts = np.bincount(data.groups[positive], weights=data.y[positive])
    assert set(counts[counts > 0]) == {1, 2}
    assert 0.005 < data.y[positive].mean() < 0.007


def test_folds_are_in_almost_every_frame_and_resemble_each_other_in_a_patient():
    plan = make_plan(2000, 0, None, 40, 200, 3, 2)
    chunks = [draw_chunk(plan, chunk) for chunk in range(plan.n_chunks)]
    kind = np.concatenate([kind for _, kind in chunks])
    groups = np.concatenate([piece.groups for piece, _ in chunks])
    patient = np.concatenate([piece.patient for piece, _ in chunks])
    X = np.concatenate([piece.X for piece, _ in chunks])
    folds = kind == FOLD_KIND
    assert index_groups(groups).maxima(folds).mean() > 0.98
    assert folds.mean() == pytest.approx(0.05, abs=0.005)
    # Beyond what all candidates of a patient share.
    shift = np.stack(
        [X[folds & (patient == p)].mean(0) - X[~folds & (patient == p)].mean(0) for p in range(40)]
    )
    assert 0.3 < np.median(shift.std(axis=0)) < 0.6


def test_polyps_differ_in_conspicuity():
    assert np.all(make_plan(40, 20, 10, None, 9, 0, 1).conspicuity == 1)
    found = make_plan(4000, 2000, 1000, None, 9, 0, 2).conspicuity
    assert 0.4 <= found.min() < 0.45 < 1.15 < found.max() <= 1.2


def test_files_have_the_rows_of_memory(tmp_path):
    import pyarrow.parquet as pq

    capsule_to_parquet(tmp_path / "two.parquet", 30, n_positive=9, group_size=20, world=2)
    table = pq.read_table(tmp_path / "two.parquet")
    data = capsule(30, n_positive=9, group_size=20, world=2)
    assert np.array_equal(table["contrast"].to_numpy(), data.X[:, 0])
