"""(h) A fit from Parquet with memory enough: what it costs beyond the fit of arrays."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.scale.bare_decode import BareDecode
from benchmarks.scale.parquet_data import SEED, Setting
from benchmarks.scale.streamed_fit import facts_of, fit_parquet, sound, warm_up_stream, worst_gap
from benchmarks.support.data import Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import fit
from benchmarks.support.machine import available_memory
from benchmarks.support.measure import interleave
from benchmarks.support.suite import Skipped

__all__ = ["run"]

JUDGED_ROWS = 10_000_000
# Times the decoded features: those of the fit, the arrays it is held against, and room.
MEMORY_SHARE = 4


def run(setting: Setting) -> Iterator[Figure]:
    """Measure ``(fit from files − fit of arrays) / decode``."""
    data = setting.parquet()
    memory = MEMORY_SHARE * data.nbytes
    if memory > available_memory():
        raise Skipped(
            f"{MEMORY_SHARE} times the decoded features are {memory / 1e9:.3g} GB, "
            f"and {available_memory() / 1e9:.3g} GB of memory are free"
        )
    warm_up_stream(setting)
    arrays = Store().capsule(data.asked, SEED)  # the same values, bit for bit
    decode, unverified = BareDecode(data.files), BareDecode(data.files, verified=False)
    decode()
    timed = interleave(
        {
            "decode": decode,
            "fit from files": lambda: fit_parquet(data.folder, memory),
            "fit of arrays": lambda: facts_of(fit(arrays)),
            "decode without checksums": unverified,
        },
        setting.repeat,
    )
    decode.close()
    unverified.close()

    decodes, from_files, of_arrays, without = timed.values()
    beyond = from_files.median - of_arrays.median
    yield Figure(
        "h",
        f"{short(data.asked)} rows, memory enough: (fit - fit of arrays) / one bare decode",
        beyond / decodes.median,
        bound=1.5,
        judged=setting.rows >= JUDGED_ROWS,
        sound=sound(from_files, of_arrays),
        note=f"fit from files {from_files.median:.3g} s, of arrays {of_arrays.median:.3g} s, "
        f"decode {decodes.median:.3g} s, {without.median:.3g} s without checksums (in these: "
        f"{beyond / without.median:.3g}), largest gap {worst_gap(from_files):.1e}",
        samples={name: each.seconds for name, each in timed.items()},
    )
