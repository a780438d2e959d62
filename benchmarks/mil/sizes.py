"""(o) MI-SVM on small sets: seconds and memory, beside quoted figures of a quadratic program."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.mil.fit import seconds_of_small_fit
from benchmarks.support.measure import say
from benchmarks.support.processes import fresh
from benchmarks.support.text_table import aligned

__all__ = ["run"]

GROUP_SIZE = 20


@dataclass(frozen=True)
class Quoted:
    """What was reported of the best-known implementation; nothing here runs it."""

    seconds: str
    memory: str


QUOTED = {4_000: Quoted("11 s", "500 MB"), 40_000: Quoted("-", "out of memory")}


def run(repeat: int) -> str:
    """A table with a line a size; each round is a process of its own, the fastest counts."""
    lines = [
        ("candidates x 13", "first fit", "second", "peak memory", "reference*", "peak memory*")
    ]
    for rows, quoted in QUOTED.items():
        runs = [
            fresh(seconds_of_small_fit, rows=rows, group_size=GROUP_SIZE) for _ in range(repeat)
        ]
        first, second = (min(one.result[fit] for one in runs) for fit in ("first", "second"))
        peaks = [one.peak for one in runs if one.peak is not None]
        lines.append(
            (
                f"{runs[0].result['candidates']:,.0f}",
                f"{first:.3g} s",
                f"{second:.3g} s",
                f"{max(peaks) / 1e6:.0f} MB" if peaks else "-",
                quoted.seconds,
                quoted.memory,
            )
        )
        say("    " + "  ".join(lines[-1][:4]))
    return "\n".join(
        [
            "(o) one fit of MI-SVM in a process of its own; memory with all libraries",
            aligned(lines),
            "* quoted, not measured here: what was reported of the best-known implementation "
            f"at {' and '.join(f'{rows:,}' for rows in QUOTED)} candidates",
        ]
    )
