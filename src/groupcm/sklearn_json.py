"""Fitted transformers of scikit-learn as plain JSON values, rebuilt without running their code.

    transformer in ``_TRANSFORMERS``    {"$sklearn": "PCA", "version": "1.6.1", "params": …,
                                         "attributes": …}
    scipy's BSpline                     {"$spline": {"t": …, "c": …, "k": …, "extrapolate": …}}
    NumPy data type                     {"$dtype": "<f8"}
    NumPy scalar class                  {"$scalar": "<f8"}

A name in a file is only looked up in the table here. An attribute is set only
where the class itself has nothing of that name, so a file cannot replace a
method. A file of another version of scikit-learn is read as far as this one
knows its parameters and attributes.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from groupcm.model_json import Damaged, decode, encode

__all__ = ["STORABLE", "decode_foreign", "encode_foreign"]

# Their fitted attributes are numbers, texts, arrays, and each other.
_TRANSFORMERS = {
    "AdditiveChi2Sampler": "sklearn.kernel_approximation",
    "KBinsDiscretizer": "sklearn.preprocessing",
    "MaxAbsScaler": "sklearn.preprocessing",
    "MinMaxScaler": "sklearn.preprocessing",
    "Normalizer": "sklearn.preprocessing",
    "Nystroem": "sklearn.kernel_approximation",
    "OneHotEncoder": "sklearn.preprocessing",
    "PCA": "sklearn.decomposition",
    "Pipeline": "sklearn.pipeline",
    "PolynomialFeatures": "sklearn.preprocessing",
    "PowerTransformer": "sklearn.preprocessing",
    "QuantileTransformer": "sklearn.preprocessing",
    "RBFSampler": "sklearn.kernel_approximation",
    "RobustScaler": "sklearn.preprocessing",
    "SplineTransformer": "sklearn.preprocessing",
    "StandardScaler": "sklearn.preprocessing",
}

STORABLE = "the maps of groupcm.features and scikit-learn's " + ", ".join(_TRANSFORMERS)


def encode_foreign(value: Any, where: str) -> dict[str, Any] | None:
    """Turn a value into plain JSON, or give None if it is none of these.

    Examples
    --------
    >>> encode_foreign(np.dtype(float), "x")
    {'$dtype': '<f8'}
    >>> encode_foreign(object(), "x")
    """
    if isinstance(value, np.dtype):
        return {"$dtype": value.str}
    if isinstance(value, type):
        return {"$scalar": np.dtype(value).str} if issubclass(value, np.number) else None
    kind = type(value)
    if kind.__module__.startswith("scipy.") and kind.__name__ == "BSpline":
        parts = {name: getattr(value, name) for name in ("t", "c", "k", "extrapolate")}
        return {"$spline": encode(parts, where)}
    if kind.__module__.startswith("sklearn.") and kind.__name__ in _TRANSFORMERS:
        params = value.get_params(deep=False)
        attributes = {name: item for name, item in vars(value).items() if name not in params}
        name = kind.__name__
        return {
            "$sklearn": name,
            "version": _version(),
            "params": {k: encode(item, f"{name}'s {k}") for k, item in params.items()},
            "attributes": {k: encode(item, f"{name}'s {k}") for k, item in attributes.items()},
        }
    return None


def decode_foreign(value: dict[str, Any]) -> Any:
    """Turn what `encode_foreign` gave back into the value.

    Examples
    --------
    >>> decode_foreign({"$scalar": "<f4"})
    <class 'numpy.float32'>
    """
    if "$dtype" in value:
        return _number_type(value["$dtype"])
    if "$scalar" in value:
        return _number_type(value["$scalar"]).type
    if "$spline" in value:
        from scipy.interpolate import BSpline

        return BSpline(**decode(value["$spline"]))
    if "$sklearn" in value:
        return _decode_transformer(value)
    unknown = next(key for key in value if key.startswith("$"))
    raise Damaged(f"it holds a {unknown[1:]}, which this version of groupcm does not know")


def _decode_transformer(value: dict[str, Any]) -> Any:
    name = value["$sklearn"]
    if not isinstance(name, str) or name not in _TRANSFORMERS:
        raise Damaged(f"it holds a {name}, which this version of groupcm does not know")
    cls = getattr(import_module(_TRANSFORMERS[name]), name)
    same_version = value["version"] == _version()
    known = signature(cls).parameters
    params = {k: item for k, item in value["params"].items() if k in known}
    attributes = {
        k: item
        for k, item in value["attributes"].items()
        if k not in known and not k.startswith("__") and not hasattr(cls, k)
    }
    dropped = (value["params"].keys() - params) | (value["attributes"].keys() - attributes)
    if same_version and dropped:
        raise Damaged(f"a {name} has no {min(dropped)!r} of its own")
    transformer = cls(**decode(params))
    for k, item in attributes.items():
        setattr(transformer, k, decode(item))
    return transformer


def _number_type(text: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(text))
    if dtype.kind not in "biuf":
        raise Damaged(f"it holds the type {dtype}, which no model has")
    return dtype


def _version() -> str:
    import sklearn

    return sklearn.__version__
