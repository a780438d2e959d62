"""The figures of the paper's experiment, each with its caption."""

from __future__ import annotations

from groupcm.experiments.claims import HOLDS, OPEN
from groupcm.experiments.paper import LEVELS, PaperResults
from groupcm.experiments.size_figure import SizeLine, size_figure
from groupcm.experiments.trial import GCM, METHODS, MISVM, SVM, UNGROUPED, Trial
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.plate import Plate
from groupcm.report.figures.roc import roc_of_models_figure
from groupcm.report.figures.style import INK, MUTED, Series, series_of
from groupcm.report.words import counted, interval

__all__ = ["paper_plates"]

_LOOKS = series_of(METHODS)


def paper_plates(results: PaperResults) -> list[Plate]:
    """Draw both figures of the paper, per candidate and per group, and the claims."""
    return [
        *(_roc(results, level, log=log) for log in (False, True) for level in LEVELS),
        *(_against_size(results, level) for level in LEVELS),
        *(_differences(results, level) for level in LEVELS),
    ]


def _roc(results: PaperResults, level: str, *, log: bool) -> Plate:
    sizes, rocs = results.sizes, results.rocs[level]
    sets = counted(sizes.repeats, "training set")
    if log:
        name, title = f"per_{level}_high_specificity", f"The same per {level}, spread out"
        reading = "A logarithmic axis shows the left edge, where false alarms are rare."
    else:
        name, title = f"per_{level}", f"Performance per {level}"
        reading = (
            f"SVM and MI-SVM with {sizes.fewest:,} negatives, both GCMs with {sizes.most:,}; the "
            f"mean curve of {sets}."
        )
    shows = "; ".join(f"{method}: AUC {interval(roc.auc)}" for method, roc in rocs.items())
    return Plate(
        name, title, reading, f"{shows}.", roc_of_models_figure(rocs, _LOOKS, of=level, log=log)
    )


def _against_size(results: PaperResults, level: str) -> Plate:
    sizes, areas = results.sizes, results.areas[level]
    fewest = sizes.fewest
    trials = {
        SVM: [Trial(SVM, fewest, in_groups=False)],
        MISVM: [Trial(MISVM, fewest)],
        UNGROUPED: [Trial(UNGROUPED, n) for n in sizes.negatives],
        GCM: [Trial(GCM, n) for n in sizes.negatives],
    }
    lines = [
        SizeLine(
            method,
            _LOOKS[method],
            [trial.negatives for trial in of],
            [areas.of(trial) for trial in of],
            [areas.repeats(trial).tolist() for trial in of],
        )
        for method, of in trials.items()
    ]
    shows = " ".join(
        f"{trial.method} with {trial.negatives:,} negatives: {interval(areas.of(trial))}."
        for of in trials.values()
        for trial in of
    )
    return Plate(
        f"per_{level}_training_size",
        f"Performance per {level} against training size",
        f"Marks are means over {counted(sizes.repeats, 'training set')}, small dots the single "
        "sets, lines 95 % intervals, which hold what all models share: whether two differ is "
        "in the claims.",
        shows,
        size_figure(lines, "Negative candidates trained on", f"AUC of {level}s"),
    )


def _differences(results: PaperResults, level: str) -> Plate:
    rows = []
    for claim in results.claims:
        for finding in claim.findings:
            # Differences from MI-SVM are so large that the others would vanish beside them.
            if finding.of != level or MISVM in (finding.a.method, finding.b.method):
                continue
            difference = finding.comparison.difference
            colour = MUTED if finding.verdict == OPEN else INK
            look = Series(colour, "solid", "o" if finding.verdict == HOLDS else "X")
            letter = claim.id[0] + "′" * claim.id.endswith("second reading")
            name = f"{letter}: {_names(finding.a, finding.b)}"
            rows.append(ForestRow(name, difference, interval(difference), look))
    return Plate(
        f"claims_per_{level}",
        f"Differences behind the claims, per {level}",
        "The first model minus the second, with the letter of the claim (′: second reading). "
        "Grey intervals contain 0; a cross is one that does not hold as claimed, or is open.",
        " ".join(f"{row.name}: {row.words}." for row in rows),
        forest_figure(rows, f"Difference in AUC of {level}s", reference=0.0),
    )


def _names(a: Trial, b: Trial) -> str:
    """Two models, their common method or size named once."""
    one, other = ("ungrouped" if t.method == UNGROUPED else t.method for t in (a, b))
    many, few = compact(a.negatives), compact(b.negatives)
    if one == other:
        return f"{one}, {many} − {few}"
    if many == few:
        return f"{one} − {other}, {many}"
    return f"{one} {many} − {other} {few}"


def compact(n: int) -> str:
    """Write a large number as short as it goes.

    Examples
    --------
    >>> compact(5_000), compact(100_000), compact(10_000_000), compact(900)
    ('5k', '100k', '10M', '900')
    """
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if n >= size:
            return f"{n / size:.3g}{letter}"
    return str(n)
