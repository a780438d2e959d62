"""All models on one set with one seed: what a process of its own does."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from groupcm.files import whole_file
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
    """All models on one set with one seed, or what an earlier run found."""
    file = Path(cache) / f"{name}-{at_most}-{seed}-{settings}.json"
    if file.is_file():
        kept = json.loads(file.read_text())
        return {model: Measures(**numbers) for model, numbers in kept.items()}
    data = candidates_named(Path(folder), name, Path(cache), at_most)
    told = f"    {name}, seed {seed}: "
    found = {}
    # A whole picture overlaps a small object little, and stands for it all the same.
    for part, models, least in (
        (data, MODELS, 0.3),
        (data.whole_pictures(), (WHOLE_PICTURE,), 0.0),
    ):
        scores, fold = scores_of_folds(
            part,
            models,
            seed=seed,
            n_settings=settings,
            min_overlap=least,
            progress=lambda words: say(told + words),
        )
        found |= {model: measures(part, scores[model], fold) for model in models}
    with whole_file(file) as beside:
        beside.write_text(json.dumps({model: asdict(each) for model, each in found.items()}))
    return found


def candidates_named(folder: Path, name: str, cache: Path, at_most: int) -> SetCandidates:
    """Candidates of a set of pictures by the default recipe, so many a picture."""
    recipe = Recipe(Proposals(Proposals.default().parts, at_most=at_most))
    return candidates_of(PICTURE_SETS[name].pictures(folder), recipe, cache)
