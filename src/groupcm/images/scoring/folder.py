"""Scores of the pictures of a folder, of a video, or of a table of candidates.

The table and the marks are written when all pictures are done. Overlays are added to their folder
picture by picture, each whole. Where a picture cannot be read and is not to be skipped, where a
video breaks off, and at Ctrl-C, what was scored is written as ``NAME.partial.SUFFIX`` instead, so
that it is neither lost nor taken for everything.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from groupcm.annotations import Annotations
from groupcm.data.tables.formats import TableFile, check_table_name, open_table
from groupcm.errors import Argument, InputError
from groupcm.estimators.place import place_model
from groupcm.estimators.shift import Shift
from groupcm.images.listing import list_pictures
from groupcm.images.overlay import check_overlay_folder, overlay_names
from groupcm.images.parallel import PictureFile, PictureTask, Unreadable, VideoFrame, map_pictures
from groupcm.images.patients import PictureNotes, notes_of
from groupcm.images.proposals import Given
from groupcm.images.reading import MOST_PIXELS, warn_of_small_ranges
from groupcm.images.recipe import Recipe
from groupcm.images.scoring.score import PictureScorer, SavedPictureModel
from groupcm.images.scoring.scored_picture import ScoredPicture, Scoring, ScoringTask
from groupcm.images.scoring.table import PictureScores, keep_partial
from groupcm.images.tables.table import check_candidates, picture_rows, table_notes, table_pictures
from groupcm.images.tables.tasks import GivenCandidates, read_given
from groupcm.images.truth import Truth, read_truth
from groupcm.images.video import video_frames
from groupcm.utils.files import check_output
from groupcm.utils.progress import announce_stage

__all__ = ["ScoredFolder", "score_folder"]

_CATEGORY = "object"  # of the marked candidates
_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class ScoredFolder:
    """The pictures that `score_folder` scored.

    Attributes
    ----------
    scores
        The scores; its ``table()`` has one row per picture.
    skipped
        The pictures that could not be read, each with the reason.
    shift
        The comparison with the pictures of training; None where the model has no profile of them.
    """

    scores: PictureScores
    skipped: Sequence[Unreadable]
    shift: Shift | None = None


def score_folder(
    model: SavedPictureModel,
    folder: _Path | None = None,
    output: _Path | None = None,
    *,
    vote: bool = False,
    refine: bool = False,
    threshold: float | None = None,
    marks: _Path | None = None,
    overlays: _Path | None = None,
    annotations: _Path | None = None,
    category: Sequence[str] | None = None,
    unmarked: str = "leave_out",
    missing_pictures: str = "error",
    patients: _Path | None = None,
    split: str | None = None,
    given: _Path | None = None,
    networks: Sequence[_Path] = (),
    cache: _Path | None = None,
    video: _Path | None = None,
    every: int = 1,
    skip_unreadable: bool = False,
    most_pixels: int = MOST_PIXELS,
    workers: int | None = None,
    name: str = "the model",
) -> ScoredFolder:
    """Score every picture of a folder; ``groupcm images score`` calls this function.

    Warnings say where the pictures differ from those of the training by more than chance.

    Parameters
    ----------
    model
        A model with its notes, as `groupcm.persistence.read` returns it.
    folder
        Pictures (see `groupcm.images.listing.list_pictures`), or a table of candidates that
        `groupcm.images.tables.propose.propose_folder` wrote, which is scored without pixels.
    output
        The table to write: .parquet, .csv or .arrow. By default none is written.
    vote
        Let the best candidates vote where the object is; the score stays the winner's.
    refine
        Join or trim the region that locates the object with candidates that overlap it; see
        `groupcm.images.scoring.vote.refine`.
    threshold
        Pictures and candidates that score at least this are marked; by default the threshold of
        the model.
    marks
        Write the marked candidates to this file, as annotations in COCO's format.
    overlays
        A folder for the pictures with what was found drawn in.
    annotations
        What people marked, to compare with; a file of any format.
    category, unmarked, missing_pictures
        See `groupcm.images.truth.read_truth`.
    patients, split
        See `groupcm.images.patients.notes_of`.
    given
        The candidates of a detector, where the model was trained on such.
    networks, cache
        Networks that the model needs and does not carry, and a folder for their outputs.
    video, every
        Take one in ``every`` frames of a video instead of a folder.
    skip_unreadable
        List the pictures that cannot be read, and go on; else they are an error at the end.
    most_pixels
        A larger picture counts as unreadable.
    workers
        The number of processes; by default one per core.
    name
        What an error calls the model.

    Returns
    -------
    ScoredFolder

    Examples
    --------
    >>> import tempfile
    >>> from groupcm import GroupClassifier
    >>> from groupcm.estimators.tables import fit_tables
    >>> from groupcm.images.synthetic import write_frames
    >>> from groupcm.images.tables.propose import propose_folder
    >>> from groupcm.report.model_card import fit_notes
    >>> from groupcm.persistence.model_file import SavedModel
    >>> home = Path(tempfile.mkdtemp())
    >>> _ = write_frames(home, 8, share_with_polyps=0.5, height=48, width=64)
    >>> table, truth = home / "candidates.parquet", home / "annotations.json"
    >>> _ = propose_folder(home / "frames", table, annotations=truth, workers=1)
    >>> fit = fit_tables(GroupClassifier(), table)
    >>> saved = SavedModel(fit.model, fit_notes(fit))
    >>> found = score_folder(saved, home / "frames", workers=1)
    >>> len(found.scores), found.scores.table().column_names[:3]
    (8, ['image', 'score', 'alarm'])
    """
    output, marks = _check_outputs(output, marks, (folder, annotations, given, video, patients))
    if workers is not None and workers < 1:
        raise InputError(Argument("workers"), f" is {workers}; it must be 1 or more")
    if threshold is not None and not isfinite(threshold):
        raise InputError(Argument("threshold"), f" is {threshold}; it must be a number")
    table = _open_table(folder, overlays=overlays, given=given, video=video)
    scorer = PictureScorer.of_saved(
        model, name, vote=vote, refine=refine, threshold=threshold, networks=networks
    )
    scorer.recipe = scorer.recipe.with_cache(cache)
    if table is not None:
        _check_recipe(table, model.notes.get("recipe"), scorer, name)
    _check_given(scorer, given, name, is_table=table is not None)
    pictures = _Pictures.find(folder, table, video, every, most_pixels)
    notes = notes_of(patients, split, None if table is None else table_notes(table))
    if notes is not None and video is not None:
        raise InputError(Argument("patients"), " names the pictures of a folder; a video has none")
    truth = None
    if annotations is not None:
        truth = read_truth(
            annotations,
            set(pictures.names or ()),
            pictures.known,
            category=category or None,
            unmarked=unmarked,
            missing_pictures=missing_pictures,
        )
    elif unmarked == "negative":
        raise InputError(
            Argument("unmarked", unmarked),
            " is given and no ",
            Argument("annotations"),
            " that would show what is marked",
        )
    names, found_before = set(pictures.names or ()), None
    if given is not None:
        found_before = read_given(given, names, pictures.folder, missing_pictures)
    pictures = pictures.of_split(notes, split)
    work = Scoring(scorer, os.fspath(annotations or ""), keep_marks=marks is not None)
    scores = PictureScores(
        probability=hasattr(scorer.model, "calibrator_"),
        threshold=scorer.threshold,
        vote=scorer.vote or place_model(scorer.model) is not None,
        category=None if marks is None else _CATEGORY,
        notes=notes,
    )
    announce_stage("scoring pictures")
    if table is None:
        tasks = pictures.tasks(truth, found_before, None if overlays is None else Path(overlays))
        going = _scored(work, tasks, pictures.n, workers)
    else:
        going = _scored_rows(table, work, set(pictures.names or ()), truth)
    with keep_partial(scores, output, marks):
        skipped, small_ranges = _take_in(going, scores)
        if skipped and not skip_unreadable:
            more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
            remedy = (Argument("skip_unreadable", True), " leaves such pictures out")
            raise InputError(skipped[0].message, f"{more}; ", *remedy)
    shift = scores.shift_from_training(scorer.model)
    warn_of_small_ranges(small_ranges)
    if output is not None:
        scores.write(output, marks)
    return ScoredFolder(scores, skipped, shift)


@dataclass(frozen=True)
class _Pictures:
    """The pictures to score.

    Attributes
    ----------
    names
        Their names; None for a video, whose frames are not known before.
    known
        What is known of their sizes: the folder, or the sizes of a table.
    """

    names: list[str] | None
    folder: Path | None
    known: Path | Annotations | None
    video: _Path | None = None
    every: int = 1
    most_pixels: int = MOST_PIXELS

    @classmethod
    def find(
        cls,
        folder: _Path | None,
        table: TableFile | None,
        video: _Path | None,
        every: int,
        most_pixels: int,
    ) -> _Pictures:
        if table is not None:
            known = table_pictures(table)
            return cls([picture.name for picture in known], None, known)
        if (folder is None) == (video is None):
            raise InputError("give either a folder of pictures or ", Argument("video"))
        if folder is None:
            return cls(None, None, None, video, every, most_pixels)
        place = Path(folder)
        names = list_pictures(place)
        if not names:
            raise InputError(f"there is no picture in the folder {folder}")
        return cls(names, place, place, most_pixels=most_pixels)

    @property
    def n(self) -> int | None:
        return None if self.names is None else len(self.names)

    def of_split(self, notes: PictureNotes | None, split: str | None) -> _Pictures:
        """Return the pictures of one split, all of which have a row in the notes."""
        if self.names is None or notes is None:
            return self
        names = notes.in_split(self.names, split)
        for name in names:
            notes.of(name)  # before hours of work: every picture needs a row
        return replace(self, names=names)

    def tasks(
        self, truth: Truth | None, given: GivenCandidates | None, overlays: Path | None
    ) -> Iterator[ScoringTask]:
        """Return the pictures, each with all that is known of it and the file of its overlay."""
        files = overlay_names(self.names or ())
        if overlays is not None:
            check_overlay_folder(overlays, self.folder, files.values())

        def task(picture: PictureTask) -> ScoringTask:
            name = picture.name
            file = files.get(name) or overlay_names([name])[name]
            return ScoringTask(
                picture,
                None if truth is None else truth.of(name),
                None if given is None else given.get(name, ()),
                None if overlays is None else overlays / file,
            )

        return map(task, self._pictures())

    def _pictures(self) -> Iterator[PictureTask]:
        if self.names is None or self.folder is None:
            frames = video_frames(self.video or "", self.every)
            return (VideoFrame(*frame) for frame in frames)
        folder = self.folder
        return (PictureFile(folder, name, self.most_pixels) for name in self.names)


def _check_outputs(
    output: _Path | None, marks: _Path | None, read: Sequence[_Path | None]
) -> tuple[Path | None, Path | None]:
    """Refuse names of files that cannot be written, or that are read."""
    if output is not None:
        check_table_name(os.fspath(output))
    written = (
        None if output is None else check_output(output),
        None if marks is None else check_output(marks, endings=[".json"]),
    )
    for one in (output, marks):
        for used in read:
            if one is not None and used is not None and Path(one).resolve() == Path(used).resolve():
                raise InputError(f"{one} is an input and cannot be overwritten; name another file")
    return written


def _open_table(folder: _Path | None, **others: _Path | None) -> TableFile | None:
    """Return the table of candidates where one is given in the place of a folder."""
    if folder is None or not Path(folder).is_file():
        return None
    for option, value in others.items():
        if value is not None:
            raise InputError(
                Argument(option),
                f" needs pictures, and {folder} is a table; give the folder of the pictures",
            )
    file = open_table(Path(folder))
    check_candidates(file)
    return file


def _check_given(scorer: PictureScorer, given: _Path | None, name: str, *, is_table: bool) -> None:
    asks_for_given = any(isinstance(part, Given) for part in scorer.recipe.proposals.parts)
    if asks_for_given and given is None and not is_table:
        raise InputError(
            f"{name} was trained on candidates of a detector; give those of these pictures with ",
            Argument("given"),
        )
    if given is not None and not asks_for_given:
        raise InputError(
            f"{name} finds its candidates itself, without a detector; leave out ", Argument("given")
        )


def _check_recipe(table: TableFile, recipe: Any, scorer: PictureScorer, name: str) -> None:
    """Refuse a table whose candidates or features were made in another way than the model's."""
    about = check_candidates(table)
    missing = [feature for feature in scorer.features if feature not in about.features]
    if missing:
        raise InputError(
            f"{table.path} has no feature {missing[0]!r}, which {name} was trained with; make "
            "the table again with the options of the training table"
        )
    given = about.recipe
    if given != recipe and (given is None or Recipe.from_json(given) != Recipe.from_json(recipe)):
        raise InputError(
            f"the candidates of {table.path} were made in another way than those that {name} was "
            "trained with; make the table again with the options of the training table"
        )


def _scored(
    work: Scoring, tasks: Iterator[ScoringTask], n_tasks: int | None, workers: int | None
) -> Generator[ScoredPicture | Unreadable]:
    """Score pictures, several at a time."""
    options = {"doing": "scoring", "workers": workers, "skip_unreadable": True}
    with closing(map_pictures(work, tasks, n_tasks=n_tasks, **options)) as found:
        for _, result in found:
            yield result


def _scored_rows(
    table: TableFile, work: Scoring, names: set[str], truth: Truth | None
) -> Generator[ScoredPicture | Unreadable]:
    """Score the pictures of a table of candidates, one after another."""
    for name, rows in picture_rows(table):
        if name in names:
            marked = None if truth is None else truth.of(name)
            try:
                yield work.rows(name, rows, marked)
            except InputError:
                raise
            except (TypeError, ValueError) as error:
                raise InputError(f"{table.path}: the picture {name!r}: {error}") from error


def _take_in(
    going: Generator[ScoredPicture | Unreadable], scores: PictureScores
) -> tuple[list[Unreadable], list[str]]:
    """Collect the scores; return the unreadable pictures and those of a small range of values."""
    skipped: list[Unreadable] = []
    small_ranges: list[str] = []
    with closing(going) as found:
        for result in found:
            if isinstance(result, Unreadable):
                skipped.append(result)
                continue
            if result.has_small_range:
                small_ranges.append(result.name)
            scores.add(result)
    return skipped, small_ranges
