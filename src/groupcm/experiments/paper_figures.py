"""The figures of the paper's experiment, from its results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groupcm.experiments.algorithm_figures import algorithm_figures
from groupcm.experiments.claims import HOLDS, OPEN
from groupcm.experiments.paper import PaperResults, main_trials
from groupcm.experiments.sizes import GCM, METHODS, MISVM, SVM, UNGROUPED, Trial
from groupcm.experiments.testing import LEVELS
from groupcm.plots.style import INK, MUTED, Series, series_of
from groupcm.report.figures.curves import roc_of_models_figure
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.learning import SizeLine, size_figure, spread_figure
from groupcm.utils.formatting import counted, fraction, interval

__all__ = ["LOOKS", "paper_figures"]

LOOKS = series_of(METHODS)
_NAMES = {GCM: "gcm", UNGROUPED: "ungrouped"}
_DOTTED = (0, (1.0, 2.4))


def paper_figures(results: PaperResults) -> list[CaptionedFigure]:
    """Draw the figures of the paper, the spread of MI-SVM, and the claims.

    Parameters
    ----------
    results : PaperResults
    """
    return [
        *algorithm_figures(),
        *(_roc(results, level, log=log) for log in (False, True) for level in LEVELS),
        *(_against_size(results, level) for level in LEVELS),
        *(
            _roc_by_size(results, method, level, log=log)
            for method in _NAMES
            for log in (False, True)
            for level in LEVELS
        ),
        _misvm_spread(results),
        *(_differences(results, level) for level in LEVELS),
    ]


def _roc(results: PaperResults, level: str, *, log: bool) -> CaptionedFigure:
    sizes = results.sizes
    rocs = {trial.method: results.rocs[level][trial] for trial in main_trials(sizes)}
    sets = counted(sizes.repeats, "training set")
    if log:
        name, title = f"per_{level}_high_specificity", f"The same per {level}, spread out"
        reading = "A logarithmic axis shows the left edge, where false alarms are rare."
    else:
        name, title = f"per_{level}", f"Performance per {level}"
        reading = (
            f"SVM and MI-SVM with {sizes.fewest:,} negatives, both GCMs with {sizes.most:,}; the "
            f"mean curves of {sets} on the paper's test set, with 95 % bands (bootstrap over "
            "test patients and training sets)."
        )
    shows = "; ".join(f"{method}: AUC {interval(roc.auc)}" for method, roc in rocs.items())
    return CaptionedFigure(
        name,
        title,
        reading,
        f"{shows}.",
        roc_of_models_figure(rocs, LOOKS, of=level, log=log, bands=True),
    )


def _roc_by_size(results: PaperResults, method: str, level: str, *, log: bool) -> CaptionedFigure:
    """Draw the curves of one method at every training size."""
    sizes = results.sizes
    # The largest first, so that it lies below the others where they coincide.
    rocs = {
        f"{n:,} negatives": results.rocs[level][Trial(method, n)] for n in reversed(sizes.negatives)
    }
    series = series_of(rocs)
    few = list(rocs)[-1]
    series[few] = replace(series[few], dashes=_DOTTED)
    ending = "_high_specificity" if log else ""
    axis = ", spread out" if log else ""
    return CaptionedFigure(
        f"{_NAMES[method]}_sizes_per_{level}{ending}",
        f"{method} by training size, per {level}{axis}",
        f"The mean curves of {counted(sizes.repeats, 'training set')} on the paper's test set, "
        "with 95 % bands.",
        "; ".join(f"{name}: AUC {interval(roc.auc)}" for name, roc in rocs.items()) + ".",
        roc_of_models_figure(rocs, series, of=level, log=log, bands=True, best_first=False),
    )


def _against_size(results: PaperResults, level: str) -> CaptionedFigure:
    sizes, areas = results.sizes, results.areas[level]
    fewest = sizes.fewest
    trials = {
        SVM: [Trial(SVM, fewest)],
        MISVM: [Trial(MISVM, fewest)],
        UNGROUPED: [Trial(UNGROUPED, n) for n in sizes.negatives],
        GCM: [Trial(GCM, n) for n in sizes.negatives],
    }
    lines = [
        SizeLine(
            method,
            LOOKS[method],
            [trial.negatives for trial in of],
            [areas.of(trial).interval for trial in of],
            [areas.repeats(trial).tolist() for trial in of],
        )
        for method, of in trials.items()
    ]
    shows = " ".join(
        f"{trial.method} with {trial.negatives:,} negatives: {interval(areas.of(trial).interval)}."
        for of in trials.values()
        for trial in of
    )
    return CaptionedFigure(
        f"per_{level}_training_size",
        f"Performance per {level} against training size",
        f"Marks are means over {counted(sizes.n_sets, 'training set')} ({sizes.repeats} for the "
        "largest size), small dots the single sets, lines 95 % intervals, which contain what all "
        "models share: whether two differ is in the claims.",
        shows,
        size_figure(lines, "Negative candidates trained on", f"AUC of {level}s"),
    )


def _misvm_spread(results: PaperResults) -> CaptionedFigure:
    """Draw the group AUC of MI-SVM, of both readings and of its rivals, with each training set."""
    areas, fewest = results.areas["group"], results.sizes.fewest
    trials = [
        Trial(MISVM, fewest),
        Trial(MISVM, fewest, "one frame per polyp"),
        Trial(SVM, fewest),
        Trial(GCM, fewest),
    ]
    spreads = {
        trial.method + ", one frame each" * bool(trial.variant): areas.repeats(trial)
        for trial in trials
    }
    looks = {name: LOOKS[trial.method] for name, trial in zip(spreads, trials, strict=True)}
    shows = " ".join(
        f"{name}: {fraction(min(values))} to {fraction(max(values))}, median "
        f"{fraction(float(np.median(values)))}."
        for name, values in spreads.items()
    )
    return CaptionedFigure(
        "misvm_spread",
        "MI-SVM over training sets",
        f"The AUC of groups with each of {counted(results.sizes.n_sets, 'training set')}, all with "
        f"{fewest:,} negatives; the line is the median. MI-SVM has all frames of "
        f"{results.sizes.n_misvm_polyps} polyps, or one frame of each.",
        shows,
        spread_figure(spreads, looks, "AUC of groups"),
    )


def _differences(results: PaperResults, level: str) -> CaptionedFigure:
    rows = []
    for claim in results.claims:
        for finding in claim.findings:
            # Differences from MI-SVM are so large that the others would vanish next to them.
            if finding.of != level or MISVM in (finding.a.method, finding.b.method):
                continue
            colour = MUTED if finding.verdict == OPEN else INK
            look = Series(colour, "solid", "o" if finding.verdict == HOLDS else "X")
            letter = claim.id[0] + "′" * claim.id.endswith("second reading")
            name = f"{letter}: {_names(finding.a, finding.b)}"
            rows.append(ForestRow(name, finding.found.interval, look))
    return CaptionedFigure(
        f"claims_per_{level}",
        f"Differences behind the claims, per {level}",
        "The first model minus the second, with the letter of the claim (′: second reading). "
        "Grey: not settled. A cross marks a difference that does not hold as claimed, or is open.",
        " ".join(f"{row.name}: {interval(row.interval)}." for row in rows),
        forest_figure(rows, f"Difference in AUC of {level}s", reference=0.0),
    )


def _names(a: Trial, b: Trial) -> str:
    """Name two models, their common method or size once."""
    one, other = ("ungrouped" if t.method == UNGROUPED else t.method for t in (a, b))
    many, few = compact(a.negatives), compact(b.negatives)
    if one == other:
        return f"{one}, {many} − {few}"
    if many == few:
        return f"{one} − {other}, {many}"
    return f"{one} {many} − {other} {few}"


def compact(n: int) -> str:
    """Write a large number in short form.

    Examples
    --------
    >>> compact(5_000), compact(100_000), compact(10_000_000), compact(900)
    ('5k', '100k', '10M', '900')
    """
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if n >= size:
            return f"{n / size:.3g}{letter}"
    return str(n)
