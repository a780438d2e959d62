"""(n) MI-SVM on 1e6 candidates, against one fit with annotated candidates."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.mil.fit import MILFacts, fit_misvm
from benchmarks.support.data import Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import certified, gap_of_fit
from benchmarks.support.measure import interleave

__all__ = ["run"]

ROWS = 1_000_000


def run(repeat: int) -> Iterator[Figure]:
    """Time both in turn on the same candidates."""
    store = Store()
    data = store.capsule(ROWS)
    small = store.capsule(100_000)
    fit_misvm(small)
    gap_of_fit(small)()
    timed = interleave({"GCM": gap_of_fit(data), "MI-SVM": lambda: fit_misvm(data)}, repeat)
    ours, mil = timed["GCM"], timed["MI-SVM"]
    facts: MILFacts = mil.results[-1]
    yield Figure(
        "n",
        f"{short(ROWS)} rows: a fit of MI-SVM / a fit of GroupClassifier",
        mil.median / ours.median,
        bound=100.0,
        sound=certified([*ours.results, *(each.gap for each in mil.results)]),
        note=f"MI-SVM {mil.median:.3g} s ({facts.words}), GroupClassifier {ours.median:.3g} s, "
        f"{data.rows:,} rows",
        samples={"MI-SVM": mil.seconds, "GroupClassifier": ours.seconds},
    )
