"""The exceptions and the warnings of groupcm that a user can catch, or silence by their class."""

from __future__ import annotations

import re
import sys
import warnings

from groupcm.utils.text import printable

__all__ = [
    "CertificateError",
    "ClusterError",
    "GroupsWarning",
    "InputError",
    "LambdaAtEndWarning",
    "LeakageWarning",
    "PositiveLabelWarning",
    "SetAsideWarning",
    "ShiftWarning",
    "SmallRangeWarning",
    "ThresholdWarning",
    "warn_user",
]

# Packages whose lines are not where a user's mistake is.
_INSIDE = ("groupcm", "sklearn", "joblib")
_SHOWN: set[tuple[str, str, int]] = set()


class InputError(ValueError):
    r"""A mistake in what was given: one sentence saying what, where, and what would be right.

    The command line shows the sentence alone, without a traceback, and ends
    with status 2. Names from files may hold anything: what a terminal would obey instead of
    showing it is escaped (`groupcm.utils.text.printable`).

    Examples
    --------
    >>> raise InputError("frames.csv has no column 'frame'; did you mean 'Frame'?")
    Traceback (most recent call last):
    groupcm.errors.InputError: frames.csv has no column 'frame'; did you mean 'Frame'?
    >>> print(InputError("two\nlines.csv is empty"))
    two\nlines.csv is empty
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(message))


class SetAsideWarning(UserWarning):
    """Files or pictures were set aside; the message counts them and names one."""


class ClusterError(InputError, RuntimeError):
    """A Dask cluster that cannot do the work: one sentence with the cause and the remedy.

    It is raised for a cluster without workers, a scheduler that does not answer, and a
    partition whose workers die while they read it or work on it.

    Examples
    --------
    >>> raise ClusterError("the Dask cluster has had no worker for 120 seconds; start one")
    Traceback (most recent call last):
    groupcm.errors.ClusterError: the Dask cluster has had no worker for 120 seconds; start one
    """


class ThresholdWarning(UserWarning):
    """A threshold that cannot do what was asked of it, such as one that never raises an alarm."""


class ShiftWarning(UserWarning):
    """Candidates that are scored differ from those of the training by more than chance."""


class SmallRangeWarning(UserWarning):
    """Pictures of more than 8 bits use a small part of their range, and so look almost uniform."""


class CertificateError(RuntimeError):
    """A lower bound of the optimum lies above an objective that was reached: a bug of groupcm.

    Rounding alone cannot explain it, so neither of the two numbers can be trusted. Please report
    it, with the data if possible.
    """


class GroupsWarning(UserWarning):
    """A fit got no groups, although its data look like candidates of groups."""


class LambdaAtEndWarning(UserWarning):
    """The best λ is the smallest or the largest of those tried, so that a better one may exist."""


class LeakageWarning(UserWarning):
    """A feature is named like a label or a patient, or alone separates candidates or groups."""


class PositiveLabelWarning(UserWarning):
    """Of two labels that are texts, the one later in the alphabet was taken as positive."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's own line: the first one outside groupcm and scikit-learn.

    By default a message is shown once per such line, also where one line fits many models, such
    as those of `sklearn.model_selection.cross_val_score`. Python alone would show it for every
    fit, since scikit-learn changes the filters of warnings for a moment in each.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn_user("the labels are texts.", PositiveLabelWarning)
    >>> caught[0].category.__name__
    'PositiveLabelWarning'
    """
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    if frame is not None and _is_shown_once(message, category):
        place = (message, frame.f_code.co_filename, frame.f_lineno)
        if place in _SHOWN:
            return
        _SHOWN.add(place)
    warnings.warn(message, category, stacklevel=level)


def _is_shown_once(message: str, category: type[Warning]) -> bool:
    """Return whether the filters of warnings show a message once only, as they do by default."""
    for action, text, kind, module, line in warnings.filters:
        is_meant = issubclass(category, kind) and module is None and line == 0
        if is_meant and (text is None or re.match(text, message)):
            return action in ("default", "module", "once")
    return True
