"""Conversion of models and their parts to plain JSON values and back, exact to the last bit.

    None, bool, int, str, finite float    as they are
    list; dict with text keys             as they are
    dict with labels as keys              {"$dict": [[label, value], ...]}
    other floats                          {"$float": "inf"}
    tuple                                 {"$tuple": [...]}
    NumPy array or scalar                 {"$array": [...], "dtype": "<f8", "shape": [2, 3]}
    dataclass in ``_RECORDS``             {"$record": "Step", "fields": {...}}
    estimator in ``_MODELS``              {"$model": "GroupClassifier", "params": …, "state": …}
    transformers of scikit-learn          see `groupcm.persistence.transformers`

An array whose columns are contiguous in memory has ``"order": "F"``, because the last bit of a
product may depend on the order. JSON writes a float with the fewest digits that give the same
float. A name in a file is only looked up in the tables, so that a file cannot make the reader
import or call anything else.

Nothing in a file is trusted: every value must be one that `encode` returns, no array may take
much more memory than its text, and every model is checked against the declarations of its class
(`groupcm.utils.fitted_state`).
"""

from __future__ import annotations

import dataclasses
import math
import re
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from groupcm.utils.fitted_state import Sizes
from groupcm.utils.state_check import check_model, check_parameters_of, declared_state
from groupcm.utils.text import brief

__all__ = ["Damaged", "Decoder", "Unstorable", "decode", "encode", "entries", "fitted_state"]

_MODELS = {
    "GroupClassifier": "groupcm.estimators.classifier",
    "GroupClassifierCV": "groupcm.estimators.classifier_cv",
    "MISVMClassifier": "groupcm.estimators.misvm",
    "GroupBoostingClassifier": "groupcm.boosting.classifier",
    "CalibratedGroupClassifier": "groupcm.estimators.calibration",
    "AdditiveChi2": "groupcm.features.kernel_approximation",
    "Fitted": "groupcm.features.fitted",
    "Nystroem": "groupcm.features.kernel_approximation",
    "Polynomial": "groupcm.features.polynomial",
    "RandomFourier": "groupcm.features.kernel_approximation",
}
# What the key of a dict may be.
_LABELS = bool | int | float | str | np.generic
_RECORDS = {
    "DecisionRule": "groupcm.metrics.decision",
    "Isotonic": "groupcm.estimators.calibrators",
    "Sigmoid": "groupcm.estimators.calibrators",
    "Solution": "groupcm.solvers.solution",
    "Step": "groupcm.utils.progress",
    "TrainingProfile": "groupcm.estimators.training.profile",
}
_ARRAY_KINDS = "biufUO"  # no dates, no raw bytes, no records
_DTYPE = re.compile(r"object|\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[0-9]{1,9}")
# The types of the items of an array in JSON, by its kind.
_ITEMS = {"b": {bool}, "i": {int}, "u": {int}, "f": {float}, "U": {str}}
_MOST_DIMENSIONS = 3
_TOP = "it"
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
# The memory of an array as a multiple of the bytes of its file, and the number of features that a
# small file may describe without an entry for each, such as those of a polynomial.
_MOST_MEMORY = 32
_FREE_BYTES = 1_000_000


class Unstorable(ValueError):
    """A value that a model file cannot store."""


class Damaged(ValueError):
    """A JSON value that `encode` does not return."""


def fitted_state(model: Any) -> dict[str, Any]:
    """Return the attributes of a model that its class declares in ``_fitted_state``."""
    return {name: vars(model)[name] for name in declared_state(type(model)) if name in vars(model)}


def encode(value: Any, where: str) -> Any:
    """Convert a value to plain JSON; ``where`` names the value in an error message.

    Examples
    --------
    >>> encode(np.array([1.5, np.inf], np.float32), "x")
    {'$array': [1.5, {'$float': 'inf'}], 'dtype': '<f4', 'shape': [2]}
    >>> encode(object(), "the parameter seed")
    Traceback (most recent call last):
    groupcm.persistence.encoding.Unstorable: the parameter seed is an object, which a model
    file cannot contain
    """
    # Exact types: a subclass, such as an enumeration, would be decoded as something else.
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if kind is list:
        return [encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if kind is tuple:
        return {"$tuple": encode(list(value), where)}
    if kind is dict and all(type(key) is str and not key.startswith("$") for key in value):
        return {key: encode(item, f"{where}[{key!r}]") for key, item in value.items()}
    if kind is dict and all(isinstance(key, _LABELS) for key in value):
        pairs = [[encode(k, where), encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"$dict": pairs}
    is_numpy = kind is np.ndarray or issubclass(kind, np.generic)
    if is_numpy and value.dtype.kind in _ARRAY_KINDS:
        return _encode_array(value, where)
    name = kind.__name__
    if _RECORDS.get(name) == kind.__module__:
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {
            "$record": name,
            "fields": {key: encode(item, f"{where}.{key}") for key, item in fields.items()},
        }
    if _MODELS.get(name) == kind.__module__:
        return _encode_model(value)
    article = "an" if name[0].lower() in "aeiou" else "a"
    refusal = f"{where} is {article} {name}, which a model file cannot contain"
    # Imported here, because nothing else in this module needs scikit-learn.
    from groupcm.persistence.transformers import STORABLE, encode_foreign

    foreign = encode_foreign(value, where)
    if foreign is not None:
        return foreign
    if callable(getattr(value, "transform", None)):
        refusal += f"; it can carry {STORABLE}"
    raise Unstorable(refusal)


def _encode_array(value: Any, where: str) -> dict[str, Any]:
    array = np.asarray(value)
    dtype = "object" if array.dtype.kind == "O" else array.dtype.newbyteorder("<").str
    if not _DTYPE.fullmatch(dtype):
        raise Unstorable(f"{where} is an array of {array.dtype}, which a model file cannot contain")
    items = array.ravel().tolist()
    if dtype == "object" or not all(map(math.isfinite, items) if array.dtype.kind == "f" else ()):
        items = [encode(item, f"{where}[{i}]") for i, item in enumerate(items)]
    # The shape None distinguishes a scalar from an array without dimensions.
    shape = None if isinstance(value, np.generic) else list(array.shape)
    encoded = {"$array": items, "dtype": dtype, "shape": shape}
    if array.ndim > 1 and array.strides[0] < array.strides[-1]:
        encoded["order"] = "F"
    return encoded


def _encode_model(model: Any) -> dict[str, Any]:
    """Convert an estimator to plain JSON, or raise if `decode` would refuse it."""
    params, state = model.get_params(deep=False), fitted_state(model)
    encoded = {
        "$model": type(model).__name__,
        "params": {key: encode(value, f"the parameter {key}") for key, value in params.items()},
        "state": {key: encode(value, key) for key, value in state.items()},
    }
    check_parameters_of(model)
    if state:
        check_model(model)
    return encoded


def decode(value: Any, n_bytes: int = 0) -> Any:
    """Convert a result of `encode` back to the value.

    Parameters
    ----------
    value
        Plain JSON with finite floats and without deep nesting.
    n_bytes : int
        The size of the file, which limits the memory of the value.

    Examples
    --------
    >>> decode(encode((1, 0.1, np.array([[True], [False]])), "x"))
    (1, 0.1, array([[ True],
           [False]]))
    """
    return Decoder(n_bytes).value(value, _TOP)


class Decoder:
    """Conversion of plain JSON to values, within limits that depend on the size of the file."""

    def __init__(self, n_bytes: int) -> None:
        self.most_entries = _FREE_BYTES + n_bytes
        self._bytes_left = _FREE_BYTES + _MOST_MEMORY * n_bytes

    def model(self, value: Any) -> Any:
        """Decode a fitted model."""
        if not isinstance(value, dict) or "$model" not in value:
            raise Damaged("it holds no model")
        return self.value(value, _TOP, fitted=True)

    def value(self, value: Any, where: str, *, fitted: bool = False) -> Any:
        """Decode the value that ``where`` names; if ``fitted``, its models must be fitted."""
        if isinstance(value, list):
            return [self.value(v, f"{where}[{i}]", fitted=fitted) for i, v in enumerate(value)]
        if not isinstance(value, dict):
            return value
        tag = next((key for key in value if key.startswith("$")), None)
        if tag is None:
            return self.mapping(value, where, fitted=fitted)
        if tag == "$float":
            return self._float(value, where)
        if tag == "$tuple":
            (items,) = entries(value, where, "$tuple")
            return tuple(self.value(require(items, list, where), where, fitted=fitted))
        if tag == "$dict":
            return self._dict(value, where)
        if tag == "$array":
            return self._array(value, where)
        if tag == "$record":
            return self._record(value, where)
        if tag == "$model":
            return self._model(value, where, fitted=fitted)
        from groupcm.persistence.transformers import decode_foreign

        return decode_foreign(tag, value, where, self)

    def mapping(self, value: Any, where: str, *, fitted: bool = False) -> dict[str, Any]:
        """Decode the values of a JSON object."""
        items = require(value, dict, where).items()
        return {k: self.value(v, _inside(where, k), fitted=fitted) for k, v in items}

    def _dict(self, value: dict[str, Any], where: str) -> dict[Any, Any]:
        """Decode a dict whose keys are labels."""
        (pairs,) = entries(value, where, "$dict")
        found = {}
        for pair in self.value(require(pairs, list, where), where):
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], _LABELS):
                raise Damaged(f"{where} is a dict with an entry that is not a label and a value")
            found[pair[0]] = pair[1]
        return found

    def sizes(self) -> Sizes:
        """Return the limits for the sizes of a model."""
        return Sizes(self.most_entries)

    def _float(self, value: dict[str, Any], where: str) -> float:
        (text,) = entries(value, where, "$float")
        if not isinstance(text, str) or text not in _FLOATS:
            raise Damaged(f"{where} is not a number: {brief(text)}")
        return _FLOATS[text]

    def _array(self, value: dict[str, Any], where: str) -> Any:
        items, dtype, shape, order = entries(value, where, "$array", "dtype", "shape", order="C")
        require(items, list, where)
        if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
            raise Damaged(f"{where} is an array of {brief(dtype)}, which no model has")
        if order not in ("C", "F"):
            raise Damaged(f"{where} has the order {brief(order)}, which no array has")
        kind = np.dtype(dtype)
        self._take_room(len(items) * kind.itemsize, where)
        if shape is None:
            if len(items) != 1 or kind.kind == "O":
                raise Damaged(f"{where} is not a single value")
            return self._filled(items, kind, where)[0]
        is_shape = (
            isinstance(shape, list)
            and len(shape) <= _MOST_DIMENSIONS
            and all(type(n) is int and 0 <= n <= self.most_entries for n in shape)
        )
        if not is_shape or math.prod(shape) != len(items):
            raise Damaged(f"{where} has {len(items)} values, which make no array {brief(shape)}")
        return np.asarray(self._filled(items, kind, where).reshape(shape), order=order)

    def _take_room(self, n_bytes: int, where: str) -> None:
        self._bytes_left -= n_bytes
        if self._bytes_left < 0:
            raise Damaged(f"{where} would take far more memory than its file, {n_bytes:,} bytes")

    def _filled(self, items: list[Any], dtype: np.dtype[Any], where: str) -> Any:
        """Return a one-dimensional array of the items."""
        kind = dtype.kind
        array = np.empty(len(items), dtype)
        if kind == "O":  # item by item: a slice would stack equal arrays
            for i, item in enumerate(items):
                array[i] = self._object(item, f"{where}[{i}]")
            return array
        if kind == "f" and dict in set(map(type, items)):
            items = [self._float(v, where) if isinstance(v, dict) else v for v in items]
        if not set(map(type, items)) <= _ITEMS[kind]:
            raise Damaged(f"{where} is an array of {dtype} with a value that is something else")
        if items and not _holds(dtype, items):
            raise Damaged(f"{where} holds a value that {dtype} cannot hold")
        array[:] = items
        return array

    def _object(self, item: Any, where: str) -> Any:
        """Decode an item of an array of objects, which must be a plain value."""
        found = self.value(item, where)
        if is_plain(found):
            return found
        raise Damaged(f"{where} is a {type(found).__name__}, which no array of a model holds")

    def _record(self, value: dict[str, Any], where: str) -> Any:
        name, given = entries(value, where, "$record", "fields")
        cls = _known(_RECORDS, name, where)
        fields = {field.name: field for field in dataclasses.fields(cls)}
        found = self.mapping(given, where)
        for field in found:
            if field not in fields:
                raise Damaged(f"{where} has {brief(field)}, which no {name} has")
        for field in fields.values():
            if field.name not in found and field.default is dataclasses.MISSING:
                raise Damaged(f"{_inside(where, field.name)} is missing")
        record = cls(**found)
        check_model(record, _prefix(where), self.sizes())
        return record

    def _model(self, value: dict[str, Any], where: str, *, fitted: bool) -> Any:
        name, params, state = entries(value, where, "$model", "params", "state")
        cls = _known(_MODELS, name, where)
        known = signature(cls).parameters
        for param in require(params, dict, where):
            if param not in known:
                raise Damaged(f"{where} has the parameter {brief(param)}, which no {name} has")
        for param, accepted in known.items():
            if param not in params and accepted.default is accepted.empty:
                raise Damaged(f"{_inside(where, param)} is missing")
        model = cls(**self.mapping(params, where))
        declared = declared_state(cls)
        for attribute in require(state, dict, where):
            if attribute not in declared:
                raise Damaged(f"{where} has {brief(attribute)}, which no {name} has")
        vars(model).update(self.mapping(state, where, fitted=True))
        check_parameters_of(model, _prefix(where))
        if state:
            check_model(model, _prefix(where), self.sizes())
            from groupcm.estimators.thresholds import (
                fill_in_threshold,  # scikit-learn is loaded by now
            )

            fill_in_threshold(model)
        elif fitted:
            raise Damaged(f"{where} is not fitted")
        return model


def entries(value: dict[str, Any], where: str, *names: str, **others: Any) -> list[Any]:
    """Return the required and the optional entries of a tagged JSON object, in this order."""
    for name in names:
        if name not in value:
            raise Damaged(f"{where} lacks {name!r}")
    for name in value:
        if name not in names and name not in others:
            raise Damaged(f"{where} has the entry {brief(name)}, which is not known")
    return [value[name] for name in names] + [value.get(name, others[name]) for name in others]


def require(value: Any, kind: type, where: str) -> Any:
    """Return the value if it is of a kind, list or dict, or raise."""
    if not isinstance(value, kind):
        raise Damaged(f"{where} must be a {kind.__name__}, not {brief(value)}")
    return value


def is_plain(value: Any) -> bool:
    """Return whether a value is a string, a number, None, or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    return value is None or isinstance(value, bool | int | float | str | np.number | np.bool_)


def _inside(where: str, name: str) -> str:
    return f"{_prefix(where)}.{brief(name)}".removeprefix(".")


def _prefix(where: str) -> str:
    """Return the prefix of the names of attributes; empty at the top."""
    return "" if where == _TOP else where


def _holds(dtype: np.dtype[Any], items: list[Any]) -> bool:
    """Return whether an array of this type can represent all the items."""
    if dtype.kind == "U":
        return max(map(len, items)) <= dtype.itemsize // 4
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return bounds.min <= min(items) and max(items) <= bounds.max
    if dtype.kind == "f":
        finite = [abs(item) for item in items if math.isfinite(item)]
        return max(finite, default=0.0) <= np.finfo(dtype).max
    return True


def _known(table: dict[str, str], name: Any, where: str) -> Any:
    if not isinstance(name, str) or name not in table:
        raise Damaged(f"{where} holds the type {brief(name)}, unknown to this version of groupcm")
    return getattr(import_module(table[name]), name)
