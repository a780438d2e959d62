"""All models on one set with one seed: what a process of its own does."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.pictures.candidates import SetCandidates, candidates_of
from benchmarks.pictures.measures import Measures, measures
from benchmarks.pictures.models import MODELS, WHOLE_PICTURE, scores_of_folds
from benchmarks.pictures.sets import PICTURE_SETS
from benchmarks.support.measure import say
from groupcm.images.proposals import Proposals
from groupcm.images.recipe import Recipe
from groupcm.utils.files import whole_file

__all__ = ["candidates_named", "measure_on"]


def measure_on(
    folder: str, name: str, cache: str, at_most: int, seed: int, settings: int
) -> dict[str, Measures]:
    """All models on one set with one seed; what an earlier run found is not done again."""
    found = {}
    data = candidates_named(Path(folder), name, Path(cache), at_most)
    for model in (*MODELS, WHOLE_PICTURE):
        file = Path(cache) / f"{name}-{at_most}-{seed}-{settings}-{model.replace(' ', '-')}.json"
        if file.is_file():
            found[model] = Measures(**json.loads(file.read_text()))
            continue
        found[model] = _measured(data, model, seed, settings, f"    {name}, seed {seed}: ")
        with whole_file(file) as beside:
            beside.write_text(json.dumps(asdict(found[model])))
    return found


def _measured(data: SetCandidates, model: str, seed: int, settings: int, where: str) -> Measures:
    is_whole = model == WHOLE_PICTURE
    part = data.whole_pictures() if is_whole else data
    scores, fold = scores_of_folds(
        part,
        [model],
        seed=seed,
        n_settings=settings,
        # A whole picture overlaps a small object little, and stands for it all the same.
        min_overlap=0.0 if is_whole else 0.3,
        progress=lambda words: say(where + words),
    )
    return measures(part, scores[model], fold)


def candidates_named(folder: Path, name: str, cache: Path, at_most: int) -> SetCandidates:
    """Candidates of a set of pictures by the default recipe, so many a picture."""
    recipe = Recipe(Proposals(Proposals.default().parts, at_most=at_most))
    return candidates_of(PICTURE_SETS[name].pictures(folder), recipe, cache)
