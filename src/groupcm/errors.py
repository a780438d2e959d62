"""The exceptions and the warnings of groupcm, to be caught or silenced by their class.

Their messages are given in parts, so that the command line can spell the arguments that they name
as options. Nothing in groupcm depends on the wording of a message.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable

from groupcm.utils.text import printable

__all__ = [
    "Argument",
    "CertificateError",
    "ClusterError",
    "ConstantFeaturesWarning",
    "FileName",
    "GroupsWarning",
    "InputError",
    "LabelsWarning",
    "LambdaAtEndWarning",
    "LeakageWarning",
    "Message",
    "MessageWarning",
    "NotWritableError",
    "OverlapWarning",
    "ParameterError",
    "PositiveLabelWarning",
    "PythonNote",
    "SetAsideWarning",
    "ShiftWarning",
    "SmallRangeWarning",
    "ThresholdWarning",
    "TreesWarning",
    "TruncatedVideoWarning",
    "UnusedParameterWarning",
    "warn_user",
]

# Packages whose lines are not where a user's mistake is.
_INSIDE = ("groupcm", "sklearn", "joblib")
_SHOWN: set[tuple[str, str, int]] = set()


class Argument:
    """An argument that a message names, alone or with a value.

    Python spells it ``memory`` or ``background="negative"``. The command line spells the same
    argument ``--memory`` or ``--background negative``, from the fields and not from the sentence.

    Parameters
    ----------
    name : str
        The name of the parameter in Python.
    value : object, optional
        The value that the message proposes or complains about.

    Examples
    --------
    >>> print(Argument("memory"), Argument("background", "negative"), Argument("cv", 3))
    memory background="negative" cv=3
    """

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: object = ...) -> None:
        self.name = name
        self.value = value

    def __str__(self) -> str:
        if self.value is ...:
            return self.name
        quote = '"' if isinstance(self.value, str) else ""
        return f"{self.name}={quote}{self.shown_value}{quote}"

    @property
    def shown_value(self) -> str:
        """The value as text, without quotes and without the zeros of a float."""
        return f"{self.value:g}" if isinstance(self.value, float) else str(self.value)

    def __repr__(self) -> str:
        value = "" if self.value is ... else f", {self.value!r}"
        return f"Argument({self.name!r}{value})"


class FileName:
    """A file or a folder that a message names.

    A page that received the file from a browser spells it without its temporary place.

    Examples
    --------
    >>> print(InputError(FileName("marks.json"), " is empty"))
    marks.json is empty
    """

    __slots__ = ("path",)

    def __init__(self, path: object) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"FileName({str(self.path)!r})"


class PythonNote(str):
    """A part of a message that helps in Python alone; the command line leaves it out.

    Examples
    --------
    >>> error = InputError("The rows do not fit.", PythonNote(" Pass a source."))
    >>> print(error)
    The rows do not fit. Pass a source.
    >>> error.message(lambda part: f"--{part.name}")
    'The rows do not fit.'
    """

    __slots__ = ()


class Message(BaseException):
    """An exception or a warning whose message is given in parts.

    A part is text, an `Argument`, a `FileName`, a `PythonNote`, or another exception, whose own
    message it is.
    """

    def message(self, spell: Callable[[Argument | FileName], str] = str) -> str:
        """Return the message, every argument and file that it names spelled by ``spell``."""
        return printable("".join(_spelled(part, spell) for part in self.args))

    def __str__(self) -> str:
        return self.message()


def _spelled(part: object, spell: Callable[[Argument | FileName], str]) -> str:
    if isinstance(part, Argument | FileName):
        return spell(part)
    if isinstance(part, PythonNote) and spell is not str:
        return ""
    return part.message(spell) if isinstance(part, Message) else str(part)


class InputError(Message, ValueError):
    r"""A mistake in what was given: one sentence saying what, where, and what would be right.

    The command line prints the sentence alone, without a traceback, and exits with status 2.
    Names from files may contain anything: characters that a terminal would interpret are escaped
    (`groupcm.utils.text.printable`).

    Parameters
    ----------
    *message : str, Argument, FileName, PythonNote or exception
        The parts of the sentence, which are joined.
    file, column, row, group : optional
        Where the mistake is, as far as this is known; the file is by default the first that the
        message names.
    parameter : str, optional
        The parameter that has a wrong value; by default the first that the message names.

    Examples
    --------
    >>> raise InputError("frames.csv has no column 'frame'; did you mean 'Frame'?")
    Traceback (most recent call last):
    groupcm.errors.InputError: frames.csv has no column 'frame'; did you mean 'Frame'?
    >>> print(InputError("two\nlines.csv is empty"))
    two\nlines.csv is empty
    >>> error = InputError("the rows do not fit; raise ", Argument("memory"), ".")
    >>> print(error, error.parameter)
    the rows do not fit; raise memory. memory
    >>> error.message(lambda part: f"--{part.name}")
    'the rows do not fit; raise --memory.'
    """

    def __init__(
        self,
        *message: object,
        file: object = None,
        column: object = None,
        row: object = None,
        group: object = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(*message)
        files = (part.path for part in message if isinstance(part, FileName))
        named = (part.name for part in message if isinstance(part, Argument))
        self.file = next(files, None) if file is None else file
        self.column = column
        self.row = row
        self.group = group
        self.parameter = next(named, None) if parameter is None else parameter
        for part in message:
            if isinstance(part, InputError):
                self._take_over(part)

    def _take_over(self, inner: InputError) -> None:
        """Take the fields that are not known here from an error that the message quotes."""
        for name in ("file", "column", "row", "group", "parameter"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(inner, name))


class ParameterError(InputError):
    """A value that a parameter of a function or an estimator cannot have.

    Examples
    --------
    >>> raise ParameterError(Argument("lam"), " must be a number between 0 and 1; got 2.")
    Traceback (most recent call last):
    groupcm.errors.ParameterError: lam must be a number between 0 and 1; got 2.
    """


class NotWritableError(InputError):
    """A file that cannot be written, because the user has no permission."""


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


class CertificateError(RuntimeError):
    """A lower bound of the optimum exceeds an objective that was reached: a bug of groupcm.

    Rounding alone cannot explain it, so neither of the two numbers can be trusted. Please report
    it, with the data if possible.
    """


class MessageWarning(Message, UserWarning):
    """A warning of groupcm, whose message may be given in parts.

    Parameters
    ----------
    *message : str, Argument, PythonNote or exception
        The parts of the sentence, which are joined.
    alike : str, optional
        Warnings of one class with the same ``alike`` differ in their numbers only, so that
        several of them can be shown as one.
    """

    def __init__(self, *message: object, alike: str | None = None) -> None:
        super().__init__(*message)
        self.alike = alike


class ConstantFeaturesWarning(MessageWarning):
    """Features are constant up to rounding and get the weight 0."""


class GroupsWarning(MessageWarning):
    """A fit got no groups, although its data look like candidates of groups."""


class LabelsWarning(MessageWarning):
    """The labels are so many different numbers that they may not be classes."""


class LambdaAtEndWarning(MessageWarning):
    """The best λ is the smallest or the largest of those tried, so that a better one may exist."""


class LeakageWarning(MessageWarning):
    """A feature is named like a label or a patient, or alone separates candidates or groups."""


class OverlapWarning(MessageWarning):
    """Positive groups are left out of the training because they overlap too little."""


class PositiveLabelWarning(MessageWarning):
    """Of two labels that are texts, the one later in the alphabet was taken as positive."""


class SetAsideWarning(MessageWarning):
    """Files or pictures were set aside; the message counts them and names one."""


class ShiftWarning(MessageWarning):
    """Candidates to score differ from those of the training by more than chance."""


class SmallRangeWarning(MessageWarning):
    """Pictures of more than 8 bits use a small part of their range, and so look almost uniform."""


class ThresholdWarning(MessageWarning):
    """A threshold cannot do what was asked of it, such as one that never raises an alarm."""


class TreesWarning(MessageWarning):
    """Trees could not be grown as asked: none could split, or no groups could be left out."""


class TruncatedVideoWarning(MessageWarning):
    """A video has fewer frames than it states, because it was cut off."""


class UnusedParameterWarning(MessageWarning):
    """A hyperparameter was set that has no effect with the others."""


def warn_user(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warn at the user's own line: the first one outside groupcm and scikit-learn.

    ``category`` is the class of a message that is text.

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
    if not isinstance(message, Warning):
        message = (category or UserWarning)(message)
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    if frame is not None and _is_shown_once(message):
        place = (str(message), frame.f_code.co_filename, frame.f_lineno)
        if place in _SHOWN:
            return
        _SHOWN.add(place)
    warnings.warn(message, stacklevel=level)


def _is_shown_once(warning: Warning) -> bool:
    """Return whether the filters of warnings show a message once only, as they do by default.

    The user's filters may look at the text, as those of Python do.
    """
    for action, text, kind, module, line in warnings.filters:
        is_meant = isinstance(warning, kind) and module is None and line == 0
        if is_meant and (text is None or re.match(text, str(warning))):
            return action in ("default", "module", "once")
    return True
