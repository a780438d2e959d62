"""What a fitted model is, was trained on and can do, for people and for programs."""

from groupcm.model_card.card import ModelCard
from groupcm.model_card.held_out import HeldOut, held_out_of
from groupcm.model_card.reading import model_card
from groupcm.model_card.training_notes import training_notes
from groupcm.model_card.validation import Validation, best_validation

__all__ = [
    "HeldOut",
    "ModelCard",
    "Validation",
    "best_validation",
    "held_out_of",
    "model_card",
    "training_notes",
]
