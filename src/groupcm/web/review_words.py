"""What a review calls things, and its list as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from groupcm.decision import is_alarm

__all__ = ["outcome_of", "results_as_csv", "truth_word"]

_COLUMNS = [
    *("image", "score", "probability", "truth", "outcome"),
    *("winner_x", "winner_y", "winner_width", "winner_height"),
    *("on_object", "marked", "note", "error"),
]


def truth_word(truth: bool | None) -> str:
    """Return "positive", "negative", or nothing where nobody knows."""
    return "" if truth is None else "positive" if truth else "negative"


def outcome_of(score: float | None, truth: bool | None, threshold: float | None) -> str:
    """Say how an alarm from a threshold on compares with the truth; nothing where that is unknown.

    Examples
    --------
    >>> outcome_of(0.5, False, 0.5), outcome_of(0.4, True, 0.5), outcome_of(0.4, None, 0.5)
    ('false positive', 'false negative', '')
    """
    if score is None or truth is None or threshold is None:
        return ""
    alarm = bool(is_alarm(score, threshold))
    return f"{'true' if alarm == truth else 'false'} {'positive' if alarm else 'negative'}"


def results_as_csv(
    results: Iterable[tuple[str, Mapping[str, Any] | None]], threshold: float | None
) -> str:
    """Write a line a picture: its name, and what the page knows of it (None: not scored yet).

    Examples
    --------
    >>> print(results_as_csv([("a, b.png", None)], 0.5).splitlines()[1])
    "a, b.png",,,,,,,,,,False,,
    """
    text = io.StringIO()
    rows = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    rows.writeheader()
    for name, result in results:
        rows.writerow({"image": name, "marked": False} | _row(result or {}, threshold))
    return text.getvalue()


def _row(result: Mapping[str, Any], threshold: float | None) -> dict[str, Any]:
    if not result:
        return {}
    mark = result["mark"]
    box = zip(_COLUMNS[5:9], result["winner"] or (), strict=False)
    return {
        **{name: result[name] for name in ("score", "probability", "on_object", "error")},
        **dict(box),
        "truth": truth_word(result["truth"]),
        "outcome": outcome_of(result["score"], result["truth"], threshold),
        "marked": mark is not None,
        "note": "" if mark is None else mark["note"],
    }
