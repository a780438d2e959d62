"""The paper's experiment on the disk: tables, figures, numbers and one page."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

from groupcm import __version__
from groupcm.experiments import paper_words
from groupcm.experiments.output import write_text
from groupcm.experiments.paper import PaperResults
from groupcm.experiments.paper_json import paper_json
from groupcm.experiments.trial import METHODS, trials_of
from groupcm.report.extra import require_report_extra
from groupcm.report.save import save_page

__all__ = ["save_paper"]


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
    require_report_extra()
    from groupcm.experiments.paper_plates import paper_plates

    plates = paper_plates(results)
    page = _page(results, plates)
    texts = {
        "results.json": paper_json(results),
        "claims.md": paper_words.claims_markdown(results),
        "datasets.csv": _datasets_csv(results),
    }
    others = [write_text(folder / name, text) for name, text in texts.items()]
    return [*save_page(page, plates, folder / "paper.html"), *others]


def _datasets_csv(results: PaperResults) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["part", "class", "SVM", "MI-SVM", "GCM"])
    writer.writerows(paper_words.dataset_rows(results))
    return text.getvalue()


def _page(results: PaperResults, plates: list) -> str:
    from groupcm.report.figures.style import colour_name, series_of
    from groupcm.report.render import render

    looks = series_of(METHODS)
    models = []
    for k, trial in enumerate(trials_of(results.sizes)):
        chosen = Counter(repeat[k].setting for repeat in results.models)
        settings = ", ".join(f"{setting} ({n}×)" for setting, n in chosen.most_common())
        candidate, group = (results.areas[level].of(trial) for level in ("candidate", "group"))
        models.append((trial, candidate, group, settings))
    return render(
        "experiment_paper.html",
        plates,
        title="The paper's experiment on made data",
        version=__version__,
        sizes=results.sizes,
        seed=results.seed,
        summary=paper_words.summary_sentence(results.claims),
        claims=results.claims,
        finding_words=paper_words.finding_words,
        repeats_words=paper_words.repeats_words,
        models=models,
        swatch=lambda method: colour_name(looks[method].colour),
        datasets=paper_words.dataset_rows(results),
        n_test=results.n_test,
        method=paper_words.method_sentences(results.sizes),
    )
