"""(a) A certified fit against one bare parallel read of the array, and its memory."""

from __future__ import annotations

from benchmarks.support.bare_read import BareRead
from benchmarks.support.data import Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, certified, gap_of_fit, warm_up
from benchmarks.support.measure import interleave, peak_above, say

__all__ = ["run", "sizes"]


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses."""
    return {rows, SMALLEST}


def run(store: Store, rows: int, repeat: int) -> list[Figure]:
    """Measure the fit in units of the read, and its peak as a share of the data."""
    data = store.capsule(rows)
    warm_up(store)
    fit = gap_of_fit(data)

    say("  memory")
    above = peak_above(fit)
    read = BareRead(data.X)
    timed = interleave({"read": read, "fit": fit}, repeat)
    read.close()

    reads, fits = timed["read"], timed["fit"]
    rate = data.X.nbytes / reads.median / 1e9
    return [
        Figure(
            "a",
            f"{short(rows)} x {data.X.shape[1]} rows: fit / one bare read",
            fits.median / reads.median,
            bound=6 if rows >= 100_000_000 else 12,
            goal=3,
            judged=rows >= 10_000_000,
            sound=certified(fits.results),
            note=f"fit {fits.median:.3g} s, read {reads.median:.3g} s ({rate:.3g} GB/s), "
            f"largest gap {max(fits.results):.1e}, {data.rows:,} rows",
            samples={"fit": fits.seconds, "read": reads.seconds},
        ),
        Figure(
            "a",
            f"{short(rows)} rows: peak memory above the data",
            None if above is None else 100 * above / data.nbytes,
            bound=15,
            unit="%",
            judged=rows >= 10_000_000 and above is not None,
            note="this system does not let a process reset its high-water mark"
            if above is None
            else f"{above / 1e6:,.0f} MB on top of {data.nbytes / 1e6:,.0f} MB "
            "(X, y, groups and overlap)",
        ),
    ]
