"""One self-contained page: no script, no network, everything inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groupcm.comparison.numbers import ModelComparison
from groupcm.evaluation.numbers import Evaluation
from groupcm.report.extra import require_report_extra

if TYPE_CHECKING:
    from groupcm.report.figures.plate import Plate

__all__ = ["comparison_page", "evaluation_page"]


def evaluation_page(evaluation: Evaluation, plates: Sequence[Plate] | None = None) -> str:
    """Write an evaluation as one HTML page.

    Parameters
    ----------
    evaluation : Evaluation
    plates : sequence of Plate, optional
        Its figures, where they are drawn already.

    Returns
    -------
    str
        The page, with its figures inside.
    """
    require_report_extra()
    from groupcm.report import evaluation_words
    from groupcm.report.evaluation_plates import evaluation_plates
    from groupcm.report.figures.weights import by_size
    from groupcm.report.render import render

    return render(
        "evaluation.html",
        evaluation_plates(evaluation) if plates is None else plates,
        evaluation=evaluation,
        level=evaluation.level,
        title=evaluation.title,
        version=evaluation.version,
        alarms=evaluation_words.alarms_sentence(evaluation.decision, evaluation.level),
        ranking=evaluation_words.ranking_sentence(evaluation),
        certificate=evaluation_words.certificate_sentence(evaluation.training),
        data_rows=evaluation_words.data_rows(evaluation),
        weights=by_size(evaluation.weights),
    )


def comparison_page(comparison: ModelComparison, plates: Sequence[Plate] | None = None) -> str:
    """Write a comparison of models as one HTML page.

    Parameters
    ----------
    comparison : ModelComparison
    plates : sequence of Plate, optional
        Its figures, where they are drawn already.

    Returns
    -------
    str
        The page, with its figures inside.
    """
    require_report_extra()
    from groupcm.report import comparison_words
    from groupcm.report.comparison_plates import comparison_plates, looks_of
    from groupcm.report.figures.style import colour_name
    from groupcm.report.render import render

    looks = looks_of(comparison)
    models = comparison_words.by_auc(comparison.models)
    return render(
        "comparison.html",
        comparison_plates(comparison) if plates is None else plates,
        comparison=comparison,
        level=comparison.level,
        title=comparison.title,
        version=comparison.version,
        summary=comparison_words.summary_sentences(comparison),
        models=models,
        group_rocs=[(model.name, model.group_roc) for model in models],
        swatch=lambda name: colour_name(looks[name].colour),
        chosen_settings=comparison_words.chosen_settings,
        pairs=[
            (
                comparison_words.pair_sentence(pair, comparison.level),
                comparison_words.is_clear(pair, comparison.level),
            )
            for pair in comparison.pairs
        ],
    )
