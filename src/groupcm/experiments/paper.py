"""The paper's experiment on synthetic data: from sizes and a seed to results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groupcm.evaluation.results import Roc
from groupcm.experiments.areas import Areas, mean_roc
from groupcm.experiments.claims import Claim, judge
from groupcm.experiments.datasets import Entries, TestSet, draw_test_set, draw_training_set
from groupcm.experiments.sizes import GCM, MISVM, SVM, UNGROUPED, Sizes, Trained, Trial, trials_of
from groupcm.experiments.training import train_all
from groupcm.utils.merged_warnings import merge_warnings

__all__ = ["LEVELS", "PaperResults", "run_paper"]

LEVELS = ("candidate", "group")
_SEEDS_APART = 1000
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class PaperResults:
    """The results of the experiment.

    Attributes
    ----------
    sizes : Sizes
    seed : int
    models : sequence of sequence of Trained
        For each training set, the models of `trials_of`.
    areas : mapping from "group" and "candidate" to Areas
    rocs : mapping from "group" and "candidate" to a mapping from methods to Roc
        The mean curves of `_main_trials` over training sets.
    claims : sequence of Claim
    n_test : mapping
        The numbers of groups and candidates in the test set, by name.
    """

    sizes: Sizes
    seed: int
    models: Sequence[Sequence[Trained]]
    areas: Mapping[str, Areas]
    rocs: Mapping[str, Mapping[str, Roc]]
    claims: Sequence[Claim]
    n_test: Mapping[str, int]


def _main_trials(sizes: Sizes) -> list[Trial]:
    """Return the four models of the paper's main figures."""
    return [
        Trial(SVM, sizes.fewest, in_groups=False),
        Trial(MISVM, sizes.fewest),
        Trial(UNGROUPED, sizes.most),
        Trial(GCM, sizes.most),
    ]


def run_paper(
    sizes: Sizes,
    seed: int = 0,
    *,
    folder: Path | None = None,
    keep: bool = False,
    say: Say | None = None,
) -> PaperResults:
    """Draw training sets and a test set, train and score every model, judge every claim.

    Parameters
    ----------
    sizes : Sizes
    seed : int
        The seed of all patients; nothing else is random.
    folder : Path, optional
        The folder for Parquet files of sets larger than ``sizes.held_in_memory``.
    keep : bool, default=False
        Whether the files of training sets stay there after training.
    say : callable, optional
        Is called with a text at the start of each step.

    Returns
    -------
    PaperResults
    """
    say = say or (lambda text: None)
    first = _SEEDS_APART * seed
    say(f"drawing the test set: {sizes.test_negatives:,} negatives")
    test = draw_test_set(sizes, first, folder, _written(say, "writing the test set"))
    trials = trials_of(sizes)
    models = []
    with merge_warnings():
        for repeat in range(sizes.repeats):
            at = f"training set {repeat + 1} of {sizes.repeats}"
            say(f"drawing {at}: {sizes.most:,} negatives")
            training = draw_training_set(
                sizes, first + 1 + repeat, folder, _written(say, f"writing {at}")
            )
            say_at = partial(_say_with_prefix, say, at)
            models.append(train_all(training, sizes, first + 1 + repeat, say_at))
            if training.file is not None and not keep:
                training.file.unlink()
            # Free its rows before the next ones are drawn.
            del training
    say(f"scoring {sum(map(len, models))} models on the test set")
    scores = {"group": _scores(test.group_scores, models)}
    scores["candidate"] = _scores(test.candidate_scores, models)
    entries = {"group": test.groups, "candidate": test.candidates}
    areas = {}
    for level in LEVELS:
        say(f"resampling test patients, per {level}")
        areas[level] = Areas(
            trials, entries[level], scores[level], n_resamples=sizes.n_resamples, seed=first
        )
    rocs = {
        level: _rocs(sizes, trials, areas[level], entries[level], scores[level]) for level in LEVELS
    }
    return PaperResults(sizes, seed, models, areas, rocs, judge(sizes, areas), _counts(test))


def _say_with_prefix(say: Say, prefix: str, text: str) -> None:
    say(f"{prefix}: {text}")


def _written(say: Say, doing: str) -> Callable[[int, int], None]:
    """Return a callback for rows written, which reports every tenth once."""
    reported = 0

    def listen(done: int, n_rows: int) -> None:
        nonlocal reported
        if (share := 10 * done // n_rows) > reported:
            reported = share
            say(f"{doing}: {done:,} of {n_rows:,} rows")

    return listen


def _scores(
    score: Callable[[Sequence[Trained]], NDArray[np.float64]], models: Sequence[Sequence[Trained]]
) -> NDArray[np.float64]:
    """Score all models in one pass; return an array of repeats, entries and trials."""
    every = score([model for repeat in models for model in repeat])
    return np.moveaxis(every.reshape(len(every), len(models), -1), 1, 0)


def _rocs(
    sizes: Sizes,
    trials: Sequence[Trial],
    areas: Areas,
    entries: Entries,
    scores: NDArray[np.float64],
) -> dict[str, Roc]:
    return {
        trial.method: mean_roc(entries, scores[:, :, trials.index(trial)], areas.of(trial))
        for trial in _main_trials(sizes)
    }


def _counts(test: TestSet) -> dict[str, int]:
    n_positive = int(np.count_nonzero(test.groups.positive))
    return {
        "positive groups": n_positive,
        "negative groups": len(test.groups.positive) - n_positive,
        "negative candidates": test.n_negative_candidates,
        "negative candidates ranked alone": int(np.count_nonzero(~test.candidates.positive)),
        "patients": len(np.unique(test.groups.patient)),
    }
