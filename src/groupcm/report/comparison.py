"""The figures and sentences of a comparison of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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
from groupcm.utils.formatting import counted, fraction, interval, number, p_value, percent
from groupcm.utils.text import listed

__all__ = [
    "by_auc",
    "chosen_hyperparameters",
    "comparison_figures",
    "is_clear",
    "looks_of",
    "pair_sentence",
    "summary_sentences",
]


_LONGEST_NAMES = 30  # of two models: they and an interval share a line


def by_auc(models: Sequence[ModelResult]) -> list[ModelResult]:
    """Return the models in falling order of their group AUC."""
    return sorted(models, key=lambda model: -model.group_roc.auc.estimate)


def is_clear(pair: Pair, level: float = 0.95) -> bool:
    """Return whether the interval of the difference excludes zero, and its p-value agrees."""
    difference = pair.group.difference
    leaves_out_zero = difference.low > 0 or difference.high < 0
    return leaves_out_zero and pair.group.p_value < 1 - level


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
    'GCM and SVM do not differ clearly: GCM is ahead by 0.004 (−0.010 to 0.018), p = 0.50.'
    >>> pair_sentence(pair(0.001, 0.02, 0.04, 0.06))
    'GCM and SVM do not differ clearly: GCM is ahead by 0.020 (0.001 to 0.040), p = 0.060.'
    """
    ahead, behind, difference = pair.a, pair.b, pair.group.difference
    if difference.estimate < 0:
        ahead, behind = behind, ahead
        difference = Interval(-difference.estimate, -difference.high, -difference.low)
    by = f"by {interval(difference)}, {p_value(pair.group.p_value)}."
    if is_clear(pair, level):
        return f"{ahead} is better than {behind} {by}"
    if difference.estimate == 0:
        return f"{ahead} and {behind} do not differ at all, {p_value(pair.group.p_value)}."
    return f"{ahead} and {behind} do not differ clearly: {ahead} is ahead {by}"


def summary_sentences(comparison: ModelComparison) -> list[str]:
    """Describe which model is ahead, and which differences are clear."""
    if not comparison.models:
        return ["No model was compared."]
    best = by_auc(comparison.models)[0]
    auc = best.group_roc.auc
    sentences = [
        f"{best.name} separates positive from negative groups best here: in "
        f"{percent(auc.estimate)} of all pairs of one positive and one negative group the "
        f"positive one scores higher (AUC {fraction(auc.estimate)}, {percent(comparison.level)} "
        f"interval {interval(auc, with_estimate=False)})."
    ]
    ahead, near = [], []
    for pair in comparison.pairs:
        if best.name in (pair.a, pair.b):
            other = pair.b if pair.a == best.name else pair.a
            (ahead if is_clear(pair, comparison.level) else near).append(other)
    if ahead:
        sentences.append(f"It is clearly ahead of {listed(ahead)}.")
    if near:
        sentences.append(f"Its lead over {listed(near)} may be chance.")
    return sentences


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
    return list(_figures(comparison, looks_of(comparison)))


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
            roc_of_models_figure(groups, looks),
        )
    if has_high_specificity(list(groups.values())):
        yield CaptionedFigure(
            "group_roc_high_specificity",
            "The same, spread out where false alarms are rare",
            "The same curves with a logarithmic axis: read off which model finds most where "
            "only 1 in 100 negative groups may raise an alarm.",
            _describe_areas(groups),
            roc_of_models_figure(groups, looks, log=True),
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
            describe_learning_curve(learning),
            learning_figure(learning, looks),
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
        forest_figure(rows, f"AUC of {of}s"),
    )


def _differences(comparison: ModelComparison) -> CaptionedFigure:
    level, pairs = comparison.level, comparison.pairs
    rows = [_difference_row(pair, level) for pair in pairs]
    return CaptionedFigure(
        "paired_differences",
        "Paired differences in AUC of groups",
        "The first model minus the second, on the same groups: right of zero the first one is "
        "better. Strong lines are clear differences (the interval excludes zero and p is below "
        f"{number(1 - level)}), pale ones are not.",
        " ".join(pair_sentence(pair, level) for pair in pairs),
        forest_figure(rows, "Difference in AUC of groups", reference=0.0),
    )


def _difference_row(pair: Pair, level: float) -> ForestRow:
    look = Series(INK if is_clear(pair, level) else MUTED, "solid", "o")
    half = _LONGEST_NAMES // 2
    a = shorten(pair.a, max(half, _LONGEST_NAMES - len(pair.b)))
    b = shorten(pair.b, max(half, _LONGEST_NAMES - len(pair.a)))
    return ForestRow(f"{a} − {b}", pair.group.difference, look)


def _describe_areas(rocs: Mapping[str, Roc]) -> str:
    return "; ".join(f"{name}: AUC {interval(roc.auc)}" for name, roc in rocs.items()) + "."
