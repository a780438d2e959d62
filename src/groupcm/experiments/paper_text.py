"""The text of the paper's experiment: its dataset table, and its claims with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from groupcm.experiments.claims import FAILS, HOLDS, OPEN, Claim, Finding
from groupcm.experiments.paper import PaperResults
from groupcm.experiments.sizes import Sizes, Trial
from groupcm.utils.formatting import counted, fraction, interval, p_value

__all__ = [
    "claims_markdown",
    "dataset_rows",
    "finding_text",
    "method_sentences",
    "repeats_text",
    "summary_sentence",
]


_COUNTED = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    OPEN: ("is not settled", "are not settled"),
}


def dataset_rows(results: PaperResults) -> list[tuple[str, str, str, str, str]]:
    """Return the paper's table of training and test sets: part, class, SVM, MI-SVM, GCM."""
    sizes, n_test = results.sizes, results.n_test
    positive = f"{sizes.n_positive} ({counted(sizes.n_polyps, 'polyp')})"
    share = sizes.n_misvm_polyps / sizes.n_polyps
    misvm = round(sizes.n_positive * share * sizes.group_size)
    few = f"{sizes.fewest:,}"
    grouped = f"{few} ({sizes.groups(sizes.fewest)} groups)"
    many = f"{few} to {sizes.most:,}"
    tested = f"{n_test['positive groups']} ({counted(sizes.n_test_polyps, 'polyp')})"
    negative = f"{n_test['negative candidates']:,}"
    return [
        (
            "Training",
            "Positive",
            positive,
            f"about {misvm:,} ({counted(sizes.n_misvm_polyps, 'polyp')})",
            positive,
        ),
        ("Training", "Negative", few, grouped, many),
        ("Test", "Positive", tested, tested, tested),
        ("Test", "Negative", negative, negative, negative),
    ]


def finding_text(finding: Finding) -> str:
    """Describe one difference with its interval and p-value.

    Examples
    --------
    >>> from groupcm.metrics import Comparison, Interval
    >>> auc, difference = Interval(0.9, 0.8, 1.0), Interval(0.021, 0.008, 0.034)
    >>> found = Comparison(auc, auc, difference, 0.002, 2000, "group_roc_auc")
    >>> a, b = Trial("GCM", 5000), Trial("SVM", 5000)
    >>> finding_text(Finding(a, b, "group", "higher", found, (0.02, 0.022)))
    'AUC of groups, GCM (5,000) − SVM (5,000): 0.021 (0.008 to 0.034), p = 0.002'
    """
    found = finding.comparison
    margin = f"; noticeable from {fraction(finding.margin)} on" if finding.margin else ""
    return (
        f"AUC of {finding.of}s, {short_name(finding.a)} − {short_name(finding.b)}: "
        f"{interval(found.difference)}, {p_value(found.p_value)}{margin}"
    )


def short_name(trial: Trial) -> str:
    """Return the name of a method with the number of its negatives.

    Examples
    --------
    >>> short_name(Trial("GCM", 5000))
    'GCM (5,000)'
    """
    return f"{trial.method} ({trial.negatives:,})"


def repeats_text(finding: Finding) -> str:
    """Describe the smallest and the largest difference over training sets."""
    if len(finding.repeats) == 1:
        return "one training set"
    low, high = min(finding.repeats), max(finding.repeats)
    n = len(finding.repeats)
    return f"{fraction(low)} to {fraction(high)} in {n} training sets"


def summary_sentence(claims: Sequence[Claim]) -> str:
    """Describe which claims hold.

    Examples
    --------
    >>> summary_sentence([Claim("a", "Grouping wins.", [])])
    'Of 1 claim here 1 holds (a), 0 do not hold, and 0 are not settled.'
    """
    counts = []
    for verdict, (one, several) in _COUNTED.items():
        ids = [claim.id for claim in claims if claim.verdict == verdict]
        named = f" ({'; '.join(ids)})" if ids else ""
        counts.append(f"{len(ids)} {one if len(ids) == 1 else several}{named}")
    return f"Of {counted(len(claims), 'claim')} here {counts[0]}, {counts[1]}, and {counts[2]}."


def method_sentences(sizes: Sizes) -> list[str]:
    """Describe the method, and the rule of the verdicts."""
    sets = counted(sizes.repeats, "training set")
    sentences = [
        f"The data is simulated by groupcm.simulate.capsule: {sets} and one test set, each with "
        "patients, polyps and frames of its own. One number of the simulation was set by looking "
        "at the group AUC of a linear SVM, none by looking at a GCM.",
        "SVM is scikit-learn's LinearSVC on negative candidates drawn one by one from all "
        f"negative frames; MI-SVM has {sizes.groups(sizes.fewest)} negative groups and all "
        f"candidates of the frames of {sizes.n_misvm_polyps} polyps. A second reading gives SVM "
        "the candidates of MI-SVM's negative groups.",
        f"Every model chose among {counted(sizes.n_settings, 'value')} of C or λ by "
        f"{counted(sizes.n_folds, 'fold')} that split no patient: SVM and GCM without grouping by "
        "the AUC of candidates, MI-SVM and GCM by the AUC of groups.",
    ]
    if sizes.most > sizes.tune_on:
        sentences.append(
            f"With more than {sizes.tune_on:,} negatives λ was chosen on {sizes.tune_on:,} of them."
        )
    if sizes.test_negatives > sizes.n_test_candidates:
        sentences.append(
            f"Performance per candidate is measured on {sizes.n_test_candidates:,} of the negative "
            "candidates, drawn at random, and the best candidate of each positive frame; "
            "performance per group on all frames."
        )
    return [
        *sentences,
        "Intervals (95 %) and p-values come from resampling the test patients"
        + (", and with them the training sets" if sizes.repeats > 1 else "")
        + f", {sizes.n_resamples:,} times, the same for all models. With few training sets they "
        "are rough. No p-value is corrected for the number of claims.",
        "A claim holds where the interval of the difference lies on the claimed side of 0, does "
        "not hold where it lies on the other, and is not settled where it contains 0 or p is 0.05 "
        "or more. A gain is noticeable from a tenth of what the smaller training set left to be "
        "gained (1 − AUC); "
        "the claim of no noticeable gain holds where the whole interval lies below that, and does "
        "not hold where it lies above. A claim of several differences needs all of them, and "
        "fails with one.",
    ]


def claims_markdown(results: PaperResults) -> str:
    """Write the claims as a table in Markdown."""
    rows = ["| | claim | verdict | difference (95 % interval) | spread |", "|---|---|---|---|---|"]
    for claim in results.claims:
        differences = "<br>".join(finding_text(finding) for finding in claim.findings)
        spread = "<br>".join(repeats_text(finding) for finding in claim.findings)
        rows.append(
            f"| {claim.id} | {claim.statement} | **{claim.verdict}** | {differences} | {spread} |"
        )
    parts = [
        "# The paper's claims on synthetic data",
        f"{summary_sentence(results.claims)} Seed {results.seed}.",
        "\n".join(rows),
        "\n".join(f"- {sentence}" for sentence in method_sentences(results.sizes)),
    ]
    return "\n\n".join(parts) + "\n"
