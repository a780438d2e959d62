"""The report of the paper's experiment: a page with figures, tables, and the numbers as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from groupcm import __version__
from groupcm.experiments import paper_text
from groupcm.experiments.claims import HOLDS, OPEN, Finding
from groupcm.experiments.output import write_text
from groupcm.experiments.paper import LEVELS, PaperResults
from groupcm.experiments.sizes import GCM, METHODS, MISVM, SVM, UNGROUPED, Trial, trials_of
from groupcm.metrics import Interval
from groupcm.plots.style import INK, MUTED, Series, series_of
from groupcm.report.figures.curves import roc_of_models_figure
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.learning import SizeLine, size_figure
from groupcm.report.figures.style import colour_name
from groupcm.report.page import render
from groupcm.report.save import save_page
from groupcm.utils.formatting import counted, interval

__all__ = ["paper_figures", "paper_json", "save_paper"]

_LOOKS = series_of(METHODS)


def save_paper(results: PaperResults, folder: Path) -> list[Path]:
    """Write ``paper.html``, its figures, ``claims.md``, ``datasets.csv`` and ``results.json``.

    Parameters
    ----------
    results : PaperResults
    folder : Path
        An existing folder.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    figures = paper_figures(results)
    page = _page(results, figures)
    texts = {
        "results.json": paper_json(results),
        "claims.md": paper_text.claims_markdown(results),
        "datasets.csv": _datasets_csv(results),
    }
    others = [write_text(folder / name, text) for name, text in texts.items()]
    return [*save_page(page, figures, folder / "paper.html"), *others]


def paper_figures(results: PaperResults) -> list[CaptionedFigure]:
    """Draw both figures of the paper, per candidate and per group, and the claims."""
    return [
        *(_roc(results, level, log=log) for log in (False, True) for level in LEVELS),
        *(_against_size(results, level) for level in LEVELS),
        *(_differences(results, level) for level in LEVELS),
    ]


def _roc(results: PaperResults, level: str, *, log: bool) -> CaptionedFigure:
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
    return CaptionedFigure(
        name, title, reading, f"{shows}.", roc_of_models_figure(rocs, _LOOKS, of=level, log=log)
    )


def _against_size(results: PaperResults, level: str) -> CaptionedFigure:
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
    return CaptionedFigure(
        f"per_{level}_training_size",
        f"Performance per {level} against training size",
        f"Marks are means over {counted(sizes.repeats, 'training set')}, small dots the single "
        "sets, lines 95 % intervals, which hold what all models share: whether two differ is "
        "in the claims.",
        shows,
        size_figure(lines, "Negative candidates trained on", f"AUC of {level}s"),
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
            rows.append(ForestRow(name, finding.comparison.difference, look))
    return CaptionedFigure(
        f"claims_per_{level}",
        f"Differences behind the claims, per {level}",
        "The first model minus the second, with the letter of the claim (′: second reading). "
        "Grey intervals contain 0; a cross is one that does not hold as claimed, or is open.",
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


def paper_json(results: PaperResults) -> str:
    """Write sizes, every model and every claim as JSON; the text does not depend on the time."""
    found = {
        "version": __version__,
        "seed": results.seed,
        "sizes": asdict(results.sizes),
        "test": dict(results.n_test),
        "models": [_model(results, trial, k) for k, trial in enumerate(trials_of(results.sizes))],
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "verdict": claim.verdict,
                "differences": [_difference(finding) for finding in claim.findings],
            }
            for claim in results.claims
        ],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _model(results: PaperResults, trial: Trial, number: int) -> dict[str, Any]:
    repeats = [models[number] for models in results.models]
    return {
        **asdict(trial),
        "settings": [model.setting for model in repeats],
        "coef": [model.coef.tolist() for model in repeats],
        "intercept": [model.intercept for model in repeats],
        **{
            f"{level}_auc": {
                **_interval(results.areas[level].of(trial)),
                "repeats": results.areas[level].repeats(trial).tolist(),
            }
            for level in LEVELS
        },
    }


def _difference(finding: Finding) -> dict[str, Any]:
    return {
        "a": asdict(finding.a),
        "b": asdict(finding.b),
        "auc_of": finding.of,
        "claimed": finding.claimed,
        "verdict": finding.verdict,
        "margin": finding.margin,
        **_interval(finding.comparison.difference),
        "p_value": _known(finding.comparison.p_value),
        "repeats": list(finding.repeats),
    }


def _interval(value: Interval) -> dict[str, float | None]:
    return {name: _known(number) for name, number in value._asdict().items()}


def _known(value: float) -> float | None:
    """Return None for NaN, which JSON does not have."""
    return None if math.isnan(value) else value


def _datasets_csv(results: PaperResults) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["part", "class", "SVM", "MI-SVM", "GCM"])
    writer.writerows(paper_text.dataset_rows(results))
    return text.getvalue()


def _page(results: PaperResults, figures: list[CaptionedFigure]) -> str:
    models = []
    for k, trial in enumerate(trials_of(results.sizes)):
        chosen = Counter(repeat[k].setting for repeat in results.models)
        shares = ", ".join(f"{values} ({n}×)" for values, n in chosen.most_common())
        candidate, group = (results.areas[level].of(trial) for level in LEVELS)
        models.append((trial, candidate, group, shares))
    return render(
        "experiment_paper.html",
        figures,
        title="The paper's experiment on synthetic data",
        version=__version__,
        sizes=results.sizes,
        seed=results.seed,
        summary=paper_text.summary_sentence(results.claims),
        claims=results.claims,
        finding_text=paper_text.finding_text,
        repeats_text=paper_text.repeats_text,
        models=models,
        swatch=lambda method: colour_name(_LOOKS[method].colour),
        datasets=paper_text.dataset_rows(results),
        n_test=results.n_test,
        method=paper_text.method_sentences(results.sizes),
    )
