"""What a review calls things, and its list as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from groupcm.decision import is_alarm

__all__ = ["outcome_of", "results_as_csv", "truth_word"]

_BOX = ("winner_x", "winner_y", "winner_width", "winner_height")
_COLUMNS = [
    *("image", "score", "probability", "threshold", "alarm", "truth", "outcome"),
    *_BOX,
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
    """Write one line per picture: its name, and what the page knows of it (None: not scored yet).

    The column ``alarm`` says whether the score is at least the ``threshold``, which is in every
    line; it is empty where there is no score or no threshold.

    Examples
    --------
    >>> print(results_as_csv([("a, b.png", None)], 0.5).splitlines()[1])
    "a, b.png",,,0.5,,,,,,,,,False,,
    """
    text = io.StringIO()
    rows = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    rows.writeheader()
    for name, result in results:
        known = {"image": name, "threshold": threshold, "marked": False}
        rows.writerow(known | _row(result or {}, threshold))
    return text.getvalue()


def _row(result: Mapping[str, Any], threshold: float | None) -> dict[str, Any]:
    if not result:
        return {}
    mark, score = result["mark"], result["score"]
    box = zip(_BOX, result["winner"] or (), strict=False)
    return {
        **{name: result[name] for name in ("score", "probability", "on_object", "error")},
        **dict(box),
        "alarm": "" if score is None or threshold is None else score >= threshold,
        "truth": truth_word(result["truth"]),
        "outcome": outcome_of(score, result["truth"], threshold),
        "marked": mark is not None,
        "note": "" if mark is None else mark["note"],
    }
