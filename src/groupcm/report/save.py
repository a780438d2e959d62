"""A report on the disk: the page, and its figures beside it as PNG and SVG.

Figures that an earlier report of the same name left behind.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groupcm.errors import InputError
from groupcm.evaluation.comparison.results import ModelComparison
from groupcm.evaluation.results import Evaluation
from groupcm.report.page import CasePictures, draw_comparison, draw_evaluation
from groupcm.utils.extras import REPORT
from groupcm.utils.files import check_output, whole_file

if TYPE_CHECKING:
    from groupcm.report.figures.figure import Plate

__all__ = [
    "FIGURE_NAMES",
    "check_report",
    "remove_stale_figures",
    "save_comparison",
    "save_evaluation",
    "save_page",
]

FIGURE_NAMES = frozenset(
    {
        "candidate_auc",
        "candidate_roc",
        "froc",
        "group_auc",
        "group_precision_recall",
        "group_roc",
        "group_roc_high_specificity",
        "importances",
        "learning_curve",
        "paired_differences",
        "reliability",
        "score_distribution",
        "weights",
    }
)


def remove_stale_figures(folder: Path, written: Collection[Path]) -> None:
    """Remove the PNG and SVG files named as figures of reports that were not written now.

    Whatever else is in the folder is not ours and stays.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("froc.svg", "group_roc.svg", "mine.svg", "weights.txt"):
    ...     (folder / name).touch()
    >>> remove_stale_figures(folder, [folder / "group_roc.svg"])
    >>> sorted(file.name for file in folder.iterdir())
    ['group_roc.svg', 'mine.svg', 'weights.txt']
    """
    for name in FIGURE_NAMES:
        for file in (folder / f"{name}.svg", folder / f"{name}.png"):
            if file not in written and file.is_file():
                file.unlink()


_DOTS_PER_INCH = 200


def check_report(path: str | os.PathLike[str]) -> Path:
    """Say, before long work begins, why a report could not be written there.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> check_report("report.pdf")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write report.pdf: end its name in .html
    """
    REPORT.require()
    page = check_output(path, endings=[".html"])
    folder = _figures_beside(page)
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
    """Write the page of an evaluation, and its figures into a folder beside it.

    Parameters
    ----------
    evaluation : Evaluation
    path : path
        Of the page, such as ``report.html``; the figures go to ``report_figures``.
    pictures : CasePictures, optional
        Of the groups to look at, for the page.

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
    (['report.html', 'group_roc.svg', 'group_roc.png'], 'report_figures')
    """
    page = check_report(path)
    return save_page(*draw_evaluation(evaluation, pictures), page)


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
    return save_page(*draw_comparison(comparison), page)


def save_page(html: str, plates: Sequence[Plate], page: Path) -> list[Path]:
    """Write a page, and its figures into a folder beside it; an earlier report's are removed.

    Parameters
    ----------
    html : str
    plates : sequence of Plate
    page : Path
        As `check_report` gives it.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    from groupcm.report.figures.style import style

    folder = _figures_beside(page)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for plate in plates:
        svg, png = (folder / f"{plate.name}.{kind}" for kind in ("svg", "png"))
        with whole_file(svg) as beside:
            beside.write_text(plate.svg, encoding="utf-8")
        with whole_file(png) as beside, style():
            plate.figure.savefig(beside, format="png", dpi=_DOTS_PER_INCH)
        files += [svg, png]
    # After its figures: where the page is, they are.
    with whole_file(page) as beside:
        beside.write_text(html, encoding="utf-8")
    remove_stale_figures(folder, files)
    return [page, *files]


def _figures_beside(page: Path) -> Path:
    return page.with_name(f"{page.stem}_figures")
