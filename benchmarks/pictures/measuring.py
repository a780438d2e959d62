"""All models on one set with one seed: what a process of its own does."""

from __future__ import annotations

from pathlib import Path

from groupcm.images.proposals import Proposals
from groupcm.images.recipe import Recipe

from ..measure import say
from .candidates import SetCandidates, candidates_of
from .measures import Measures, measures
from .models import MODELS, WHOLE_PICTURE, scores_of_folds
from .sets import PICTURE_SETS

__all__ = ["candidates_named", "measure_on"]


def measure_on(
    folder: str, name: str, cache: str, at_most: int, seed: int, settings: int
) -> dict[str, Measures]:
    """All models on one set with one seed."""
    data = candidates_named(Path(folder), name, Path(cache), at_most)
    told = f"    {name}, seed {seed}: "
    found = {}
    for part, models in ((data, MODELS), (data.whole_pictures(), (WHOLE_PICTURE,))):
        scores, fold = scores_of_folds(
            part,
            models,
            seed=seed,
            n_settings=settings,
            progress=lambda words: say(told + words),
        )
        found |= {model: measures(part, scores[model], fold) for model in models}
    return found


def candidates_named(folder: Path, name: str, cache: Path, at_most: int) -> SetCandidates:
    """Candidates of a set of pictures by the default recipe, so many a picture."""
    recipe = Recipe(Proposals(Proposals.default().parts, at_most=at_most))
    return candidates_of(PICTURE_SETS[name].pictures(folder), recipe, cache)
