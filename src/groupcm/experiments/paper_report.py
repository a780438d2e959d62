"""The report of the paper's experiment: a page with figures, tables, and the numbers as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from groupcm import __version__
from groupcm.experiments import paper_text
from groupcm.experiments.areas import Crossed
from groupcm.experiments.checkpoint import Checkpoint
from groupcm.experiments.claims import Finding
from groupcm.experiments.output import synthetic_data_in, write_text
from groupcm.experiments.paper import PaperResults, identity_of, run_paper
from groupcm.experiments.paper_figures import LOOKS, paper_figures
from groupcm.experiments.sizes import Sizes, Trained, Trial, trials_of
from groupcm.experiments.testing import LEVELS
from groupcm.metrics import Interval
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.style import colour_name
from groupcm.report.page import render
from groupcm.report.save import save_page
from groupcm.simulate.definition import world_of

__all__ = ["paper_into_folder", "paper_json", "save_paper"]


def paper_into_folder(
    sizes: Sizes,
    seed: int,
    folder: Path,
    *,
    keep: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[PaperResults, list[Path]]:
    """Run the experiment and write all of it into a folder.

    Finished models are kept in the folder ``progress`` until the end: the same call continues where
    a run was stopped.

    Parameters
    ----------
    sizes : Sizes
    seed : int
    folder : Path
        The folder for the output; it is created if need be.
    keep : bool, default=False
        Whether to keep the files of synthetic candidates.
    say : callable, optional
        Is called with a text at the start of each step.

    Returns
    -------
    PaperResults
    list of Path
        The files, the page first.
    """
    was_there = folder.exists()
    checkpoint = Checkpoint(folder, identity_of(sizes, seed))
    is_streamed = sizes.most > sizes.held_in_memory
    data = synthetic_data_in(folder, keep=keep, again=not checkpoint.is_new)
    try:
        with data if is_streamed else nullcontext() as place:
            found = run_paper(sizes, seed, folder=place, keep=keep, say=say, checkpoint=checkpoint)
        say("drawing the figures")
        files = save_paper(found, folder)
    except BaseException:
        if checkpoint.is_empty:
            checkpoint.clear()
            if not was_there:
                with suppress(OSError):
                    folder.rmdir()
        raise
    checkpoint.clear()
    return found, files


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


def paper_json(results: PaperResults) -> str:
    """Write sizes, every model and every claim as JSON; the text does not depend on the time."""
    found = {
        "version": __version__,
        "seed": results.seed,
        "world": {
            "version": results.sizes.world,
            "sha256": world_of(results.sizes.world).sha256,
        },
        "effect_sizes": results.sizes.effect_sizes,
        "sizes": asdict(results.sizes),
        "test": dict(results.n_test),
        "models": [_model(results, trial) for trial in trials_of(results.sizes)],
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


def _model(results: PaperResults, trial: Trial) -> dict[str, Any]:
    repeats = _repeats(results, trial)
    return {
        **asdict(trial),
        "n_rows": [model.n_rows for model in repeats],
        "settings": [model.setting for model in repeats],
        "coef": [model.coef.tolist() for model in repeats],
        "intercept": [model.intercept for model in repeats],
        "gap": [_known(model.gap) for model in repeats],
        "n_passes": [_known(model.n_passes) for model in repeats],
        **{
            f"{level}_auc{name}": {
                **_crossed(areas[level].of(trial)),
                "repeats": areas[level].repeats(trial).tolist(),
            }
            for name, areas in (("", results.areas), ("_of_the_table", results.table_areas))
            for level in LEVELS
        },
    }


def _repeats(results: PaperResults, trial: Trial) -> list[Trained]:
    return [model for models in results.models for model in models if model.trial == trial]


def _difference(finding: Finding) -> dict[str, Any]:
    return {
        "a": asdict(finding.a),
        "b": asdict(finding.b),
        "auc_of": finding.of,
        "claimed": finding.claimed,
        "effect_size": finding.effect,
        "verdict": finding.verdict,
        **_crossed(finding.found),
        "needed": finding.needed and [_known(number) for number in finding.needed],
        "repeats": list(finding.repeats),
    }


def _crossed(found: Crossed) -> dict[str, Any]:
    return {
        **_interval(found.interval),
        "p_value": _known(found.p_value),
        "variance_of_training_sets": found.of_sets,
        "variance_of_test_patients": found.of_patients,
    }


def _interval(value: Interval) -> dict[str, float | None]:
    return {name: _known(number) for name, number in value._asdict().items()}


def _known(value: float) -> float | None:
    """Return None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def _datasets_csv(results: PaperResults) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["part", "class", "SVM", "MI-SVM", "GCM"])
    writer.writerows(paper_text.dataset_rows(results))
    return text.getvalue()


def _page(results: PaperResults, figures: list[CaptionedFigure]) -> str:
    models = []
    for trial in trials_of(results.sizes):
        repeats = _repeats(results, trial)
        chosen = Counter(model.setting for model in repeats)
        shares = ", ".join(f"{values} ({n}×)" for values, n in chosen.most_common())
        candidate, group = (results.areas[level].of(trial).interval for level in LEVELS)
        seconds = float(np.mean([model.seconds for model in repeats]))
        passes = max(model.n_passes for model in repeats)
        models.append((trial, candidate, group, shares, seconds, passes))
    return render(
        "experiment_paper.html",
        figures,
        title="The paper's experiment on synthetic data",
        version=__version__,
        sizes=results.sizes,
        seed=results.seed,
        summary=paper_text.summary_sentence(results.claims),
        run=paper_text.run_sentence(results),
        claims=results.claims,
        finding_text=paper_text.finding_text,
        repeats_text=paper_text.repeats_text,
        models=models,
        swatch=lambda method: colour_name(LOOKS[method].colour),
        datasets=paper_text.dataset_rows(results),
        n_test=results.n_test,
        method=paper_text.method_sentences(results.sizes),
    )
