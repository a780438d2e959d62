"""What annotation buys, on the disk: one figure, one page, the numbers."""

from __future__ import annotations

import json
from pathlib import Path

from groupcm import __version__
from groupcm.experiments.annotation import AnnotationCurve
from groupcm.experiments.annotation_words import (
    against_misvm,
    method_sentences,
    next_hundred,
    what_others_add,
)
from groupcm.experiments.output import write_text
from groupcm.report.extra import require_report_extra
from groupcm.report.save import save_page

__all__ = ["annotation_json", "save_annotation"]


def save_annotation(curve: AnnotationCurve, folder: Path, name: str) -> list[Path]:
    """Write ``annotation.html``, its figure and ``annotation.json``.

    Parameters
    ----------
    curve : AnnotationCurve
    folder : Path
        An existing folder.
    name : str
        Of the data.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    require_report_extra()
    from groupcm.experiments.annotation_plate import annotation_plate
    from groupcm.report.render import render

    plate = annotation_plate(curve)
    rows = [
        (size, curve.auc(gcm), curve.auc(misvm))
        for size, gcm, misvm in zip(curve.sizes, curve.gcm, curve.misvm, strict=True)
    ]
    page = render(
        "experiment_annotation.html",
        [plate],
        title="What annotation buys",
        version=__version__,
        name=name,
        curve=curve,
        rows=rows,
        with_others=[curve.auc(one) for one in curve.with_others],
        of_all=curve.auc(curve.misvm_of_all),
        summary=[next_hundred(curve), what_others_add(curve), against_misvm(curve)],
        method=method_sentences(curve),
    )
    numbers = write_text(folder / "annotation.json", annotation_json(curve))
    return [*save_page(page, [plate], folder / "annotation.html"), numbers]


def annotation_json(curve: AnnotationCurve) -> str:
    """Write sizes and the AUC of every repeat."""
    found = {
        "version": __version__,
        "positive_groups": curve.n_positive,
        "negative_groups": curve.n_negative,
        "positive_groups_left_out_unannotated": curve.n_left_out,
        "folds": curve.n_folds,
        "folds_by": curve.folds_by,
        "annotated_positive_groups": list(curve.sizes),
        "gcm_auc": curve.gcm.tolist(),
        "gcm_auc_with_others_unannotated": curve.with_others.tolist(),
        "misvm_auc": curve.misvm.tolist(),
        "misvm_auc_with_all_positive_groups": curve.misvm_of_all.tolist(),
    }
    return json.dumps(found, indent=1) + "\n"
