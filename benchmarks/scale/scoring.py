"""(i) Scoring the groups of Parquet files against one bare decode, and its memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import groupcm
from benchmarks.scale.bare_decode import BareDecode
from benchmarks.scale.parquet_data import Setting, open_source
from benchmarks.support.data import short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, fit
from benchmarks.support.measure import interleave, say
from benchmarks.support.processes import fresh

__all__ = ["run"]

JUDGED_ROWS = 30_000_000


def count_scores(model: Any, folder: str) -> int:
    """Score all groups and give their number."""
    return len(model.group_scores(open_source(folder)).score)


def load_and_score(model: str, folder: str) -> int:
    """The one thing a fresh process does."""
    return count_scores(groupcm.load(model), folder)


def run(setting: Setting) -> Iterator[Figure]:
    """Measure scoring in units of the decode, and the memory of a process that only scores."""
    small, data = setting.parquet(SMALLEST), setting.parquet()
    model = fit(small.open())
    count_scores(model, str(small.folder))
    folder = str(data.folder)
    decode = BareDecode(data.files)
    rows = decode()
    timed = interleave(
        {"decode": decode, "score": lambda: count_scores(model, folder)}, setting.repeat
    )
    decode.close()

    decodes, scores = timed["decode"], timed["score"]
    yield Figure(
        "i",
        f"{short(data.asked)} rows: group scores / one bare decode",
        scores.median / decodes.median,
        bound=1.3,
        judged=setting.rows >= JUDGED_ROWS,
        note=f"scoring {scores.median:.3g} s, decode {decodes.median:.3g} s, "
        f"{scores.results[0]:,} groups of {rows:,} rows",
        samples={"score": scores.seconds, "decode": decodes.seconds},
    )

    say("  memory")
    saved = setting.folder / "scoring-model.json"
    groupcm.save(model, saved)
    alone = fresh(load_and_score, model=str(saved), folder=folder)
    saved.unlink()
    yield Figure(
        "i",
        f"{short(data.asked)} rows: peak memory of a process that only scores",
        None if alone.peak is None else alone.peak / 1e9,
        bound=1.5,
        unit="GB",
        judged=setting.rows >= JUDGED_ROWS and alone.peak is not None,
        sound=alone.result == scores.results[0],
        note=f"resident, libraries included; the features take {data.nbytes / 1e9:.3g} GB",
    )
