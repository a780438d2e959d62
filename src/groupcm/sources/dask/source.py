"""Candidates held by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from groupcm.data.tables.column_selection import ChosenColumns, choose_columns, require_rows
from groupcm.data.tables.roles import ColumnRoles
from groupcm.errors import InputError
from groupcm.objective.terms import Index
from groupcm.sources.base import Columns, Job, Source
from groupcm.sources.dask.partitions import (
    Partition,
    Summary,
    Wanted,
    cut,
    prepare,
    run_on_slice,
    summarise,
)
from groupcm.utils.extras import MissingExtra
from groupcm.utils.memory import parse_memory

if TYPE_CHECKING:
    from distributed import Client

    from groupcm.sources.dask.workers import OnWorkers, Recipe

__all__ = ["DaskSource", "from_dask"]

Result = TypeVar("Result")


def from_dask(
    data: Any,
    *,
    group: str | None,
    label: str | None = None,
    overlap: str | None = None,
    patient: str | None = None,
    features: str | Sequence[str] | None = None,
    client: Client | None = None,
    memory: str | int | None = None,
    timeout: float = 120.0,
) -> DaskSource:
    """Return candidates that the workers of a Dask cluster hold; a pass runs where they are.

    Parameters
    ----------
    data : dask.dataframe.DataFrame, or list of delayed tables or futures of tables
        A table is one of pandas, polars or Arrow. The workers turn each partition into a matrix
        and keep that in memory; after a worker dies, its partitions are made again.
    group : str or None
        The column, or the pandas index, that holds the group of each row. The rows of a group are
        contiguous; a group may continue in the next partition. None: every row is its own group.
    label, overlap : str, optional
        The class of a row, which a fit needs, and how well it fits the annotation.
    patient : str, optional
        A column that is not a feature.
    features : str or sequence of str, optional
        The feature columns, of any numeric type, or one column of fixed-size lists. By
        default the only column of fixed-size lists, or else every column not named above.
    client : distributed.Client, optional
        By default the one made last.
    memory : int or str, optional
        How much a fit may use in this process, such as ``"2GB"``.
    timeout : float
        For how many seconds a fit waits while the cluster has no worker that accepts work, or
        its scheduler does not answer. A scheduler that has ended is noticed within seconds.

    Returns
    -------
    DaskSource
        The workers keep its partitions as long as this object exists.

    Raises
    ------
    InputError
        Where a partition cannot be read or does not fit the others; it is named.
    ClusterError
        Where the cluster cannot do the work, here or in a later fit: it has no worker, its
        scheduler has ended, or a partition kills the workers that read it. A `ClusterError` is
        an `InputError` as well.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import delayed
    >>> from distributed import Client
    >>> from groupcm.sources import from_dask
    >>> frames = pd.DataFrame({"frame": [1, 1, 2], "label": [0, 1, 0], "size": [0.5, 3.0, 1.0]})
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     source = from_dask([delayed(frames)], group="frame", label="label")
    ...     source, source.index().classes
    (<DaskSource 1 partition: 3 rows × 1 feature>, array([0, 1]))
    """
    roles = ColumnRoles(group, label, overlap, patient)
    named = [features] if isinstance(features, str) else features
    wanted = Wanted(roles, None if named is None else list(named))
    limit = None if memory is None else parse_memory(memory)
    try:
        from groupcm.sources.dask.workers import OnWorkers, Recipe
    except ImportError as error:
        raise MissingExtra("from_dask requires Dask", "dask") from error
    recipes = [
        Recipe(partial(prepare, number, wanted), origin)
        for number, origin in enumerate(_partitions(data))
    ]
    return DaskSource(OnWorkers(recipes, _usable(client), timeout), recipes, wanted, limit)


def _partitions(data: Any) -> list[Any]:
    from dask.delayed import Delayed
    from distributed import Future

    if hasattr(data, "to_delayed") and hasattr(data, "columns"):
        parts = data.to_delayed()
        if not parts:
            raise InputError("the Dask DataFrame has no partition; from_dask needs one or more")
        return parts
    parts = list(data) if isinstance(data, list | tuple) else [data]
    if not parts:
        raise InputError("data is an empty list; from_dask needs one delayed table or more")
    for number, part in enumerate(parts):
        if not isinstance(part, Delayed | Future):
            place = f"item {number} of data" if isinstance(data, list | tuple) else "data"
            raise ValueError(
                f"{place} is of the type {type(part).__name__}; from_dask takes a Dask DataFrame "
                "or a list of delayed tables, such as [dask.delayed(read)(file) for file in files]."
            )
    return parts


def _usable(client: Client | None) -> Client:
    from distributed import get_client

    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ValueError(
                "there is no Dask client; make one first, on this machine with "
                "distributed.Client() or for a cluster with distributed.Client('address:8786')."
            ) from error
    if client.asynchronous:
        raise ValueError("the Dask client is asynchronous; from_dask needs one that is not.")
    return client


class DaskSource(Source):
    """Candidates held by the workers of a Dask cluster; see `from_dask`."""

    loads_whole = False
    # A pass where the rows are costs less than to send them here.
    sample_share = 0.02

    def __init__(
        self,
        held: OnWorkers[Partition],
        recipes: Sequence[Recipe[Partition]],
        wanted: Wanted,
        memory: int | None,
    ) -> None:
        self.memory = memory
        self.roles = wanted.roles
        self.has_group = wanted.roles.group is not None
        self.has_label = wanted.roles.label is not None
        self.has_overlap = wanted.roles.overlap is not None
        self._held = held
        try:
            self._describe(recipes, wanted)
        except BaseException:
            held.release()
            raise

    def _describe(self, recipes: Sequence[Recipe[Partition]], wanted: Wanted) -> None:
        """Find out what the partitions hold, and have those made again that differ in type."""
        tasks = ((number, partial(summarise)) for number in range(len(recipes)))
        summaries = [summary for _, summary in self._held.run(tasks)]
        chosen = _agree(summaries, wanted)
        self.feature_names = chosen.features
        self.n_features = len(chosen.features)
        self.dtype = chosen.dtype
        same = replace(wanted, order=chosen.features, dtype=chosen.dtype)
        for number, summary in enumerate(summaries):
            if _differs(summary, chosen):
                make = partial(prepare, number, same)
                self._held.replace(number, replace(recipes[number], make=make))
        row_bytes = self.n_features * self.dtype.itemsize
        self._units = cut([summary.table.n_rows for summary in summaries], row_bytes)
        self._unit_ptr = np.array([0, *(unit.first + unit.hi - unit.lo for unit in self._units)])

    def __reduce__(self) -> Any:
        """Refuse to be pickled: the partitions belong to the client of this process."""
        raise TypeError(
            "a source of Dask cannot be pickled, because its partitions are kept by the workers "
            "for the client of this process; call from_dask in the process that needs it."
        )

    def __repr__(self) -> str:
        partitions, features = (
            _count(len(self._held), "partition"),
            _count(self.n_features, "feature"),
        )
        return f"<DaskSource {partitions}: {_count(self.n_rows, 'row')} × {features}>"

    @property
    def unit_ptr(self) -> Index:
        return self._unit_ptr

    def where(self, row: int) -> str:
        unit = self._units[int(np.searchsorted(self._unit_ptr, row, side="right")) - 1]
        return f"row {row - unit.first + unit.lo} of partition {unit.partition}"

    def sort_advice(self) -> str:
        return (
            f"sort first: data.sort_values({self.roles.group!r}) for a Dask DataFrame, "
            f"groupcm sort FILE --group {self.roles.group} -o SORTED for files, "
            "and give the partitions in that order"
        )

    def run(
        self, jobs: Iterable[tuple[int, Job[Result]]], columns: Columns
    ) -> Generator[tuple[int, list[Result]]]:
        units: list[int] = []

        def tasks() -> Iterator[tuple[int, partial[Result]]]:
            for unit, job in jobs:
                rows = self._units[unit]
                units.append(unit)
                yield rows.partition, partial(run_on_slice, job, rows, columns)

        with closing(self._held.run(tasks())) as results:
            for number, (_, result) in enumerate(results):
                yield units[number], [result]


def _agree(summaries: list[Summary], wanted: Wanted) -> ChosenColumns:
    """Return the features of all partitions that have rows."""
    tables = [s.table for s in summaries if s.table.n_rows]
    require_rows([s.table for s in summaries])
    spread = next(s.features for s in summaries if s.table.n_rows)
    return choose_columns(tables, wanted.roles, None if wanted.features is None else spread)


def _differs(summary: Summary, chosen: ChosenColumns) -> bool:
    here = (summary.features, summary.dtype)
    return summary.table.n_rows > 0 and here != (chosen.features, chosen.dtype)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
