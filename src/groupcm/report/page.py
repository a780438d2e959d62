"""One self-contained page: no script, no network, everything inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from groupcm.comparison.numbers import ModelComparison
from groupcm.evaluation.numbers import Evaluation
from groupcm.report.case_pictures import CasePictures
from groupcm.report.extra import require_report_extra

if TYPE_CHECKING:
    from groupcm.report.figures.plate import Plate

__all__ = ["Page", "comparison_page", "draw_comparison", "draw_evaluation", "evaluation_page"]


class Page(NamedTuple):
    """A page in HTML, and the figures that are in it."""

    html: str
    plates: Sequence[Plate]


def evaluation_page(evaluation: Evaluation, pictures: CasePictures | None = None) -> str:
    """Write an evaluation as one HTML page, with its figures and pictures inside.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation.evaluate import evaluate
    >>> from groupcm.simulate import capsule
    >>> made = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(made.X, made.y, made.groups)
    >>> found = evaluate(model, made.X, made.y, made.groups, title="Frames", n_resamples=50)
    >>> "<title>Frames</title>" in evaluation_page(found)
    True
    """
    return draw_evaluation(evaluation, pictures).html


def comparison_page(comparison: ModelComparison) -> str:
    """Write a comparison of models as one HTML page, with its figures inside.

    Examples
    --------
    >>> from groupcm.comparison.compare_models import compare_models
    >>> from groupcm.simulate import capsule
    >>> made = capsule(40, n_positive=20, group_size=5)
    >>> found = compare_models(
    ...     made.X, made.y, made.groups, models=["svm", "gcm"], cv=2, n_settings=1,
    ...     learning=False, n_resamples=50, title="Two models",
    ... )
    >>> "<title>Two models</title>" in comparison_page(found)
    True
    """
    return draw_comparison(comparison).html


def draw_evaluation(evaluation: Evaluation, pictures: CasePictures | None = None) -> Page:
    """Draw the figures of an evaluation, and write its page."""
    require_report_extra()
    from groupcm.report import evaluation_words
    from groupcm.report.evaluation_plates import evaluation_plates
    from groupcm.report.figures.weights import by_size

    localisation = evaluation.localisation
    return _filled(
        "evaluation.html",
        evaluation,
        evaluation_plates(evaluation),
        evaluation=evaluation,
        alarms=evaluation_words.alarms_sentence(evaluation.decision, evaluation.level),
        ranking=evaluation_words.ranking_sentence(evaluation),
        locating=None
        if localisation is None
        else evaluation_words.localisation_sentence(localisation, evaluation.level),
        pictures=pictures,
        certificate=evaluation_words.certificate_sentence(evaluation.training),
        data_rows=evaluation_words.data_rows(evaluation),
        weights=by_size(evaluation.weights),
    )


def draw_comparison(comparison: ModelComparison) -> Page:
    """Draw the figures of a comparison, and write its page."""
    require_report_extra()
    from groupcm.report import comparison_words
    from groupcm.report.comparison_plates import comparison_plates, looks_of
    from groupcm.report.figures.style import colour_name

    looks = looks_of(comparison)
    models = comparison_words.by_auc(comparison.models)
    return _filled(
        "comparison.html",
        comparison,
        comparison_plates(comparison),
        comparison=comparison,
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


def _filled(
    template: str, found: Evaluation | ModelComparison, plates: Sequence[Plate], **values: Any
) -> Page:
    from groupcm.report.render import render

    common = {"level": found.level, "title": found.title, "version": found.version}
    return Page(render(template, plates, **common, **values), plates)
