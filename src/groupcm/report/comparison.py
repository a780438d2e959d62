"""The figures and sentences of a comparison of models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from groupcm.evaluation.comparison.results import ModelComparison, ModelResult, Pair
from groupcm.evaluation.results import Roc
from groupcm.metrics import Interval
from groupcm.plots.axes import shorten
from groupcm.plots.style import INK, MUTED, Series, series_of
from groupcm.report.captions import describe_learning_curve, has_high_specificity
from groupcm.report.figures.curves import roc_of_models_figure
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.forest import ForestRow, forest_figure
from groupcm.report.figures.learning import learning_figure
from groupcm.utils.formatting import (
    counted,
    fraction,
    interval,
    number,
    p_value,
    percent,
    seconds,
)
from groupcm.utils.text import in_unit, listed

__all__ = [
    "against_best",
    "by_auc",
    "chosen_hyperparameters",
    "comparison_figures",
    "looks_of",
    "pair_sentence",
    "pair_sentences",
    "summary_sentences",
]


_LONGEST_NAMES = 30  # of two models: they and an interval share a line


def by_auc(models: Sequence[ModelResult]) -> list[ModelResult]:
    """Return the models in falling order of their group AUC."""
    return sorted(models, key=lambda model: -model.group_roc.auc.estimate)


def pair_sentence(pair: Pair, level: float = 0.95) -> str:
    """Describe which of two models is better, and how certain that is.

    Examples
    --------
    >>> from groupcm.metrics import Comparison
    >>> auc = Interval(0.9, 0.8, 1.0)
    >>> def pair(low, middle, high, p):
    ...     difference = Interval(middle, low, high)
    ...     return Pair("GCM", "SVM", Comparison(auc, auc, difference, p, 2000, "group_roc_auc"))
    >>> pair_sentence(pair(0.008, 0.021, 0.034, 0.002))
    'GCM is better than SVM by 0.021 (0.008 to 0.034), p = 0.002.'
    >>> pair_sentence(pair(-0.034, -0.021, -0.008, 0.0002))
    'SVM is better than GCM by 0.021 (0.008 to 0.034), p < 0.001.'
    >>> pair_sentence(pair(-0.01, 0.004, 0.018, 0.5))
    'GCM and SVM tie (difference 0.004, 95 % CI −0.010 to 0.018, p = 0.50).'
    >>> pair_sentence(pair(0.001, 0.02, 0.04, 0.06))
    'GCM and SVM tie (difference 0.020, 95 % CI 0.001 to 0.040, p = 0.060).'
    """
    ahead, behind, difference = pair.a, pair.b, pair.group.difference
    if difference.estimate < 0:
        ahead, behind = behind, ahead
        difference = Interval(-difference.estimate, -difference.high, -difference.low)
    chance = p_value(pair.group.p_value)
    if pair.is_clear(level):
        return f"{ahead} is better than {behind} by {interval(difference)}, {chance}."
    bounds = interval(difference, with_estimate=False)
    if math.isnan(difference.low) or math.isnan(difference.high):
        # Without an interval it is not known whether the difference is chance.
        return f"{ahead} is ahead of {behind} by {interval(difference)}, {chance}."
    bounds = f"{percent(level)} CI {bounds}"
    size = fraction(difference.estimate)
    return f"{ahead} and {behind} tie (difference {size}, {bounds}, {chance})."


def pair_sentences(pairs: Sequence[Pair], level: float) -> list[tuple[str, bool]]:
    """Return the sentence of each pair, and whether its difference is clear."""
    return [(pair_sentence(pair, level), pair.is_clear(level)) for pair in pairs]


def summary_sentences(comparison: ModelComparison) -> list[str]:
    """Describe which model won, which tie with it, and what the best ones cost."""
    if not comparison.models:
        return ["No model was compared."]
    best, *others = by_auc(comparison.models)
    auc = best.group_roc.auc
    found = against_best(comparison)
    ties = [each.name for each in others if found.get(each.name, (None, True))[1]]
    beaten = [each.name for each in others if each.name not in ties]
    if not others:
        opening = f"{best.name} is the only model."
    elif not ties:
        opening = f"{best.name} won: it is better than {listed(beaten)}."
    else:
        opening = f"{listed([best.name, *ties])} tie: their differences may be chance."
        if beaten:
            opening += f" {best.name} is better than {listed(beaten)}."
    sentences = [
        opening,
        in_unit("Of a positive and a negative group drawn at random, ", comparison.unit)
        + f"{best.name} gives the positive one the higher score in {percent(auc.estimate)} of all "
        f"cases (AUC {fraction(auc.estimate)}, {percent(comparison.level)} CI "
        f"{interval(auc, with_estimate=False)}).",
    ]
    alike = [best, *(each for each in others if each.name in ties)]
    quickest = min(alike, key=lambda each: each.seconds)
    if ties and quickest.seconds < best.seconds:
        sentences.append(
            f"Of those that tie, {quickest.name} takes the least time to tune and train: "
            f"{seconds(quickest.seconds)}, and {best.name} {seconds(best.seconds)}."
        )
    return sentences


def against_best(comparison: ModelComparison) -> dict[str, tuple[Interval, bool, float]]:
    """Return by how much each model is behind the best one, whether they tie, and the p-value."""
    if not comparison.models:
        return {}
    best, found = by_auc(comparison.models)[0].name, {}
    for pair in comparison.pairs:
        if best not in (pair.a, pair.b):
            continue
        low, high = pair.group.difference.low, pair.group.difference.high
        behind = pair.group.difference
        if pair.a == best:
            behind = Interval(-behind.estimate, -high, -low)
        other = pair.b if pair.a == best else pair.a
        found[other] = behind, not pair.is_clear(comparison.level), pair.group.p_value
    return found


def chosen_hyperparameters(model: ModelResult) -> list[str]:
    """Describe which hyperparameters the folds chose, and how often.

    Examples
    --------
    >>> from groupcm.metrics import RocCurve
    >>> model = ModelResult("GCM", "", None, None, ["lam=0.9", "lam=0.5", "lam=0.9"], 1.0)
    >>> chosen_hyperparameters(model)
    ['lam=0.9 (2 folds)', 'lam=0.5 (1 fold)']
    """
    counts = Counter(model.chosen).most_common()
    if len(counts) == 1:
        return [counts[0][0]]
    return [f"{values} ({counted(n, 'fold')})" for values, n in counts]


def looks_of(comparison: ModelComparison) -> dict[str, Series]:
    """Return the look of each model in all figures of a comparison."""
    learning = comparison.learning.lines if comparison.learning is not None else ()
    return series_of(
        [*(model.name for model in comparison.models), *(line.model for line in learning)]
    )


def comparison_figures(comparison: ModelComparison) -> list[CaptionedFigure]:
    """Draw all that a comparison has numbers for, in the order of the page."""
    unit = comparison.unit
    return [
        replace(each, title=in_unit(each.title, unit), caption=in_unit(each.caption, unit))
        for each in _figures(comparison, looks_of(comparison))
    ]


def _figures(comparison: ModelComparison, looks: Mapping[str, Series]) -> Iterator[CaptionedFigure]:
    models, learning = comparison.models, comparison.learning
    groups = {model.name: model.group_roc for model in models}
    candidates = {m.name: m.candidate_roc for m in models if m.candidate_roc is not None}
    for of, rocs in (("group", groups), ("candidate", candidates)):
        if rocs:
            yield _areas(comparison, rocs, looks, of)
    if comparison.pairs:
        yield _differences(comparison)
    if groups:
        yield CaptionedFigure(
            "group_roc",
            "ROC of groups, all models",
            "Each point of a line is a threshold: the further up and to the left, the better. The "
            "dashed line is guessing.",
            _describe_areas(groups),
            roc_of_models_figure(groups, looks, of=comparison.unit),
        )
    if has_high_specificity(list(groups.values())):
        yield CaptionedFigure(
            "group_roc_high_specificity",
            "The same, spread out where false alarms are rare",
            "The same curves with a logarithmic axis: read off which model finds most where "
            "only 1 in 100 negative groups may raise an alarm.",
            _describe_areas(groups),
            roc_of_models_figure(groups, looks, of=comparison.unit, log=True),
        )
    if candidates:
        yield CaptionedFigure(
            "candidate_roc",
            "ROC of candidates, all models",
            "As for groups, with every candidate counted alone. Grouping often trades this for "
            "better performance on groups.",
            _describe_areas(candidates),
            roc_of_models_figure(candidates, looks, of="candidate"),
        )
    if learning is not None:
        yield CaptionedFigure(
            "learning_curve",
            "Learning curves",
            "A line that still rises at its right end shows that more of the same data would "
            "help that model.",
            in_unit(describe_learning_curve(learning), comparison.unit),
            learning_figure(learning, looks, comparison.unit),
        )


def _areas(
    comparison: ModelComparison, rocs: Mapping[str, Roc], looks: Mapping[str, Series], of: str
) -> CaptionedFigure:
    names = [model.name for model in by_auc(comparison.models) if model.name in rocs]
    rows = [ForestRow(name, rocs[name].auc, looks[name]) for name in names]
    return CaptionedFigure(
        f"{of}_auc",
        f"AUC of {of}s",
        f"The mark is the estimate, the line its {percent(comparison.level)} interval; further "
        "right is better. Lines that overlap do not mean that two models are equal: see the "
        "paired differences.",
        _describe_areas(rocs),
        forest_figure(rows, in_unit(f"AUC of {of}s", comparison.unit)),
    )


def _differences(comparison: ModelComparison) -> CaptionedFigure:
    level, pairs = comparison.level, comparison.pairs
    rows = [_difference_row(pair, level) for pair in pairs]
    return CaptionedFigure(
        "paired_differences",
        "Paired differences in AUC of groups",
        "The first model minus the second, on the same groups: right of zero the first one is "
        "better. Strong lines are clear differences (the interval excludes zero and p is below "
        f"{number(1 - level)}), pale ones are ties.",
        " ".join(pair_sentence(pair, level) for pair in pairs),
        forest_figure(rows, in_unit("Difference in AUC of groups", comparison.unit), reference=0.0),
    )


def _difference_row(pair: Pair, level: float) -> ForestRow:
    look = Series(INK if pair.is_clear(level) else MUTED, "solid", "o")
    half = _LONGEST_NAMES // 2
    a = shorten(pair.a, max(half, _LONGEST_NAMES - len(pair.b)))
    b = shorten(pair.b, max(half, _LONGEST_NAMES - len(pair.a)))
    return ForestRow(f"{a} − {b}", pair.group.difference, look)


def _describe_areas(rocs: Mapping[str, Roc]) -> str:
    return "; ".join(f"{name}: AUC {interval(roc.auc)}" for name, roc in rocs.items()) + "."
