"""A model card: what a model is, as plain values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from groupcm.model_card.held_out import HeldOut
from groupcm.model_card.validation import Validation

__all__ = [
    "Certificate",
    "ChosenByFolds",
    "Features",
    "ModelCard",
    "Threshold",
    "TrainedOn",
    "Trees",
]

# What a terminal or an editor obeys instead of showing it; JSON has escapes for these too.
_NOT_SHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_FORMAT = "groupcm-model-card"
_VERSION = 1


@dataclass(frozen=True)
class Features:
    """What a model looks at; ``names`` is None where nobody named them."""

    count: int
    names: Sequence[str] | None = None
    map: str | None = None
    count_of_map: int | None = None


@dataclass(frozen=True)
class TrainedOn:
    """How much a model was trained on; None for what is not known."""

    tables: Sequence[str] | None = None
    n_candidates: int | None = None
    n_positive_groups: int | None = None
    n_negative_groups: int | None = None
    n_patients: int | None = None
    n_unannotated_groups: int | None = None
    date: str | None = None


@dataclass(frozen=True)
class Certificate:
    """How near a linear model is to the best possible: a value a problem that was solved."""

    objective: Sequence[float]
    lower_bound: Sequence[float]
    gap: Sequence[float]
    tol: float
    passes: Sequence[float]


@dataclass(frozen=True)
class Trees:
    """How many trees there are, and by what that was chosen."""

    count: Sequence[int]
    validation: Validation | None = None


@dataclass(frozen=True)
class ChosenByFolds:
    """The λ that folds chose, and the metric over the folds."""

    lam: float
    metric: str
    mean: float
    low: float
    high: float
    n_folds: int


@dataclass(frozen=True)
class Threshold:
    """From which score on a group is an alarm, and who chose that."""

    value: float
    chosen: str


@dataclass(frozen=True)
class ModelCard:
    """What a model is, was trained on and can do; made by `model_card`.

    Attributes
    ----------
    model : str
        The class of groupcm.
    kind : {"linear", "trees", "other"}
    classes : sequence
        The last is the positive one where there are two.
    positive_class : object or None
    features : Features
    trained_on : TrainedOn
    certificate : Certificate or None
        Of a linear model.
    trees : Trees or None
    chosen_by_folds : ChosenByFolds or None
    held_out : HeldOut or None
        On groups that folds left out.
    threshold : Threshold or None
    calibration : str or None
        How probabilities come about: "sigmoid" or "isotonic".
    parameters : mapping
        Of the estimator that was trained.
    columns : mapping
        The column of each role in the tables trained on.
    versions : mapping
        Of what it was trained with; "groupcm" wrote the file.
    """

    model: str
    kind: str
    classes: Sequence[Any]
    positive_class: Any
    features: Features
    trained_on: TrainedOn = field(default_factory=TrainedOn)
    certificate: Certificate | None = None
    trees: Trees | None = None
    chosen_by_folds: ChosenByFolds | None = None
    held_out: HeldOut | None = None
    threshold: Threshold | None = None
    calibration: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The card as plain text."""
        from groupcm.model_card.layouts import as_text

        return as_text(self)

    def markdown(self) -> str:
        """The card as Markdown."""
        from groupcm.model_card.layouts import as_markdown

        return as_markdown(self)

    def json(self) -> str:
        """The card as JSON: every attribute under its own name.

        What is not known is null, an infinite number is "inf" or "-inf".
        """
        plain = {"format": _FORMAT, "version": _VERSION, **_plain(asdict(self))}
        text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
        return _NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    """JSON's own values, which have no word for NaN and infinity."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
