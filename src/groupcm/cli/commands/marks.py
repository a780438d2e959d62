"""What tables say of their annotations: which groups have one, and which object a row shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.cli.commands.side_columns import place_of_row, read_key, read_objects
from groupcm.data.groups import GroupIndex
from groupcm.errors import InputError

__all__ = ["read_marks", "require_one_weight"]

Bools = NDArray[np.bool_]


def read_marks(
    files: Sequence[Path],
    groups: GroupIndex,
    is_positive: Bools,
    *,
    annotated: str | None,
    object: str | None,
) -> dict[str, NDArray[Any]]:
    """What a fit takes as ``annotated`` and ``objects``, where tables have such columns.

    Parameters
    ----------
    files : sequence of Path
    groups : GroupIndex
        By the tables' own names.
    is_positive : ndarray of bool
        Which rows are positive.
    annotated, object : str or None
        Columns.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.data.groups import index_groups
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,known,polyp\\na,1,p\\na,1,\\nb,0,\\n")
    >>> rows = index_groups(["a", "a", "b"]), np.array([True, False, True])
    >>> found = read_marks([path], *rows, annotated="known", object="polyp")
    >>> found["annotated"].tolist(), found["objects"].tolist()
    ([True, True, False], [0, -1, -1])
    """
    found: dict[str, NDArray[Any]] = {}
    if annotated is not None:
        found["annotated"] = _read_annotated(files, annotated)
        _require_one_value(groups, is_positive, found["annotated"], annotated)
        # Nobody knows which object the candidates of the other groups show.
        is_positive = is_positive & found["annotated"]
    if object is not None:
        found["objects"] = np.asarray(read_objects(files, object, is_positive))
    return found


# A column of text, as some programs write truth.
_WRITTEN = {"true": 1, "false": 0, "1": 1, "0": 0}


def _read_annotated(files: Sequence[Path], column: str) -> Bools:
    key = read_key(files, column, "annotated")
    values = key.codes
    if key.names is not None:
        written = [_WRITTEN.get(str(name).lower(), name) for name in key.names.to_pylist()]
        values = np.array(written, dtype=object)
    is_true = np.asarray(values == 1)
    for value in values[~is_true & np.asarray(values != 0)].tolist():
        code = value if key.names is None else values.tolist().index(value)
        path, row = place_of_row(files, int(np.argmax(key.codes == code)))
        raise InputError(
            f"{path}: the annotated column {column!r} holds {value!r} in row {row} (counted from "
            "0); write true or false, or 1 or 0"
        )
    return is_true if key.names is None else is_true[key.codes]


def _require_one_value(
    groups: GroupIndex, is_positive: Bools, annotated: Bools, column: str
) -> None:
    mixed = groups.maxima(annotated) & groups.maxima(~annotated) & groups.maxima(is_positive)
    if mixed.any():
        name = groups.ids[int(np.argmax(mixed))]
        raise InputError(
            f"the annotated column {column!r} holds both true and false for the positive group "
            f"{name!s}; a group is annotated or not, the same in all its rows"
        )


def require_one_weight(
    groups: GroupIndex, is_positive: Bools, weight: NDArray[np.float64], column: str
) -> None:
    """Refuse a negative group whose rows weigh differently; a row of weight 0 is left out.

    Parameters
    ----------
    groups : GroupIndex
        By the tables' own names.
    is_positive : ndarray of bool
        Which rows are positive.
    weight : ndarray
        Of each row.
    column : str
        The name of its column.

    Examples
    --------
    >>> from groupcm.data.groups import index_groups
    >>> rows = index_groups(["a", "a", "b", "b"]), np.array([True, False, False, False])
    >>> require_one_weight(*rows, np.array([1.0, 2.0, 1.0, 2.0]), "times")
    Traceback (most recent call last):
    groupcm.errors.InputError: the weight column 'times' holds 1 and 2 for the negative group b;
    give all its rows the same weight, or 0 to those that should be left out
    """
    largest = groups.maxima(weight)
    least = -groups.maxima(-np.where(weight > 0.0, weight, np.inf))
    differs = (least < largest) & ~groups.maxima(is_positive)
    if differs.any():
        k = int(np.argmax(differs))
        raise InputError(
            f"the weight column {column!r} holds {least[k]:g} and {largest[k]:g} for the negative "
            f"group {groups.ids[k]!s}; give all its rows the same weight, or 0 to those that "
            "should be left out"
        )
