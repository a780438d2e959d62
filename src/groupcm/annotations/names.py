"""Names of pictures as annotation files write them, brought to one form.

A name is relative to the folder of pictures, with ``/`` between folders. A backslash in a file is
the separator of another system, unless a picture of exactly that name is there.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from groupcm.annotations.limits import LONGEST_NAME

__all__ = ["check_printable", "relative_name"]

_DRIVE = re.compile(r"[A-Za-z]:")


def relative_name(written: str) -> str:
    r"""Bring a written name to its one form, and refuse what would leave the folder.

    Examples
    --------
    >>> relative_name(r".\day one\été 1.jpg")
    'day one/été 1.jpg'
    >>> relative_name("../secret.png")
    Traceback (most recent call last):
    ValueError: the picture '../secret.png' lies outside the folder of pictures; give its name
    relative to that folder
    """
    if not isinstance(written, str) or not written.strip():
        raise ValueError(f"the picture's name is {written!r}; it must be a file name")
    if len(written) > LONGEST_NAME:
        raise ValueError(
            f"the picture's name has {len(written):,} characters; at most {LONGEST_NAME:,} are read"
        )
    check_printable(written, "the picture's name")
    path = PurePosixPath(written.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or _DRIVE.match(written):
        raise ValueError(
            f"the picture {written!r} lies outside the folder of pictures; "
            "give its name relative to that folder"
        )
    if path == PurePosixPath("."):
        raise ValueError(f"the picture's name is {written!r}; it must be a file name")
    return str(path)


def check_printable(text: str, what: str) -> None:
    r"""Refuse names that not every format can write: line breaks, control codes, broken Unicode.

    Examples
    --------
    >>> check_printable("a\nb", "the category")
    Traceback (most recent call last):
    ValueError: the category 'a\nb' holds '\n', which is no printable character
    """
    for character in text:
        if (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
            or ord(character) & 0xFFFE == 0xFFFE
        ):
            raise ValueError(
                f"{what} {text!r} holds {character!r}, which is no printable character"
            )
