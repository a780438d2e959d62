"""The order in which to annotate pictures, so that the model learns most, and its route.

With score s_i of picture i and threshold t, a picture is

    uncertain               to do;                                  the nearer first: |s_i − t|
    high-scoring negative   done without an object, and s_i ≥ t;    the higher first: s_i − t

The solution of a linear model with margins depends on few terms: a negative group contributes only
if its largest score is above the lower margin, a positive group only if its score is below the
upper one. All other groups could be removed without changing the solution. A picture near the
threshold is inside the margin whichever label it gets, so its label always counts; a picture far
from it is most likely outside, and its label changes nothing. A negative above the threshold has
the largest slope of all: it is either the most instructive false alarm, or an object that was
missed, which pulls the solution in the wrong direction with full weight.

The two are on different scales, so they alternate: of every ``one_in`` pictures, the last is a
negative to check again.

Without a threshold, t is the score that one in twenty of the annotated negatives exceeds. If
objects are rare, positives have the largest weight (λ/n+ against λ/n−) and are found at high
scores; 0, the decision boundary of the model, is too low for that. While few negatives are
annotated, t is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcm.web.server.library import PictureLibrary

if TYPE_CHECKING:
    from groupcm.web.annotate.store import AnnotationStore
    from groupcm.web.server.background import BackgroundScores

__all__ = ["NextPicture", "annotation_order", "routes"]

UNCERTAIN = "uncertain"
HIGH_NEGATIVE = "high-scoring negative"
NO_SCORE = "no score yet"
_FEW_NEGATIVES = 20


@dataclass(frozen=True)
class NextPicture:
    """The number of a picture, and why it is next."""

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
    """Order pictures by how much the model learns from their annotation.

    Pictures to do that have no score yet come last, in their own order. Pictures that are done and
    need no second look are left out.

    Parameters
    ----------
    scores
        One score per picture; None if it is not known.
    done
        Whether each picture is annotated.
    positive
        Whether each picture has an object.
    threshold
        t; by default it is chosen from the scores of the annotated negatives.
    looked_at_again
        Negatives that were confirmed after they were scored, and are not checked again.
    one_in
        How often a negative comes, as long as there are both.

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
    """Return the score that one in twenty negatives exceeds; 0 if there are few."""
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


def routes(
    library: PictureLibrary, store: AnnotationStore, scores: BackgroundScores
) -> list[Route]:
    """Return ``GET /api/order``: ``{"order": [{"picture": 17, "why": "uncertain"}, …]}``.

    A negative that was changed or confirmed after the start is not offered again.

    Parameters
    ----------
    library
        The pictures.
    store
        Their annotations.
    scores
        The scores of a model.
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
        return JSONResponse({"order": [asdict(each) for each in ordered]})

    return [Route("/api/order", order)]
