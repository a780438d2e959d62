"""A report on the disk: the page, and its figures beside it as PNG and SVG."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groupcm.comparison.numbers import ModelComparison
from groupcm.errors import InputError
from groupcm.evaluation.numbers import Evaluation
from groupcm.files import check_output, whole_file
from groupcm.report.extra import require_report_extra
from groupcm.report.page import comparison_page, evaluation_page

if TYPE_CHECKING:
    from groupcm.report.figures.plate import Plate

__all__ = ["check_report", "save_comparison", "save_evaluation"]

_DOTS_PER_INCH = 200


def check_report(path: str | os.PathLike[str]) -> Path:
    """Say, before long work begins, why a report could not be written there.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> check_report("no/such/folder/report.html")
    Traceback (most recent call last):
    groupcm.errors.InputError: cannot write no/such/folder/report.html: the folder no/such/folder
    does not exist; make it first or choose another place
    """
    require_report_extra()
    page = check_output(path)
    folder = _figures_beside(page)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"cannot write the figures of {page}: {folder} is a file, where a folder is needed; "
            "move it or give the report another name"
        )
    return page


def save_evaluation(evaluation: Evaluation, path: str | os.PathLike[str]) -> list[Path]:
    """Write the page of an evaluation, and its figures into a folder beside it.

    Parameters
    ----------
    evaluation : Evaluation
    path : path
        Of the page, such as ``report.html``; the figures go to ``report_figures``.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    page = check_report(path)
    from groupcm.report.evaluation_plates import evaluation_plates

    plates = evaluation_plates(evaluation)
    return _save(evaluation_page(evaluation, plates), plates, page)


def save_comparison(comparison: ModelComparison, path: str | os.PathLike[str]) -> list[Path]:
    """Write the page of a comparison, and its figures into a folder beside it.

    Parameters
    ----------
    comparison : ModelComparison
    path : path
        Of the page, such as ``report.html``; the figures go to ``report_figures``.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    page = check_report(path)
    from groupcm.report.comparison_plates import comparison_plates

    plates = comparison_plates(comparison)
    return _save(comparison_page(comparison, plates), plates, page)


def _save(html: str, plates: Sequence[Plate], page: Path) -> list[Path]:
    from groupcm.report.figures.style import style

    folder = _figures_beside(page)
    folder.mkdir(exist_ok=True)
    files = []
    for plate in plates:
        svg, png = (folder / f"{plate.name}.{kind}" for kind in ("svg", "png"))
        with whole_file(svg) as beside:
            beside.write_text(plate.svg, encoding="utf-8")
        with whole_file(png) as beside, style():
            plate.figure.savefig(beside, format="png", dpi=_DOTS_PER_INCH)
        files += [svg, png]
    # Last: where the page is, its figures are.
    with whole_file(page) as beside:
        beside.write_text(html, encoding="utf-8")
    return [page, *files]


def _figures_beside(page: Path) -> Path:
    return page.with_name(f"{page.stem}_figures")
