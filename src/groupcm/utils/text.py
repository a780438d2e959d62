"""Formatting of text in messages, on the command line and in reports."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence

# Importing `typing` for its constant of this name would double the time of `groupcm --help`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "brief",
    "capitalised",
    "composed",
    "counted",
    "describe_error",
    "in_unit",
    "is_control",
    "listed",
    "plural",
    "printable",
    "seconds",
    "shorten_home",
    "singular",
    "there_are",
]

_LONGEST = 2_000
_LONGEST_VALUE = 60
_CONTROLS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# "group" as a word of a sentence, and not as a part of a file's name or between quotes.
_GROUP = re.compile(r"(?<![\w./\\'\"`=-])([Gg])roup(s?)(?![\w/\\'\"`=-]|\.\w)")
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
    >>> counted(1, "group"), counted(1200, "body"), counted(0, "polyp"), counted(2, "ox/oxen")
    ('1 group', '1,200 bodies', '0 polyps', '2 oxen')
    """
    return f"{value:,} {singular(thing) if value == 1 else plural(thing)}"


def plural(thing: str) -> str:
    """Return the plural of a noun; one that is irregular follows a slash.

    Examples
    --------
    >>> plural("crack"), plural("body"), plural("mass"), plural("day"), plural("mouse/mice")
    ('cracks', 'bodies', 'masses', 'days', 'mice')
    """
    one, many = _forms(thing)
    if many:
        return many
    if one.endswith("y") and one[-2:-1] not in set("aeiou"):
        return f"{one[:-1]}ies"
    return f"{one}es" if one.endswith(("s", "x", "ch", "sh")) else f"{one}s"


def capitalised(text: str) -> str:
    """Return a text whose first letter is a capital; the others stay.

    Examples
    --------
    >>> capitalised("X-ray"), capitalised("frame of B"), capitalised("")
    ('X-ray', 'Frame of B', '')
    """
    return f"{text[:1].upper()}{text[1:]}"


def singular(thing: str) -> str:
    """Return a noun without the plural that may follow a slash.

    Examples
    --------
    >>> singular("frame"), singular("query/queries"), singular("left/right")
    ('frame', 'query', 'left/right')
    """
    return _forms(thing)[0]


def _forms(thing: str) -> tuple[str, str]:
    """Return a noun, and the plural that is given with it; both begin with the same letter."""
    one, _, many = (each.strip() for each in thing.partition("/"))
    if one and many and "/" not in many and one[0].casefold() == many[0].casefold():
        return one, many
    return thing, ""


def in_unit(text: str, unit: str) -> str:
    """Return a sentence in which a group is called by the user's word for it.

    Names of files, and what is between quotes, keep theirs.

    Examples
    --------
    >>> in_unit("Groups of groups.csv; each group", "frame")
    'Frames of groups.csv; each frame'
    """
    if unit == "group":
        return text

    def said(found: re.Match[str]) -> str:
        word = plural(unit) if found[2] else singular(unit)
        return capitalised(word) if found[1] == "G" else word

    return _GROUP.sub(said, text)


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


def there_are(names: Iterable[str]) -> str:
    """List the names that exist, for the end of an error message.

    Examples
    --------
    >>> there_are(["polyp"]), there_are(["polyp", "ulcer"]), there_are([])
    ("there is 'polyp'", "there are 'polyp', 'ulcer'", 'there are none')
    """
    quoted = [repr(name) for name in names]
    return f"there {'is' if len(quoted) == 1 else 'are'} {', '.join(quoted) or 'none'}"
