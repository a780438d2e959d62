"""(e) How the time of a fit grows with the rows: no worse than linear."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.support.data import Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, certified, gap_of_fit, warm_up
from benchmarks.support.measure import interleave

__all__ = ["run", "sizes"]

NOISE = 1.15


def _ladder(rows: int) -> list[int]:
    """From 1e5 in steps of ten up to `rows`, which is always the last."""
    steps = [SMALLEST]
    while steps[-1] * 10 < rows:
        steps.append(steps[-1] * 10)
    return steps if rows <= SMALLEST else [*steps, rows]


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses."""
    return set(_ladder(rows))


def run(store: Store, rows: int, repeat: int) -> list[Figure]:
    """Measure the time a row at the largest size in units of that at the smallest."""
    ladder = _ladder(rows)
    warm_up(store)
    data = {size: store.capsule(size) for size in ladder}
    timed = interleave({f"{short(size)} rows": gap_of_fit(data[size]) for size in ladder}, repeat)
    each = list(timed.values())
    a_row = [t.median / data[size].rows for t, size in zip(each, ladder, strict=True)]
    steps = [later / sooner for sooner, later in pairwise(a_row)]
    note = ", ".join(f"{n} {1e9 * t:.3g} ns a row" for n, t in zip(timed, a_row, strict=True))
    sound = all(certified(t.results) for t in each)
    samples = {name: t.seconds for name, t in timed.items()}
    return [
        Figure(
            "e",
            f"time a row: {short(ladder[-1])} rows / {short(ladder[0])}",
            a_row[-1] / a_row[0],
            bound=NOISE,
            goal=1,
            judged=len(ladder) > 1,
            sound=sound,
            note=note,
            samples=samples,
        ),
        # A large fixed cost at the small end would hide a bad step at the large end.
        Figure(
            "e",
            "time a row: worst of the steps in between",
            max(steps, default=1.0),
            bound=NOISE,
            goal=1,
            judged=len(ladder) > 1,
            sound=sound,
        ),
    ]
