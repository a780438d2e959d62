"""A second model that locates the object, next to the model that scores the group.

Whether a group is positive and which of its candidates is the object are two questions, and the
best model of one is not the best of the other. A pair has a model for each::

    s_k = max_{i in k} f(x_i)          the score of group k, by the model
    i*(k) = argmax_{i in k} g(x_i)     the candidate that locates the object, by the place model

The place model g only ever compares candidates of one group. It is therefore trained on positive
groups alone, in which the candidates that are not positive form one negative group (``among=
"positive"``), or on those together with the negative groups (``among="all"``).

The place model is an attribute of the model, ``place_``, and is stored in its file; fitting the
model again removes it. Groups without an object have a best guess, too.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from groupcm.data.frames import as_frame
from groupcm.data.groups import index_groups
from groupcm.data.validation import as_annotated, as_labels, check_length
from groupcm.errors import Argument, ParameterError
from groupcm.estimators.adapters import fit_with, pos_label_of
from groupcm.estimators.thresholds import ThresholdModel, known_labels
from groupcm.sources.base import Source

__all__ = ["AMONG", "fit_place", "place_model", "place_scores", "set_place"]

#: The groups that a place model can be trained on.
AMONG = ("positive", "all")


def place_model(model: Any) -> Any | None:
    """Return the place model of a model, or of the one that it calibrates; None without one.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> place_model(GroupClassifier()) is None
    True
    """
    while model is not None:
        if getattr(model, "place_", None) is not None:
            return model.place_
        model = getattr(model, "estimator_", None)
    return None


def place_scores(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the score of each candidate by the place model; None without one.

    Only scores of candidates of one group can be compared.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : array, data frame or source
        As for ``model.decision_function``.
    """
    place = place_model(model)
    return None if place is None else np.asarray(place.decision_function(X), dtype=np.float64)


def set_place(model: Any, place: Any) -> Any:
    """Make a fitted model the place model of another one.

    Parameters
    ----------
    model : estimator
        A fitted model of two classes; is changed in place.
    place : estimator or None
        A fitted model of the same features; None removes the place model.

    Returns
    -------
    estimator
        The model.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> X, y = [[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1]
    >>> model, place = (GroupClassifier(lam).fit(X, y) for lam in (0.5, 0.1))
    >>> place_model(set_place(model, place)) is place
    True
    """
    if place is None:
        vars(model).pop("place_", None)
        return model
    if not isinstance(model, ThresholdModel) or not isinstance(place, ThresholdModel):
        wrong = model if not isinstance(model, ThresholdModel) else place
        raise TypeError(
            f"a pair consists of two fitted models of groupcm; got a {type(wrong).__name__}."
        )
    known = [getattr(each, "classes_", ()) for each in (model, place)]
    if [len(classes) for classes in known] != [2, 2]:
        raise ParameterError(
            Argument("place"), " is for models of two classes; fit one of them against the rest"
        )
    if place is model:
        raise ParameterError(Argument("place"), " is the model itself; fit another one")
    if list(known[0]) != list(known[1]):
        raise ParameterError(
            Argument("place"),
            f" has the classes {list(known[1])}, and the model {list(known[0])}; train both with "
            "the same, in the same order",
        )
    names = [list(getattr(each, "feature_names_in_", ())) for each in (model, place)]
    if all(names) and names[0] != names[1]:
        raise ParameterError(
            Argument("place"), " was trained with other features; train both with the same"
        )
    sizes = [getattr(each, "n_features_in_", None) for each in (model, place)]
    if sizes[0] != sizes[1]:
        raise ParameterError(
            Argument("place"),
            f" was trained with {sizes[1]} features, and the model with {sizes[0]}; train both "
            "with the same",
        )
    model.place_ = place
    return model


def fit_place(
    model: Any,
    place: Any,
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    *,
    among: str = "positive",
    patients: ArrayLike | None = None,
    annotated: ArrayLike | None = None,
    objects: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Fit a place model to candidates, and make it the place model of a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted model of two classes; is changed in place.
    place : estimator
        Any classifier of groupcm, which is fitted here.
    X, y, groups, overlap, patients, annotated, objects, sample_weight
        What the model was fitted to; see `GroupClassifier.fit`. Folds of the place model split no
        group and no patient. Unannotated groups are left out.
    among : {"positive", "all"}
        Train on positive groups alone, or on negative ones, too.

    Returns
    -------
    estimator
        The model.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.simulate import capsule
    >>> data = capsule(60, n_positive=30, group_size=10)
    >>> arguments = data.X, data.y, data.groups, data.overlap
    >>> model = GroupClassifier().fit(*arguments)
    >>> model = fit_place(model, GroupClassifier(0.1), *arguments)
    >>> place_scores(model, data.X).shape
    (905,)
    """
    if among not in AMONG:
        raise ParameterError(
            Argument("among"), f" is {among!r}; it must be one of {', '.join(map(repr, AMONG))}"
        )
    if isinstance(X, Source | str | os.PathLike):
        raise TypeError("a place model is fitted to candidates in memory; got a source.")
    X = as_frame(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if groups is None:
        raise ParameterError(
            Argument("place"), " compares the candidates of a group; name the group of each"
        )
    check_length("groups", groups, n)
    rows, marked = place_rows(model.classes_, as_labels(y, n), groups, annotated, among=among)
    given = {
        "overlap": overlap,
        "objects": objects,
        "sample_weight": sample_weight,
        # The two parts of a group stay together.
        "patients": index_groups(groups).codes if patients is None else patients,
    }
    metadata = {name: np.asarray(v)[rows] for name, v in given.items() if v is not None}
    if "pos_label" in place.get_params() and pos_label_of(place) is None:
        place.set_params(pos_label=pos_label_of(model))
    labels = as_labels(y, n)[rows]
    fit_with(place, _rows_of(X, rows), labels, groups=marked, **metadata)
    return set_place(model, place)


def place_rows(
    classes: NDArray[Any],
    y: NDArray[Any],
    groups: ArrayLike,
    annotated: ArrayLike | None = None,
    *,
    among: str = "positive",
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the candidates that a place model is trained on, and their groups.

    The positive candidates of a positive group are one group, and its others another one.

    Examples
    --------
    >>> y, groups = np.array([0, 1, 0, 0, 1]), ["a", "a", "a", "b", "c"]
    >>> place_rows(np.array([0, 1]), y, groups)
    (array([0, 1, 2, 4]), array([1, 0, 1, 4]))
    """
    is_positive = known_labels(classes, y, len(y)) == classes[1]
    index = index_groups(groups)
    has_object = index.maxima(is_positive)[index.codes]
    kept = has_object.copy() if among == "positive" else np.ones(len(y), dtype=bool)
    marks = as_annotated(annotated, len(y))
    if marks is not None:
        kept &= marks | ~has_object
    if not (kept & has_object & ~is_positive).any() and not (kept & ~has_object).any():
        raise ParameterError(
            Argument("place"),
            " needs positive groups with candidates next to the object; every candidate of the "
            "positive groups is positive",
        )
    rows = np.flatnonzero(kept)
    return rows, 2 * index.codes[rows].astype(np.int64) + ~is_positive[rows]


def _rows_of(X: Any, rows: NDArray[np.intp]) -> Any:
    if len(rows) == (X.shape[0] if hasattr(X, "shape") else len(X)):
        return X
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, pa.Table):
        return X.take(rows)
    if sp.issparse(X):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
