"""Pictures of the groups to look at, ready for a page: nothing here opens a picture."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from groupcm.evaluation.numbers import Case
from groupcm.report.words import number

__all__ = ["CasePictures"]


@dataclass(frozen=True)
class CasePictures:
    """Pictures of cases with the outline of the winner, by the winner's row.

    Attributes
    ----------
    jpegs : mapping
        From the row of a winner to a JPEG file.
    missing : mapping
        From the row of a winner to the sentence that says why its picture is not shown.
    marks_objects : bool
        Whether what people marked is outlined too.

    Examples
    --------
    >>> pictures = CasePictures({7: b"..."}, marks_objects=True)
    >>> pictures.address(7)
    'data:image/jpeg;base64,Li4u'
    >>> pictures.alt(Case("frame 3", 1.25, 7))
    'frame 3: the winner, which scores 1.25, and what was marked, outlined'
    """

    most_of_a_kind: ClassVar[int] = 8  # two rows of a wide page

    jpegs: Mapping[int, bytes]
    missing: Mapping[int, str] = field(default_factory=dict)
    marks_objects: bool = False

    def address(self, row: int) -> str | None:
        """The picture as an address that holds it whole; None where there is none."""
        jpeg = self.jpegs.get(row)
        return None if jpeg is None else f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"

    def alt(self, case: Case) -> str:
        """What is to be seen, for those who cannot see it."""
        marked = ", and what was marked" if self.marks_objects else ""
        return f"{case.group}: the winner, which scores {number(case.score)}{marked}, outlined"
