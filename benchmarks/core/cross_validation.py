"""(m) `GroupClassifierCV` along ten λ in five folds against its single most expensive fit."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.support.data import Store, wide
from benchmarks.support.figure import Figure
from benchmarks.support.fitting import TOL, certified, gap_of_fit
from benchmarks.support.measure import interleave, say
from groupcm import GroupClassifierCV
from groupcm.estimators.path import lambda_grid

__all__ = ["run", "sizes"]

ROWS, FEATURES = 200_000, 274
LAMS, FOLDS = 10, 5


def sizes(rows: int) -> set[int]:
    """The capsule sets this benchmark uses: none, it makes its own."""
    return set()


def run(store: Store, rows: int, repeat: int) -> Iterator[Figure]:
    """Measure the choice of λ and the final fit in units of the most expensive fit."""
    rows = min(rows, ROWS)
    what = f"{rows:,} x {FEATURES} independent"
    say(f"  making {what}")
    data = wide(rows, FEATURES)
    lams = lambda_grid(LAMS)  # values that are given are never extended
    gap_of_fit(data, lam=0.5)()
    once = interleave({f"λ = {lam:.3g}": gap_of_fit(data, lam=float(lam)) for lam in lams}, 1)
    slowest = max(range(LAMS), key=lambda k: list(once.values())[k].median)

    def choose() -> float:
        return GroupClassifierCV(lams=lams, cv=FOLDS, tol=TOL).fit(*data.fit_arguments).gap_

    timed = interleave(
        {"choice": choose, "single": gap_of_fit(data, lam=float(lams[slowest]))}, (repeat + 1) // 2
    )
    chosen, single = timed["choice"], timed["single"]
    yield Figure(
        "m",
        f"{what}: GroupClassifierCV, {LAMS} λ, {FOLDS} folds / its most expensive fit",
        chosen.median / single.median,
        bound=8,
        judged=rows == ROWS,
        sound=certified([*chosen.results, *single.results]),
        note=f"{chosen.median:.3g} s against {single.median:.3g} s at λ = {lams[slowest]:.3g}; all "
        f"{LAMS} one by one {sum(each.median for each in once.values()):.3g} s",
        samples={name: each.seconds for name, each in timed.items()},
    )
