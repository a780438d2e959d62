"""(b) A certified fit against scikit-learn's linear classifiers on the same candidates."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.support.data import Candidates, Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, certified, fit, gap_of_fit, warm_up
from benchmarks.support.measure import interleave, say
from groupcm.metrics import group_roc_auc

__all__ = ["run", "sizes"]

ROWS = 1_000_000
TRAIN_SEED, UNSEEN_SEED = 0, 1
RIVALS: dict[str, tuple[type[Any], dict[str, Any], float, float | None]] = {
    # name: class, options, bound, goal
    "LinearSVC": (LinearSVC, {"dual": False}, 50, 100),
    "SGDClassifier": (SGDClassifier, {"max_iter": 5, "tol": None, "random_state": 0}, 10, None),
}


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses."""
    return {min(rows, ROWS), SMALLEST}


def run(store: Store, rows: int, repeat: int) -> list[Figure]:
    """Measure both rivals' times in units of ours, and the group AUCs on unseen groups."""
    rows = min(rows, ROWS)
    data, unseen = store.capsule(rows, TRAIN_SEED), store.capsule(rows, UNSEEN_SEED)
    warm_up(store)
    # Their scaling is free, and so is the float64 that liblinear would convert to.
    scaler = StandardScaler().fit(data.X.astype(np.float64))
    Z, Z_unseen = (
        np.asarray(scaler.transform(part.X.astype(np.float64))) for part in (data, unseen)
    )

    ours = _auc(unseen, fit(data).decision_function(unseen.X))
    chosen: dict[str, tuple[Any, float, str]] = {}
    for name, (kind, options, _, _) in RIVALS.items():
        trials = []
        for weight in (None, "balanced"):
            model = kind(**options, class_weight=weight)
            _train(model, Z, data.y)
            auc = _auc(unseen, model.decision_function(Z_unseen))
            say(f"    {name}, class_weight={weight!r}: group AUC {auc:.4f}")
            trials.append((auc, model, f"class_weight={weight!r}"))
        # Chosen on the unseen groups themselves: the choice favours the rival.
        auc, model, words = max(trials, key=lambda trial: trial[0])
        chosen[name] = (model, auc, words)

    calls: dict[str, Any] = {"groupcm": gap_of_fit(data)}
    for name, (model, _, _) in chosen.items():
        calls[name] = lambda model=model: _train(model, Z, data.y)
    timed = interleave(calls, repeat)
    own = timed["groupcm"]

    figures = []
    for name, (_, _, bound, goal) in RIVALS.items():
        _, auc, words = chosen[name]
        theirs = timed[name]
        stopped = "" if all(theirs.results) else ", stopped by its iteration limit"
        figures += [
            Figure(
                "b",
                f"{short(rows)} rows: {name} / fit",
                theirs.median / own.median,
                bound=bound,
                goal=goal,
                direction="at least",
                judged=rows == ROWS,
                sound=certified(own.results),
                note=f"{theirs.median:.3g} s against {own.median:.3g} s, {words}{stopped}, "
                f"our largest gap {max(own.results):.1e}",
                samples={name: theirs.seconds, "fit": own.seconds},
            ),
            Figure(
                "b",
                f"unseen groups: our AUC / {name}'s",
                ours / auc,
                bound=1,
                direction="at least",
                judged=rows == ROWS,
                note=f"group AUC {ours:.5f} against {auc:.5f}",
            ),
        ]
    return figures


def _train(model: Any, Z: np.ndarray, y: np.ndarray) -> bool:
    """Fit the rival and say whether it converged; SGD runs its epochs and knows no better."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(Z, y)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _auc(data: Candidates, scores: np.ndarray) -> float:
    return float(group_roc_auc(data.y, scores, data.groups))
