"""The main metrics of subgroups, such as those of one site, one device, or objects of one size.

A column that has one value in every group, such as the site, splits all groups. One that differs
within groups, such as the size of the object that a candidate is on, describes objects: it splits
the positive groups, and each part is compared with all negative groups. So does a column that is
empty in all negative groups. A positive group has the value of its positive candidate of largest
overlap, or of largest score where overlaps are not known.

Numbers with more than 8 values are split at their quartiles. Missing values, and empty texts, form
the subgroup "not known". A subgroup is small where fewer than 10 patients (groups, where patients
are not known) have positive groups, or fewer than 10 have negative ones: below that, intervals are
known to be too narrow (see `groupcm.metrics.bootstrap_interval`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groupcm.data.groups import first_missing
from groupcm.evaluation.results import Subgroup, Subgroups
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics import FewClustersWarning, bootstrap_interval
from groupcm.metrics.decision import is_alarm
from groupcm.metrics.intervals import share_interval
from groupcm.utils.formatting import number
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.text import counted, listed, printable

__all__ = ["FEWEST", "MOST_VALUES", "NOT_KNOWN", "subgroups_of"]

#: With fewer positive or fewer negative patients, or groups without patients, a subgroup is small.
FEWEST = 10
#: A column of text with more values than this forms no subgroups.
MOST_VALUES = 50
#: The subgroup of missing values.
NOT_KNOWN = "not known"

_MOST_NUMBERS = 8
_MOST_NAMED = 8

Bools = NDArray[np.bool_]


class _Values(NamedTuple):
    """One code per row, -1 where the value is missing, and the names of the codes."""

    codes: NDArray[np.intp]
    names: list[str]
    numbers: NDArray[np.float64] | None


def subgroups_of(
    candidates: ScoredCandidates,
    threshold: float,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = 0,
) -> list[Subgroups]:
    """Compute the AUC, the sensitivity and the specificity of subgroups, with intervals.

    Parameters
    ----------
    candidates : ScoredCandidates
        With ``columns``; the module describes how their values form subgroups.
    threshold : float
        A group raises an alarm where its score is at least this.
    level, n_resamples, random_state
        The options of the confidence intervals, which resample patients where those are known.

    Returns
    -------
    list of Subgroups
        One for each column.

    Warns
    -----
    UserWarning
        One, which names the subgroups that are small.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(200) % 4 == 0
    >>> candidates = ScoredCandidates(
    ...     index_groups(np.arange(200)),
    ...     score=2 * positive + rng.normal(size=200),
    ...     is_positive=positive,
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ...     columns={"site": np.repeat(["Bern", "Oslo"], 100)},
    ... )
    >>> (by_site,) = subgroups_of(candidates, 1.0, n_resamples=50)
    >>> [(row.value, row.n_positive, row.n_negative) for row in by_site.rows]
    [('Bern', 25, 75), ('Oslo', 25, 75)]
    """
    found = []
    for name, column in (candidates.columns or {}).items():
        values = _read(name, column)
        rest = ((None if candidates.empty is None else candidates.empty.columns) or {}).get(name)
        of_objects = _describes_objects(candidates, values)
        of_groups = _of_groups(candidates, column, of_objects, rest)
        parts = _parts(name, of_groups, candidates.group_positive if of_objects else None)
        # One sentence about all small subgroups follows.
        with ignore_warnings(FewClustersWarning):
            rows = [
                _subgroup(candidates, value, mask, threshold, level, n_resamples, random_state)
                for value, mask in parts
            ]
        found.append(Subgroups(name, rows, of_objects))
    _warn_of_small(found, "groups" if candidates.by_patient is None else "patients")
    return found


def _read(name: str, column: NDArray[Any]) -> _Values:
    """Number the values of a column in their order: numbers by size, others as texts."""
    values = np.asarray(column)
    missing = np.zeros(len(values), dtype=bool)
    if values.dtype.kind in "OU":
        listed_values = values.tolist()
        missing = np.array([_is_missing(each) for each in listed_values], dtype=bool)
        known = [each for each, is_out in zip(listed_values, missing, strict=True) if not is_out]
        if known and all(isinstance(x, Real) and not isinstance(x, bool) for x in known):
            filled = np.full(len(values), np.nan)
            filled[~missing] = known
            values = filled
    elif values.dtype.kind in "fM":
        missing = values != values
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
        sizes, at = np.unique(numbers[~missing], return_inverse=True)
        names = [number(size, 6) for size in sizes.tolist()]
    else:
        numbers = None
        texts = np.array([str(each) for each in values[~missing].tolist()], dtype=str)
        found, at = np.unique(texts, return_inverse=True)
        names = found.tolist()
        if len(names) > MOST_VALUES:
            raise ValueError(
                f"the column {printable(name)} has {len(names):,} values; at most {MOST_VALUES} "
                "form subgroups: leave it out, or make a column of fewer."
            )
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[~missing] = at
    return _Values(codes, names, numbers)


def _is_missing(value: Any) -> bool:
    alone = np.empty(1, dtype=object)
    alone[0] = value
    return first_missing(alone) is not None or (isinstance(value, str) and not value.strip())


def _describes_objects(candidates: ScoredCandidates, values: _Values) -> bool:
    """Return whether a column differs within groups, or is empty in all negative ones."""
    index = candidates.index
    most, least = index.maxima(values.codes), -index.maxima(-values.codes)
    if np.any(most != least):
        return True
    positive = candidates.group_positive[: index.n_groups]
    return bool(np.all(most[~positive] < 0) and np.any(most[positive] >= 0))


def _of_groups(
    candidates: ScoredCandidates,
    column: NDArray[Any],
    of_objects: bool,
    rest: NDArray[Any] | None,
) -> NDArray[Any]:
    """Return the value of each group; None where it is not known."""
    index, column = candidates.index, np.asarray(column)
    if not of_objects:
        row = index.winners(np.zeros(index.n_rows))
        known = np.ones(index.n_groups, dtype=bool)
    else:
        key = candidates.score if candidates.overlap is None else candidates.overlap
        key = np.where(candidates.is_positive & ~np.isnan(key), key, -np.inf)
        row = index.winners(key)
        known = candidates.is_positive[row] & candidates.group_has_labels[: index.n_groups]
    whole = np.empty(candidates.n_groups, dtype=object)
    whole[: index.n_groups] = column[row].tolist()
    whole[: index.n_groups][~known] = None
    if rest is not None:
        whole[index.n_groups :] = rest.tolist()
    return whole


def _parts(
    name: str, of_groups: NDArray[Any], positive: Bools | None
) -> Iterator[tuple[str, Bools]]:
    """Yield the name of each subgroup and its groups; negatives are in all, with ``positive``."""
    split = np.ones(len(of_groups), dtype=bool) if positive is None else positive
    values = _read(name, of_groups[split])
    codes, names = values.codes, values.names
    if values.numbers is not None and len(names) > _MOST_NUMBERS:
        codes, names = _quartiles(values.numbers)
    for code, value in [*enumerate(names), (-1, NOT_KNOWN)]:
        if np.any(codes == code):
            mask = ~split
            mask[split] = codes == code
            yield value, mask


def _quartiles(numbers: NDArray[np.float64]) -> tuple[NDArray[np.intp], list[str]]:
    """Return the number of the quarter of each value, and their ranges in words."""
    missing = np.isnan(numbers)
    edges = np.unique(np.quantile(numbers[~missing], [0.25, 0.5, 0.75], method="lower"))
    codes = np.searchsorted(edges, np.where(missing, 0.0, numbers), side="left")
    shown = [number(edge, 4) for edge in edges.tolist()]
    between = [f"above {low} up to {high}" for low, high in pairwise(shown)]
    names = [f"up to {shown[0]}", *between, f"above {shown[-1]}"]
    return np.where(missing, -1, codes), names


def _subgroup(
    candidates: ScoredCandidates,
    value: str,
    mask: Bools,
    threshold: float,
    level: float,
    n_resamples: int,
    random_state: Any,
) -> Subgroup:
    positive, score = candidates.group_positive[mask], candidates.group_score[mask]
    clusters, alarm = candidates.group_clusters[mask], is_alarm(score, threshold)
    n_units = [len(np.unique(clusters[each])) for each in (positive, ~positive)]
    has_both = min(n_units) > 0
    return Subgroup(
        value=value,
        n_positive=int(positive.sum()),
        n_negative=int((~positive).sum()),
        n_patients=None if candidates.by_patient is None else len(np.unique(clusters)),
        auc=bootstrap_interval(
            positive,
            score,
            clusters=clusters,
            level=level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        if has_both
        else None,
        sensitivity=_share(alarm[positive], clusters[positive], level),
        specificity=_share(~alarm[~positive], clusters[~positive], level),
        is_small=min(n_units) < FEWEST,
    )


def _share(hits: Bools, clusters: NDArray[np.intp], level: float) -> Any:
    return share_interval(hits, clusters, level=level) if len(hits) else None


def _warn_of_small(found: Sequence[Subgroups], units: str) -> None:
    small = [
        f"{printable(each.column)} {printable(row.value)}"
        for each in found
        for row in each.rows
        if row.is_small
    ]
    if not small:
        return
    shown = small[:_MOST_NAMED]
    if len(small) > len(shown):
        shown.append(f"{len(small) - len(shown):,} more")
    warnings.warn(
        f"{counted(len(small), 'subgroup')} with fewer than {FEWEST} positive or fewer than "
        f"{FEWEST} negative {units} ({listed(shown)}): intervals may be too narrow, and "
        "differences chance.",
        UserWarning,
        stacklevel=3,
    )
