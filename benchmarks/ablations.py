"""``python -m benchmarks.ablations``: the choices that the paper asserts, one figure each.

Each variant of the GCM differs from the paper's (smoothed hinge with δ = 0.5, Huber penalty with ε
= 1, balanced classes, negatives grouped) in one choice. All are tuned over the same values of λ in
the same inner folds and compared with it by the AUC of the same left-out groups. The sets are
synthetic candidates (version 3, several training and test sets) and real tables, where they are
found. The last figure, ``solver``, shows the certified gap against time of both solvers on the
paper's problem. What a run before has written into the folder is kept and drawn again with the new.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.real_tables import TASKS
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data, read_table
from groupcm import GroupClassifier
from groupcm.data.folds import Folds
from groupcm.data.group_table import group_level
from groupcm.estimators.path import lambda_grid
from groupcm.estimators.training.fit import StoppedWarning
from groupcm.evaluation.comparison.contender import Contender
from groupcm.evaluation.comparison.crossfit import crossfit, folds_of
from groupcm.evaluation.comparison.data import LabelledCandidates
from groupcm.evaluation.comparison.learning_curve import fold_percentiles
from groupcm.metrics import Interval, compare
from groupcm.plots.style import MUTED, Series, frame, looks, series_of
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.style import in_style, legend_below, new_axes, style
from groupcm.simulate import capsule
from groupcm.simulate.definition import PAPER as WORLD
from groupcm.utils.formatting import interval
from groupcm.utils.progress import relative_gap

__all__ = ["ABLATIONS", "main"]

PAPER = "GCM"
DELTAS = (0.05, 0.1, 0.25, 1.0, 2.0)
EPSILONS = (0.01, 0.1, 0.3, 3.0, 10.0)
# The symbol, its other values, and that of the paper.
_GRIDS = {"delta": ("δ", DELTAS, 0.5), "epsilon": ("ε", EPSILONS, 1.0)}
SYNTHETIC = "synthetic"
SOLVER = "solver"
_SEED = 800_000  # neither of the experiment nor of the calibration
_TOL = 1e-4  # of the comparison of both solvers
# As in the experiment: where λ is small, a gap of 1e-4 leaves the weights undetermined.
_TOL_OF_VARIANTS = 1e-7
_DOTS_PER_INCH = 110
_NUMBERS = "ablations.json"


@dataclass(frozen=True)
class Ablation:
    """A choice of the paper, and its alternatives."""

    title: str
    caption: str
    variants: dict[str, dict[str, Any]]


ABLATIONS = {
    "loss": Ablation(
        "Smoothed hinge against hinge",
        "The hinge instead of the smoothed hinge.",
        {"hinge": {"loss": "hinge"}},
    ),
    "penalty": Ablation(
        "Huber penalty against squared norm",
        "The squared norm instead of the Huber penalty.",
        {"squared norm": {"penalty": "l2"}},
    ),
    "balance": Ablation(
        "Balancing",
        "Every group with the same weight, instead of every class.",
        {"not balanced": {"class_weight": None}},
    ),
    "grouping": Ablation(
        "Grouping",
        "No group, or the groups of both classes, instead of negative groups.",
        {"no grouping": {"grouping": "none"}, "both grouped": {"grouping": "both"}},
    ),
    "delta": Ablation(
        "δ of the smoothed hinge",
        "Other values instead of δ = 0.5; the paper asserts that it does not matter much.",
        {f"δ = {value:g}": {"delta": value} for value in DELTAS},
    ),
    "epsilon": Ablation(
        "ε of the Huber penalty",
        "Other values instead of ε = 1; the paper asserts that it does not matter much.",
        {f"ε = {value:g}": {"epsilon": value} for value in EPSILONS},
    ),
}


@dataclass(frozen=True, eq=False)
class _Set:
    """Candidates, and outer folds that leave groups out."""

    data: LabelledCandidates
    cv: int | Folds


def synthetic_set(n_sets: int) -> _Set:
    """Training sets of 100,000 negatives, each with a test set of other patients."""
    parts, folds, first, group, patient = [], [], 0, 0, 0
    for number in range(n_sets):
        rows = []
        for part, (n_positive, n_polyps) in enumerate(((293, 100), (362, 115))):
            made = capsule(
                500,
                n_positive=n_positive,
                n_polyps=n_polyps,
                n_patients=400,
                seed=_SEED + 2 * number + part,
                world=WORLD.version,
            )
            parts.append(
                (made.X, made.y, made.groups + group, made.overlap, made.patient + patient)
            )
            rows.append(np.arange(first, first + len(made)))
            first, group, patient = first + len(made), group + made.n_groups, patient + 400
        folds.append((rows[0], rows[1]))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return _Set(LabelledCandidates(*columns), folds)


def real_set(folder: Path, name: str) -> _Set:
    """A real table, with five folds or its own split."""
    task = TASKS[name]
    table = read_table(folder / task.file, **task.columns)
    data = LabelledCandidates(table.X, table.y, table.groups)
    if table.split is None:
        return _Set(data, 5)
    train, dev = (np.flatnonzero(table.split == part) for part in ("train", "dev"))
    return _Set(data, [(train, dev)])


def differences(found: _Set, names: Sequence[str], n_settings: int) -> dict[str, list[float]]:
    """The group AUC of each variant less that of the paper's choice, with its interval."""
    lams = [{"lam": float(lam)} for lam in lambda_grid(n_settings)]
    variants = {PAPER: {}}
    for name in names:
        variants |= ABLATIONS[name].variants
    contenders = [
        Contender(
            variant,
            variant,
            lams,
            partial(GroupClassifier, tol=_TOL_OF_VARIANTS, random_state=0, **parameters),
            has_path=True,
        )
        for variant, parameters in variants.items()
    ]
    data = found.data.numbered()
    folds = folds_of(data, found.cv)
    fits = crossfit(data, contenders, cv=folds, progress=lambda text: say(f"    {text}"))
    rows, left_out = fits.left_out, data.take(fits.left_out)
    table = group_level(left_out.y, left_out.groups, left_out.patients)
    scores = {
        fit.contender.name: table.index.maxima(
            fold_percentiles(left_out.y, fit.scores[rows], left_out.groups, fits.fold[rows])
        )
        for fit in fits.results
    }
    clusters = None if left_out.patients is None else table.patient
    found_rows = {}
    for name, of_variant in scores.items():
        compared = compare(
            table.positive, of_variant, scores[PAPER], clusters=clusters, n_resamples=1000
        )
        found_rows[name] = list(compared.a if name == PAPER else compared.difference)
    return found_rows


def gaps(found: _Set) -> dict[str, list[tuple[float, float, float]]]:
    """Seconds, certified gap, and distance from the best known bound, of both solvers."""
    data = found.data
    fold = found.cv[0] if not isinstance(found.cv, int) else (np.arange(len(data.y)), None)
    train = data.take(fold[0])
    given = (train.X, train.y, train.groups, train.overlap)
    histories = {}
    for solver, passes in (("working_set", 1000), ("lbfgs", 1000)):
        model = GroupClassifier(0.5, solver=solver, tol=_TOL, max_passes=passes, random_state=0)
        with warnings.catch_warnings():
            # Whether they come so far is what the figure shows.
            warnings.simplefilter("ignore", StoppedWarning)
            GroupClassifier(0.5, solver=solver, max_passes=3).fit(*given)  # compiles
            histories[solver] = model.fit(*given).history_
    bound = max(step.lower_bound for steps in histories.values() for step in steps)
    return {
        solver: [
            (
                step.seconds,
                relative_gap(step.objective, step.lower_bound),
                relative_gap(step.objective, bound),
            )
            for step in steps
        ]
        for solver, steps in histories.items()
    }


def figures_of(
    found: dict[str, dict[str, list[float]]], solved: dict[str, Any]
) -> list[CaptionedFigure]:
    """One figure for each ablation."""
    figures = []
    sets = series_of(found)
    for name, ablation in ABLATIONS.items():
        rows = [
            ForestRow(f"{of}: {variant}", Interval(*rows[variant]), sets[of])
            for variant in ablation.variants
            for of, rows in found.items()
            if variant in rows
        ]
        if rows:
            caption = f"{ablation.caption} Difference in group AUC from the paper's choice."
            shows = " ".join(f"{row.name}: {interval(row.interval)}." for row in rows)
            if name in _GRIDS:
                figure = _grid_figure(found, *_GRIDS[name])
            else:
                figure = forest_figure(rows, "Difference in AUC of groups", reference=0.0)
            figures.append(
                CaptionedFigure(f"ablation_{name}", ablation.title, caption, shows, figure)
            )
    if solved:
        shows = " ".join(
            f"{of}, {solver}: {steps[-1][0]:.2g} s to a gap of {steps[-1][1]:.1e}."
            for of, solvers in solved.items()
            for solver, steps in solvers.items()
        )
        figures.append(
            CaptionedFigure(
                "ablation_solver",
                "L-BFGS with Armijo's rule against the working set",
                "The certified gap against time. Thin lines: the distance of L-BFGS from the best "
                "known bound, which it does not know itself.",
                shows,
                _solver_figure(solved),
            )
        )
    return figures


@in_style
def _grid_figure(
    found: dict[str, dict[str, list[float]]], symbol: str, values: tuple[float, ...], paper: float
) -> Figure:
    """The difference against the value, with intervals; it is 0 at the paper's."""
    figure, axes = new_axes(3.4)
    at = np.array(sorted({*values, paper}))
    axes.axhline(0.0, color=MUTED, linewidth=1.0)
    for k, (of, look) in enumerate(series_of(found).items()):
        names = [f"{symbol} = {value:g}" for value in at]
        if not all(name in found[of] for name in names if name != f"{symbol} = {paper:g}"):
            continue
        rows = np.array([found[of].get(name, [0.0, 0.0, 0.0]) for name in names])
        x = at * 1.06 ** (k - (len(found) - 1) / 2)  # side by side
        axes.vlines(x, rows[:, 1], rows[:, 2], color=look.colour, linewidth=1.2, alpha=0.8)
        line = {"color": look.colour, "linestyle": look.dashes, "marker": look.marker}
        axes.plot(x, rows[:, 0], label=of, linewidth=1.2, markersize=4.5, **line)
    axes.set_xscale("log")
    axes.set_xticks(at, [f"{value:g}" for value in at])
    axes.minorticks_off()
    frame(axes, f"{symbol} (the paper: {paper:g})", "Difference in AUC of groups")
    legend_below(figure)
    return figure


@in_style
def _solver_figure(solved: dict[str, Any]) -> Figure:
    figure, axes = new_axes(3.9)
    for k, (of, solvers) in enumerate(solved.items()):
        for solver, dashes in (("working_set", "solid"), ("lbfgs", "dashed")):
            steps = np.array(solvers[solver])
            known = np.isfinite(steps[:, 1])
            look = Series(looks(k).colour, dashes, "o")
            name = "ours" if solver == "working_set" else "L-BFGS"
            axes.plot(
                np.maximum(steps[known, 0], 1e-4),
                np.maximum(steps[known, 1], 1e-8),
                color=look.colour,
                linestyle=dashes,
                label=f"{of}: {name}",
            )
            if solver == "lbfgs":
                away = np.maximum(steps[:, 2], 1e-8)
                axes.plot(steps[:, 0], away, color=look.colour, linewidth=0.7, alpha=0.7)
    axes.axhline(_TOL, color=MUTED, linewidth=1.0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(1e-6, 2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    frame(axes, "Seconds", "Relative gap")
    legend_below(figure)
    return figure


def main(arguments: list[str] | None = None) -> int:
    """Run the ablations; 0 if at least the synthetic candidates could be measured."""
    options = _parser().parse_args(arguments)
    began = time.perf_counter()
    found, solved = _stored(options.output)
    names = [name for name in options.only if name != SOLVER]
    for name in options.sets:
        if name == SYNTHETIC:
            candidates, title = synthetic_set(options.training_sets), SYNTHETIC
        else:
            missing = missing_data(options.data, [TASKS[name].file])
            if missing is not None:
                say(f"{missing} It is left out.")
                continue
            candidates, title = real_set(options.data, name), TASKS[name].title
        say(f"{title}: {len(candidates.data.y):,} candidates")
        if names:
            rows = differences(candidates, names, options.settings)
            found[title] = found.get(title, {}) | rows
        if SOLVER in options.only:
            solved[title] = gaps(candidates)
        say(f"{title}: done after {time.perf_counter() - began:.0f} s")
        _save(options.output, found, solved)
    print(_table(found))
    return 0


def _stored(folder: Path) -> tuple[dict[str, dict[str, list[float]]], dict[str, Any]]:
    """What an earlier run has found, unless it had other synthetic candidates."""
    file = folder / _NUMBERS
    if not file.exists():
        return {}, {}
    numbers = json.loads(file.read_text(encoding="utf-8"))
    if numbers["world"] != WORLD.sha256:
        return {}, {}
    return numbers["differences"], numbers["gaps"]


def _save(folder: Path, found: dict[str, Any], solved: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"world": WORLD.sha256, "differences": found, "gaps": solved}, indent=1)
    (folder / _NUMBERS).write_text(f"{text}\n", encoding="utf-8")
    for figure in figures_of(found, solved):
        with style():
            figure.drawing.savefig(folder / f"{figure.name}.png", dpi=_DOTS_PER_INCH)


def _table(found: dict[str, dict[str, list[float]]]) -> str:
    """The differences as a table in Markdown."""
    variants = [variant for ablation in ABLATIONS.values() for variant in ablation.variants]
    if not found:
        return ""
    lines = ["| | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    areas = " | ".join(interval(Interval(*rows[PAPER])) for rows in found.values())
    lines.append(f"| AUC of groups, the paper's choices | {areas} |")
    for variant in variants:
        if all(variant in rows for rows in found.values()):
            cells = [
                "{:+.3f} ({:+.3f} to {:+.3f})".format(*rows[variant]) for rows in found.values()
            ]
            lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablations", description=__doc__)
    add_data_option(parser)
    sets = (SYNTHETIC, *TASKS)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--sets", nargs="+", choices=sets, default=list(sets))
    figures = [*ABLATIONS, SOLVER]
    parser.add_argument("--only", nargs="+", choices=figures, default=figures)
    parser.add_argument("--training-sets", type=int, default=4, help="synthetic ones (default 4)")
    parser.add_argument("--settings", type=int, default=6, help="values of λ (default 6)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
