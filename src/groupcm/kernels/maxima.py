"""The largest score of each term, its winner, and soft minima of its margins.

::

    s_k = max_i s_i        t_k = −T log Σ_i exp(−m_i / T)        −L'(τ_k) = Σ_i (τ_k − m_i)₊ / T
"""

from __future__ import annotations

import numpy as np
from numba import njit

from groupcm.kernels import FLAGS
from groupcm.kernels.dot import row_dot

# A row this many temperatures above the minimum has a share below 1e-15: none.
_FAR = 35.0


@njit(nogil=True, cache=True, fastmath=FLAGS)
def scan(rows, order, start, stop, weights, lo, hi, score, winner, runner_up, lead):
    """``score[k] = max_i s_i`` over the rows of term ``k``, its winner, runner-up and their lead.

    Term ``k`` holds positions ``start[k]`` to ``stop[k]``, looked up in ``order`` unless
    that is empty; for ``rows`` and ``weights`` see `row_dot`. A term of one row has itself as
    runner-up and an infinite lead; of equal rows the first wins. Works on terms ``lo`` to
    ``hi`` and returns the first of them that holds a NaN or an infinity, or -1.
    """
    in_place = len(order) == 0
    for k in range(lo, hi):
        first = second = start[k] if in_place else order[start[k]]
        best = total = row_dot(rows, first, weights)
        next_best = -np.inf
        for position in range(start[k] + 1, stop[k]):
            row = position if in_place else order[position]
            s = row_dot(rows, row, weights)
            total += s
            if s > next_best:
                if s > best:
                    next_best, second = best, first
                    best, first = s, row
                else:
                    next_best, second = s, row
        if not np.isfinite(total):
            return k
        score[k] = best
        winner[k] = first
        runner_up[k] = second
        lead[k] = best - next_best
    return -1


@njit(nogil=True, cache=True, fastmath=FLAGS)
def run_maxima(score, start, best, winner):
    """The largest score of each run of rows and the first row that has it.

    Run ``k`` begins at ``start[k]`` and ends where the next begins. Returns the first run that
    holds a NaN or an infinity, or −1.
    """
    for k in range(len(start)):
        stop = start[k + 1] if k + 1 < len(start) else len(score)
        first = start[k]
        most = total = score[first]
        for i in range(start[k] + 1, stop):
            s = score[i]
            total += s
            if s > most:
                most, first = s, i
        if not np.isfinite(total):
            return k
        best[k] = most
        winner[k] = first
    return -1


# Without FLAGS: the compiler makes two versions of the loop, one for arrays that may overlap, and
# the addresses of the arrays decide which of them runs. If it might reorder the sum, the last
# digits would depend on the addresses, too.
@njit(nogil=True, cache=True)
def soft_minima(margin, ptr, temperature, soft, hard, share):
    """Soft and hard minimum of ``margin[ptr[k]:ptr[k+1]]``, and each row's share in the soft one.

    ``share_i = exp(−m_i / T) / Σ exp(−m / T)``, the derivative of ``t_k`` by ``m_i``.
    """
    for k in range(len(ptr) - 1):
        lo, hi = ptr[k], ptr[k + 1]
        least = margin[lo]
        for i in range(lo + 1, hi):
            least = min(least, margin[i])
        total = 0.0
        for i in range(lo, hi):
            above = (margin[i] - least) / temperature
            share[i] = np.exp(-above) if above < _FAR else 0.0
            total += share[i]
        for i in range(lo, hi):
            share[i] /= total
        hard[k] = least
        soft[k] = least - temperature * np.log(total)


@njit(nogil=True, cache=True, fastmath=FLAGS)
def share_out(of_term, ptr, share, out):
    """``out_i = of_term_k · share_i`` for the rows ``i`` of each term ``k``."""
    for k in range(len(ptr) - 1):
        for i in range(ptr[k], ptr[k + 1]):
            out[i] = of_term[k] * share[i]


@njit(nogil=True, cache=True)
def proximal_minima(margin, shares, ptr, T, steepest, pieces, level, new_shares, stiffness):
    """Minimise ``L(min_i z_i) + Σ_i (z_i − m̃_i)² / 2T`` over ``z``, ``m̃_i = m_i − T a_i``.

    ::

        z_i = max(m̃_i, τ),   −L'(τ) = Σ_i (τ − m̃_i)₊ / T,   a_i' = (τ − m̃_i)₊ / T

    for the rows ``ptr[k]`` to ``ptr[k + 1]`` of each term: ``level[k] = τ``, ``a`` are the shares
    so far and ``a'`` the new ones. The loss is given by its polynomials, rows ``(end, slope at 0,
    curvature)``. On each of them the equation is convex and increasing in ``τ``, so that Newton's
    method from its upper end arrives after finitely many steps. ``stiffness[k] = 1 / (n + T L'')``
    for ``n`` rows of positive share; 0 at a jump of ``L'``, where ``τ`` does not move.
    """
    for k in range(len(ptr) - 1):
        lo, hi = ptr[k], ptr[k + 1]
        least = np.inf
        for i in range(lo, hi):
            least = min(least, margin[i] - T * shares[i])
        tau, linear, bend, begin, found = least, 0.0, 0.0, -np.inf, False
        for p in range(len(pieces)):
            end = pieces[p, 0]
            if end < np.inf:
                total = 0.0
                for i in range(lo, hi):
                    total += max(end - margin[i] + T * shares[i], 0.0)
                if total / T + pieces[p, 1] + pieces[p, 2] * end < 0.0:
                    begin = end
                    continue
            tau = min(end, least + T * steepest)
            linear, bend = pieces[p, 1], pieces[p, 2]
            if begin > -np.inf:
                total = 0.0
                for i in range(lo, hi):
                    total += max(begin - margin[i] + T * shares[i], 0.0)
                if total / T + linear + bend * begin >= 0.0:
                    tau, found = begin, True
            break
        while not found:
            total, n = 0.0, 0
            for i in range(lo, hi):
                above = tau - margin[i] + T * shares[i]
                if above > 0.0:
                    total += above
                    n += 1
            slope = total / T + linear + bend * tau
            if slope <= 0.0:
                break
            lower = tau - slope / (n / T + bend)
            if lower >= tau:
                break
            tau = lower
        total, n = 0.0, 0
        for i in range(lo, hi):
            share = (tau - margin[i]) / T + shares[i]
            new_shares[i] = max(share, 0.0)
            if share > 0.0:
                total += share
                n += 1
        if total > steepest:
            for i in range(lo, hi):
                new_shares[i] *= steepest / total
        level[k] = tau
        stiffness[k] = 0.0 if found else 1.0 / (n + T * bend) if n else 0.0
