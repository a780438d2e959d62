"""Creation of a table of candidates from a folder of pictures, or a video, and annotations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from groupcm import __version__
from groupcm.annotations import Annotations
from groupcm.data.tables.formats import PARQUET
from groupcm.errors import Argument, InputError
from groupcm.images.augmentation import copy_name, draw_change
from groupcm.images.listing import list_pictures
from groupcm.images.parallel import Unreadable, map_pictures
from groupcm.images.patients import PictureNotes, notes_of
from groupcm.images.proposals import Given
from groupcm.images.reading import MOST_PIXELS, Pixels, has_small_range, warn_of_small_ranges
from groupcm.images.recipe import PictureCandidates, Recipe
from groupcm.images.recipe_fitting import fit_recipe
from groupcm.images.tables._checkpoint import DonePicture, Parts
from groupcm.images.tables.labelling import Labelling, Labels, Proposed, Tally, picture_notes
from groupcm.images.tables.table import as_stored, candidate_rows, candidate_schema
from groupcm.images.tables.tasks import (
    FolderTasks,
    ProposalTask,
    ProposalTasks,
    VideoTasks,
    read_given,
)
from groupcm.images.truth import object_regions, read_truth
from groupcm.utils.files import check_output
from groupcm.utils.progress import announce_stage

__all__ = ["FoundRows", "Proposed", "Proposing", "propose_folder"]

_Path = str | os.PathLike[str]
_MOST_COPIES = 50


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Rows of a picture, and plain values for the summary."""

    rows: pa.RecordBatch
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposing:
    """The work on one picture, which can be pickled for other processes.

    Parameters
    ----------
    recipe
        Proposals and features.
    schema
        Columns of the table, without the description that its file contains.
    labelling
        The rule for labels; None without annotations.
    where
        The name of the annotations in errors.
    copies
        The number of changed copies of each picture; see `groupcm.images.augmentation`.
    """

    recipe: Recipe
    schema: pa.Schema
    labelling: Labelling | None = None
    where: str = "the annotations"
    copies: int = 0

    def prepare(self) -> None:
        """Load what the first picture would wait for."""
        self.recipe.prepare()

    def __call__(self, task: ProposalTask, pixels: Pixels) -> FoundRows:
        """Return the candidates of a picture with features and labels."""
        try:
            found = self.recipe.candidates(pixels, task.given)
        except ValueError as error:
            raise InputError(f"the picture {task.name}: {error}") from error
        small_range = {"small_range": True} if has_small_range(pixels) else {}
        if self.labelling is None or task.marked is None:
            return FoundRows(self._rows(task, pixels, found, None), small_range)
        height, width = pixels.shape[:2]
        objects = object_regions(task.name, task.marked, height, width, self.where)
        candidates = as_stored(found.regions)
        labels = self.labelling.of(candidates, objects)
        notes = picture_notes(candidates, objects, labels, self.labelling.overlap)
        return FoundRows(self._rows(task, pixels, found, labels), notes | small_range)

    def _rows(
        self, task: ProposalTask, pixels: Pixels, found: PictureCandidates, labels: Labels | None
    ) -> pa.RecordBatch:
        """Return the rows of a picture, and of its changed copies, which have the same patient."""
        patient = task.patient
        if self.copies and patient is None:
            patient = task.name
        about = labels, patient, task.split
        rows = [candidate_rows(self.schema, task.name, found, *about)]
        for number in range(1, self.copies + 1):
            changed = draw_change(task.name, number)(pixels)
            values = self.recipe.measured(changed, found.regions)
            copy = PictureCandidates(found.regions, values)
            rows.append(candidate_rows(self.schema, copy_name(task.name, number), copy, *about))
        return rows[0] if len(rows) == 1 else pa.concat_batches(rows)

    def settings(self) -> dict[str, Any]:
        """Return plain values on which the rows of all pictures depend."""
        return {
            "groupcm": __version__,
            "recipe": self.recipe.to_json(),
            "columns": self.schema.names,
            "labelling": None if self.labelling is None else asdict(self.labelling),
            "copies": self.copies,
        }


def propose_folder(
    folder: _Path | None,
    output: _Path,
    *,
    annotations: _Path | Annotations | None = None,
    recipe: Recipe | None = None,
    category: str | Sequence[str] | None = None,
    overlap: str = "box_iou",
    positive_overlap: float = 0.3,
    unmarked: str = "leave_out",
    missing_pictures: str = "error",
    patient_from: str | None = None,
    patients: _Path | None = None,
    split: str | None = None,
    given: _Path | Annotations | None = None,
    skip_unreadable: bool = False,
    workers: int | None = None,
    most_pixels: int = MOST_PIXELS,
    video: _Path | None = None,
    every: int = 1,
    augment: int = 0,
) -> Proposed:
    """Write the candidates of all pictures, with their features, to one Parquet file.

    `groupcm.images.tables.table` describes the table; ``groupcm fit`` needs no other file. When an
    interrupted run is repeated, it resumes with the remaining pictures.

    Parameters
    ----------
    folder
        Pictures; see `groupcm.images.listing.list_pictures`. None with ``video``.
    output
        The table, which is written atomically.
    annotations
        Annotations in any format of `groupcm.annotations`; without them there are no labels.
    recipe
        Proposals and features; by default `Recipe()`. Principal components that it does not know
        yet are computed from these pictures, so give training pictures only: then it is part of
        the table, from which `groupcm.images.tables.table.table_recipe` reads it for others.
    category
        The categories of objects to use, one name or several; by default all.
    overlap, positive_overlap
        The rule for labels; see `groupcm.images.tables.labelling.Labelling`.
    unmarked
        Pictures that are to do, and those that the annotations do not list, are left out, or with
        ``"negative"`` count as pictures without objects. Pictures in progress, which are to do and
        have objects, are always left out. "Verified empty" is always negative; see
        `groupcm.annotations.Picture.state`.
    missing_pictures
        Annotations of pictures that are not in the folder are an error, or with ``"skip"`` left
        out and counted in a warning. The same holds for ``given``.
    patient_from
        A regular expression whose first group is the patient in a picture's name. By default the
        patient is that of the annotations (``extra["patient"]``), if every picture has one.
    patients
        A CSV file with the patient, the split or both of each picture; see
        `groupcm.images.patients`.
    split
        Use the pictures of this split only, by the column ``split`` of ``patients``.
    given
        Detections of the user's own detector, for a recipe that requires them.
    skip_unreadable
        Report pictures that cannot be read and continue, instead of raising an error.
    workers
        Number of processes; see `groupcm.images.parallel`.
    most_pixels
        Larger pictures count as unreadable.
    video, every
        Use every ``every``-th frame of a video instead of a folder.
    augment
        Add so many copies of each picture in another brightness, colour temperature, sharpness,
        JPEG quality and scale, with the same candidates; see `groupcm.images.augmentation`. Copies
        have the patient of their picture, or the picture itself. For training tables only.

    Examples
    --------
    >>> import tempfile
    >>> from groupcm.images.synthetic import write_frames
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = write_frames(here, 3, share_with_polyps=0.3, height=48, width=64)
    >>> done = propose_folder(
    ...     here / "frames", here / "candidates.parquet", annotations=here / "annotations.json"
    ... )
    >>> done.n_pictures, done.n_positive, done.recall["box_iou"].n_objects
    (3, 1, 1)
    """
    output = check_output(output, endings=PARQUET)
    if not 0 <= augment <= _MOST_COPIES:
        raise InputError(
            Argument("augment"),
            f" is {augment}; it is the number of copies of each picture, 0 to {_MOST_COPIES}",
        )
    if (folder is None) == (video is None):
        raise InputError("give either a folder of pictures or ", Argument("video"))
    if annotations is None and category is not None:
        raise InputError(
            Argument("category"),
            " is given and no ",
            Argument("annotations"),
            " that would show where it is",
        )
    if annotations is None and unmarked != "leave_out":
        raise InputError(
            Argument("unmarked", unmarked),
            " is given and no ",
            Argument("annotations"),
            " that would show what is marked",
        )
    notes = _notes(patients, patient_from, split, folder is None)
    recipe = recipe or Recipe()
    _check_given(recipe, given is not None)
    labelling = Labelling(overlap, positive_overlap)
    place = None if folder is None else Path(folder)
    names = [] if place is None else list_pictures(place)
    if place is not None and not names:
        raise InputError(f"there is no picture in the folder {place}")
    truth = by_detector = None
    if annotations is not None:
        truth = read_truth(
            annotations,
            set(names),
            place,
            category=category,
            unmarked=unmarked,
            missing_pictures=missing_pictures,
        )
    if given is not None:
        by_detector = read_given(given, set(names), place, missing_pictures)
    if notes is not None:
        names = notes.in_split(names, split)
    if place is None:
        tasks: ProposalTasks = VideoTasks(Path(video or ""), every, truth, by_detector)
    else:
        tasks = FolderTasks(place, names, truth, by_detector, patient_from, most_pixels, notes)
    recipe = fit_recipe(recipe, tasks, workers=workers)
    schema = candidate_schema(
        recipe,
        labels=truth is not None,
        patients=tasks.has_patients or augment > 0,
        splits=tasks.has_splits,
    )
    work = Proposing(recipe, schema.remove_metadata(), copies=augment)
    if truth is not None:
        work = replace(work, labelling=labelling, where=truth.where)
    parts = Parts(output, schema, work.settings() | tasks.settings)
    with parts.held():
        return _propose(work, tasks, parts, workers, skip_unreadable, {"most_pixels": most_pixels})


def _notes(
    patients: _Path | None, patient_from: str | None, split: str | None, is_video: bool
) -> PictureNotes | None:
    """Read the file of patients and splits; raise for options that contradict it."""
    if patients is not None and is_video:
        raise InputError(Argument("patients"), " names the pictures of a folder; a video has none")
    notes = notes_of(patients, split)
    if patient_from is not None and notes is not None and notes.has_patients:
        raise InputError(
            Argument("patient_from"), f" and {patients} both give the patients; leave out one"
        )
    return notes


def _check_given(recipe: Recipe, is_given: bool) -> None:
    is_asked = any(isinstance(part, Given) for part in recipe.proposals.parts)
    if is_asked and not is_given:
        raise InputError(
            "the recipe uses the candidates of your own detector; give them with ",
            Argument("given"),
        )
    if is_given and not is_asked:
        raise InputError(
            "candidates of your own detector are given and the recipe does not ask for them; add "
            "'given' to the ",
            Argument("proposals"),
        )


def _propose(
    work: Proposing,
    tasks: ProposalTasks,
    parts: Parts,
    workers: int | None,
    skip_unreadable: bool,
    limits: Mapping[str, Any],
) -> Proposed:
    tally = Tally()
    stamps: dict[int, str] = {}

    def stays_skipped(done: DonePicture) -> bool:
        return skip_unreadable and done.notes == limits

    def to_do() -> Iterator[ProposalTask]:
        for task in tasks:
            if not parts.is_done(task.place):
                # Taken before reading: a picture that changes meanwhile is repeated next time.
                stamps[task.place] = tasks.stamp_of(task.name)
                yield task

    before = parts.take_over(tasks.names, tasks.stamp_of, stays_skipped)
    for place, done in before.pictures.items():
        tally.add(place, done)
    n_before = len(before.pictures)
    if n_before:
        announce_stage(f"continuing after {n_before:,} pictures that an earlier run did")
    if before.n_dropped:
        announce_stage(
            f"doing {before.n_dropped:,} pictures again: they, their marks or the options have "
            "changed since an earlier run"
        )
    running = map_pictures(
        work,
        to_do(),
        n_tasks=None if tasks.names is None else len(tasks.names) - n_before,
        doing="proposing",
        workers=workers,
        skip_unreadable=skip_unreadable,
        before=n_before,
    )
    with _keeping(parts):
        with closing(running) as results:
            for task, found in results:
                stamp = stamps.pop(task.place)
                if isinstance(found, Unreadable):
                    done, rows = DonePicture(task.name, stamp, 0, found.reason, limits), None
                else:
                    rows = found.rows
                    done = DonePicture(task.name, stamp, rows.num_rows, notes=found.notes)
                parts.add(task.place, done, rows)
                tally.add(task.place, done)
        if not tally.n_pictures:
            raise _nothing(tally, tasks)
        announce_stage(f"writing {parts.output}")
        parts.join()
    warn_of_small_ranges(tally.small_ranges)
    return tally.proposed(
        parts.output,
        len(work.recipe.feature_names),
        is_marked=work.labelling is not None,
        n_left_out=tasks.n_left_out,
        n_before=n_before,
        n_in_progress=tasks.n_in_progress,
    )


@contextmanager
def _keeping(parts: Parts) -> Iterator[None]:
    """Save completed pictures if the block fails, and state that in the error."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        parts.flush()
        if not parts.n_done:
            raise
        kept = f"{parts.n_done:,} pictures are done and kept: repeat this to continue after them"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(kept) from error
        if isinstance(error, InputError):
            raise InputError(error, f"; {kept}") from error
        error.add_note(kept)
        raise


def _nothing(tally: Tally, tasks: ProposalTasks) -> InputError:
    if tally.skipped:
        first = next(iter(tally.skipped.values()))
        return InputError(
            f"no picture could be read; the first is {first.name}: ", first.message, file=first.name
        )
    return InputError(
        f"the annotations mark none of the {tasks.n_left_out:,} pictures as finished; ",
        Argument("unmarked", "negative"),
        " takes those without objects to show none",
    )
