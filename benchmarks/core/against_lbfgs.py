"""(c) The working set against the paper's own optimiser, L-BFGS, to the same gap."""

from __future__ import annotations

from benchmarks.support.data import Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, certified, gap_of_fit, warm_up
from benchmarks.support.measure import interleave

__all__ = ["run", "sizes"]

ROWS = 10_000_000
# So many that L-BFGS stops because it has arrived or no longer moves.
LBFGS_PASSES = 1000


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses."""
    return {min(rows, ROWS), SMALLEST}


def run(store: Store, rows: int, repeat: int) -> list[Figure]:
    """Measure L-BFGS in units of the working set."""
    rows = min(rows, ROWS)
    data = store.capsule(rows)
    warm_up(store)
    warm_up(store, solver="lbfgs", max_passes=3)
    timed = interleave(
        {
            "working_set": gap_of_fit(data),
            "lbfgs": gap_of_fit(data, solver="lbfgs", max_passes=LBFGS_PASSES),
        },
        # L-BFGS takes long, and noise matters less to what takes long.
        (repeat + 1) // 2,
    )
    own, lbfgs = timed["working_set"], timed["lbfgs"]
    arrived = certified(lbfgs.results)
    note = (
        f"{lbfgs.median:.3g} s against {own.median:.3g} s, largest gaps "
        f"{max(lbfgs.results):.1e} and {max(own.results):.1e}"
    )
    if not arrived:
        note += "; L-BFGS stopped short of the gap, so its time is a lower limit"
    return [
        Figure(
            "c",
            f"{short(rows)} rows: lbfgs / working_set",
            lbfgs.median / own.median,
            bound=15,
            direction="at least",
            judged=rows == ROWS,
            sound=certified(own.results),
            lower_limit=not arrived,
            note=note,
            samples={"lbfgs": lbfgs.seconds, "working_set": own.seconds},
        )
    ]
