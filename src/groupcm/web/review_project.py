"""What a review is of: which files, what to tell them apart by, and how the work goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from groupcm.annotations.sniffing import sniff
from groupcm.errors import InputError
from groupcm.web.file_stamp import stamp_of

__all__ = ["ReviewProject"]


@dataclass(frozen=True)
class ReviewProject:
    """The files of a review, as the user named them.

    Attributes
    ----------
    folder
        The pictures.
    model
        The model file.
    marks
        Where pictures to correct are kept.
    annotations
        The truth; None where nobody has looked.

    Examples
    --------
    >>> project = ReviewProject(Path("frames"), Path("model.json"), Path("frames/review.csv"))
    >>> project.annotate_command()
    ['groupcm', 'annotate', 'frames', '--first', 'frames/review.csv']
    >>> project.id(["a.png"]) == project.id(["b.png"])
    False
    """

    folder: Path
    model: Path
    marks: Path
    annotations: Path | None = None

    def id(self, names: Sequence[str]) -> str:
        """Return what differs where a page would mean something else by a picture's number.

        Another start with the same files and pictures has the same one.

        Parameters
        ----------
        names
            The pictures, by their numbers.
        """
        read = [self.model] if self.annotations is None else [self.model, self.annotations]
        known = [
            [os.path.realpath(path) for path in (self.folder, self.marks, *read)],
            [stamp_of(path) for path in read],
            list(names),
        ]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:24]

    def annotate_command(self) -> list[str]:
        """Return the words of the command that corrects what was marked, in the same annotations.

        A file of another format than COCO cannot be worked in: what it holds is taken over.
        """
        return [
            *("groupcm", "annotate", str(self.folder)),
            *self._option_of_annotations(),
            *("--first", str(self.marks)),
        ]

    def _option_of_annotations(self) -> list[str]:
        if self.annotations is None:
            return []
        if os.path.realpath(self.annotations) == os.path.realpath(self.folder / "annotations.json"):
            return []
        return [
            "--annotations" if _is_coco(self.annotations) else "--import",
            str(self.annotations),
        ]


def _is_coco(path: Path) -> bool:
    try:
        return sniff(path) == "coco"
    except InputError:
        return False
