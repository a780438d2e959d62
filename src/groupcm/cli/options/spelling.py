"""How messages name options: ``--memory`` on the command line where Python has ``memory``.

Only the standard library is imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
from contextvars import ContextVar

from groupcm import TYPE_CHECKING
from groupcm.errors import Argument, FileName, Message
from groupcm.estimators.hyperparameters import LINEAR, TREES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["in_options", "name_options"]

# Parameters of Python whose option has another name, in the commands that have that option.
_OTHER_NAMES = {
    "cv": "--folds",
    "frames_per_video": "--frames",
    "n_files": "--files",
    "n_folds": "--folds",
    "n_negative": "--negatives",
    "n_patients": "--patients",
    "n_positive": "--positives",
    "n_settings": "--settings",
    "n_studies": "--studies",
    "pos_label": "--positive",
    "sample_weight": "--weight",
    "videos_per_patient": "--videos",
}
_OF_FIT = {each.name: each.option for each in (*TREES, *LINEAR) if each.option is not None}
_options: ContextVar[Mapping[str, str]] = ContextVar("options", default={})  # noqa: B039


def name_options(parser: argparse.ArgumentParser) -> None:
    """Let `in_options` name the options of this parser from now on.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--min-overlap")
    >>> name_options(parser)
    >>> in_options(Message("lower ", Argument("min_overlap"), ", or raise ", Argument("lam")))
    'lower --min-overlap, or raise --lam of groupcm fit'
    """
    actions = parser._actions
    found = {each.dest: each.option_strings[-1] for each in actions if each.option_strings}
    others = {name: option for name, option in _OTHER_NAMES.items() if option in found.values()}
    _options.set(found | others)


def in_options(message: BaseException) -> str:
    """Return the message of an error or a warning, with options where Python has parameters.

    A parameter of an estimator that the running command has no option for is named by the option
    of ``groupcm fit``.
    """
    return message.message(_option) if isinstance(message, Message) else str(message)


def _option(argument: Argument | FileName) -> str:
    if isinstance(argument, FileName):
        return str(argument)
    options, name = _options.get(), argument.name
    option = options.get(name)
    if option is None:
        if name not in _OF_FIT:
            return str(argument)
        return f"{_with_value(_OF_FIT[name], argument)} of groupcm fit"
    return _with_value(option, argument)


def _with_value(option: str, argument: Argument) -> str:
    if argument.value is ... or isinstance(argument.value, bool):
        return option
    if argument.value is None:
        return f"no {option}"
    from shlex import quote

    if isinstance(argument.value, list):
        return f"{option} {quote(','.join(map(str, argument.value)))}"
    return f"{option} {quote(argument.shown_value)}"
