"""Model cards: what a fitted model is, was trained on and can do, as text and as JSON."""

from groupcm.report.model_card.card import (
    HeldOut,
    ModelCard,
    Validation,
    best_validation,
    held_out_of,
)
from groupcm.report.model_card.reading import fit_notes, model_card, training_notes

__all__ = [
    "HeldOut",
    "ModelCard",
    "Validation",
    "best_validation",
    "fit_notes",
    "held_out_of",
    "model_card",
    "training_notes",
]
