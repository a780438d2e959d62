"""Terms of the objective written out as rows and weights."""

from __future__ import annotations

import numpy as np

from groupcm.objective.terms import Terms


def spelled(terms: list[Terms], sign: int) -> dict[tuple[int, ...], float]:
    """Every term of one sign as its rows and its weight."""
    found: dict[tuple[int, ...], float] = {}
    for part in terms:
        if part.sign != sign:
            continue
        rows = part.rows(np.arange(part.n_rows))
        ends = np.arange(1, len(rows) + 1) if part.alone else np.cumsum(part.stop - part.start)
        weight = np.broadcast_to(part.weight, len(part))
        assert len(ends) == len(part)
        for c, members in zip(weight, np.split(rows, ends[:-1]), strict=True):
            key = tuple(sorted(members.tolist()))
            assert key not in found
            found[key] = float(c)
    return found
