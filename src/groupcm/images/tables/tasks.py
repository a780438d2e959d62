"""The pictures in which candidates are proposed, in order, with what is known of each.

`read_given` reads the detections of the user's own detector from a file of annotations.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupcm.annotations import Annotations, Region
from groupcm.errors import warn_user
from groupcm.images.parallel import PictureFile, VideoFrame
from groupcm.images.patients import PictureNotes, patients_in_names
from groupcm.images.reading import MOST_PIXELS, Pixels
from groupcm.images.truth import MarkedPicture, Truth, known_patients, read_for
from groupcm.images.video import video_frames
from groupcm.utils.text import printable

__all__ = [
    "FolderTasks",
    "GivenCandidates",
    "ProposalTask",
    "ProposalTasks",
    "VideoTasks",
    "read_given",
]

GivenCandidates = dict[str, tuple[Region, ...]]


def read_given(
    given: str | os.PathLike[str] | Annotations,
    names: Collection[str],
    folder: Path | None,
    missing_pictures: str | None = None,
) -> GivenCandidates:
    """Read the detections in each picture, by decreasing score.

    Parameters
    ----------
    given
        A file or folder of any format, or annotations.
    names
        The existing pictures.
    folder
        The folder of the pictures; None for frames of a video.
    missing_pictures
        As for `groupcm.images.truth.read_for`.

    Examples
    --------
    >>> from groupcm.annotations import AnnotatedObject, Box, Picture
    >>> found = [AnnotatedObject("x", Box(0, 0, k, k), score=k / 10) for k in (1, 2)]
    >>> given = Annotations([Picture("a.png", 9, 9, found, done=False)])
    >>> [box.area for box in read_given(given, {"a.png"}, None)["a.png"]]
    [4.0, 1.0]
    """
    marked, _ = read_for(given, names, folder, missing_pictures)
    return {
        picture.name: tuple(
            found.region for found in sorted(picture.objects, key=lambda each: -(each.score or 0))
        )
        for picture in marked
    }


@dataclass(frozen=True, eq=False)
class ProposalTask:
    """A picture with its ground truth, detections, patient, split, and index in the table."""

    place: int
    picture: PictureFile | VideoFrame
    marked: MarkedPicture | None
    given: tuple[Region, ...] | None
    patient: str | None
    split: str | None = None

    @property
    def name(self) -> str:
        """Name of the picture."""
        return self.picture.name

    def read(self) -> Pixels:
        """Read its pixels."""
        return self.picture.read()


class ProposalTasks(ABC):
    """The pictures in which candidates are proposed.

    Attributes
    ----------
    names
        The pictures that are not left out, in order; None if they are not known in advance.
    n_left_out
        Number of unfinished pictures so far.
    n_in_progress
        Number of those that have objects.
    has_patients, has_splits
        Whether the patient, and the split, of every picture is known.
    settings
        Plain values on which the tasks depend.
    """

    names: list[str] | None = None
    n_left_out = n_in_progress = 0
    has_patients = has_splits = False

    def __init__(self, truth: Truth | None, given: GivenCandidates | None) -> None:
        self._truth, self._given = truth, given
        self.settings: dict[str, Any] = {}

    @abstractmethod
    def __iter__(self) -> Iterator[ProposalTask]:
        """Iterate over the pictures."""

    @abstractmethod
    def stamp_of(self, name: str) -> str:
        """Return a fingerprint of what the rows of a picture depend on."""

    def _marked(self, name: str) -> tuple[bool, MarkedPicture | None]:
        """Return whether to use a picture, and its ground truth."""
        if self._truth is None:
            return True, None
        marked = self._truth.of(name)
        return marked is not None, marked

    def _is_in_progress(self, name: str) -> bool:
        return self._truth is not None and self._truth.is_in_progress(name)

    def _given_in(self, name: str) -> tuple[Region, ...] | None:
        return None if self._given is None else self._given.get(name, ())


class FolderTasks(ProposalTasks):
    """Pictures of a folder."""

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        truth: Truth | None,
        given: GivenCandidates | None,
        patient_from: str | None = None,
        most_pixels: int = MOST_PIXELS,
        notes: PictureNotes | None = None,
    ) -> None:
        super().__init__(truth, given)
        self._folder, self._most_pixels = folder, most_pixels
        self.names = [name for name in names if self._marked(name)[0]]
        self.n_left_out = len(names) - len(self.names)
        self.n_in_progress = sum(map(self._is_in_progress, names))
        self._patients = {}
        if patient_from is not None:
            self._patients = patients_in_names(self.names, patient_from)
        elif notes is not None and notes.has_patients:
            self._patients = {name: notes.of(name).patient or "" for name in self.names}
        elif truth is not None:
            self._patients = known_patients(self.names, truth)
        self.has_patients = bool(self._patients)
        self._splits = {}
        if notes is not None and notes.has_splits:
            self._splits = {name: notes.of(name).split for name in self.names}
        self.has_splits = bool(self._splits)

    def __iter__(self) -> Iterator[ProposalTask]:
        for place, name in enumerate(self.names or ()):
            picture = PictureFile(self._folder, name, self._most_pixels)
            marked, patient = self._marked(name)[1], self._patients.get(name)
            given, split = self._given_in(name), self._splits.get(name)
            yield ProposalTask(place, picture, marked, given, patient, split)

    def stamp_of(self, name: str) -> str:
        path = self._folder / name
        if not path.exists():  # a page of a stack
            path = self._folder / name.rpartition("#")[0]
        known = (self._marked(name)[1], self._given_in(name), self._patients.get(name))
        return _digest([*_stamp(path), repr(known), self._splits.get(name)])


class VideoTasks(ProposalTasks):
    """Frames of a video, at regular steps."""

    def __init__(
        self, video: Path, every: int, truth: Truth | None, given: GivenCandidates | None
    ) -> None:
        super().__init__(truth, given)
        self._frames = video_frames(video, every)
        # The index of a frame depends on all annotations.
        marks = "" if truth is None else repr(truth.marked.pictures)
        self.settings = {"video": [every, *_stamp(video), _digest([marks, repr(given)])]}

    def __iter__(self) -> Iterator[ProposalTask]:
        place, seen = 0, set()
        for name, pixels in self._frames:
            seen.add(name)
            is_taken, marked = self._marked(name)
            if is_taken:
                frame = VideoFrame(name, pixels)
                yield ProposalTask(place, frame, marked, self._given_in(name), None)
            place += is_taken
            self.n_left_out += not is_taken
            self.n_in_progress += self._is_in_progress(name)
        others = [] if self._truth is None else [each.name for each in self._truth.marked]
        others = [name for name in others if name not in seen]
        if self._truth is not None and others:
            message = (
                f"{self._truth.where} names {len(others):,} pictures that are not frames taken "
                f"from the video, such as {others[0]!r}."
            )
            warn_user(printable(message), UserWarning)

    def stamp_of(self, name: str) -> str:
        return ""


def _stamp(path: Path) -> tuple[int, int]:
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns


def _digest(values: list[Any]) -> str:
    return hashlib.blake2b(repr(values).encode(), digest_size=12).hexdigest()
