"""Models and their parts as plain JSON values, exact to the last bit.

    None, bool, int, str, finite float    as they are
    list; dict with text keys             as they are
    other floats                          {"$float": "inf"}
    tuple                                 {"$tuple": [...]}
    NumPy array or scalar                 {"$array": [...], "dtype": "<f8", "shape": [2, 3]}
    dataclass in ``_RECORDS``             {"$record": "Step", "fields": {...}}
    estimator in ``_MODELS``              {"$model": "GroupClassifier", "params": …, "state": …}
    what scikit-learn made                see `groupcm.sklearn_json`

An array whose columns lie together in memory has ``"order": "F"``: a product may
differ in its last bit with the order. JSON writes a float with the fewest digits
that give the same float back. A name in a file is only ever looked up in the
tables, so a file cannot make the reader import or call anything else.
"""

from __future__ import annotations

import dataclasses
import math
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["Damaged", "Unstorable", "decode", "encode", "fitted_state"]

_MODELS = {
    "GroupClassifier": "groupcm.classifier",
    "GroupClassifierCV": "groupcm.classifier_cv",
    "MISVMClassifier": "groupcm.misvm",
    "GroupBoostingClassifier": "groupcm.boosting.classifier",
    "CalibratedGroupClassifier": "groupcm.calibration",
    "AdditiveChi2": "groupcm.features.additive_chi2",
    "Fitted": "groupcm.features.fitted",
    "Nystroem": "groupcm.features.nystroem",
    "Polynomial": "groupcm.features.polynomial",
    "RandomFourier": "groupcm.features.random_fourier",
}
_RECORDS = {
    "Isotonic": "groupcm.calibrators",
    "Sigmoid": "groupcm.calibrators",
    "Solution": "groupcm.solvers.solution",
    "Step": "groupcm.progress",
}
_ARRAY_KINDS = "biufUO"  # no dates, no raw bytes, no records


class Unstorable(ValueError):
    """A value that JSON cannot carry."""


class Damaged(ValueError):
    """A JSON value that `encode` does not write."""


def fitted_state(model: Any) -> dict[str, Any]:
    """Collect what a model stores: the attributes in its ``_fitted_state`` that it has."""
    names = getattr(type(model), "_fitted_state", ())
    return {name: getattr(model, name) for name in names if name in vars(model)}


def encode(value: Any, where: str) -> Any:
    """Turn a value into plain JSON; ``where`` names it should that be impossible.

    Examples
    --------
    >>> encode(np.array([1.5, np.inf], np.float32), "x")
    {'$array': [1.5, {'$float': 'inf'}], 'dtype': '<f4', 'shape': [2]}
    >>> encode(object(), "the parameter seed")
    Traceback (most recent call last):
    groupcm.model_json.Unstorable: the parameter seed is an object, which a model file cannot carry
    """
    # Exact types: a subclass (an enumeration, a named tuple) would come back as something else.
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
        params = value.get_params(deep=False)
        return {
            "$model": name,
            "params": {key: encode(p, f"the parameter {key}") for key, p in params.items()},
            "state": {key: encode(s, key) for key, s in fitted_state(value).items()},
        }
    article = "an" if name[0].lower() in "aeiou" else "a"
    refusal = f"{where} is {article} {name}, which a model file cannot carry"
    # Imported late: scikit-learn is not needed for anything else here.
    from groupcm.sklearn_json import STORABLE, encode_foreign

    foreign = encode_foreign(value, where)
    if foreign is not None:
        return foreign
    if callable(getattr(value, "transform", None)):
        refusal += f"; it can carry {STORABLE}"
    raise Unstorable(refusal)


def _encode_array(value: Any, where: str) -> dict[str, Any]:
    array = np.asarray(value)
    dtype = "object" if array.dtype.kind == "O" else array.dtype.newbyteorder("<").str
    items = [encode(item, f"{where}[{i}]") for i, item in enumerate(array.ravel().tolist())]
    # A scalar and an array without dimensions differ, so a scalar has no shape at all.
    shape = None if isinstance(value, np.generic) else list(array.shape)
    encoded = {"$array": items, "dtype": dtype, "shape": shape}
    if array.ndim > 1 and array.strides[0] < array.strides[-1]:
        encoded["order"] = "F"
    return encoded


def decode(value: Any) -> Any:
    """Turn what `encode` gave back into the value.

    Examples
    --------
    >>> decode(encode((1, 0.1, np.array([[True], [False]])), "x"))
    (1, 0.1, array([[ True],
           [False]]))
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$float" in value:
        return float(value["$float"])
    if "$tuple" in value:
        return tuple(decode(value["$tuple"]))
    if "$array" in value:
        return _decode_array(value)
    if "$record" in value:
        return _known(_RECORDS, value["$record"])(**decode(value["fields"]))
    if "$model" in value:
        return _decode_model(value)
    if any(key.startswith("$") for key in value):
        from groupcm.sklearn_json import decode_foreign

        return decode_foreign(value)
    return {key: decode(item) for key, item in value.items()}


def _decode_array(value: dict[str, Any]) -> Any:
    dtype = np.dtype(value["dtype"])
    if dtype.kind not in _ARRAY_KINDS:
        raise Damaged(f"it holds an array of {dtype}, which no model has")
    items = decode(value["$array"])
    if value["shape"] is None:
        return dtype.type(items[0])
    array = np.empty(len(items), dtype)
    if dtype.kind == "O":  # item by item: of equal arrays the slice would make one table
        for i, item in enumerate(items):
            array[i] = item
    else:
        array[:] = items
    return np.asarray(array.reshape(value["shape"]), order=value.get("order", "C"))


def _decode_model(value: dict[str, Any]) -> Any:
    cls = _known(_MODELS, value["$model"])
    params = decode(value["params"])
    try:
        model = cls(**params)
    except TypeError as error:
        raise Damaged(f"its parameters do not fit this version's {cls.__name__}") from error
    for name, item in value["state"].items():
        if name not in cls._fitted_state:
            raise Damaged(f"this version's {cls.__name__} has no {name!r}")
        setattr(model, name, decode(item))
    return model


def _known(table: dict[str, str], name: Any) -> Any:
    if not isinstance(name, str) or name not in table:
        raise Damaged(f"it holds a {name}, which this version of groupcm does not know")
    return getattr(import_module(table[name]), name)
