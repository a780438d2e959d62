"""The text of the paper's experiment: its dataset table, and its claims with their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from groupcm.experiments.claims import FAILS, HOLDS, OPEN, Claim, Finding
from groupcm.experiments.paper import PaperResults
from groupcm.experiments.sizes import Sizes, Trial
from groupcm.simulate.definition import world_of
from groupcm.utils.formatting import counted, fraction, interval, p_value

__all__ = [
    "claims_markdown",
    "dataset_rows",
    "finding_text",
    "method_sentences",
    "repeats_text",
    "run_sentence",
    "summary_sentence",
    "world_sentence",
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
    tested = f"{n_test['positive groups']} ({counted(sizes.test.n_polyps, 'polyp')})"
    negative = f"{n_test['negative candidates']:,}"
    return [
        (
            "Training",
            "Positive",
            positive,
            f"about {misvm:,} ({counted(sizes.n_misvm_polyps, 'polyp')})",
            positive,
        ),
        ("Training", "Negative", grouped, f"the same {few}", many),
        ("Test", "Positive", tested, tested, tested),
        ("Test", "Negative", negative, negative, negative),
    ]


def finding_text(finding: Finding) -> str:
    """Describe one difference with its interval, its p-value and what would settle it.

    Examples
    --------
    >>> from groupcm.experiments.areas import Crossed
    >>> from groupcm.metrics import Interval
    >>> found = Crossed(Interval(0.021, 0.008, 0.034), 0.002, 1e-5, 1e-5, 3, 99)
    >>> a, b = Trial("GCM", 5000), Trial("SVM", 5000)
    >>> finding_text(Finding(a, b, "group", "higher", found, (0.02, 0.022), 0.01))
    'AUC of groups, GCM (5,000) − SVM (5,000): 0.021 (0.008 to 0.034), p = 0.002'
    """
    found = finding.found
    return (
        f"AUC of {finding.of}s, {short_name(finding.a)} − {short_name(finding.b)}: "
        f"{interval(found.interval)}, {p_value(found.p_value)}{_needed_text(finding)}"
    )


def _needed_text(finding: Finding) -> str:
    """Describe what would settle an open finding."""
    needed = finding.needed
    if needed is None:
        return ""
    sets, patients, factor = needed
    ways = []
    if math.isfinite(sets):
        ways.append(f"about {math.ceil(sets):,} training sets")
    if math.isfinite(patients):
        ways.append(f"about {math.ceil(patients):,} test patients with polyps")
    if not ways and math.isfinite(factor):
        ways.append(f"about {factor:.1f} times as many training sets and test patients")
    return f"; it would take {' or '.join(ways)}" if ways else ""


def short_name(trial: Trial) -> str:
    """Return the name of a method with the number of its negatives.

    Examples
    --------
    >>> short_name(Trial("GCM", 5000)), short_name(Trial("SVM", 5000, "one by one"))
    ('GCM (5,000)', 'SVM (5,000, one by one)')
    """
    variant = trial.variant and f", {trial.variant}"
    return f"{trial.method} ({trial.negatives:,}{variant})"


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


def world_sentence(sizes: Sizes) -> str:
    """Name the synthetic candidates, with the digest of their definition.

    Examples
    --------
    >>> world_sentence(Sizes())[:56]
    'The candidates are those of groupcm.simulate, version 3,'
    """
    return (
        f"The candidates are those of groupcm.simulate, version {sizes.world}, whose definition "
        f"has the SHA-256 {world_of(sizes.world).sha256}."
    )


def run_sentence(results: PaperResults) -> str:
    """Describe the time and the memory of the run."""
    streamed = [
        model
        for models in results.models
        for model in models
        if model.trial.negatives > results.sizes.held_in_memory
    ]
    minutes = sum(seconds for seconds, _ in results.runs) / 60
    peaks = " and ".join(f"{peak / 1e9:.2f}" for _, peak in results.runs)
    text = f"It took {minutes:.1f} minutes in {counted(len(results.runs), 'run')}"
    text += f", with at most {peaks} GB of resident memory."
    for method in dict.fromkeys(model.trial.method for model in streamed):
        passes = [f"{m.n_passes:.1f}" for m in streamed if m.trial.method == method]
        spread = " to ".join(dict.fromkeys((min(passes, key=float), max(passes, key=float))))
        text += f" {method} took {spread} passes over a stream."
    return text


def method_sentences(sizes: Sizes) -> list[str]:
    """Describe the method, and the rule of the verdicts."""
    sets = counted(sizes.n_sets, "training set")
    most = f"{sizes.repeats} of them with {sizes.most:,} negatives"
    group, candidate = (f"{effect:g}" for effect in sizes.effect_sizes.values())
    sentences = [
        world_sentence(sizes),
        f"There are {sets}, {most}, and two test sets, each with patients, polyps and frames of "
        f"its own: that of the paper's table, which the {sizes.repeats} are tested on for the ROC "
        f"curves, and that of the claims, with {sizes.power.n_positive:,} positive frames of "
        f"{sizes.power.n_polyps:,} polyps and {sizes.power.negatives:,} negatives, which all are "
        "tested on.",
        "SVM is scikit-learn's LinearSVC on the best candidate of each positive frame and on the "
        f"{sizes.fewest:,} negatives that MI-SVM and the smallest GCM have, the candidates of "
        f"{sizes.groups(sizes.fewest)} frames. The second readings give it as many, drawn one by "
        f"one from all frames. MI-SVM has all candidates of the frames of {sizes.n_misvm_polyps} "
        "polyps; a variant has one frame of each, about 5,000 candidates as in the paper's table.",
        f"Every model chose among {counted(sizes.n_settings, 'value')} of C or λ by "
        f"{counted(sizes.n_folds, 'fold')} that split no patient: SVM and GCM without grouping by "
        "the AUC of candidates, MI-SVM and GCM by the AUC of groups.",
    ]
    if sizes.most > sizes.tune_on:
        sentences.append(
            f"With more than {sizes.tune_on:,} negatives λ was chosen on {sizes.tune_on:,} of them."
        )
    return [
        *sentences,
        "Intervals (95 %) and p-values contain the variation of training sets and of test "
        "patients, as groupcm.experiments.areas describes. A value for the largest training size "
        "combines its few sets with all sets of the size before it. No p-value is corrected for "
        "the number of claims.",
        f"The effect sizes, stated beforehand, are {group} per group and {candidate} per "
        "candidate. A claim of a difference holds where the interval is on the claimed side of "
        "0, does not hold where it excludes the effect size on that side, and is not settled "
        "otherwise. The claim of no noticeable gain holds where the interval excludes a gain of "
        "the effect size, and does not hold where the whole interval is above it. A claim of "
        "several differences needs all of them, and fails with one.",
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
        f"{summary_sentence(results.claims)} Seed {results.seed}. {run_sentence(results)}",
        "\n".join(rows),
        "\n".join(f"- {sentence}" for sentence in method_sentences(results.sizes)),
    ]
    return "\n\n".join(parts) + "\n"
