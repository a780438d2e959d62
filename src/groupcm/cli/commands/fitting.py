"""A model fitted to rows in memory, with all that is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.estimators.adapters import fit_with
from groupcm.estimators.training.fit_setup import naming_features

__all__ = ["fit_rows", "tell_names"]


def fit_rows(
    model: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    beside: Mapping[str, NDArray[Any]],
    names: Sequence[str],
) -> None:
    """Fit a model, which also learns the names of the features.

    Parameters
    ----------
    model : estimator
        Is fitted in place.
    X, y : ndarray
        Candidates and their labels.
    beside : mapping
        One value a candidate: ``groups``, ``overlap``, ``patients``, ``annotated`` and
        ``objects``, as many as are known.
    names : sequence of str
        Of the features.
    """
    with naming_features(names):
        fit_with(model, X, y, **beside)
    tell_names(model, names)


def tell_names(model: Any, names: Sequence[str]) -> None:
    """Let a model, and the one within it, know its features by name."""
    while model is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
        model = getattr(model, "estimator_", None)
