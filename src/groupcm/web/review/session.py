"""A folder under review: what a model makes of its pictures, beside what people marked in them.

What a review calls things, and its list as CSV.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from groupcm.errors import InputError
from groupcm.images.parallel import PictureFile, Unreadable
from groupcm.images.scoring.score import PictureScorer
from groupcm.images.truth import Truth
from groupcm.metrics.decision import is_alarm
from groupcm.web.review.details import PictureDetails
from groupcm.web.review.flags import Mark, MarksFile
from groupcm.web.review.result_feed import PictureTruth, ToldResults
from groupcm.web.review.score_cache import ScoreCache
from groupcm.web.server.background import BackgroundScores, Result, picture_stamp
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import (
    MeasuredPicture,
    NumberedPicture,
    PictureResult,
    result_of,
)

__all__ = ["Review", "outcome_of", "results_as_csv", "truth_word"]

_BOX = ("winner_x", "winner_y", "winner_width", "winner_height")
_COLUMNS = [
    *("image", "score", "probability", "threshold", "alarm", "truth", "outcome"),
    *_BOX,
    *("on_object", "marked", "note", "error"),
]


def truth_word(truth: bool | None) -> str:
    """Return "positive", "negative", or nothing where nobody knows."""
    return "" if truth is None else "positive" if truth else "negative"


def outcome_of(score: float | None, truth: bool | None, threshold: float | None) -> str:
    """Say how an alarm from a threshold on compares with the truth; nothing where that is unknown.

    Examples
    --------
    >>> outcome_of(0.5, False, 0.5), outcome_of(0.4, True, 0.5), outcome_of(0.4, None, 0.5)
    ('false positive', 'false negative', '')
    """
    if score is None or truth is None or threshold is None:
        return ""
    alarm = bool(is_alarm(score, threshold))
    return f"{'true' if alarm == truth else 'false'} {'positive' if alarm else 'negative'}"


def results_as_csv(
    results: Iterable[tuple[str, Mapping[str, Any] | None]], threshold: float | None
) -> str:
    """Write one line per picture: its name, and what the page knows of it (None: not scored yet).

    The column ``alarm`` says whether the score is at least the ``threshold``, which is in every
    line; it is empty where there is no score or no threshold.

    Examples
    --------
    >>> print(results_as_csv([("a, b.png", None)], 0.5).splitlines()[1])
    "a, b.png",,,0.5,,,,,,,,,False,,
    """
    text = io.StringIO()
    rows = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    rows.writeheader()
    for name, result in results:
        known = {"image": name, "threshold": threshold, "marked": False}
        rows.writerow(known | _row(result or {}, threshold))
    return text.getvalue()


def _row(result: Mapping[str, Any], threshold: float | None) -> dict[str, Any]:
    if not result:
        return {}
    mark, score = result["mark"], result["score"]
    box = zip(_BOX, result["winner"] or (), strict=False)
    return {
        **{name: result[name] for name in ("score", "probability", "on_object", "error")},
        **dict(box),
        "alarm": "" if score is None or threshold is None else bool(is_alarm(score, threshold)),
        "truth": truth_word(result["truth"]),
        "outcome": outcome_of(score, result["truth"], threshold),
        "marked": mark is not None,
        "note": "" if mark is None else mark["note"],
    }


class Review:
    """Scores of a folder as they become known, with truth, marks and explanations.

    Parameters
    ----------
    library
        The pictures.
    scorer
        The model.
    marks
        Where marks are kept.
    truth
        What people marked; None where nobody has looked.
    cache
        Keeps scores for the next start.
    workers
        See `groupcm.web.server.background.BackgroundScores`.
    """

    def __init__(
        self,
        library: PictureLibrary,
        scorer: PictureScorer,
        marks: MarksFile,
        *,
        truth: Truth | None = None,
        cache: ScoreCache | None = None,
        workers: int | None = None,
    ) -> None:
        self.library, self.scorer, self.marks, self._cache = library, scorer, marks, cache
        self.truth = PictureTruth(truth)
        self.told = ToldResults(library, self.truth, marks)
        self._details = PictureDetails(library, scorer)
        self.scores = BackgroundScores(
            library,
            scorer,
            workers,
            known=self._known_before(),
            heard=self._hear,
        )

    def start(self) -> None:
        """Begin to score."""
        self.scores.start()

    def stop(self) -> None:
        """End the work and its processes."""
        self.scores.stop()

    def results(self) -> list[dict[str, Any] | None]:
        """What is known of each picture; None where that is still to come."""
        return [self.told.of(number) for number in range(len(self.library))]

    def details(self, number: int, known: str = "") -> dict[str, Any]:
        """All candidates of a picture, the best first, and what people marked in it.

        A picture whose file was replaced since it was scored is scored again.

        Parameters
        ----------
        number
            The picture.
        known
            The ``stamp`` of details that the page has; if they are still right it is told just so.
        """
        stamp, measured = self._as_it_is(number)
        if stamp == known:
            return {"unchanged": True}
        name = self.library.names[number]
        about = {"name": name, "stamp": stamp, "objects": self.truth.objects(name)}
        return about | self._details.tell(measured)

    def explanation(self, number: int, candidate: int = 0) -> dict[str, Any]:
        """What the features of one of the `details`' candidates add to its score."""
        return self._details.explain(self._as_it_is(number)[1], candidate)

    def mark(self, number: int, note: str, threshold: float | None = None) -> int:
        """Say that the annotation of a picture is to be corrected; return the revision.

        Parameters
        ----------
        number
            The picture.
        note
            What is wrong, or nothing.
        threshold
            That of the page, by which the picture has the outcome that is kept with the mark; left
            out, the model's.
        """
        name = self.library.names[number]
        score, truth = self.scores.score(number), self.truth.is_positive(name)
        threshold = self.scorer.threshold if threshold is None else threshold
        outcome = outcome_of(score, truth, threshold)
        self.marks.mark(name, Mark(score, truth_word(truth), outcome, note))
        return self.told.note_change(number)

    def unmark(self, number: int) -> int:
        """Take the mark away; return the revision."""
        self.marks.unmark(self.library.names[number])
        return self.told.note_change(number)

    def export(self, threshold: float | None, pictures: Sequence[int] | None = None) -> str:
        """Return pictures as CSV.

        Parameters
        ----------
        threshold
            The score from which on a picture raises an alarm; it is written into every line.
        pictures
            Their numbers, in the order of the lines; by default all.
        """
        numbers = range(len(self.library)) if pictures is None else pictures
        names = self.library.names
        return results_as_csv(((names[each], self.told.of(each)) for each in numbers), threshold)

    def _known_before(self) -> dict[int, Result]:
        if self._cache is None:
            return {}
        names = self.library.names
        stamps = {name: picture_stamp(self.library, n) for n, name in enumerate(names)}
        found = self._cache.open(stamps)
        known: dict[int, Result] = {}
        for number, name in enumerate(names):
            if name in found:
                known[number] = found[name]
                self.told.put(number, found[name], stamps[name])
        return known

    def _hear(self, task: NumberedPicture, result: Result) -> None:
        if isinstance(result, PictureResult) and self._cache is not None:
            self._cache.add(task.name, task.stamp, result)
        self.told.put(task.number, result, task.stamp)

    def _as_it_is(self, number: int) -> tuple[str, MeasuredPicture]:
        """Stamp of the picture's file as it is now, and what the model finds in it."""
        stamp = self._details.stamp(number)
        was_replaced = self.told.stamp(number) not in (None, stamp)
        try:
            measured = self._details.measured(number, stamp)
        except InputError as error:
            if was_replaced:
                self._replace(number, stamp, Unreadable(self.library.names[number], str(error)))
            raise
        if was_replaced:
            self._replace(number, stamp, result_of(measured))
        return stamp, measured

    def _replace(self, number: int, stamp: str, result: Result) -> None:
        picture = PictureFile(self.library.folder, self.library.names[number])
        self.scores.add(NumberedPicture(number, picture, stamp), result)
