"""A fitted model in one JSON file, and back, without running any code from the file.

The file holds ``format`` ("groupcm-model"), ``version`` (of the format),
``groupcm`` (the version that wrote it), ``model`` (class, parameters and
fitted state), ``notes`` (what the writer wants to remember beside the model)
and ``sha256`` (of all the rest in canonical form: sorted keys, no spaces).

An estimator names what it stores in its class attribute ``_fitted_state``;
names the model does not have are left out. Only the classes in the two tables
of `groupcm.model_json` can be written or read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.extras import MissingExtra
from groupcm.files import whole_file
from groupcm.model_json import Damaged, Unstorable, decode, encode, fitted_state

__all__ = ["SavedModel", "load", "read", "save"]

_FORMAT = "groupcm-model"
_VERSION = 1


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    model : estimator
        The fitted model.
    notes : dict
        What its writer noted, such as the columns it was trained on.
    groupcm : str
        The version of groupcm that wrote it.
    """

    model: Any
    notes: dict[str, Any] = field(default_factory=dict)
    groupcm: str = __version__


def save(
    model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted model to one JSON file; it appears whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted groupcm estimator.
    path : str or path
        The file to write; one that exists is replaced.
    notes : mapping, optional
        Plain values to keep beside the model, such as the names of columns.

    See Also
    --------
    load : Read it back.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier, load, save
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> save(model, path)
    >>> load(path).predict([[0.1], [0.8]])
    array([0, 1])
    """
    name = type(model).__name__
    if not hasattr(type(model), "_fitted_state"):
        raise InputError(f"cannot save a {name}: save takes an estimator of groupcm")
    if not fitted_state(model):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {name} is not fitted yet; call fit before saving it")
    try:
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "groupcm": __version__,
            "model": encode(model, name),
            "notes": encode(dict(notes or {}), "notes"),
        }
    except Unstorable as error:
        raise InputError(f"cannot save this {name}: {error}") from error
    content["sha256"] = _checksum(content)
    # A line an entry: short enough to look at, long enough not to sprawl.
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    with whole_file(path) as beside:
        beside.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote; no code from the file is run.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        The fitted model, equal to the last bit.

    Examples
    --------
    >>> load(__file__)
    Traceback (most recent call last):
    groupcm.errors.InputError: ...persistence.py is not a model that groupcm saved
    """
    return read(path).model


def read(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file with its notes."""
    path = Path(path)
    content = _parse(path)
    version = content.get("version")
    if not isinstance(version, int) or version < 1:
        raise _damaged(path)
    if version > _VERSION:
        raise InputError(
            f"{path} was written by groupcm {content.get('groupcm', '?')} in format {version}, "
            f"newer than format {_VERSION}, the newest that groupcm {__version__} reads; "
            "install a newer groupcm"
        )
    if content.pop("sha256", None) != _checksum(content):
        raise _damaged(path)
    try:
        return SavedModel(
            decode(content["model"]), decode(content["notes"]), str(content["groupcm"])
        )
    except MissingExtra:
        raise
    except Damaged as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(path) from error


def _parse(path: Path) -> dict[str, Any]:
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the file of a model")
    data = path.read_bytes()
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        if data.startswith(b"{") and _FORMAT.encode() in data[:200]:
            raise _damaged(path) from error
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(f"{path} is not a model that groupcm saved")
    return content


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} is damaged or cut short; save the model again or fetch a whole copy")


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
