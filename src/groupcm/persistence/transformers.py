"""Conversion of fitted transformers of scikit-learn to plain JSON values and back.

    transformer in ``TRANSFORMERS``     {"$sklearn": "PCA", "version": "1.6.1", "params": …,
                                         "attributes": …}
    scipy's BSpline                     {"$spline": {"t": …, "c": …, "k": …, "extrapolate": …}}
    NumPy data type                     {"$dtype": "<f8"}
    NumPy scalar class                  {"$scalar": "<f8"}

A name in a file is only looked up in the table of `groupcm.persistence.transformer_state`, by
which the transformer is then checked. An attribute is set only if the class has no attribute of
that name, so that a file cannot replace a method. From a file of another version of scikit-learn,
the parameters and attributes that this version knows are used.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from groupcm.persistence.encoding import Damaged, Unstorable, encode, entries, is_plain
from groupcm.persistence.transformer_state import COMMON, TRANSFORMERS, check_transformer
from groupcm.utils.fitted_state import Array, Number, Sizes
from groupcm.utils.text import brief

if TYPE_CHECKING:
    from groupcm.persistence.encoding import Decoder

__all__ = ["STORABLE", "decode_foreign", "encode_foreign"]

STORABLE = "the maps of groupcm.features and scikit-learn's " + ", ".join(TRANSFORMERS)
_NUMBER_TYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]")


def encode_foreign(value: Any, where: str) -> dict[str, Any] | None:
    """Convert a value to plain JSON, or return None if it is none of these.

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
    if kind.__module__.startswith("sklearn.") and kind.__name__ in TRANSFORMERS:
        params = value.get_params(deep=False)
        attributes = {name: item for name, item in vars(value).items() if name not in params}
        name = kind.__name__
        encoded = {
            "$sklearn": name,
            "version": _version(),
            "params": {k: encode(item, f"{name}'s {k}") for k, item in params.items()},
            "attributes": {k: encode(item, f"{name}'s {k}") for k, item in attributes.items()},
        }
        for attribute, item in attributes.items():
            if not _may_set(kind, name, attribute, item):
                raise Unstorable(f"{name}'s {attribute} is not known, and no plain number or text")
        check_transformer(value, name, Sizes())
        return encoded
    return None


def decode_foreign(tag: str, value: dict[str, Any], where: str, decoder: Decoder) -> Any:
    """Convert a result of `encode_foreign` with this tag back to the value.

    Examples
    --------
    >>> from groupcm.persistence.encoding import Decoder
    >>> decode_foreign("$scalar", {"$scalar": "<f4"}, "x.dtype", Decoder(0))
    <class 'numpy.float32'>
    """
    if tag in ("$dtype", "$scalar"):
        return _number_type(value, where, tag)
    if tag == "$spline":
        return _spline(value, where, decoder)
    if tag == "$sklearn":
        return _transformer(value, where, decoder)
    raise Damaged(f"{where} holds the type {brief(tag[1:])}, unknown to this version of groupcm")


def _number_type(value: dict[str, Any], where: str, tag: str) -> Any:
    """Return a NumPy type, which only a parameter ``dtype`` may be: a type can be called."""
    (text,) = entries(value, where, tag)
    is_type = isinstance(text, str) and _NUMBER_TYPE.fullmatch(text)
    if not is_type or where.rpartition(".")[2] != "dtype":
        raise Damaged(f"{where} is the type {brief(text)}, which no model has there")
    return np.dtype(text) if tag == "$dtype" else np.dtype(text).type


def _spline(value: dict[str, Any], where: str, decoder: Decoder) -> Any:
    from scipy.interpolate import BSpline

    (parts,) = entries(value, where, "$spline")
    parts = decoder.mapping(parts, where)
    t, c, k, extrapolate = entries(parts, where, "t", "c", "k", "extrapolate")
    sizes = Sizes()
    Number(low=0, whole=True).check(k, f"{where}.k", sizes)
    Array("f", "coefficients", "columns").check(c, f"{where}.c", sizes)
    Array("f", "knots").check(t, f"{where}.t", sizes)
    if not isinstance(extrapolate, bool):
        raise Damaged(f"{where}.extrapolate must be true or false, not {brief(extrapolate)}")
    if len(c) < k + 1 or len(t) != len(c) + k + 1 or not (t[1:] >= t[:-1]).all():
        raise Damaged(f"{where} has knots and coefficients that make no spline of degree {k}")
    # The constructor would refuse the spline of a constant feature, which scikit-learn creates.
    return BSpline.construct_fast(
        np.ascontiguousarray(t, np.float64), np.ascontiguousarray(c, np.float64), k, extrapolate
    )


def _transformer(value: dict[str, Any], where: str, decoder: Decoder) -> Any:
    name, version, params, attributes = entries(
        value, where, "$sklearn", "version", "params", "attributes"
    )
    if not isinstance(name, str) or name not in TRANSFORMERS:
        raise Damaged(f"{where} holds the type {brief(name)}, unknown to this version of groupcm")
    cls = getattr(import_module(TRANSFORMERS[name].module), name)
    allowed = signature(cls).parameters
    given = decoder.mapping(params, where, fitted=True)
    found = decoder.mapping(attributes, where, fitted=True)
    params = {k: item for k, item in given.items() if k in allowed}
    kept = {k: v for k, v in found.items() if k not in allowed and _may_set(cls, name, k, v)}
    dropped = (given.keys() - params) | (found.keys() - kept)
    if version == _version() and dropped:
        raise Damaged(f"{where}: a {name} has no {brief(min(dropped))} of its own")
    transformer = cls(**params)
    vars(transformer).update(kept)
    check_transformer(transformer, where, decoder.sizes())
    return transformer


def _may_set(cls: type, name: str, attribute: str, value: Any) -> bool:
    """Return whether a file may set an attribute: one that is declared, or has a plain value."""
    if attribute.startswith("__") or hasattr(cls, attribute):
        return False
    return attribute in COMMON or attribute in TRANSFORMERS[name].state or is_plain(value)


def _version() -> str:
    import sklearn

    return sklearn.__version__
