"""Which of two labels is the positive one.

The classes of a model, and of any metric, are ordered (negative, positive). Without ``pos_label``
the larger label is the positive one, which of two texts is the one that comes later in the
alphabet: a guess, about which a `groupcm.errors.PositiveLabelWarning` is issued.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groupcm.errors import (
    Argument,
    InputError,
    LabelsWarning,
    ParameterError,
    PositiveLabelWarning,
    PythonNote,
    warn_user,
)
from groupcm.utils.text import printable

__all__ = [
    "check_class_order",
    "class_order",
    "label_named",
    "order_classes",
    "positive_label",
    "positive_of_model",
    "require_discrete",
    "require_pos_label",
    "shown_labels",
    "warn_of_many_classes",
    "warn_of_sorting_scorer",
]

# Texts that can only mean the positive class: no warning is needed where one of them is taken.
_SAYS_POSITIVE = ("1", "true", "yes", "positive")
_MOST_SHOWN = 5
# With more numbers than these, a label column is more likely a measurement than a set of classes.
_MANY_CLASSES = 20


def class_order(
    classes: NDArray[Any], pos_label: Any = None, *, where: str = "y"
) -> NDArray[np.intp]:
    """Return the positions of sorted classes in the order of a model: (negative, positive).

    Parameters
    ----------
    classes : ndarray
        The distinct labels, sorted; two, or more where there is no ``pos_label``.
    pos_label : label, optional
        The positive one of two; None is the larger.
    where : str
        What holds the labels, for sentences.

    Warns
    -----
    PositiveLabelWarning
        Where the labels are two texts and ``pos_label`` is not given.

    Examples
    --------
    >>> class_order(np.array(["cancer", "healthy"]), "cancer").tolist()
    [1, 0]
    >>> class_order(np.array([0, 1, 2])).tolist()
    [0, 1, 2]
    >>> class_order(np.array(["cancer", "healthy"]), "Cancer")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: pos_label is 'Cancer', which does not occur: y holds 'cancer' and
    'healthy'.
    """
    if pos_label is None:
        _warn_of_texts(classes)
        return np.arange(len(classes))
    if len(classes) > 2:
        raise ParameterError(
            Argument("pos_label"),
            f" is for two labels, and {where} holds {len(classes)} ({shown_labels(classes)}); "
            "leave it out, or make one label against the rest.",
        )
    values = classes.tolist()
    if pos_label not in values:
        raise ParameterError(
            Argument("pos_label"),
            f" is {printable(repr(_plain(pos_label)))}, which does not occur: "
            f"{where} holds {shown_labels(classes)}.",
        )
    positive = values.index(pos_label)
    return np.array([k for k in range(len(values)) if k != positive] + [positive], dtype=np.intp)


def order_classes(classes: NDArray[Any], pos_label: Any = None, *, where: str = "y") -> Any:
    """Return sorted classes in the order of a model; see `class_order`.

    Examples
    --------
    >>> order_classes(np.array([0, 1]), 0)
    array([1, 0])
    """
    return classes[class_order(classes, pos_label, where=where)]


def check_class_order(classes: NDArray[Any], pos_label: Any) -> None:
    """Raise one sentence where the classes of a model are not in the order of its ``pos_label``.

    Examples
    --------
    >>> check_class_order(np.array(["healthy", "cancer"]), None)
    Traceback (most recent call last):
    groupcm.errors.ParameterError: classes_ are 'healthy' and 'cancer', but with pos_label=None the
    second must be 'healthy'.
    """
    if len(classes) != 2:
        if pos_label is not None:
            raise ParameterError(
                Argument("pos_label"), f" is for two classes, and classes_ holds {len(classes)}."
            )
        return
    positive = max(classes.tolist()) if pos_label is None else pos_label
    if classes.tolist()[1] != positive:
        raise ParameterError(
            f"classes_ are {shown_labels(classes)}, but with ",
            Argument("pos_label", _plain(pos_label)),
            f" the second must be {printable(repr(_plain(positive)))}.",
        )


def label_named(text: str, classes: Sequence[Any]) -> Any:
    """Return the label that is written as this text, such as 1 for "1"; else the text itself.

    Examples
    --------
    >>> label_named("1", [0, 1]), label_named("1", [0.0, 1.0]), label_named("true", [False, True])
    (1, 1.0, True)
    """
    for label in classes:
        if isinstance(label, str):
            is_same = label == text
        elif isinstance(label, bool | np.bool_):
            is_same = str(bool(label)).lower() == text.strip().lower()
        else:
            is_same = _number(text) == label
        if is_same:
            return label
    return text


def positive_of_model(
    classes: NDArray[Any], found: NDArray[Any], pos_label: Any, *, where: str = "y"
) -> Any:
    """Return which of the labels found means the positive class of a model.

    Parameters
    ----------
    classes : ndarray of shape (2,)
        Those of the model.
    found : ndarray
        The labels that occur in ``where``. They may be others than the model's where
        ``pos_label`` is given.
    pos_label : label, optional
        The positive one; None is the model's own.

    Examples
    --------
    >>> positive_of_model(np.array([0, 1]), np.array(["normal", "polyp"]), "polyp")
    'polyp'
    >>> positive_of_model(np.array(["call", "noise"]), np.array(["call", "noise"]), "call")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: pos_label is 'call', but the positive class of the model is
    'noise'; fit the model again with pos_label="call".
    """
    positive = classes.tolist()[1]
    if pos_label is None:
        return positive
    class_order(found, pos_label, where=where)
    others = [label for label in found.tolist() if label != pos_label]
    if positive in others or pos_label == classes.tolist()[0]:
        shown = printable(repr(_plain(pos_label)))
        raise ParameterError(
            Argument("pos_label"),
            f" is {shown}, but the positive class of the model is {printable(repr(positive))}; fit "
            "the model again with ",
            Argument("pos_label", _plain(pos_label)),
            ".",
        )
    return pos_label


def positive_label(given: str | None, classes: NDArray[Any], column: str) -> Any:
    """Return the label of a column that a text names, or None where none is given.

    Parameters
    ----------
    given : str or None
        The positive label as text, as the option ``--positive`` has it.
    classes : ndarray
        The labels that occur.
    column : str
        The column that holds them.

    Examples
    --------
    >>> positive_label("0", np.array([0, 1]), "polyp")
    0
    >>> positive_label("Call", np.array(["call", "noise"]), "sound")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: pos_label is 'Call', which does not occur: the label column
    'sound' holds 'call' and 'noise'.
    """
    if given is None:
        return None
    label = label_named(given, classes.tolist())
    class_order(classes, label, where=f"the label column {column!r}")
    return label


def require_discrete(classes: NDArray[Any], *, where: str = "y") -> None:
    """Raise one sentence where the labels are numbers with decimals, which are not classes.

    Examples
    --------
    >>> require_discrete(np.array([0.0, 1.0]))
    >>> require_discrete(np.array([0.25, 1.5, 3.0]))
    Traceback (most recent call last):
    groupcm.errors.InputError: Unknown label type: continuous; y holds 3 different numbers (0.25,
    1.5 and 3.0), and a classifier needs classes, such as 0 and 1.
    """
    if classes.dtype.kind != "f" or np.all(classes == np.floor(classes)):
        return
    # In scikit-learn's words, which its checks look for.
    raise InputError(
        f"Unknown label type: continuous; {where} holds {len(classes)} different numbers "
        f"({shown_labels(classes)}), and a classifier needs classes, such as 0 and 1."
    )


def warn_of_many_classes(classes: NDArray[Any], *, where: str = "y") -> None:
    """Warn where the labels are so many different numbers that they may not be classes.

    Labels that are texts are classes, however many.

    Warns
    -----
    LabelsWarning
        Where there are more than 20 different numbers.
    """
    if classes.dtype.kind not in "iuf" or len(classes) <= _MANY_CLASSES:
        return
    warn_user(
        f"{where} holds {len(classes)} different numbers ({shown_labels(classes)}), and each is "
        "fitted as a class of its own; if they are not classes, use another label, or make one "
        "of them against the rest.",
        LabelsWarning,
    )


def require_pos_label(pos_label: Any) -> None:
    """Raise one sentence where ``pos_label`` cannot be a label.

    Examples
    --------
    >>> require_pos_label(["cancer"])
    Traceback (most recent call last):
    groupcm.errors.ParameterError: pos_label must be None or a label: a text, a number, True or
    False; got ['cancer'].
    """
    if pos_label is not None and not isinstance(pos_label, str | Real | np.bool_):
        raise ParameterError(
            Argument("pos_label"),
            f" must be None or a label: a text, a number, True or False; got {pos_label!r}.",
        )


def warn_of_sorting_scorer(classes: NDArray[Any]) -> None:
    """Warn where a scorer of scikit-learn asks for scores and takes the larger label as positive.

    Such as ``scoring="roc_auc"``, which has no ``pos_label``: where the smaller label is positive
    it gives one minus the area, and a search over hyperparameters chooses the worst.

    Parameters
    ----------
    classes : ndarray
        Those of the model whose scores are requested.
    """
    if len(classes) != 2 or max(classes.tolist()) == classes.tolist()[1]:
        return
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("sklearn."):
        is_scorer = frame.f_globals["__name__"] == "sklearn.metrics._scorer"
        if is_scorer and frame.f_locals.get("pos_label", ...) is None:
            warn_user(
                "this scorer of scikit-learn takes the larger label as positive, and the model "
                "scores for the smaller one, so that the result is inverted; use "
                "groupcm.metrics.group_roc_auc_scorer, or labels whose larger one is positive.",
                PositiveLabelWarning,
            )
            return
        frame = frame.f_back


def shown_labels(classes: Sequence[Any] | NDArray[Any]) -> str:
    """Return labels as they are listed in a sentence.

    Examples
    --------
    >>> shown_labels(np.array(["a", "b", "c"]))
    "'a', 'b' and 'c'"
    """
    shown = [printable(repr(_plain(label))) for label in list(classes)[:_MOST_SHOWN]]
    if len(classes) > _MOST_SHOWN:
        return f"{', '.join(shown)} and {len(classes) - _MOST_SHOWN} more"
    return " and ".join([", ".join(shown[:-1])] * (len(shown) > 1) + shown[-1:])


def _warn_of_texts(classes: NDArray[Any]) -> None:
    labels = classes.tolist()
    if len(labels) != 2 or not all(isinstance(label, str) for label in labels):
        return
    if labels[1].strip().lower() in _SAYS_POSITIVE:
        return
    negative, positive = (printable(repr(label)) for label in labels)
    warning = PositiveLabelWarning(
        f"of the labels {negative} and {positive}, {positive} is taken as positive, because it is "
        "the later one in the alphabet; name the one that is meant with ",
        Argument("pos_label", labels[0]),
        " or ",
        Argument("pos_label", labels[1]),
        PythonNote(" (on the command line with --positive)"),
        ".",
    )
    warn_user(warning)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _number(text: str) -> float | int | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
