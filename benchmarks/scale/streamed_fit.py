"""The fits from Parquet that the streaming benchmarks share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.scale.parquet_data import Setting, open_source
from benchmarks.support.fitting import SMALLEST, certified, fit
from benchmarks.support.measure import Timed

__all__ = ["FitFacts", "facts_of", "fit_parquet", "sound", "warm_up_stream", "worst_gap"]


@dataclass(frozen=True)
class FitFacts:
    """What is measured of a fit."""

    gap: float
    passes: float


def facts_of(model: Any) -> FitFacts:
    """Keep the little that a note needs, and not the model."""
    return FitFacts(float(model.gap_), float(model.n_passes_))


def fit_parquet(folder: Path | str, memory: int, **options: Any) -> FitFacts:
    """Fit from files that were not opened before, so that reading the groups counts."""
    return facts_of(fit(open_source(folder), memory=memory, **options))


def worst_gap(timed: Timed) -> float:
    """The largest gap of all rounds."""
    return max(facts.gap for facts in timed.results)


def sound(*fits: Timed) -> bool:
    """Whether every fit of every round proved its optimum."""
    return certified([worst_gap(timed) for timed in fits])


def warm_up_stream(setting: Setting) -> None:
    """Load the kernels of fits of both kinds before anything is timed."""
    small = setting.parquet(SMALLEST)
    fit_parquet(small.folder, memory=small.streamed_memory)
    fit_parquet(small.folder, memory=100 * small.nbytes)
