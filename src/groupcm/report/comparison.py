"""The figures and sentences of a comparison of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple

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
    "VERDICTS",
    "Against",
    "against_reference",
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
    >>> pair_sentence(pair(-0.001, 0.02, 0.04, 0.04))
    'GCM is ahead of SVM by 0.020 (−0.001 to 0.040), p = 0.040: not a clear difference.'
    """
    ahead, behind, difference = pair.a, pair.b, pair.group.difference
    if difference.estimate < 0:
        ahead, behind = behind, ahead
        difference = Interval(-difference.estimate, -difference.high, -difference.low)
    chance = p_value(pair.group.p_value)
    if pair.is_clear(level):
        return f"{ahead} is better than {behind} by {interval(difference)}, {chance}."
    if pair.is_tie(level):
        bounds = f"{percent(level)} CI {interval(difference, with_estimate=False)}"
        size = fraction(difference.estimate)
        return f"{ahead} and {behind} tie (difference {size}, {bounds}, {chance})."
    sentence = f"{ahead} is ahead of {behind} by {interval(difference)}, {chance}"
    # Without an interval it is not known whether the difference is chance.
    is_known = isfinite(difference.low) and isfinite(difference.high)
    return f"{sentence}: not a clear difference." if is_known else f"{sentence}."


def pair_sentences(pairs: Sequence[Pair], level: float) -> list[tuple[str, bool]]:
    """Return the sentence of each pair, and whether its difference is clear."""
    return [(pair_sentence(pair, level), pair.is_clear(level)) for pair in pairs]


def summary_sentences(comparison: ModelComparison) -> list[str]:
    """Describe how the models do against the reference, which one ranks best, and what it costs.

    Only models that were tested against the reference are said to be better, worse or to tie.
    """
    if not comparison.models:
        return ["No model was compared."]
    best = by_auc(comparison.models)[0]
    auc = best.group_roc.auc
    sentences = [
        *_against_sentences(comparison),
        f"{best.name} has the largest AUC: "
        + in_unit("of a positive and a negative group drawn at random, ", comparison.unit)
        + f"it gives the positive one the higher score in {percent(auc.estimate)} of all cases "
        f"(AUC {fraction(auc.estimate)}, {percent(comparison.level)} CI "
        f"{interval(auc, with_estimate=False)}).",
    ]
    reference, found = comparison.reference, against_reference(comparison)
    alike = [
        each
        for each in comparison.models
        if each.name == reference or (each.name in found and found[each.name].verdict == "tie")
    ]
    quickest = min(alike, key=lambda each: each.seconds, default=None)
    if quickest is not None and quickest.name != reference:
        (own,) = (each for each in alike if each.name == reference)
        sentences.append(
            f"Of {reference} and the models that tie with it, {quickest.name} takes the least "
            f"time to tune and train: {seconds(quickest.seconds)}, and {reference} "
            f"{seconds(own.seconds)}."
        )
    return sentences


def _against_sentences(comparison: ModelComparison) -> list[str]:
    """Describe which models are better than the reference, worse than it, or tie with it."""
    reference, found = comparison.reference, against_reference(comparison)
    if reference is None:
        (first, *others) = comparison.models
        return ["No two models were tested against each other." if others else
                f"{first.name} is the only model."]  # fmt: skip
    names = {
        verdict: [
            each.name
            for each in by_auc(comparison.models)
            if each.name in found and found[each.name].verdict == verdict
        ]
        for verdict in VERDICTS
    }
    sentences = []
    if names["better"]:
        verb = "is" if len(names["better"]) == 1 else "are"
        sentences.append(f"{listed(names['better'])} {verb} better than {reference}.")
    parts = []
    if names["behind"]:
        parts.append(f"is better than {listed(names['behind'])}")
    if names["tie"]:
        parts.append(f"ties with {listed(names['tie'])}: {_within_chance(len(names['tie']))}")
    if parts:
        sentences.append(f"{reference} {', and '.join(parts)}.")
    if names["not clear"]:
        sentences.append(
            f"Whether {reference} differs from {listed(names['not clear'])} is not clear."
        )
    return [" ".join(sentences)]


def _within_chance(n_models: int) -> str:
    return f"the {'difference is' if n_models == 1 else 'differences are'} within chance"


class Against(NamedTuple):
    """A model against the reference: the difference (model − reference), and what it means."""

    difference: Interval
    verdict: str
    p_value: float


#: What a test against the reference can say of a model.
VERDICTS = ("better", "behind", "tie", "not clear")


def against_reference(comparison: ModelComparison) -> dict[str, Against]:
    """Return how each model that was tested against the reference compares with it."""
    found, level = {}, comparison.level
    for pair in comparison.pairs:
        if comparison.reference not in (pair.a, pair.b):
            continue
        difference, p = pair.group.difference, pair.group.p_value
        if pair.a == comparison.reference:
            difference = Interval(-difference.estimate, -difference.high, -difference.low)
        verdict = "tie" if pair.is_tie(level) else "not clear"
        if pair.is_clear(level):
            verdict = "better" if difference.estimate > 0 else "behind"
        found[pair.b if pair.a == comparison.reference else pair.a] = Against(
            difference, verdict, p
        )
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
        f"{number(1 - level)}); at pale ones the models tie, or it is not clear which is better.",
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
