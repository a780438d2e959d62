"""Models exported to ONNX and run, for several test modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from groupcm import GroupClassifier
from groupcm.persistence.onnx import export_onnx

N_GROUPS, SIZE, D = 24, 5, 4


def run(model: Any, folder: Path, X: Any, groups: Any = None) -> dict[str, Any]:
    """The outputs of the exported model by their names, of a file that passes all checks."""
    path = folder / "model.onnx"
    export_onnx(model, path, groups=groups is not None)
    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = {"X": np.asarray(X, np.float32)}
    if groups is not None:
        given["groups"] = np.asarray(groups, np.int64)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


def assert_close(got: np.ndarray, expected: np.ndarray) -> None:
    assert got.dtype == np.float32
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def assert_same(model: Any, folder: Path, X: np.ndarray, groups: np.ndarray) -> dict[str, Any]:
    """Scores to 1e-5 of their scale and winners exactly; groups are numbers from 0."""
    X = np.asarray(X, np.float32)
    found = run(model, folder, X, groups)
    expected = model.group_scores(X, groups)
    assert_close(found["scores"], model.decision_function(X))
    # groupcm orders groups by first appearance.
    assert_close(found["group_scores"][expected.group], expected.score)
    np.testing.assert_array_equal(found["winners"][expected.group], expected.winner)
    assert found["winners"].dtype == np.int64
    return found


def made(n_classes: int = 2, offset: float = 0.0, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Float32 rows of 0 or more, labels, and group numbers in any order."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(N_GROUPS), SIZE)
    X = rng.normal(size=(len(groups), D)) ** 2
    y = np.zeros(len(groups), int)
    y[::SIZE] = np.arange(N_GROUPS) % n_classes
    X[np.arange(len(y)), y] += 3.0 * (y > 0)
    X[rng.random(X.shape) < 0.1] = 0.0
    order = rng.permutation(len(groups))
    return (X + offset).astype(np.float32)[order], y[order], groups[order]


def called(feature_map: Any) -> str:
    return repr(feature_map).replace("\n", " ")[:60]


def fitted(**parameters: Any) -> GroupClassifier:
    X, y, groups = made()
    return GroupClassifier(**parameters).fit(X, y, groups)
