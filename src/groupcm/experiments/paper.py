"""The paper's experiment on synthetic data: from sizes and a seed to results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.evaluation.results import Roc
from groupcm.experiments.areas import Areas, mean_roc
from groupcm.experiments.checkpoint import Checkpoint
from groupcm.experiments.claims import Claim, judge
from groupcm.experiments.datasets import TrainingSet, draw_training_set
from groupcm.experiments.sizes import GCM, MISVM, SVM, UNGROUPED, Sizes, Trained, Trial, trials_of
from groupcm.experiments.testing import LEVELS, Tested, draw_test_plan, score_models
from groupcm.experiments.training import train_all
from groupcm.simulate.definition import world_of
from groupcm.simulate.world import Plan
from groupcm.utils.formatting import counted
from groupcm.utils.merged_warnings import merge_warnings

__all__ = ["PaperResults", "drawn_trials", "identity_of", "main_trials", "run_paper"]

_SEEDS_APART = 1000
_POWER_SEED = 999  # within the thousand of a seed; training sets have 1, 2, …
_MOST_SETS = 900
_MOST_SEED = 899  # the calibration of the synthetic candidates has the seeds from 900,000 on
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
    areas, table_areas : mapping from "group" and "candidate" to Areas
        On the test set of the claims, with all training sets; on the test set of the paper's table,
        with those that have the largest size.
    rocs : mapping from "group" and "candidate" to a mapping from Trial to Roc
        The mean curves of every model of `drawn_trials` on the test set of the paper's table.
    claims : sequence of Claim
    n_test : mapping
        The numbers of groups and candidates of the test set of the table, by name.
    runs : sequence of (seconds, peak)
        The time and the peak of memory in bytes of each run until this one.
    """

    sizes: Sizes
    seed: int
    models: Sequence[Sequence[Trained]]
    areas: Mapping[str, Areas]
    table_areas: Mapping[str, Areas]
    rocs: Mapping[str, Mapping[Trial, Roc]]
    claims: Sequence[Claim]
    n_test: Mapping[str, int]
    runs: Sequence[tuple[float, float]] = ()


def main_trials(sizes: Sizes) -> list[Trial]:
    """Return the four models of the paper's main figures."""
    return [
        Trial(SVM, sizes.fewest),
        Trial(MISVM, sizes.fewest),
        Trial(UNGROUPED, sizes.most),
        Trial(GCM, sizes.most),
    ]


def drawn_trials(sizes: Sizes) -> list[Trial]:
    """Return the models whose ROC curves are drawn: those of every size, as they are first read."""
    return [trial for trial in trials_of(sizes) if not trial.variant]


def identity_of(sizes: Sizes, seed: int) -> dict[str, Any]:
    """Return what the results depend on."""
    world = world_of(sizes.world).sha256
    return {"version": __version__, "seed": seed, "sizes": asdict(sizes), "world": world}


def run_paper(
    sizes: Sizes,
    seed: int = 0,
    *,
    folder: Path | None = None,
    keep: bool = False,
    say: Say | None = None,
    checkpoint: Checkpoint | None = None,
) -> PaperResults:
    """Draw training sets, train every model, score two test sets, judge every claim.

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
    checkpoint : Checkpoint, optional
        Has what previous runs finished, and keeps what this one finishes.

    Returns
    -------
    PaperResults
    """
    say = say or (lambda text: None)
    if seed > _MOST_SEED:
        raise InputError(f"--seed must be at most {_MOST_SEED}; got {seed}")
    if sizes.n_sets > _MOST_SETS:
        raise InputError(f"there are at most {_MOST_SETS} training sets; got {sizes.n_sets}")
    checkpoint = checkpoint or Checkpoint(None)
    first = _SEEDS_APART * seed
    models: list[list[Trained]] = []
    with merge_warnings():
        for number in range(sizes.n_sets):
            at = f"training set {number + 1} of {sizes.n_sets}"
            draw = partial(_draw, sizes, first + 1 + number, number, folder, say, at)
            clock = _Clock(sizes, models, checkpoint, partial(_say_with_prefix, say, at))
            models.append(
                train_all(
                    draw, sizes, first + 1 + number, clock.say, number=number, checkpoint=checkpoint
                )
            )
            file = folder and folder / f"training-{first + 1 + number}.parquet"
            if file is not None and not keep:
                file.unlink(missing_ok=True)
    plans = {
        "test": draw_test_plan(sizes, sizes.test, first),
        "power": draw_test_plan(sizes, sizes.power, first + _POWER_SEED),
    }
    tested = {
        name: _test(name, plan, sizes, models, checkpoint, say) for name, plan in plans.items()
    }
    areas = _areas(sizes, tested["power"], plans["power"], sizes.n_sets)
    table_areas = _areas(sizes, tested["test"], plans["test"], sizes.repeats)
    say("drawing the bands of the ROC curves")
    rocs = {level: _rocs(sizes, tested["test"], level, table_areas[level]) for level in LEVELS}
    return PaperResults(
        sizes,
        seed,
        models,
        areas,
        table_areas,
        rocs,
        judge(sizes, areas),
        _counts(plans["test"]),
        checkpoint.usage(),
    )


def _draw(
    sizes: Sizes, seed: int, number: int, folder: Path | None, say: Say, at: str
) -> TrainingSet:
    say(f"drawing {at}: {sizes.negatives_of(number)[-1]:,} negatives")
    return draw_training_set(sizes, seed, folder, _written(say, f"writing {at}"), number=number)


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


class _Clock:
    """Adds the time left for training to every step, from the times of equal models before."""

    def __init__(
        self, sizes: Sizes, done: Sequence[Sequence[Trained]], checkpoint: Checkpoint, say: Say
    ) -> None:
        known: dict[Trial, list[float]] = {}
        for models in done:
            for model in models:
                known.setdefault(model.trial, []).append(model.seconds)
        self._mean = {trial: float(np.mean(seconds)) for trial, seconds in known.items()}
        self._say = say
        self._left = [
            trial
            for number in range(len(done), sizes.n_sets)
            for trial in trials_of(sizes, number)
            if checkpoint.model(number, trial) is None
        ]

    def say(self, text: str) -> None:
        """Announce the next model."""
        unknown = [trial for trial in self._left if trial not in self._mean]
        if self._mean and not unknown:
            minutes = sum(self._mean[trial] for trial in self._left) / 60
            text += f" (training will take {minutes:.0f} min more; then the tests)"
        elif self._left:
            text += f" ({counted(len(self._left), 'model')} left)"
        self._say(text)
        self._left = self._left[1:]


def _test(
    name: str,
    plan: Plan,
    sizes: Sizes,
    models: Sequence[Sequence[Trained]],
    checkpoint: Checkpoint,
    say: Say,
) -> Tested:
    chosen = models[: sizes.repeats] if name == "test" else models
    flat = [model for of_set in chosen for model in of_set]
    doing = f"scoring {len(flat)} models on {plan.n_rows:,} test candidates"
    say(doing)
    began, first = time.perf_counter(), 0

    def on_part(done: int, of: int) -> None:
        nonlocal began, first
        if first == 0:  # the first part also has the frames with polyps
            began, first = time.perf_counter(), done
            return
        left = (time.perf_counter() - began) / (done - first) * (of - done)
        say(f"{doing}: {100 * done // of} %, {left / 60:.1f} min left")

    return score_models(
        plan, flat, with_bands=name == "test", checkpoint=checkpoint, name=name, on_part=on_part
    )


def _areas(sizes: Sizes, tested: Tested, plan: Plan, n_sets: int) -> dict[str, Areas]:
    trials = [trials_of(sizes, number) for number in range(n_sets)]
    n_polyp_patients = len(np.unique(plan.patient[plan.polyp >= 0]))
    return {
        level: Areas(trials, tested.auc[k], tested.influence[k], n_polyp_patients)
        for k, level in enumerate(LEVELS)
    }


def _rocs(sizes: Sizes, tested: Tested, level: str, areas: Areas) -> dict[Trial, Roc]:
    trials = trials_of(sizes)
    found = {}
    for trial in drawn_trials(sizes):
        models = [trials.index(trial) + len(trials) * r for r in range(sizes.repeats)]
        auc = areas.of(trial).interval
        found[trial] = mean_roc(
            tested, LEVELS.index(level), models, auc, n_resamples=sizes.n_resamples
        )
    return found


def _counts(plan: Plan) -> dict[str, int]:
    negative = plan.polyp < 0
    return {
        "positive groups": int((~negative).sum()),
        "negative groups": int(negative.sum()),
        "negative candidates": int(np.diff(plan.row_ptr)[negative].sum()),
        "patients": len(np.unique(plan.patient)),
        "patients with polyps": len(np.unique(plan.patient[~negative])),
    }
