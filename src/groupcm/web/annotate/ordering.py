"""Which picture to annotate next, so that the model learns most from it.

With score s_i of picture i and threshold t, a picture is

    uncertain               to do;                                  the nearer first: |s_i − t|
    high-scoring negative   done without an object, and s_i ≥ t;    the higher first: s_i − t

A linear machine with margins is held by few terms: a negative group moves the solution only where
its largest score lies above the lower margin, a positive one only where its score lies below the
upper one. What lies outside, on its own side, could be taken away and the solution would stay. A
picture near the threshold lies inside the margin whichever label it gets, so its label always
counts; one far from it most likely lies on its own side and buys nothing. A negative beyond the
threshold carries the largest slope of all: it is either the most instructive false alarm or an
object that was missed, which pulls the solution the wrong way with full weight.

The two are on different scales, so they are mixed by turns: of every ``one_in`` pictures, the last
is a negative to look at again.

Without a threshold, t is the score that one in twenty of the negatives done so far exceeds. Where
objects are rare, positives weigh most (λ/n+ against λ/n−) and are found up there; the machine's own
0, where it changes its mind, lies too low for that. Only while few negatives are known is t 0.

The route that tells the page which picture to annotate next.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcm.web.server.app import Answer
from groupcm.web.server.library import PictureLibrary

__all__ = ["NextPicture", "annotation_order", "routes"]

UNCERTAIN = "uncertain"
HIGH_NEGATIVE = "high-scoring negative"
NO_SCORE = "no score yet"
_FEW_NEGATIVES = 20


@dataclass(frozen=True)
class NextPicture:
    """A picture by its number, and why it is worth a look."""

    picture: int
    why: str


def annotation_order(
    scores: Sequence[float | None],
    done: Sequence[bool],
    positive: Sequence[bool],
    threshold: float | None = None,
    *,
    looked_at_again: Collection[int] = (),
    one_in: int = 4,
) -> list[NextPicture]:
    """Order pictures by what their annotation buys; see above.

    Pictures that are to do and have no score yet come last, in their own order. Pictures that are
    done and teach nothing more are left out.

    Parameters
    ----------
    scores
        One a picture; None where it is not known.
    done
        Whether a person has looked at it.
    positive
        Whether an object is marked.
    threshold
        t; left out, it is found from the negatives that are done, as told above.
    looked_at_again
        Negatives that were confirmed since the scores were made, and need no other look.
    one_in
        How often a negative comes, while there are both.

    Examples
    --------
    >>> order = annotation_order(
    ...     scores=[-3.0, 0.1, 2.5, 1.0, None, -0.4],
    ...     done=[False, False, True, True, False, False],
    ...     positive=[False, False, False, True, False, False],
    ...     one_in=2,
    ... )
    >>> [(each.picture, each.why) for each in order]
    [(1, 'uncertain'), (2, 'high-scoring negative'), (5, 'uncertain'), (0, 'uncertain'),
     (4, 'no score yet')]
    """
    if not len(scores) == len(done) == len(positive):
        raise ValueError(
            f"there are {len(scores)} scores, {len(done)} values of done and {len(positive)} of "
            "positive; each picture needs one"
        )
    if one_in < 2:
        raise ValueError(f"one_in is {one_in}; it must be 2 or more")
    known = {
        place: score for place, score in enumerate(scores) if score is not None and isfinite(score)
    }
    middle = threshold
    if middle is None:
        middle = _high_negative([known[p] for p in known if done[p] and not positive[p]])
    to_do = [place for place, is_done in enumerate(done) if not is_done]
    uncertain = sorted(
        (place for place in to_do if place in known), key=lambda place: abs(known[place] - middle)
    )
    negatives = sorted(
        (
            place
            for place, score in known.items()
            if done[place]
            and not positive[place]
            and score >= middle
            and place not in looked_at_again
        ),
        key=lambda place: -known[place],
    )
    unknown = [place for place in to_do if place not in known]
    return [
        *_by_turns(uncertain, negatives, one_in),
        *(NextPicture(place, NO_SCORE) for place in unknown),
    ]


def _high_negative(scores: list[float]) -> float:
    """Score that one in twenty negatives exceeds; 0 where few are known."""
    if len(scores) < _FEW_NEGATIVES:
        return 0.0
    return sorted(scores)[len(scores) - 1 - len(scores) // 20]


def _by_turns(uncertain: list[int], negatives: list[int], one_in: int) -> list[NextPicture]:
    mixed, rest = [], iter(negatives)
    for count, place in enumerate(uncertain, start=1):
        mixed.append(NextPicture(place, UNCERTAIN))
        if count % (one_in - 1) == 0 and (again := next(rest, None)) is not None:
            mixed.append(NextPicture(again, HIGH_NEGATIVE))
    return mixed + [NextPicture(place, HIGH_NEGATIVE) for place in rest]


class Annotated(Protocol):
    """What is needed of the annotations: how far each picture is."""

    @property
    def revision(self) -> int: ...

    def summary(self, number: int, /) -> dict[str, Any]: ...


class Scored(Protocol):
    """What is needed of a model: what it makes of each picture."""

    @property
    def threshold(self) -> float | None: ...

    def score(self, number: int, /) -> float | None: ...


def routes(library: PictureLibrary, store: Annotated, scores: Scored) -> list[Route]:
    """Return ``GET /api/order``: ``{"order": [{"picture": 17, "why": "uncertain"}, …]}``.

    A negative that somebody changed or confirmed since the start is not offered again.

    Parameters
    ----------
    library
        The pictures.
    store
        Their annotations; see `groupcm.web.annotate.store.AnnotationStore`.
    scores
        See `groupcm.web.server.background.BackgroundScores`.
    """
    first = store.revision

    def order(_request: Request) -> Response:
        numbers = range(len(library))
        summaries = [store.summary(number) for number in numbers]
        ordered = annotation_order(
            [scores.score(number) for number in numbers],
            [each["done"] for each in summaries],
            [each["objects"] > 0 for each in summaries],
            scores.threshold,
            looked_at_again={n for n in numbers if summaries[n]["version"] > first},
        )
        return Answer({"order": [asdict(each) for each in ordered]})

    return [Route("/api/order", order)]
