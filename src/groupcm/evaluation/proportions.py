"""The interval of a share, where what is counted comes in clusters such as patients.

Wilson's interval for ``k`` of ``n``, with the effective number of cases in place of n:

    n_eff = p (1 − p) / v,    v = C/(C−1) Σ_c (Σ_{i∈c} (x_i − p))² / n²

where p = k/n, x_i is 0 or 1, and v estimates the variance of p from the C clusters. It is
at most n, and where every x_i is the same, which leaves v unknown, it is C.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from groupcm.metrics import Interval

__all__ = ["share_interval"]


def share_interval(hits: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Interval:
    """The share of hits, with an interval that is known to hold for few cases too.

    Parameters
    ----------
    hits : array-like of bool of shape (n,)
    clusters : array-like of shape (n,)
        The cluster of each; those of a cluster resemble one another.
    level : float, default=0.95

    Examples
    --------
    >>> all_found = share_interval([True] * 10, range(10))
    >>> all_found.estimate, round(float(all_found.low), 3)
    (1.0, 0.722)
    """
    x = np.asarray(hits, dtype=np.float64)
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    p, n_clusters = float(x.mean()), int(cluster.max()) + 1
    excess = np.bincount(cluster, x - p)
    variance = n_clusters / max(1, n_clusters - 1) * float(excess @ excess) / len(x) ** 2
    n = min(float(len(x)), p * (1.0 - p) / variance) if variance > 1e-12 else float(n_clusters)
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * np.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    low, high = float(centre - half), float(centre + half)
    # Rounding must not leave the share outside its interval.
    return Interval(p, min(p, max(0.0, low)), max(p, min(1.0, high)))
