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
from groupcm.images.features.network_family import NetworkFamily
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
    others, whole = [], []
    for model in trial.models:
        file = trial.file(model)
        if file.is_file():
            found[model] = Measures(**json.loads(file.read_text()))
        else:
            (whole if model == WHOLE_PICTURE else others).append(model)
    # With a network together, since the components of a fold are the same for all models.
    parts = [[model] for model in others] if trial.network is None else [others]
    for models in filter(None, [*parts, whole]):
        for model, measured in _measured(data, models, trial).items():
            found[model] = measured
            with whole_file(trial.file(model)) as beside:
                beside.write_text(json.dumps(asdict(measured)))
    return {model: found[model] for model in trial.models}


def _measured(data: SetCandidates, models: list[str], trial: Trial) -> dict[str, Measures]:
    is_whole = models == [WHOLE_PICTURE]
    part = data.whole_pictures() if is_whole else data
    has_network = trial.network is not None and not is_whole
    scores, fold = scores_of_folds(
        part,
        models,
        seed=trial.seed,
        n_settings=trial.n_settings,
        # A whole picture overlaps a small object little, and stands for it all the same.
        min_overlap=0.0 if is_whole else 0.3,
        embeddings=embeddings_named(trial) if has_network else None,
        progress=lambda words: say(f"    {trial.name}, seed {trial.seed}: {words}"),
    )
    return {model: measures(part, scores[model], fold) for model in models}


def candidates_named(folder: Path, name: str, cache: Path, at_most: int) -> SetCandidates:
    """Candidates of a set of pictures by the default recipe, so many a picture."""
    return candidates_of(PICTURE_SETS[name].pictures(folder), Recipe(_proposals(at_most)), cache)


def embeddings_named(trial: Trial) -> list[NDArray[np.float16]]:
    """All outputs of the network for the same candidates in half precision, mode by mode."""
    file = trial.network or ""
    families: list[NetworkFamily] = []
    if trial.mode in ("crop", "both"):
        families.append(NetworkEmbedding.of(file, size=CROP_SIZE))
    if trial.mode in ("pool", "both"):
        families.append(PooledEmbedding.of(file))
    pictures = PICTURE_SETS[trial.name].pictures(trial.data)
    recipes = [Recipe(_proposals(trial.at_most), (family,)) for family in families]
    return [candidates_of(pictures, each, trial.cache, half=True).values for each in recipes]


def _proposals(at_most: int) -> Proposals:
    return Proposals(Proposals.default().parts, at_most=at_most)
