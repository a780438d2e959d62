"""Features that are categories, and features in which the score of trees is monotone.

Trees see a category as a whole number from 0, its code. Categorical columns of a data frame
(pandas ``category``, polars ``Categorical`` and ``Enum``, Arrow dictionaries) are turned into codes
by the labels that they had in training; a label that training did not have is a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groupcm.data.frames import is_frame
from groupcm.errors import Argument, InputError, ParameterError
from groupcm.objective.smoothed import Matrix
from groupcm.objective.terms import Index

__all__ = [
    "FROM_DTYPE",
    "LARGEST_CODE",
    "categorical_numbers",
    "check_codes",
    "encode",
    "feature_numbers",
    "learn_categories",
    "monotone_directions",
]

#: The value of ``categorical_features`` with which the types of the columns decide.
FROM_DTYPE = "from_dtype"
#: A set of categories has a bit for each code up to its largest.
LARGEST_CODE = 1_000_000

Categories = dict[str, list[Any]]


def learn_categories(X: Any, given: Any = FROM_DTYPE) -> Categories:
    """Return the labels of each categorical column of a frame, in the order of their codes.

    ``given`` is ``categorical_features``: where it lists features, these columns are categorical,
    of text as well, unless they hold numbers.

    Examples
    --------
    >>> kind = pa.array(["flat", "round", None]).dictionary_encode()
    >>> learn_categories(pa.table({"size": [1.0, 2.0, 3.0], "kind": kind}))
    {'kind': ['flat', 'round']}
    """
    if given is None or not is_frame(X):
        return {}
    frame = nw.from_native(X, eager_only=True)
    names = list(frame.columns)
    listed = range(len(names))
    kinds: tuple[Any, ...] = (nw.Categorical, nw.Enum)
    if not _is_from_dtype(given):
        listed = feature_numbers(given, np.array([str(name) for name in names]), len(names))
        kinds = (*kinds, nw.String)
    found = {}
    for number in listed:
        column = frame.get_column(names[number])
        if column.dtype in kinds:
            labels = [_label(each, names[number]) for each in _dictionary(column)[1]]
            found[str(names[number])] = labels
    return found


def categorical_numbers(
    X: Any, categories: Categories, given: Any, names: NDArray[Any] | None, n_features: int
) -> Index:
    """Return the numbers of all categorical features: those of a frame, and those listed."""
    listed = np.empty(0, dtype=np.int64)
    if given is not None and not _is_from_dtype(given):
        listed = feature_numbers(given, names, n_features)
    if not categories:
        return listed
    columns = [str(name) for name in nw.from_native(X, eager_only=True).columns]
    return np.union1d(listed, [columns.index(name) for name in categories]).astype(np.int64)


def _is_from_dtype(given: Any) -> bool:
    return isinstance(given, str) and given == FROM_DTYPE


def encode(X: Any, categories: Mapping[str, Sequence[Any]]) -> Any:
    """Return a frame whose columns named in ``categories`` hold codes; anything else as it is.

    Examples
    --------
    >>> kind = pa.array(["round", "square", None])
    >>> codes = encode(pa.table({"kind": kind}), {"kind": ["flat", "round"]})
    >>> codes["kind"].to_pylist()
    [1.0, nan, nan]
    """
    if not categories or not is_frame(X):
        return X
    frame = nw.from_native(X, eager_only=True)
    changed = []
    for name in frame.columns:
        if str(name) in categories:
            codes, labels = _dictionary(frame.get_column(name))
            known = {label: code for code, label in enumerate(categories[str(name)])}
            place = [
                np.nan if _is_missing(label) else known.get(_label(label, name), np.nan)
                for label in labels
            ]
            values = np.array([*place, np.nan], dtype=np.float32)[codes]
            changed.append(nw.new_series(name, values, backend=frame.implementation))
    return frame.with_columns(*changed).to_native()


def _dictionary(column: Any) -> tuple[Index, list[Any]]:
    """Return the code of each value of a column, −1 for a missing one, and the labels."""
    values = column.to_arrow()
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # of no rows
        values = pa.array([], values.type)
    if not isinstance(values, pa.DictionaryArray):
        values = values.dictionary_encode()
    codes = values.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, values.dictionary.to_pylist()


def _is_missing(label: Any) -> bool:
    return isinstance(label, float) and np.isnan(label)


def _label(value: Any, column: Any) -> Any:
    """Return a label as a model file can hold it; 2 and 2.0 are the same."""
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):  # exactly, since floats hold 53 bits
        return int(value)
    if isinstance(value, Real) and np.isfinite(float(value)):
        number = float(value)
        return int(number) if number.is_integer() else number
    raise InputError(
        f"column {column!r} of X has the category {value!r} of the type {type(value).__name__}; "
        "categories must be text, numbers or booleans",
        column=column,
    )


def feature_numbers(given: Any, names: NDArray[Any] | None, n_features: int) -> Index:
    """Return the numbers of the features that ``categorical_features`` lists.

    Examples
    --------
    >>> names = np.array(["size", "kind", "site"], dtype=object)
    >>> feature_numbers(["site", "kind"], names, 3), feature_numbers([True, False, False], names, 3)
    (array([1, 2]), array([0]))
    """
    parameter = "categorical_features"
    listed = list(given)
    if listed and all(isinstance(each, bool | np.bool_) for each in listed):
        if len(listed) != n_features:
            raise ParameterError(
                Argument(parameter),
                f" has {len(listed)} flags, but there are {n_features} features.",
            )
        return np.flatnonzero(listed)
    return np.unique([_number(each, names, n_features, parameter) for each in listed]).astype(
        np.int64
    )


def _number(given: Any, names: NDArray[Any] | None, n_features: int, parameter: str) -> int:
    if isinstance(given, str):
        known = [] if names is None else [str(name) for name in names]
        if given in known:
            return known.index(given)
        what = f"names {given!r}, but the features "
        what += "have no names" if names is None else "have other names"
        raise ParameterError(Argument(parameter), f" {what}; give one of them, or its number.")
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    if is_whole and 0 <= int(given) < n_features:
        return int(given)
    raise ParameterError(
        Argument(parameter),
        f" holds {given!r}; features are named, or numbered from 0 to {n_features - 1}.",
    )


def monotone_directions(given: Any, names: NDArray[Any] | None, n_features: int) -> list[int]:
    """Return −1, 0 or 1 for each feature from ``monotone_constraints``.

    Examples
    --------
    >>> monotone_directions({"size": 1}, np.array(["age", "size"], dtype=object), 2)
    [0, 1]
    """
    parameter = "monotone_constraints"
    if isinstance(given, Mapping):
        directions: list[Any] = [0] * n_features
        for feature, direction in given.items():
            directions[_number(feature, names, n_features, parameter)] = direction
    else:
        directions = list(given)
    if len(directions) != n_features:
        raise ParameterError(
            Argument(parameter),
            f" has {len(directions)} values, but there are {n_features} features.",
        )
    for direction in directions:
        if direction not in (-1, 0, 1):
            raise ParameterError(
                Argument(parameter),
                f" holds {direction!r}; use 1 for a score that never falls with the feature, "
                "-1 for one that never rises, 0 for any.",
            )
    return [int(direction) for direction in directions]


def check_codes(X: Matrix, features: Sequence[int], names: NDArray[Any] | None = None) -> None:
    """Raise where a categorical feature holds anything but codes and missing values.

    Examples
    --------
    >>> check_codes(np.array([[0.0, 1.5]]), [1])
    Traceback (most recent call last):
    groupcm.errors.InputError: the categorical feature 1 holds 1.5; it needs whole numbers from 0 to
    1,000,000, or a categorical column of a data frame
    """
    for number in features:
        column: Any = X[:, [number]]
        values = np.asarray(column.data if hasattr(column, "indptr") else column).ravel()
        present = values[~np.isnan(values)]
        wrong = (present < 0) | (present > LARGEST_CODE) | (present != np.floor(present))
        if np.any(wrong):
            name = number if names is None else repr(names[number])
            raise InputError(
                f"the categorical feature {name} holds {present[np.argmax(wrong)]:g}; it needs "
                f"whole numbers from 0 to {LARGEST_CODE:,}, or a categorical column of a data "
                "frame",
                column=number if names is None else names[number],
            )
