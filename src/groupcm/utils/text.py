"""Formatting of text in messages, on the command line and in reports."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "brief",
    "composed",
    "counted",
    "describe_error",
    "is_control",
    "listed",
    "plural",
    "printable",
    "seconds",
    "shorten_home",
]

_LONGEST = 2_000
_LONGEST_VALUE = 60
_CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # Persian, Hindi and emoji need them, and they are harmless


def is_control(character: str) -> bool:
    r"""Return whether a terminal or a page would interpret a character instead of showing it.

    These are control characters, line ends, marks of the writing direction, other invisible
    formatting characters, and surrogates.

    Examples
    --------
    >>> [is_control(each) for each in ("a", " ", "\n", "\x1b", "\u202e")]
    [False, False, True, True, True]
    """
    return unicodedata.category(character) in _CONTROLS and character not in _JOINERS


def printable(text: object, longest: int = _LONGEST) -> str:
    r"""Return one line of text that is safe to print, whatever its source.

    Control characters (see `is_control`) become their escape sequences; the middle of a text that
    is longer than ``longest`` is left out. Backslashes are kept, so that escaping twice changes
    nothing.

    Examples
    --------
    >>> print(printable("frames\n2.csv \x1b[31m \u202e"))
    frames\n2.csv \x1b[31m \u202e
    >>> printable("a" * 50, longest=9)
    'aaaa … aa'
    """
    shown = _cut(str(text), longest)
    if shown.isascii() and shown.isprintable():
        return shown
    return _cut("".join(map(_escaped, shown)), longest)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    tail = longest // 4
    return f"{text[: longest - tail - 3]} … {text[len(text) - tail :]}"


def _escaped(character: str) -> str:
    return (
        character.encode("unicode_escape").decode("ascii") if is_control(character) else character
    )


def brief(value: Any) -> str:
    r"""Return a value of unknown origin as short text without control characters.

    Examples
    --------
    >>> brief("coef_"), brief("a\x1b[2J"), brief("x" * 100)[-5:]
    ('coef_', "'a\\x1b[2J'", 'xx...')
    """
    if isinstance(value, str) and re.fullmatch(rf"[A-Za-z0-9_.$]{{1,{_LONGEST_VALUE}}}", value):
        return value
    if isinstance(value, int) and value.bit_length() > 128:
        return "a huge whole number"
    text = ascii(value[: 2 * _LONGEST_VALUE] if isinstance(value, str | list | tuple) else value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def listed(words: Sequence[str]) -> str:
    """Join words with commas and "and".

    Examples
    --------
    >>> listed(["SVM"]), listed(["SVM", "MI-SVM", "GCM"])
    ('SVM', 'SVM, MI-SVM and GCM')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def seconds(value: float) -> str:
    """Format a time with as many digits as matter.

    Examples
    --------
    >>> seconds(0.0123), seconds(75.2), seconds(200), seconds(2 * 3600 + 310)
    ('0.012 s', '75 s', '3 min 20 s', '2 h 5 min')
    """
    if value < 9.95:
        return f"{value:.2g} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 2:
        return f"{round(value)} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def counted(value: int, thing: str) -> str:
    """Return a count with its noun, in the plural where needed.

    Examples
    --------
    >>> counted(1, "group"), counted(1200, "body"), counted(0, "polyp")
    ('1 group', '1,200 bodies', '0 polyps')
    """
    return f"{value:,} {thing if value == 1 else plural(thing)}"


def plural(thing: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> plural("crack"), plural("body"), plural("mass"), plural("day")
    ('cracks', 'bodies', 'masses', 'days')
    """
    if thing.endswith("y") and thing[-2:-1] not in set("aeiou"):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith(("s", "x", "ch", "sh")) else f"{thing}s"


def composed(name: str) -> str:
    """Return a name in the form (NFC) in which composed and decomposed accents are equal."""
    return unicodedata.normalize("NFC", name)


def shorten_home(text: object) -> str:
    """Return text in which paths below the home directory begin with ``~``.

    Examples
    --------
    >>> shorten_home(os.path.expanduser("~/models/m.json"))
    '~/models/m.json'
    >>> shorten_home("numpy 2.0")
    'numpy 2.0'
    """
    shown = str(text)
    home = os.path.expanduser("~")
    for folder in {home, os.path.realpath(home)}:
        if len(folder.strip("/\\")) > 0 and folder != "~":
            shown = re.sub(rf"(?<![\w.~-]){re.escape(folder.rstrip('/'))}(?![\w.-])", "~", shown)
    return shown


def describe_error(error: BaseException) -> str:
    """Return the class and the message of an error on one line.

    Examples
    --------
    >>> describe_error(OSError("the disk is full"))
    'OSError: the disk is full'
    """
    return shorten_home(f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": "))
