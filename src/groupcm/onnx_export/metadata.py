"""What an exported file says of itself."""

from __future__ import annotations

import json
from typing import Any

from groupcm import __version__

__all__ = ["described", "metadata"]


def metadata(model: Any) -> dict[str, str]:
    """Plain texts for those who run the graph and do not know groupcm."""
    told = {
        "groupcm_version": __version__,
        "model": type(model).__name__,
        "classes": json.dumps(model.classes_.tolist(), default=str),
        "decision": _decision(model),
    }
    if model.threshold_ is not None:
        told["positive_class"] = json.dumps(model.classes_.tolist()[1], default=str)
        told["threshold"] = repr(float(model.threshold_))
        told["threshold_chosen"] = model.decision_.words
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        told["feature_names"] = json.dumps([str(name) for name in names])
    return told


def described(model: Any, groups: bool) -> str:
    """The inputs and outputs in words."""
    if not groups:
        return "X: a row a candidate. scores: of each candidate."
    words = (
        "X: a row a candidate. groups: the number of each candidate's group, from 0. "
        "scores: of each candidate. group_scores: the largest of each group. winners: the row "
        "that has it, of equal ones the first; -1 where a group has no candidate."
    )
    if hasattr(model, "calibrator_"):
        words += " probabilities: of each class, a row a group."
    return words


def _decision(model: Any) -> str:
    if len(model.classes_) > 2:
        return "the class of the largest score"
    return "the second class where the score is at least the threshold, else the first"
