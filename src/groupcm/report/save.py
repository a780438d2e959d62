"""Saving of reports: the page, and a folder with its figures as PNG and SVG."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groupcm.errors import InputError
from groupcm.evaluation.comparison.document import comparison_document
from groupcm.evaluation.comparison.results import ModelComparison
from groupcm.evaluation.documents import evaluation_document, save_document
from groupcm.evaluation.results import Evaluation
from groupcm.report.page import CasePictures, draw_comparison, draw_evaluation
from groupcm.utils.extras import REPORT
from groupcm.utils.files import check_output, whole_file

if TYPE_CHECKING:
    from groupcm.report.figures.figure import CaptionedFigure

__all__ = [
    "FIGURE_NAMES",
    "check_report",
    "save_comparison",
    "save_evaluation",
    "save_page",
]

_DOTS_PER_INCH = 200
_METRICS = "metrics.json"
_NUMBERED = re.compile(r"subgroups_\d+_(sensitivity|specificity)|levels_\d+_reliability")

FIGURE_NAMES = frozenset(
    {
        "candidate_auc",
        "candidate_roc",
        "flow",
        "froc",
        "group_auc",
        "group_precision_recall",
        "group_roc",
        "group_roc_high_specificity",
        "importances",
        "learning_curve",
        "levels_roc",
        "paired_differences",
        "reliability",
        "score_distribution",
        "weights",
        "yield",
    }
)


def _remove_stale_figures(folder: Path, written: Collection[Path]) -> None:
    """Remove the files of an earlier report that were not written now.

    Files that are not named like those of a report stay.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("froc.svg", "group_roc.svg", "mine.svg", "weights.txt"):
    ...     (folder / name).touch()
    >>> _remove_stale_figures(folder, [folder / "group_roc.svg"])
    >>> sorted(file.name for file in folder.iterdir())
    ['group_roc.svg', 'mine.svg', 'weights.txt']
    """
    for file in folder.iterdir():
        is_figure = file.suffix in (".svg", ".png") and (
            file.stem in FIGURE_NAMES or _NUMBERED.fullmatch(file.stem)
        )
        if (is_figure or file.name == _METRICS) and file not in written and file.is_file():
            file.unlink()


def check_report(path: str | os.PathLike[str]) -> Path:
    """Raise, before long work begins, where a report cannot be written.

    Returns
    -------
    Path
        The path of the page.

    Examples
    --------
    >>> check_report("report.pdf")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write report.pdf: end its name in .html
    """
    REPORT.require()
    page = check_output(path, endings=[".html"])
    folder = _figures_folder(page)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"cannot write the figures of {page}: {folder} is a file, where a folder is needed; "
            "move it or give the report another name"
        )
    return page


def save_evaluation(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    pictures: CasePictures | None = None,
) -> list[Path]:
    """Write the page of an evaluation, and its figures and metrics into a folder next to it.

    Parameters
    ----------
    evaluation : Evaluation
    path : path
        The path of the page, such as ``report.html``. The figures, and ``metrics.json`` with all
        numbers (`groupcm.evaluation.evaluation_document`), go to ``report_figures``.
    pictures : CasePictures, optional
        Pictures of the groups to look at, for the page.

    Returns
    -------
    list of Path
        The files, the page first.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation._evaluate import evaluate
    >>> from groupcm.simulate import capsule
    >>> made = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(made.X, made.y, made.groups)
    >>> found = evaluate(model, made.X, made.y, made.groups, n_resamples=50)
    >>> files = save_evaluation(found, Path(tempfile.mkdtemp()) / "report.html")
    >>> [file.name for file in files[:3]], files[1].parent.name
    (['report.html', 'flow.svg', 'flow.png'], 'report_figures')
    """
    page = check_report(path)
    return save_page(
        *draw_evaluation(evaluation, pictures), page, numbers=evaluation_document(evaluation)
    )


def save_comparison(comparison: ModelComparison, path: str | os.PathLike[str]) -> list[Path]:
    """Write the page of a comparison, and its figures, as `save_evaluation` does.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.evaluation.comparison.compare_models import compare_models
    >>> from groupcm.simulate import capsule
    >>> made = capsule(40, n_positive=20, group_size=5)
    >>> found = compare_models(
    ...     made.X, made.y, made.groups, models=["svm", "gcm"], cv=2, n_settings=1,
    ...     learning=False, n_resamples=50,
    ... )
    >>> files = save_comparison(found, Path(tempfile.mkdtemp()) / "report.html")
    >>> [file.name for file in files[:3]]
    ['report.html', 'group_auc.svg', 'group_auc.png']
    """
    page = check_report(path)
    return save_page(*draw_comparison(comparison), page, numbers=comparison_document(comparison))


def save_page(
    html: str,
    figures: Sequence[CaptionedFigure],
    page: Path,
    *,
    numbers: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write a page, and its figures into a folder next to it; remove those of an earlier report.

    Parameters
    ----------
    html : str
    figures : sequence of CaptionedFigure
    page : Path
        The path that `check_report` returns.
    numbers : mapping, optional
        A document, written as ``metrics.json`` next to the figures.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    from groupcm.report.figures.style import style

    folder = _figures_folder(page)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for figure in figures:
        svg, png = (folder / f"{figure.name}.{kind}" for kind in ("svg", "png"))
        with whole_file(svg) as temporary:
            temporary.write_text(figure.svg, encoding="utf-8")
        with whole_file(png) as temporary, style():
            figure.drawing.savefig(temporary, format="png", dpi=_DOTS_PER_INCH)
        files += [svg, png]
    if numbers is not None:
        files.append(save_document(numbers, folder / _METRICS))
    # The page comes after its figures, so that they exist where it does.
    with whole_file(page) as temporary:
        temporary.write_text(html, encoding="utf-8")
    _remove_stale_figures(folder, files)
    return [page, *files]


def _figures_folder(page: Path) -> Path:
    return page.with_name(f"{page.stem}_figures")
