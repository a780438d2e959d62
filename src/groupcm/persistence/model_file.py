"""Saving a fitted model in one JSON file, and loading it without running any code of the file.

The file contains ``format`` ("groupcm-model"), ``version`` (of the format), ``groupcm`` (the
version that wrote it), ``model`` (class, hyperparameters and fitted state), ``notes`` (further
values to store with the model) and ``sha256`` (of all the rest in canonical form: sorted keys, no
spaces).

An estimator declares what it stores in its class attribute ``_fitted_state``
(`groupcm.utils.fitted_state`), against which a model is checked when it is saved and when it is
loaded. Only the classes in the two tables of `groupcm.persistence.encoding` can be stored.

A file may come from anywhere. Whatever its bytes, reading it runs no code from it, takes
memory and time in proportion to its size, and ends with a model that can be used or with one
`InputError`. The checksum protects against damage only: an attacker can compute it, too.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.metrics.decision import DecisionRule
from groupcm.persistence.encoding import Damaged, Decoder, Unstorable, encode, fitted_state
from groupcm.utils.files import check_output, whole_file
from groupcm.utils.fitted_state import (
    Anything,
    Expected,
    Fields,
    ListOf,
    Maybe,
    Nullable,
    Number,
    Sizes,
    StateError,
    Text,
)
from groupcm.utils.state_check import declared_state
from groupcm.utils.text import brief

__all__ = ["SavedModel", "load", "read", "save"]

_FORMAT = "groupcm-model"
_VERSION = 1
# A pipeline within a pipeline within a calibrated model has about 30 levels.
_DEEPEST = 100
_LONGEST_MESSAGE = 500

_COUNT = Number(low=0, whole=True)
_SHARE = Number(finite=False)
# The notes that groupcm itself reads; users may add others.
_NOTES: dict[str, Expected] = {
    "columns": Fields(others=Nullable(Text())),
    "tables": ListOf(Text()),
    "trained_at": Text(),
    "versions": Fields(others=Text()),
    "n_unannotated_groups": _COUNT,
    "recipe": Fields(others=Anything()),
    # Version 0.1 stored the threshold here; now the model stores it.
    "operating_point": Fields({"threshold": Number(finite=False), "chosen": Text()}),
    "trained_on": Fields(
        {
            "name": Text(),
            "n_candidates": _COUNT,
            "n_positive_groups": _COUNT,
            "n_negative_groups": _COUNT,
            "n_patients": Maybe(Nullable(_COUNT)),
            "n_objects": Maybe(Nullable(_COUNT)),
        }
    ),
    "held_out": Fields(
        {
            "n_positive_groups": _COUNT,
            "n_negative_groups": _COUNT,
            "group_auc": _SHARE,
            "group_auc_low": _SHARE,
            "group_auc_high": _SHARE,
            "level": Number(low=0.0, high=1.0),
            "drawn": Text(),
            "sensitivity": Maybe(Nullable(_SHARE)),
            "specificity": Maybe(Nullable(_SHARE)),
            "caution": Maybe(Nullable(Text())),
        }
    ),
}


@dataclass(frozen=True)
class SavedModel:
    """The content of a model file.

    Attributes
    ----------
    model : estimator
        The fitted model.
    notes : dict
        The notes of the file, such as the columns that the model was trained on.
    groupcm : str
        The version of groupcm that wrote it.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> save(GroupClassifier().fit([[0.0], [1.0]], [0, 1]), path, notes={"site": "north"})
    >>> read(path).notes
    {'site': 'north'}
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
        The file to write, ``.json``; an existing file is replaced, and a missing folder is
        created.
    notes : mapping, optional
        Plain values to store with the model, such as the names of columns. A model keeps those of
        the file that it was loaded from, and those of `groupcm.estimators.fit_tables`, until it is
        fitted again; the values given here take precedence.

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
    if not declared_state(type(model)):
        raise InputError(f"cannot save a {name}: save takes an estimator of groupcm")
    if not fitted_state(model):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {name} is not fitted yet; call fit before saving it")
    check_output(path, endings=[".json"])
    notes = _kept_notes(model) | dict(notes or {})
    try:
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "groupcm": __version__,
            "model": encode(model, name),
            "notes": encode(notes, "notes"),
        }
        _check_notes(notes)
        _require_plain(content)
    except (Damaged, StateError, Unstorable) as error:
        raise InputError(f"cannot save this {name}: {error}") from error
    except RecursionError as error:
        raise InputError(f"cannot save this {name}: it is nested too deeply") from error
    content["sha256"] = _checksum(content)
    # One line per entry, so that a person can look at the file.
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    with whole_file(path) as temporary:
        temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote; no code of the file is run.

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
    groupcm.errors.InputError: ...model_file.py is not a model that groupcm saved
    """
    return read(path).model


def read(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file with its notes.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> save(GroupClassifier().fit([[0.0], [1.0]], [0, 1]), path)
    >>> read(path).model
    GroupClassifier()
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the file of a model")
    data = path.read_bytes()
    try:
        content = _content(path, data)
        decoder = Decoder(len(data))
        model = decoder.model(content["model"])
        notes = decoder.mapping(content["notes"], "notes")
        _check_notes(notes)
        _take_over_threshold(model, notes)
    except (InputError, MemoryError):
        raise
    except (Damaged, StateError) as error:
        sentence = " ".join(str(error).split())[:_LONGEST_MESSAGE]
        raise InputError(f"{path} cannot be read: {sentence}") from error
    except Exception as error:
        # An error that no check covers, such as an attribute that another version of
        # scikit-learn lacks.
        raise _damaged(path) from error
    from groupcm.estimators.thresholds import keep_notes  # scikit-learn is loaded by now

    keep_notes(model, notes)
    return SavedModel(model, notes, content["groupcm"])


def _content(path: Path, data: bytes) -> dict[str, Any]:
    """Parse the file, and check everything except the model and its notes."""
    try:
        content = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_distinct, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        if data.startswith(b"{") and _FORMAT.encode() in data[:200]:
            if isinstance(error, Damaged):
                raise
            raise _damaged(path) from error
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(f"{path} is not a model that groupcm saved")
    _require_plain(content)
    version, writer = content.get("version"), content.get("groupcm")
    if type(version) is not int or version < 1 or not isinstance(writer, str):
        raise _damaged(path)
    if version > _VERSION:
        raise InputError(
            f"{path} was written by groupcm {brief(writer)} in format {brief(version)}, "
            f"newer than format {_VERSION}, the newest that groupcm {__version__} reads; "
            "install a newer groupcm"
        )
    if content.pop("sha256", None) != _checksum(content):
        raise _damaged(path)
    for name in ("model", "notes"):
        if name not in content:
            raise Damaged(f"{name} is missing")
    return content


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or raise if two of its names are equal."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise Damaged(f"it has two entries {brief(twice)}")
    return found


def _no_number(text: str) -> None:
    raise Damaged(f"it holds {text}, which is not a JSON number")


def _require_plain(content: dict[str, Any]) -> None:
    """Raise for numbers that are not finite, such as 1e999, and for deep nesting."""
    level: list[Any] = [content]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for part in level:
            items = part.values() if isinstance(part, dict) else part
            numbers = (item for item in items if type(item) is float)
            if not all(map(math.isfinite, numbers)):
                raise Damaged("it holds a number beyond the range of floats")
            inner += (item for item in items if isinstance(item, dict | list))
        if not inner:
            return
        level = inner
    raise Damaged(f"its values are nested more than {_DEEPEST} levels deep")


def _take_over_threshold(model: Any, notes: dict[str, Any]) -> None:
    """Set the threshold of a model from its notes, where version 0.1 stored a tuned one."""
    noted, rule = notes.get("operating_point"), getattr(model, "decision_", None)
    if noted and isinstance(rule, DecisionRule) and rule.is_default:
        Number(finite=False, nan=False).check(
            noted["threshold"], "notes.operating_point.threshold", Sizes()
        )
        model.threshold_ = float(noted["threshold"])
        model.decision_ = DecisionRule.of_note(str(noted["chosen"]))


def _kept_notes(model: Any) -> dict[str, Any]:
    """Return the notes that a model, or the one that it calibrates, was read or fitted with."""
    from groupcm.estimators.thresholds import notes_of  # scikit-learn is loaded by now

    found = notes_of(model)
    if found is None:
        return {}
    # The threshold is stored in the model now.
    notes = {k: v for k, v in found.notes.items() if k != "operating_point"}
    if notes.get("held_out") and getattr(model, "threshold_", None) != found.threshold:
        notes["held_out"] = notes["held_out"] | {"sensitivity": None, "specificity": None}
    return notes


def _check_notes(notes: dict[str, Any]) -> None:
    for name, expected in _NOTES.items():
        Nullable(expected).check(notes.get(name), f"notes.{name}", Sizes())


def _damaged(path: Path) -> InputError:
    return InputError(
        f"{path} is damaged or cut short; save the model again or fetch a complete copy"
    )


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
