"""``python -m benchmarks.partial_auc``: the partial AUC as objective, against the ordinary one.

Each fold's models are chosen inside its training groups, by the standardised partial AUC up to a
false-positive rate of 0.1: λ of the linear models, the number of trees, and for the objective
``partial_auc`` also ``max_fpr``. What is compared is that area and the sensitivity at a
specificity of 0.95 on the groups left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.areas import draws
from benchmarks.models.measuring import Held
from benchmarks.models.sets import SETS, Prepared
from benchmarks.support.machine import facts
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data
from benchmarks.support.text_table import aligned
from benchmarks.support.worker_processes import in_processes
from groupcm import GroupBoostingClassifier, GroupClassifierCV
from groupcm.data.groups import index_groups
from groupcm.metrics.roc import partial_area
from groupcm.utils.files import whole_file

__all__ = ["main"]

MODELS = ("linear", "linear, partial AUC", "trees", "trees, partial AUC")
RATES = (0.1, 0.3, 1.0)
MAX_FPR, SPECIFICITY = 0.1, 0.95
_SCORING = "group_partial_auc"
_LAMS, _INNER, _TREES = 5, 2, 100
_N_DRAWS = 1000

Vector = NDArray[np.float64]


def main(arguments: list[str] | None = None) -> int:
    """Compare on the chosen sets; 0 if all could be read, whoever wins."""
    options = _parser().parse_args(arguments)
    missing = missing_data(options.data, [SETS[name].needs for name in options.sets])
    if missing is not None:
        say(missing)
        return 2
    began = time.perf_counter()
    where = (str(options.data), str(options.cache))
    found: dict[tuple[str, str], list[Held]] = {}
    for name in options.sets:
        # Candidates of pictures take minutes; the first process makes them, the others read them.
        read_set = SETS[name].read(options.data, options.cache, 0, options.every)
        say(f"    {name}: {len(read_set.rows.y):,} candidates")
        wanted = [
            (*where, name, model, seed, options.every)
            for seed in range(options.seeds if len(read_set.folds) > 1 else 1)
            for model in options.models
        ]
        for (*_, name, model, seed, _), held in in_processes(_held_out, wanted):
            found.setdefault((name, model), []).append(held)
            say(
                f"    {name}, {model}, seed {seed}: {_mean(_areas, [held]):.4f}, "
                f"{_mean(_sensitivities, [held]):.4f}; {held.seconds:.0f} s of "
                f"{time.perf_counter() - began:.0f} s; {'; '.join(held.chosen)}"
            )
        print(_words(name, found, options.models), flush=True)
    machine = facts()
    print(
        f"\n{machine['cores']} cores, {machine['processor']}; {options.seeds} seeds; one of "
        f"{options.every} of the 300 candidates of a picture; λ, the number "
        f"of trees and max_fpr of {', '.join(f'{rate:g}' for rate in RATES)} chosen by the partial "
        f"AUC in {_INNER} inner folds; 95 % intervals by drawing groups (pictures: clusters) again"
    )
    return 0


def _held_out(folder: str, cache: str, name: str, model: str, seed: int, every: int) -> Held:
    """Return the scores of the groups left out; what an earlier run found is not done again."""
    tried = f"{_LAMS}-{_INNER}-{_TREES}-" + "-".join(f"{rate:g}" for rate in RATES)
    file = Path(cache) / "partial_auc" / f"{name}-{model}-{seed}-{every}-{tried}.json"
    if file.is_file():
        return Held(**json.loads(file.read_text()))
    found = _measured(SETS[name].read(Path(folder), Path(cache), seed, every), model)
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as beside:
        Path(beside).write_text(json.dumps(asdict(found)))
    return found


def _measured(prepared: Prepared, model: str) -> Held:
    """Choose, train and score one model on the folds of one seed."""
    rows = prepared.rows
    fold, score, positive, cluster, chosen = [], [], [], [], []
    began = time.perf_counter()
    for number, (train, test) in enumerate(prepared.folds):
        part = {
            "groups": rows.groups[train],
            "overlap": None if rows.overlap is None else rows.overlap[train],
            "patients": None if rows.patients is None else rows.patients[train],
        }
        fitted, words = _fitted(model, rows.X[train], rows.y[train], part)
        chosen.append(words)
        index = index_groups(rows.groups[test])
        score += index.maxima(fitted.decision_function(rows.X[test])).tolist()
        positive += index.maxima(np.asarray(rows.y[test]) == fitted.classes_[1]).tolist()
        alike = rows.groups if rows.patients is None else rows.patients
        first = np.unique(index.codes, return_index=True)[1]
        cluster += np.asarray(alike)[test][first].tolist()
        fold += [number] * index.n_groups
    seconds = time.perf_counter() - began
    return Held(fold, score, positive, cluster, chosen, seconds)


def _fitted(model: str, X: Any, y: Any, part: dict[str, Any]) -> tuple[Any, str]:
    """Return a fitted model, and what was chosen in words."""
    rates = RATES if "partial" in model else ()
    if model.startswith("linear"):
        objective = {"objective": "partial_auc", "max_fpr": list(rates)} if rates else {}
        search = GroupClassifierCV(_LAMS, cv=_INNER, scoring=_SCORING, tol=1e-3, **objective)
        search.fit(X, y, **part)
        of_rate = f"β {search.max_fpr_:g}, " if rates else ""
        return search, f"{of_rate}λ {search.lam_:.2g}"
    settings = [{"objective": "partial_auc", "max_fpr": rate} for rate in rates] or [{}]
    found = [
        GroupBoostingClassifier(_TREES, scoring=_SCORING, n_jobs=1, validation=_INNER, **each)
        for each in settings
    ]
    for each in found:
        each.fit(X, y, **part)
    best = max(found, key=lambda each: float(np.max(each.validation_curve_)))
    of_rate = f"β {best.max_fpr:g}, " if rates else ""
    return best, f"{of_rate}{best.n_trees_} trees"


def _areas(score: Vector, positive: NDArray[np.bool_], weight: Vector) -> float:
    """The standardised partial AUC of a fold."""
    return partial_area(positive, score, MAX_FPR, weight)


def _sensitivities(score: Vector, positive: NDArray[np.bool_], weight: Vector) -> float:
    """The sensitivity at the specificity, of a fold."""
    falling = np.argsort(-score, kind="stable")
    ends = np.append(score[falling][1:] != score[falling][:-1], True)
    tp = np.cumsum(np.where(positive, weight, 0.0)[falling])
    fp = np.cumsum(np.where(positive, 0.0, weight)[falling])
    allowed = ends & (fp <= (1.0 - SPECIFICITY) * fp[-1] * (1.0 + 1e-9))
    return float(np.max(tp[allowed], initial=0.0) / tp[-1])


def _of_draws(measure: Any, found: Sequence[Held], weights: Vector) -> Vector:
    """The mean over folds and seeds of each draw; a fold that has one class only is left out."""
    values = []
    for held in found:
        fold, score = np.array(held.fold), np.array(held.score)
        positive, cluster = np.array(held.positive), np.array(held.cluster)
        for number in np.unique(fold):
            of = np.flatnonzero(fold == number)
            values.append([])
            for weight in weights[:, cluster[of]]:
                both = weight[positive[of]].any() and weight[~positive[of]].any()
                value = measure(score[of], positive[of], weight) if both else np.nan
                values[-1].append(value)
    return np.nanmean(np.array(values), axis=0)


def _mean(measure: Any, found: Sequence[Held]) -> float:
    n_clusters = 1 + max(max(held.cluster) for held in found)
    return float(_of_draws(measure, found, np.ones((1, n_clusters)))[0])


def _words(name: str, found: dict[tuple[str, str], list[Held]], models: Sequence[str]) -> str:
    lines: list[tuple[str, ...]] = [
        ("", "partial AUC", "partial − ordinary", "sensitivity at 0.95", "partial − ordinary")
    ]
    weights = draws(found[name, models[0]], _N_DRAWS)
    drawn = {
        (model, measure): _of_draws(measure, found[name, model], weights)
        for model in models
        for measure in (_areas, _sensitivities)
    }
    for model in models:
        line = [model]
        for measure in (_areas, _sensitivities):
            here = _mean(measure, found[name, model])
            line.append(f"{here:.3f} ({_interval(drawn[model, measure])})")
            ordinary = model.removesuffix(", partial AUC")
            less = ""
            if ordinary != model and ordinary in models:
                difference = here - _mean(measure, found[name, ordinary])
                spread = drawn[model, measure] - drawn[ordinary, measure]
                less = f"{difference:+.3f} ({_interval(spread, '+')})"
            line.append(less)
        lines.append(tuple(line))
    return f"\n{SETS[name].title}\n{aligned(lines)}"


def _interval(values: Vector, sign: str = "") -> str:
    low, high = np.nanquantile(values, [0.025, 0.975])
    return f"{low:{sign}.3f} to {high:{sign}.3f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.partial_auc", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="default 2")
    parser.add_argument(
        "--every", type=int, default=2, metavar="N", help="of 300 per picture (default 2)"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path("benchmark-cache"),
        metavar="FOLDER",
        help="where candidates of pictures and results are kept (default benchmark-cache)",
    )
    add_data_option(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
