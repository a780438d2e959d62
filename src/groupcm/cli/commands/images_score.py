"""``groupcm images score``: a model and pictures in; scores, places and overlays out.

In the place of pictures a table of ``groupcm images propose`` can be scored, whose candidates are
known already; there are no pixels then to draw overlays on.

The table and the marks are written when all pictures are done. Overlays are added to their folder
picture by picture, each whole. Where a picture cannot be read and nobody asked to skip such ones,
where a video breaks off, and at Ctrl-C, what was scored is written as ``NAME.partial.SUFFIX``
instead, so that it is neither lost nor taken for everything.
"""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from groupcm.cli.commands.picture_scores import PictureScores
from groupcm.cli.options.mistakes import mistakes_in_options
from groupcm.cli.output import plain_warnings, print_error, print_line, show_rows, working
from groupcm.cli.summaries import OPTION_OF_PARAMETER
from groupcm.data.tables.formats import TableFile, check_table_name, open_table
from groupcm.errors import InputError
from groupcm.images.listing import list_pictures
from groupcm.images.overlay import check_overlay_folder, overlay_names
from groupcm.images.parallel import PictureFile, PictureTask, Unreadable, VideoFrame, map_pictures
from groupcm.images.patients import notes_of
from groupcm.images.proposals import Given
from groupcm.images.reading import warn_of_small_ranges
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.scoring.scored_picture import ScoredPicture, Scoring, ScoringTask
from groupcm.images.tables.table import check_candidates, picture_rows, table_notes, table_pictures
from groupcm.images.tables.tasks import GivenCandidates, read_given
from groupcm.images.truth import Truth, read_truth
from groupcm.images.video import video_frames
from groupcm.persistence.model_file import read
from groupcm.utils.files import check_output
from groupcm.utils.progress import listening

__all__ = ["run"]

_CATEGORY = "object"  # what marks are called


def run(arguments: argparse.Namespace) -> int:
    """Score every picture, write what was found, and say how it went."""
    check_table_name(arguments.output)
    output = check_output(arguments.output)
    marks = None if arguments.marks is None else check_output(arguments.marks, endings=[".json"])
    _check_not_read(arguments)
    if arguments.workers is not None and arguments.workers < 1:
        raise InputError(f"--workers is {arguments.workers}; it must be 1 or more")
    with plain_warnings(), working() as display:
        with mistakes_in_options(OPTION_OF_PARAMETER):
            table = _table(arguments)
            scorer = _scorer(arguments, table)
            known = None if table is None else table_notes(table)
            notes = notes_of(arguments.patients, arguments.split, known)
            if notes is not None and arguments.video is not None:
                raise InputError("patients=FILE names the pictures of a folder; a video has none")
            names = _names(arguments, table)
            truth, given = _truth(arguments, names, table), _given(arguments, names)
            if names is not None and notes is not None:
                names = notes.in_split(names, arguments.split)
                for name in names:
                    notes.of(name)  # before hours of work: every picture needs a row
        work = Scoring(scorer, arguments.annotations or "", keep_marks=marks is not None)
        scores = PictureScores(
            probability=hasattr(scorer.model, "calibrator_"),
            threshold=scorer.threshold,
            vote=scorer.vote,
            category=None if marks is None else _CATEGORY,
            notes=notes,
        )
        display.status("scoring pictures")
        unreadable: list[Unreadable] = []
        small_ranges: list[str] = []
        if table is None:
            with mistakes_in_options(OPTION_OF_PARAMETER):
                tasks = _tasks(arguments, names, truth, given)
            n_tasks = None if names is None else len(names)
            going = _scored(work, tasks, n_tasks, arguments.workers)
        else:
            going = _scored_rows(table, work, set(names or ()), truth)
        with _keeping(scores, output, marks):
            with listening(display.step, display.reading), closing(going) as found:
                for result in found:
                    if isinstance(result, Unreadable):
                        unreadable.append(result)
                        continue
                    if result.has_small_range:
                        small_ranges.append(result.name)
                    scores.add(result)
            if unreadable and not arguments.skip_unreadable:
                raise InputError(_told(unreadable) + "; --skip-unreadable leaves such pictures out")
        scores.warn_of_shift(scorer.model)
        warn_of_small_ranges(small_ranges)
    scores.write(output, marks)
    for picture in unreadable:
        print_error(f"groupcm: left out: {picture.reason}")
    rows = scores.words()
    show_rows([*rows, ("left out", f"{len(unreadable):,} unreadable")] if unreadable else rows)
    for path in (output, marks, arguments.overlays):
        if path is not None:
            print_line(f"Wrote {path}.")
    return 0


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


def _table(arguments: argparse.Namespace) -> TableFile | None:
    """Return the table of candidates where one is given in the place of a folder."""
    if arguments.folder is None or not Path(arguments.folder).is_file():
        return None
    for option in ("overlays", "given", "video"):
        if getattr(arguments, option) is not None:
            raise InputError(
                f"--{option} needs pictures, and {arguments.folder} is a table of candidates; "
                "give the folder of the pictures instead"
            )
    file = open_table(Path(arguments.folder))
    check_candidates(file)
    return file


def _check_not_read(arguments: argparse.Namespace) -> None:
    """Refuse to replace what is being read."""
    for written in (arguments.output, arguments.marks):
        for used in (
            *(arguments.model, arguments.folder, arguments.annotations, arguments.given),
            *(arguments.video, arguments.patients),
        ):
            if None not in (written, used) and Path(written).resolve() == Path(used).resolve():
                raise InputError(f"{written} is read and cannot be written too; name another file")


def _scorer(arguments: argparse.Namespace, table: TableFile | None) -> PictureScorer:
    threshold = arguments.threshold
    if threshold is not None and not isfinite(threshold):
        raise InputError(f"--threshold is {threshold}; it must be a number")
    saved = read(arguments.model)
    scorer = PictureScorer.of_saved(
        saved,
        arguments.model,
        vote=arguments.vote,
        threshold=threshold,
        networks=arguments.network,
    )
    asks_for_given = any(isinstance(part, Given) for part in scorer.recipe.proposals.parts)
    if table is not None:
        _check_recipe(table, saved.notes.get("recipe"), scorer, arguments.model)
    elif asks_for_given and arguments.given is None:
        raise InputError(
            f"{arguments.model} was trained on candidates of a detector; "
            "give those of these pictures with --given FILE"
        )
    if arguments.given is not None and not asks_for_given:
        raise InputError(
            f"{arguments.model} finds its candidates itself, without a detector; leave out --given"
        )
    return scorer


def _check_recipe(table: TableFile, recipe: Any, scorer: PictureScorer, model: str) -> None:
    """Refuse a table whose candidates or features were made in another way than the model's."""
    about = check_candidates(table)
    missing = [name for name in scorer.features if name not in about.features]
    if missing:
        raise InputError(
            f"{table.path} has no feature {missing[0]!r}, which {model} was trained with; make "
            "the table again with the options of the training table"
        )
    if about.recipe != recipe:
        raise InputError(
            f"the candidates of {table.path} were made in another way than those that {model} was "
            "trained with; make the table again with the options of the training table"
        )


def _names(arguments: argparse.Namespace, table: TableFile | None) -> list[str] | None:
    """Names of the pictures of a folder or table; None for a video, whose frames are not known."""
    if table is not None:
        return [picture.name for picture in table_pictures(table)]
    if (arguments.folder is None) == (arguments.video is None):
        raise InputError("give a folder of pictures or --video FILE, one of the two")
    if arguments.folder is None:
        return None
    names = list_pictures(arguments.folder)
    if not names:
        raise InputError(f"there is no picture in the folder {arguments.folder}")
    return names


def _truth(
    arguments: argparse.Namespace, names: list[str] | None, table: TableFile | None
) -> Truth | None:
    if arguments.annotations is None:
        if arguments.unmarked == "negative":
            raise InputError(
                "--unmarked negative is given and no --annotations that would tell what is marked"
            )
        return None
    return read_truth(
        arguments.annotations,
        set(names or ()),
        _folder(arguments) if table is None else table_pictures(table),
        category=arguments.category or None,
        unmarked=arguments.unmarked.replace("-", "_"),
        missing_pictures=arguments.missing_pictures,
    )


def _given(arguments: argparse.Namespace, names: list[str] | None) -> GivenCandidates | None:
    if arguments.given is None:
        return None
    return read_given(
        arguments.given, set(names or ()), _folder(arguments), arguments.missing_pictures
    )


def _tasks(
    arguments: argparse.Namespace,
    names: list[str] | None,
    truth: Truth | None,
    given: GivenCandidates | None,
) -> Iterator[ScoringTask]:
    """The pictures, each with all that is known of it and the file of its overlay."""
    overlays = None if arguments.overlays is None else Path(arguments.overlays)
    files = overlay_names(names or ())
    if overlays is not None:
        check_overlay_folder(overlays, _folder(arguments), files.values())

    def task(picture: PictureTask) -> ScoringTask:
        name = picture.name
        file = files.get(name) or overlay_names([name])[name]
        return ScoringTask(
            picture,
            None if truth is None else truth.of(name),
            None if given is None else given.get(name, ()),
            None if overlays is None else overlays / file,
        )

    return map(task, _pictures(arguments, names))


def _pictures(arguments: argparse.Namespace, names: list[str] | None) -> Iterator[PictureTask]:
    if names is None:
        return (VideoFrame(*frame) for frame in video_frames(arguments.video, arguments.every))
    folder = Path(arguments.folder)
    return (PictureFile(folder, name, arguments.most_pixels) for name in names)


def _folder(arguments: argparse.Namespace) -> Path | None:
    return None if arguments.folder is None else Path(arguments.folder)


def _told(unreadable: list[Unreadable]) -> str:
    more = f" (and {len(unreadable) - 1} more)" if len(unreadable) > 1 else ""
    return unreadable[0].reason.replace("most_pixels", "--most-pixels") + more


@contextmanager
def _keeping(scores: PictureScores, output: Path, marks: Path | None) -> Iterator[None]:
    """Within the block, what ends the work early has what was done written under another name."""
    try:
        yield
    except (InputError, KeyboardInterrupt) as error:
        if not len(scores):
            raise
        partial = _partial(output)
        scores.write(partial, None if marks is None else _partial(marks))
        kept = f"the scores of {len(scores):,} pictures are in {partial}"
        if isinstance(error, InputError):
            raise InputError(f"{error}; {kept}") from error
        print_error(f"groupcm: {kept}")
        raise


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.stem}.partial{path.suffix}")
