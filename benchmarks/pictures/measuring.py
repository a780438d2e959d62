"""All models on one set with one seed: what a process of its own does."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pictures.candidates import SetCandidates, candidates_of
from benchmarks.pictures.measures import Measures, measures
from benchmarks.pictures.models import WHOLE_PICTURE, scores_of_folds
from benchmarks.pictures.sets import PICTURE_SETS
from benchmarks.support.measure import say
from groupcm.images.features.network_embedding import NetworkEmbedding
from groupcm.images.features.pooled_embedding import PooledEmbedding
from groupcm.images.proposals import Proposals
from groupcm.images.recipe import Recipe
from groupcm.utils.files import whole_file

__all__ = ["Trial", "candidates_named", "embeddings_named", "measure_on"]

CROP_SIZE = 96


@dataclass(frozen=True)
class Trial:
    """What is measured: one set with one seed.

    Attributes
    ----------
    data, cache
        The folders of the data, and of what is kept.
    name
        The set.
    at_most, seed, n_settings
        Candidates a picture, the seed of the folds, settings a model.
    models
        The names of the models.
    network, mode
        A network whose embeddings join the features, and how it sees candidates; None for none.
    """

    data: Path
    cache: Path
    name: str
    at_most: int
    seed: int
    n_settings: int
    models: tuple[str, ...]
    network: str | None = None
    mode: str = "crop"

    def file(self, model: str) -> Path:
        """Where the result of a model is kept."""
        parts = [self.name, self.at_most, self.seed, self.n_settings, model.replace(" ", "-")]
        if self.network is not None:
            parts += [Path(self.network).stem.replace(":", "-"), self.mode]
        return self.cache / ("-".join(map(str, parts)) + ".json")


def measure_on(trial: Trial) -> dict[str, Measures]:
    """All models on one set with one seed; what an earlier run found is not done again."""
    found = {}
    data = candidates_named(trial.data, trial.name, trial.cache, trial.at_most)
    embeddings = None
    for model in trial.models:
        file = trial.file(model)
        if file.is_file():
            found[model] = Measures(**json.loads(file.read_text()))
            continue
        if trial.network is not None and model != WHOLE_PICTURE and embeddings is None:
            embeddings = embeddings_named(trial)
        found[model] = _measured(data, model, trial, embeddings)
        with whole_file(file) as beside:
            beside.write_text(json.dumps(asdict(found[model])))
    return found


def _measured(
    data: SetCandidates, model: str, trial: Trial, embeddings: NDArray[np.float16] | None
) -> Measures:
    is_whole = model == WHOLE_PICTURE
    part = data.whole_pictures() if is_whole else data
    scores, fold = scores_of_folds(
        part,
        [model],
        seed=trial.seed,
        n_settings=trial.n_settings,
        # A whole picture overlaps a small object little, and stands for it all the same.
        min_overlap=0.0 if is_whole else 0.3,
        embeddings=None if is_whole else embeddings,
        progress=lambda words: say(f"    {trial.name}, seed {trial.seed}: {words}"),
    )
    return measures(part, scores[model], fold)


def candidates_named(folder: Path, name: str, cache: Path, at_most: int) -> SetCandidates:
    """Candidates of a set of pictures by the default recipe, so many a picture."""
    return candidates_of(PICTURE_SETS[name].pictures(folder), Recipe(_proposals(at_most)), cache)


def embeddings_named(trial: Trial) -> NDArray[np.float16]:
    """All outputs of the network for the same candidates, in half precision."""
    file = trial.network or ""
    if trial.mode == "pool":
        family = PooledEmbedding.of(file)
    else:
        family = NetworkEmbedding.of(file, size=CROP_SIZE)
    recipe = Recipe(_proposals(trial.at_most), (family,))
    pictures = PICTURE_SETS[trial.name].pictures(trial.data)
    return candidates_of(pictures, recipe, trial.cache, half=True).values


def _proposals(at_most: int) -> Proposals:
    return Proposals(Proposals.default().parts, at_most=at_most)
