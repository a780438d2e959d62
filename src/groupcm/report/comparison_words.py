"""A comparison of models in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from groupcm.comparison.numbers import ModelComparison, ModelResult, Pair
from groupcm.metrics import Interval
from groupcm.report.words import count, fraction, interval, p_value, percent

__all__ = [
    "by_auc",
    "chosen_settings",
    "is_clear",
    "pair_sentence",
    "summary_sentences",
]


def by_auc(models: Sequence[ModelResult]) -> list[ModelResult]:
    """The models, the one that tells groups apart best first."""
    return sorted(models, key=lambda model: -model.group_roc.auc.estimate)


def is_clear(pair: Pair, level: float = 0.95) -> bool:
    """Whether the interval of the difference leaves out zero, and its p-value agrees."""
    difference = pair.group.difference
    leaves_out_zero = difference.low > 0 or difference.high < 0
    return leaves_out_zero and pair.group.p_value < 1 - level


def pair_sentence(pair: Pair, level: float = 0.95) -> str:
    """Say which of two models is better and how sure that is.

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
    """Say who is ahead, of whom clearly, and of whom not."""
    if not comparison.models:
        return ["No model was compared."]
    best = by_auc(comparison.models)[0]
    auc = best.group_roc.auc
    sentences = [
        f"{best.name} tells positive from negative groups best here: in "
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
        sentences.append(f"It is clearly ahead of {_listed(ahead)}.")
    if near:
        sentences.append(f"Its lead over {_listed(near)} may be chance.")
    return sentences


def chosen_settings(model: ModelResult) -> list[str]:
    """Which setting the folds chose, and how many of them.

    Examples
    --------
    >>> from groupcm.metrics import RocCurve
    >>> model = ModelResult("GCM", "", None, None, ["lam=0.9", "lam=0.5", "lam=0.9"], 1.0)
    >>> chosen_settings(model)
    ['lam=0.9 (2 folds)', 'lam=0.5 (1 fold)']
    """
    counts = Counter(model.chosen).most_common()
    if len(counts) == 1:
        return [counts[0][0]]
    return [f"{setting} ({count(n)} {'fold' if n == 1 else 'folds'})" for setting, n in counts]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
