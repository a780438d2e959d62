"""A cache of scores, so that the same model does not score the same pictures at every start.

The file has one line of JSON per picture, after a header that identifies the model. The cache is
a convenience: a line that cannot be read is left out, another kind of file is not touched, and if
the file cannot be written nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.utils.files import whole_file
from groupcm.web.server.scored_pictures import PictureResult

__all__ = ["ScoreCache", "cache_next_to"]

_FORMAT = "groupcm-review-cache"


def cache_next_to(flags: str | os.PathLike[str], model: str | os.PathLike[str]) -> ScoreCache:
    """Return the cache that belongs to a file of flags and a model file.

    Examples
    --------
    >>> cache_next_to("frames/review.csv", __file__).path.name
    '.review-cache'
    """
    flags = Path(flags)
    of_model = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    return ScoreCache(flags.with_name(f".{flags.stem}-cache"), f"{of_model} {__version__}")


class ScoreCache:
    """Results of pictures by name and stamp.

    Parameters
    ----------
    path
        The file.
    key
        What scores depend on besides the picture: results with another key are dropped.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / ".review-cache"
    >>> cache = ScoreCache(path, "a model")
    >>> cache.open({"a.png": "1"})
    {}
    >>> cache.add("a.png", "1", PictureResult(0.5, None, (0.0, 0.0, 2.0, 2.0), 8, 6))
    >>> ScoreCache(path, "a model").open({"a.png": "1"})["a.png"].score
    0.5
    >>> ScoreCache(path, "a model").open({"a.png": "changed since"})
    {}
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self.path = Path(path)
        self._header = {"format": _FORMAT, "key": key}
        self._lock = threading.Lock()
        self._is_used = False

    def open(self, stamps: Mapping[str, str]) -> dict[str, PictureResult]:
        """Return the results of pictures with these stamps, and begin to keep new results.

        The file is rewritten with the results that are still valid.
        """
        lines = self._lines()
        if lines is None:
            return {}
        known: dict[str, tuple[PictureResult, str]] = {}
        for line in lines:
            name, stamp, result = _read_line(line)
            if result is not None and stamp and stamps.get(name) == stamp:
                known[name] = result, line
        try:
            with whole_file(self.path) as temporary:
                kept = [json.dumps(self._header), *(line for _, line in known.values())]
                temporary.write_text("\n".join(kept) + "\n", encoding="utf-8")
            self._is_used = True
        except (OSError, InputError):
            self._is_used = False
        return {name: result for name, (result, _) in known.items()}

    def add(self, name: str, stamp: str, result: PictureResult) -> None:
        """Append a result to the file."""
        line = json.dumps({"name": name, "stamp": stamp, **asdict(result)}) + "\n"
        with self._lock:
            if not self._is_used:
                return
            try:
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(line)
            except OSError:
                self._is_used = False

    def _lines(self) -> list[str] | None:
        """Return the lines of this key; none if the key differs, None for another kind of file."""
        try:
            header, *lines = self.path.read_text(encoding="utf-8").splitlines() or [""]
            found = json.loads(header)
        except FileNotFoundError:
            return []
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            return None
        return lines if found == self._header else []


def _read_line(line: str) -> tuple[str, str, PictureResult | None]:
    """Return name, stamp and result; no result if the line is damaged."""
    try:
        values: dict[str, Any] = json.loads(line)
        name, stamp = str(values.pop("name")), str(values.pop("stamp"))
        values["winner"] = _numbers(values["winner"])
        values.pop("mean", None)  # version 0.1 kept the mean features, too
        result = PictureResult(**values)
        if not _is_possible(result):
            raise ValueError(line)
    except (ValueError, TypeError, KeyError, AttributeError):
        return "", "", None
    return name, stamp, result


def _is_possible(result: PictureResult) -> bool:
    left, top, width, height = result.winner
    return (
        isfinite(result.score)
        and 0 <= left < left + width <= result.width + 1
        and 0 <= top < top + height <= result.height + 1
    )


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
