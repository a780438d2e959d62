"""(g) A certified fit from Parquet in little memory, against one bare decode of the files."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.scale.bare_decode import BareDecode
from benchmarks.scale.parquet_data import Setting
from benchmarks.scale.streamed_fit import fit_parquet, sound, warm_up_stream, worst_gap
from benchmarks.support.data import short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import certified
from benchmarks.support.measure import interleave, say
from benchmarks.support.processes import fresh

__all__ = ["run"]

JUDGED_ROWS = 100_000_000
JUDGED_MEMORY = 2_000_000_000


def gap_in_memory(folder: str, memory: int) -> float:
    """The one thing a fresh process does."""
    return fit_parquet(folder, memory).gap


def run(setting: Setting) -> Iterator[Figure]:
    """Measure the fit in units of the decode, and the memory of a process that only fits."""
    data = setting.parquet()
    memory = setting.limit(data)
    warm_up_stream(setting)
    decode, unverified = BareDecode(data.files), BareDecode(data.files, verified=False)
    rows = decode()  # and the files are in the page cache
    timed = interleave(
        {
            "decode": decode,
            "fit": lambda: fit_parquet(data.folder, memory),
            "decode without checksums": unverified,
        },
        setting.repeat,
    )
    decode.close()
    unverified.close()

    decodes, fits, without = timed.values()
    yield Figure(
        "g",
        f"{short(data.asked)} rows, {memory / 1e9:.3g} GB: streamed fit / one bare decode",
        fits.median / decodes.median,
        bound=2.5,
        goal=1.8,
        judged=setting.rows >= JUDGED_ROWS,
        sound=sound(fits),
        note=f"fit {fits.median:.3g} s, decode {decodes.median:.3g} s "
        f"({data.nbytes / decodes.median / 1e9:.3g} GB/s of features), {without.median:.3g} s "
        f"without checksums (fit / that: {fits.median / without.median:.3g}), "
        f"{max(facts.passes for facts in fits.results):.3g} passes, "
        f"largest gap {worst_gap(fits):.1e}, {rows:,} rows",
        samples={name: each.seconds for name, each in timed.items()},
    )

    say("  memory")
    alone = fresh(gap_in_memory, folder=str(data.folder), memory=memory)
    yield Figure(
        "g",
        f"{short(data.asked)} rows, {memory / 1e9:.3g} GB: peak memory of a process that only fits",
        None if alone.peak is None else alone.peak / 1e9,
        bound=2.5,
        unit="GB",
        judged=setting.rows >= JUDGED_ROWS and memory == JUDGED_MEMORY and alone.peak is not None,
        sound=certified([alone.result]),
        note=f"resident, libraries included; the features take {data.nbytes / 1e9:.3g} GB; "
        f"gap {alone.result:.1e}",
    )
