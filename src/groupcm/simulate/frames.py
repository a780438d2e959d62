"""Synthetic frames of capsule endoscopy, in memory or chunk by chunk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groupcm.simulate.world import (
    FEATURE_NAMES,
    N_FEATURES,
    Capsule,
    Plan,
    fill_chunk,
    make_plan,
    require_whole,
)
from groupcm.utils.files import whole_file

__all__ = ["capsule", "capsule_chunks", "draw_chunk"]


def capsule(
    n_negative: int = 2000,
    *,
    n_positive: int = 293,
    n_polyps: int | None = None,
    n_patients: int | None = None,
    group_size: int = 200,
    seed: int = 0,
    world: int = 1,
    out: str | os.PathLike[str] | None = None,
    n_threads: int | None = None,
) -> Capsule:
    """Simulate candidates of polyps, folds and mucosa, as `groupcm.simulate.world` describes.

    Parameters
    ----------
    n_negative, n_positive : int
        Number of frames without and with a polyp.
    n_polyps : int, optional
        Number of polyps, at most ``n_positive``; by default 100 for 293 positive frames and
        in proportion for others.
    n_patients : int, optional
        Number of patients, at most ``n_negative``; by default one for 25 negative frames,
        at most 1000. Each has an equal share of the negative frames.
    group_size : int
        Mean number of candidates per frame.
    seed : int
        The seed of patients, polyps and frames; the same seed gives the same bits, whatever
        ``n_threads``.
    world : {1, 2, 3}
        The version of the model; 3 is that of the paper's experiment.
    out : path, optional
        Write ``X`` to this ``.npy`` file and return it memory-mapped, read only.
    n_threads : int, optional
        By default one for each core.

    Returns
    -------
    Capsule

    Examples
    --------
    >>> data = capsule(30, n_positive=3, seed=1)
    >>> data.X.shape[1], data.n_groups, len(set(data.groups[data.y == 1]))
    (13, 33, 3)
    """
    plan = make_plan(n_negative, n_positive, n_polyps, n_patients, group_size, seed, world)
    n_threads = (os.cpu_count() or 1) if n_threads is None else n_threads
    require_whole("n_threads", n_threads, 1)
    if out is None:
        return _fill(plan, np.empty((plan.n_rows, N_FEATURES), np.float32), n_threads)
    with whole_file(out) as temporary:
        X = np.lib.format.open_memmap(
            temporary, mode="w+", dtype=np.float32, shape=(plan.n_rows, N_FEATURES)
        )
        data = _fill(plan, X, n_threads)
        X.flush()
    return replace(data, X=np.load(out, mmap_mode="r"))


def capsule_chunks(
    n_negative: int = 2000,
    *,
    n_positive: int = 293,
    n_polyps: int | None = None,
    n_patients: int | None = None,
    group_size: int = 200,
    seed: int = 0,
    world: int = 1,
) -> Iterator[Capsule]:
    """Yield the rows of `capsule` piece by piece, for data larger than memory.

    Every piece holds whole frames, about 65,000 rows; joined, they equal ``capsule(...)``
    of the same arguments bit for bit. Parameters are those of `capsule`.

    Yields
    ------
    Capsule

    Examples
    --------
    >>> sum(len(piece) for piece in capsule_chunks(800)) == len(capsule(800))
    True
    """
    plan = make_plan(n_negative, n_positive, n_polyps, n_patients, group_size, seed, world)
    # A generator expression, so that invalid arguments raise here and not at the first piece.
    return (draw_chunk(plan, chunk)[0] for chunk in range(plan.n_chunks))


def _fill(plan: Plan, X: NDArray[np.float32], n_threads: int) -> Capsule:
    """Fill all chunks in place, in several threads."""
    data = _unfilled(plan, X)

    def fill(chunk: int) -> None:
        fill_chunk(plan, chunk, _take(data, plan.rows(chunk)))

    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(fill, range(plan.n_chunks)):
            pass  # raises the errors of the threads
    return data


def draw_chunk(plan: Plan, chunk: int) -> tuple[Capsule, NDArray[np.int8]]:
    """Return one chunk by itself, and the kind of every row."""
    rows = plan.rows(chunk)
    piece = _unfilled(plan, np.empty((rows.stop - rows.start, N_FEATURES), np.float32))
    return piece, fill_chunk(plan, chunk, piece)


def _unfilled(plan: Plan, X: NDArray[np.float32]) -> Capsule:
    n = len(X)
    return Capsule(
        X=X,
        y=np.empty(n, np.int8),
        groups=np.empty(n, np.int32 if len(plan.patient) < 2**31 else np.int64),
        overlap=np.empty(n, np.float32),
        polyp=np.empty(n, np.int32),
        patient=np.empty(n, np.int32),
        feature_names=list(FEATURE_NAMES),
    )


def _take(data: Capsule, rows: slice) -> Capsule:
    columns = ("X", "y", "groups", "overlap", "polyp", "patient")
    return replace(data, **{name: getattr(data, name)[rows] for name in columns})
