"""A self-test of a few seconds: kernels, a certified fit, saving and loading, and the extras.

The fit is checked against the definition of the objective, evaluated by plain NumPy::

    ρ Σ_j h(w_j) + Σ_k c_k max_{i in k} L(± (w·z_i + b))
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.text import describe_error

__all__ = ["EXTRA_MODULES", "Check", "run_self_test"]

# The modules that show whether the packages of an extra work; some load shared libraries.
EXTRA_MODULES = {
    "boosting": ("lightgbm",),
    "cli": ("rich.console",),
    "dask": ("dask.dataframe", "distributed"),
    "deep": ("timm", "torch", "onnxruntime"),
    "hdf5": ("h5py",),
    "images": ("PIL.Image", "skimage.measure", "imageio_ffmpeg"),
    "onnx": ("onnx", "onnxruntime"),
    "plots": ("matplotlib.figure",),
    "report": ("matplotlib.figure", "jinja2"),
    "torch": ("torch",),
    "web": ("PIL.Image", "starlette.applications", "uvicorn"),
}
_N_GROUPS, _GROUP_SIZE, _N_FEATURES = 30, 6, 4
_LAM, _DELTA, _EPSILON, _TOL = 0.5, 0.5, 1.0, 1e-6
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """One part of the self-test.

    Attributes
    ----------
    name : str
    passed : bool
    detail : str
        What was found; for a failure, what went wrong.
    seconds : float
    """

    name: str
    passed: bool
    detail: str
    seconds: float


class _Failed(Exception):
    """A part of the self-test found a wrong result."""


def run_self_test(extras: Iterable[str] = ()) -> tuple[Check, ...]:
    """Check that kernels, fits and model files work, and that the given extras can be imported.

    Parameters
    ----------
    extras : iterable of str
        The names of installed extras.

    Examples
    --------
    >>> [(check.name, check.passed) for check in run_self_test()]
    [('kernels', True), ('certified fit', True), ('saving and loading', True)]
    """
    parts: dict[str, Callable[[], str]] = {
        "kernels": _check_kernels,
        "certified fit": _check_fit,
        "saving and loading": _check_model_file,
    }
    for extra in extras:
        if extra in EXTRA_MODULES:
            parts[f"extra {extra}"] = partial(_check_imports, EXTRA_MODULES[extra])
    return tuple(_run(name, check) for name, check in parts.items())


def _run(name: str, check: Callable[[], str]) -> Check:
    start = time.perf_counter()
    with ignore_warnings():
        try:
            passed, detail = True, check()
        except _Failed as failure:
            passed, detail = False, str(failure)
        except Exception as error:  # whatever a broken installation raises is the finding
            passed, detail = False, describe_error(error)
    return Check(name, passed, detail, round(time.perf_counter() - start, 3))


def _check_imports(modules: Iterable[str]) -> str:
    for module in modules:
        import_module(module)
    return "imported"


def _check_kernels() -> str:
    """Compare the largest score of each group, by a compiled kernel, with NumPy's."""
    import numpy as np

    from groupcm.kernels.maxima import run_maxima

    scores = np.random.default_rng(0).normal(size=1000)
    start = np.arange(0, 1000, 8)
    best, winner = np.empty(len(start)), np.empty(len(start), dtype=np.int64)
    run_maxima(scores, start, best, winner)
    expected = [part.max() for part in np.split(scores, start[1:])]
    if best.tolist() != expected or scores[winner].tolist() != expected:
        raise _Failed("a compiled kernel and NumPy disagree")
    statistics = getattr(run_maxima, "stats", None)
    if statistics is None:  # a plain function where NUMBA_DISABLE_JIT is set
        return "correct, but not compiled"
    return "read from the cache" if sum(statistics.cache_hits.values()) else "compiled"


def _check_fit() -> str:
    """Check the objective and its lower bound of a fit by the definition."""
    import numpy as np

    X, y, groups, model = _fitted()
    mean, scale = X.mean(axis=0), X.std(axis=0)
    Z = (X - mean) / scale
    w = model.coef_[0] * scale
    b = float(model.intercept_[0] + model.coef_[0] @ mean)
    slow = _objective(Z, y, groups, w, b)
    if abs(slow - model.objective_) > _ROUNDING * slow:
        raise _Failed(f"the objective is {model.objective_!r}, but by its definition {slow!r}")
    if not 0 <= model.gap_ <= _TOL:
        raise _Failed(f"the certified gap is {model.gap_:.1e}, above the requested {_TOL:.0e}")
    moves = 0.1 * np.random.default_rng(1).normal(size=(200, _N_FEATURES + 1))
    others = [_objective(Z, y, groups, w + move[:-1], b + move[-1]) for move in moves]
    if min(others) < model.lower_bound_:
        raise _Failed("other weights have an objective below the certified lower bound")
    return f"certified gap {model.gap_:.1e}; the objective agrees with plain NumPy"


def _check_model_file() -> str:
    """Check that a model in a file scores as the one in memory, to the last bit."""
    from groupcm.persistence import load, save

    X, _, _, model = _fitted()
    with tempfile.TemporaryDirectory(prefix="groupcm-") as folder:
        path = Path(folder) / "model.json"
        save(model, path)
        loaded = load(path)
    if loaded.decision_function(X).tolist() != model.decision_function(X).tolist():
        raise _Failed("a model that was saved and loaded returns other scores")
    return "a saved model returns the same scores"


def _fitted() -> tuple[Any, Any, Any, Any]:
    """Return synthetic candidates, their labels and groups, and a model fitted to them."""
    import numpy as np

    from groupcm.estimators import GroupClassifier

    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(_N_GROUPS), _GROUP_SIZE)
    X = random.normal(size=(len(groups), _N_FEATURES))
    y = ((groups % 3 == 0) & (np.arange(len(groups)) % _GROUP_SIZE == 0)).astype(int)
    X[y == 1, 0] += 1.5
    model = GroupClassifier(lam=_LAM, delta=_DELTA, epsilon=_EPSILON, tol=_TOL)
    return X, y, groups, model.fit(X, y, groups=groups)


def _objective(Z: Any, y: Any, groups: Any, w: Any, b: float) -> float:
    """Return the objective at standardised weights, one group after another."""
    import numpy as np

    size = np.abs(w)
    penalty = np.where(size <= _EPSILON, w**2 / (2 * _EPSILON), size - _EPSILON / 2).sum()
    scores = Z @ w + b
    losses: dict[bool, list[float]] = {True: [], False: []}
    for group in range(_N_GROUPS):
        rows = np.flatnonzero(groups == group)
        positive = rows[y[rows] == 1]
        margin = scores[positive[0]] if len(positive) else -scores[rows].max()
        losses[len(positive) > 0].append(_smoothed_hinge(float(margin)))
    mean_losses = sum(sum(each) / len(each) for each in losses.values())
    return float((1 - _LAM) / len(w) * penalty + _LAM * mean_losses)


def _smoothed_hinge(margin: float) -> float:
    if margin >= 1:
        return 0.0
    if margin >= 1 - 2 * _DELTA:
        return (1 - margin) ** 2 / (4 * _DELTA)
    return 1 - margin - _DELTA
