"""The figures of a comparison, each with its caption."""

from __future__ import annotations

from collections.abc import Mapping

from groupcm.comparison.numbers import ModelComparison, Pair
from groupcm.evaluation.numbers import Roc
from groupcm.report.comparison_words import by_auc, is_clear, pair_sentence
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.learning import learning_figure
from groupcm.report.figures.plate import Plate
from groupcm.report.figures.roc import roc_of_models_figure
from groupcm.report.figures.style import INK, MUTED, Series, series_of
from groupcm.report.figures.text import shorten
from groupcm.report.high_specificity import shows_high_specificity
from groupcm.report.learning_words import learning_shows
from groupcm.report.words import interval, number, percent

__all__ = ["comparison_plates", "looks_of"]

_LONGEST_NAMES = 30  # of two models: they and an interval share a line


def looks_of(comparison: ModelComparison) -> dict[str, Series]:
    """The colour of each model in all figures of a comparison."""
    learning = comparison.learning.lines if comparison.learning is not None else ()
    return series_of(
        [*(model.name for model in comparison.models), *(line.model for line in learning)]
    )


def comparison_plates(comparison: ModelComparison) -> list[Plate]:
    """Draw all that a comparison has numbers for, in the order of the page."""
    looks = looks_of(comparison)
    groups = {model.name: model.group_roc for model in comparison.models}
    candidates = {
        model.name: model.candidate_roc
        for model in comparison.models
        if model.candidate_roc is not None
    }
    plates = [_areas(comparison, groups, looks, "group")] if groups else []
    if candidates:
        plates.append(_areas(comparison, candidates, looks, "candidate"))
    if comparison.pairs:
        plates.append(_differences(comparison))
    if groups:
        plates += _rocs(groups, looks)
    if candidates:
        plates.append(
            Plate(
                "candidate_roc",
                "ROC of candidates, all models",
                "As for groups, with every candidate counted alone. Grouping often gives this "
                "away to be better at groups.",
                _areas_in_words(candidates),
                roc_of_models_figure(candidates, looks, of="candidate"),
            )
        )
    if comparison.learning is not None:
        plates.append(
            Plate(
                "learning_curve",
                "Learning curves",
                "A line that still rises at its right end says that more of the same data would "
                "help that model.",
                learning_shows(comparison.learning),
                learning_figure(comparison.learning, looks),
            )
        )
    return plates


def _areas(
    comparison: ModelComparison, rocs: Mapping[str, Roc], looks: Mapping[str, Series], of: str
) -> Plate:
    rows = [
        ForestRow(
            model.name, rocs[model.name].auc, interval(rocs[model.name].auc), looks[model.name]
        )
        for model in by_auc(comparison.models)
        if model.name in rocs
    ]
    return Plate(
        f"{of}_auc",
        f"AUC of {of}s",
        f"The mark is the estimate, the line its {percent(comparison.level)} interval; further "
        "right is better. Lines that overlap do not mean that two models are equal: see the "
        "paired differences.",
        _areas_in_words(rocs),
        forest_figure(rows, f"AUC of {of}s"),
    )


def _differences(comparison: ModelComparison) -> Plate:
    return Plate(
        "paired_differences",
        "Paired differences in AUC of groups",
        "The first model minus the second, on the same groups: right of zero the first one is "
        "better. Strong lines are clear differences (the interval leaves out zero and p is below "
        f"{number(1 - comparison.level)}), pale ones are not.",
        " ".join(pair_sentence(pair, comparison.level) for pair in comparison.pairs),
        forest_figure(
            [_difference_row(pair, comparison.level) for pair in comparison.pairs],
            "Difference in AUC of groups",
            reference=0.0,
        ),
    )


def _difference_row(pair: Pair, level: float) -> ForestRow:
    look = Series(INK if is_clear(pair, level) else MUTED, "solid", "o")
    half = _LONGEST_NAMES // 2
    a = shorten(pair.a, max(half, _LONGEST_NAMES - len(pair.b)))
    b = shorten(pair.b, max(half, _LONGEST_NAMES - len(pair.a)))
    return ForestRow(f"{a} − {b}", pair.group.difference, interval(pair.group.difference), look)


def _rocs(rocs: Mapping[str, Roc], looks: Mapping[str, Series]) -> list[Plate]:
    shows = _areas_in_words(rocs)
    plates = [
        Plate(
            "group_roc",
            "ROC of groups, all models",
            "Each point of a line is a threshold: the further up and to the left, the better. The "
            "dashed line is guessing.",
            shows,
            roc_of_models_figure(rocs, looks),
        ),
    ]
    if shows_high_specificity(list(rocs.values())):
        plates.append(
            Plate(
                "group_roc_high_specificity",
                "The same, spread out where false alarms are rare",
                "The same curves with a logarithmic axis: read off who finds most where only 1 in "
                "100 negative groups may raise an alarm.",
                shows,
                roc_of_models_figure(rocs, looks, log=True),
            )
        )
    return plates


def _areas_in_words(rocs: Mapping[str, Roc]) -> str:
    return "; ".join(f"{name}: AUC {interval(roc.auc)}" for name, roc in rocs.items()) + "."
