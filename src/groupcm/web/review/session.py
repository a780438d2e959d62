"""The review of a folder: the scores of a model, compared with the annotations, and their list.

`Review` is the state behind the page; `results_as_csv` writes the list that the page exports.
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
from groupcm.web.review.flags import Flag, FlagFile
from groupcm.web.review.result_feed import PictureTruth, ResultFeed
from groupcm.web.review.score_cache import ScoreCache
from groupcm.web.server.background import BackgroundScores, Result, picture_stamp
from groupcm.web.server.library import PictureLibrary
from groupcm.web.server.scored_pictures import MeasuredPicture, NumberedPicture, PictureResult

__all__ = ["Review", "outcome_of", "results_as_csv", "truth_word"]

_BOX = ("winner_x", "winner_y", "winner_width", "winner_height")
_COLUMNS = [
    *("image", "score", "probability", "threshold", "alarm", "truth", "outcome"),
    *_BOX,
    *("on_object", "marked", "note", "error"),
]


class Review:
    """The scores of a folder as they are computed, with annotations, flags and explanations.

    Parameters
    ----------
    library
        The pictures.
    scorer
        The model.
    flags
        The file of flags.
    truth
        The annotations, or None.
    cache
        The cache of scores for the next start.
    workers
        See `groupcm.web.server.background.BackgroundScores`.
    """

    def __init__(
        self,
        library: PictureLibrary,
        scorer: PictureScorer,
        flags: FlagFile,
        *,
        truth: Truth | None = None,
        cache: ScoreCache | None = None,
        workers: int | None = None,
    ) -> None:
        self.library, self.scorer, self.flags, self._cache = library, scorer, flags, cache
        self.truth = PictureTruth(truth)
        self.feed = ResultFeed(library, self.truth, flags)
        self._details = PictureDetails(library, scorer)
        self.scores = BackgroundScores(
            library,
            scorer,
            workers,
            known=self._known_before(),
            on_result=self._keep,
        )

    def start(self) -> None:
        """Start scoring."""
        self.scores.start()

    def stop(self) -> None:
        """Stop scoring and its processes."""
        self.scores.stop()

    def results(self) -> list[dict[str, Any] | None]:
        """Return the result of each picture as JSON, or None if nothing is known of it yet."""
        return [self.feed.of(number) for number in range(len(self.library))]

    def details(self, number: int, known: str = "") -> dict[str, Any]:
        """Return all candidates of a picture, the best first, and its annotated objects.

        A picture whose file was replaced after it was scored is scored again.

        Parameters
        ----------
        number
            The picture.
        known
            The ``stamp`` of the details that the page has; if it is the present one, the answer
            only states that.
        """
        stamp, measured = self._current(number)
        if stamp == known:
            return {"unchanged": True}
        name = self.library.names[number]
        about = {"name": name, "stamp": stamp, "objects": self.truth.objects(name)}
        return about | self._details.to_json(measured)

    def explanation(self, number: int, candidate: int = 0) -> dict[str, Any]:
        """Explain the score of one of the candidates of `details`."""
        return self._details.explain(self._current(number)[1], candidate)

    def flag(self, number: int, note: str, threshold: float | None = None) -> int:
        """Flag a picture whose annotation is to be corrected, and return the revision.

        Parameters
        ----------
        number
            The picture.
        note
            What is wrong, or an empty text.
        threshold
            The threshold of the page, for the outcome that is stored with the flag; by default
            that of the model.
        """
        name = self.library.names[number]
        score, truth = self.scores.score(number), self.truth.is_positive(name)
        threshold = self.scorer.threshold if threshold is None else threshold
        outcome = outcome_of(score, truth, threshold)
        self.flags.flag(name, Flag(score, truth_word(truth), outcome, note))
        return self.feed.note_change(number)

    def unflag(self, number: int) -> int:
        """Remove the flag of a picture, and return the revision."""
        self.flags.unflag(self.library.names[number])
        return self.feed.note_change(number)

    def export(self, threshold: float | None, pictures: Sequence[int] | None = None) -> str:
        """Return the list of pictures as CSV.

        Parameters
        ----------
        threshold
            A picture whose score is at least this raises an alarm; it is written in every row.
        pictures
            The numbers of pictures in the order of the rows; by default all.
        """
        numbers = range(len(self.library)) if pictures is None else pictures
        names = self.library.names
        return results_as_csv(((names[each], self.feed.of(each)) for each in numbers), threshold)

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
                self.feed.put(number, found[name], stamps[name])
        return known

    def _keep(self, task: NumberedPicture, result: Result) -> None:
        if isinstance(result, PictureResult) and self._cache is not None:
            self._cache.add(task.name, task.stamp, result)
        self.feed.put(task.number, result, task.stamp)

    def _current(self, number: int) -> tuple[str, MeasuredPicture]:
        """Return the present stamp of the file of a picture, and its candidates."""
        stamp = self._details.stamp(number)
        was_replaced = self.feed.stamp(number) not in (None, stamp)
        try:
            measured = self._details.measured(number, stamp)
        except InputError as error:
            if was_replaced:
                self._replace(number, stamp, Unreadable(self.library.names[number], str(error)))
            raise
        if was_replaced:
            self._replace(number, stamp, PictureResult.of(measured))
        return stamp, measured

    def _replace(self, number: int, stamp: str, result: Result) -> None:
        picture = PictureFile(self.library.folder, self.library.names[number])
        self.scores.add(NumberedPicture(number, picture, stamp), result)


def truth_word(truth: bool | None) -> str:
    """Return "positive" or "negative", or an empty text if the picture is unannotated."""
    return "" if truth is None else "positive" if truth else "negative"


def outcome_of(score: float | None, truth: bool | None, threshold: float | None) -> str:
    """Return the outcome of a picture at a threshold, or an empty text if it is not known.

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
    """Return one CSV row per picture from its name and its result (None: not scored yet).

    The column ``alarm`` states whether the score is at least the ``threshold``, which is in every
    row; it is empty without a score or a threshold.

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
