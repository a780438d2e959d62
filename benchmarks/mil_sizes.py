"""(o) MI-SVM on small sets: seconds and memory, beside quoted figures of a quadratic program."""

from __future__ import annotations

from dataclasses import dataclass

from .measure import say
from .mil_fit import seconds_of_small_fit
from .processes import fresh

__all__ = ["run"]

GROUP_SIZE = 20


@dataclass(frozen=True)
class Quoted:
    """What was reported of the best-known implementation; nothing here runs it."""

    seconds: str
    memory: str


QUOTED = {4_000: Quoted("11 s", "500 MB"), 40_000: Quoted("-", "out of memory")}


def run(repeat: int) -> str:
    """A table with a line a size; each fit has a process of its own, the fastest counts."""
    lines = [("candidates x 13", "groupcm", "peak memory", "reference*", "peak memory*")]
    for rows, quoted in QUOTED.items():
        runs = [
            fresh(seconds_of_small_fit, rows=rows, group_size=GROUP_SIZE) for _ in range(repeat)
        ]
        seconds, made = min(one.result for one in runs)
        peaks = [one.peak for one in runs if one.peak is not None]
        memory = f"{min(peaks) / 1e6:.0f} MB" if peaks else "-"
        say(f"    {made:,} candidates: {seconds:.3g} s, {memory}")
        lines.append((f"{made:,}", f"{seconds:.3g} s", memory, quoted.seconds, quoted.memory))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows_of_text = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join(
        [
            "(o) one fit of MI-SVM in a fresh process, kernels loaded and libraries included",
            *rows_of_text,
            "* quoted, not measured here: what was reported of the best-known implementation, "
            f"at {' and '.join(f'{rows:,}' for rows in QUOTED)} candidates",
        ]
    )
