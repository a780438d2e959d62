"""(k) A path of ten λ against the most expensive single fit among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.scale.parquet_data import SEED, Setting
from benchmarks.scale.streamed_fit import FitFacts, facts_of, sound, warm_up_stream, worst_gap
from benchmarks.support.data import Candidates, Store, short
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import SMALLEST, TOL, fit
from benchmarks.support.measure import interleave, say
from groupcm.estimators.path import lambda_grid, lambda_path

__all__ = ["run"]

LAMS = 10
ROWS_OF_ARRAYS = 10_000_000
JUDGED_ROWS = 10_000_000


def run(setting: Setting) -> Iterator[Figure]:
    """Measure the path in units of the fit: files in little memory, then arrays."""
    warm_up_stream(setting)
    data = setting.parquet()
    memory = setting.limit(data)
    small = setting.parquet(SMALLEST)
    _Path(small.open, {"memory": small.streamed_memory}).whole()
    files = _Path(data.open, {"memory": memory})
    yield _figure(setting, files, f"{short(data.asked)} rows from files, {memory / 1e9:.3g} GB")

    rows = min(setting.rows, ROWS_OF_ARRAYS)
    arrays = Store().capsule(rows, SEED)
    yield _figure(setting, _Path(lambda: arrays, {}), f"{short(rows)} rows of arrays")


@dataclass(frozen=True)
class _Path:
    """Fits of one set of rows, which are opened anew for each."""

    open: Callable[[], Any]
    options: dict[str, Any]

    def single(self, lam: float) -> FitFacts:
        """One λ alone."""
        return facts_of(fit(self.open(), lam=lam, **self.options))

    def whole(self) -> FitFacts:
        """All λ."""
        data = self.open()
        arguments = data.fit_arguments if isinstance(data, Candidates) else (data,)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = lambda_path(*arguments, lams=LAMS, tol=TOL, **self.options)
        passes = max(model.n_passes_ for model in path.models)
        return FitFacts(float(path.gap.max()), float(passes))


def _figure(setting: Setting, path: _Path, what: str) -> Figure:
    say(f"  {what}: each λ once, to see which is the most expensive")
    path.single(0.5)  # the first is slower than its λ makes it
    once = interleave(
        {f"λ = {lam:.3g}": lambda lam=lam: path.single(lam) for lam in lambda_grid(LAMS)}, 1
    )
    slowest = max(range(LAMS), key=lambda k: list(once.values())[k].median)
    lam = float(lambda_grid(LAMS)[slowest])
    timed = interleave({"path": path.whole, "single": lambda: path.single(lam)}, setting.repeat)
    whole, single = timed["path"], timed["single"]
    return Figure(
        "k",
        f"{what}: path of {LAMS} λ / its most expensive fit",
        whole.median / single.median,
        bound=2.5,
        judged=setting.rows >= JUDGED_ROWS,
        sound=sound(whole, single, *once.values()),
        note=f"path {whole.median:.3g} s, {whole.results[0].passes:.3g} passes, largest gap "
        f"{worst_gap(whole):.1e}; λ = {lam:.3g} alone {single.median:.3g} s, "
        f"{single.results[0].passes:.3g} passes; all {LAMS} one by one "
        f"{sum(each.median for each in once.values()):.3g} s",
        samples={name: each.seconds for name, each in {**timed, **once}.items()},
    )
