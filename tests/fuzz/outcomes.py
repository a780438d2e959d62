"""What a case can end in."""

from __future__ import annotations

import traceback
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["FAILURES", "OUTCOMES", "Failed", "Verdict", "judge_error", "judge_refusal"]

PASSES = {
    "ok": "ok",
    "stopped": "stopped early",  # with a warning that says so
    "refused": "clean refusal",
}
FAILURES = {
    "false_bound": "false bound",
    "wrong_model": "wrong model",
    "unclean_error": "unclean error",
    "death": "process death",
    "over_time": "over time",
    "over_memory": "over memory",
}
OUTCOMES = PASSES | FAILURES

_LONGEST_SENTENCE = 2000


class Failed(Exception):
    """A check that did not hold: the outcome it means, which check it was, and the figures."""

    def __init__(self, outcome: str, check: str, detail: str) -> None:
        super().__init__(f"{outcome}: {check}: {detail}")
        self.outcome, self.check, self.detail = outcome, check, detail


@dataclass(frozen=True)
class Verdict:
    """How a case ended.

    Attributes
    ----------
    outcome : a key of `OUTCOMES`
    check : str
        What failed, without figures: cases with the same check are the same defect.
    detail : str
        The figures, or the message.
    """

    outcome: str
    check: str = ""
    detail: str = ""
    cpu_seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def is_failure(self) -> bool:
        return self.outcome in FAILURES

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge_error(error: BaseException) -> Verdict:
    """The verdict on an error that nothing called for."""
    if isinstance(error, Failed):
        return Verdict(error.outcome, error.check, error.detail)
    outcome = "over_memory" if _ran_out_of_memory(error) else "unclean_error"
    return Verdict(outcome, f"{type(error).__name__} {_place(error)}", _text(error))


def judge_refusal(error: Exception) -> Verdict:
    """The verdict on an error that was called for: it must be one sentence for the user."""
    is_clean = isinstance(error, ValueError) and _is_sentence(str(error))
    if is_clean and not _ran_out_of_memory(error):
        return Verdict("refused", "", _text(error))
    return judge_error(error)


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _is_sentence(message: str) -> bool:
    return 15 <= len(message) <= _LONGEST_SENTENCE and message.isprintable()


def _ran_out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _place(error: BaseException) -> str:
    """Where the library was when it raised: the innermost of its own lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "groupcm" in f.filename and "site-packages" not in f.filename]
    if not own:
        own = frames[-1:]
    return f"in {own[-1].name}" if own else ""
