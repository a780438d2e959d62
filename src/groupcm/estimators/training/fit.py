"""One fit of a linear model, from checked rows to certified solutions.

::

    read_training_data(estimator, X, y, groups, …)   →  TrainingData  rows, classes, groups
    Training(data, Hyperparameters.of(estimator))    →  Prepared      terms, sample, map, scale
        .solve(lam)                                  →  Solved        what the estimator stores

An estimator is a face of scikit-learn around these three lines: it validates, trains and stores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from groupcm.errors import Argument, MessageWarning, warn_user
from groupcm.estimators.training.data import TrainingData
from groupcm.estimators.training.fit_setup import Hyperparameters, Prepared, costs_of
from groupcm.estimators.training.tasks import as_returned, make_task, solve_tasks, solving
from groupcm.objective.terms import Terms
from groupcm.solvers import multipliers, working_set
from groupcm.solvers.alternating import Alternation, Choice, alternate, problem_of_means
from groupcm.solvers.solution import Solution, Task, mean_weights
from groupcm.sources.rows.sample import Sample

__all__ = ["Solved", "StoppedWarning", "Training", "reporting_checkpoint"]

# Features whose deviations are larger than this, or λ, explain why a fit did not converge.
_BAD_SCALE = 1e4
_NEAR_ONE = 0.999
# Problems that a choice of candidates may take; most settle within ten.
_MOST_ROUNDS = 50


class StoppedWarning(MessageWarning, ConvergenceWarning):
    """A fit stopped before it reached the requested gap, or before choices settled."""


@dataclass(frozen=True)
class Solved:
    """What a training found.

    Attributes
    ----------
    solutions : list of Solution or None
        One per class that is trained against the rest; None for a class that every group holds.
    alternation : Alternation or None
        How candidates were chosen in groups without annotation; None where there are none.
    """

    solutions: list[Solution | None]
    alternation: Alternation | None = None


class Training:
    """The rows of one fit, prepared, and the problems that they can be solved for.

    Parameters
    ----------
    data : TrainingData
    hyperparameters : Hyperparameters

    Attributes
    ----------
    prepared : Prepared
        The rows in the space that the weights live in.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.estimators.training.input import read_training_data
    >>> estimator = GroupClassifier(lam=0.9)
    >>> data = read_training_data(estimator, [[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1], "none")
    >>> training = Training(data, Hyperparameters.of(estimator))
    >>> [solution.converged for solution in training.solve().solutions]
    [True]
    """

    def __init__(self, data: TrainingData, hyperparameters: Hyperparameters) -> None:
        self.hyperparameters = hyperparameters
        self.prepared = Prepared(hyperparameters, data)
        self._states: dict[float, multipliers.State] = {}

    def with_max_fpr(self, max_fpr: float) -> Training:
        """Return the training of the same prepared rows with another ``max_fpr``."""
        training, prepared = copy(self), copy(self.prepared)
        training.hyperparameters = replace(self.hyperparameters, max_fpr=max_fpr)
        prepared.hyperparameters = training.hyperparameters
        training.prepared = prepared
        return training

    def solve(self, lam: float | None = None) -> Solved:
        """Solve for each class against the rest, on all groups.

        Parameters
        ----------
        lam : float, optional
            λ, for two classes; by default the hyperparameter.
        """
        if len(self.prepared.unannotated):
            found = self.choose_unannotated(self.hyperparameters.lam if lam is None else lam)
            return Solved([found.solution], found)
        return Solved(self.solve_classes() if lam is None else [*self.solve_path([lam])])

    def solve_classes(self) -> list[Solution | None]:
        """Solve for each class against the rest; None for a class that every group holds."""
        lam, seed = self.hyperparameters.lam, self.hyperparameters.draw_seed()
        tasks = [
            None if terms is None else make_task(self.prepared, terms, lam, seed)
            for terms in self.prepared.terms
        ]
        trained = [task for task in tasks if task is not None]
        for task in trained:
            task.budget.share(len(trained))
        found = iter(solve_tasks(self.prepared, trained, related=False))
        solutions = [None if task is None else next(found) for task in tasks]
        for solution in solutions:
            if solution is not None:
                self._warn_unless_converged(solution)
        return solutions

    def solve_path(
        self,
        lams: Sequence[float],
        terms: list[Terms] | None = None,
        near: NDArray[np.float64] | None = None,
    ) -> list[Solution]:
        """Solve for each λ from the solution of the one before, the first from ``near``.

        ``terms``, made for the hyperparameter λ, are by default those of all groups.
        """
        is_whole = terms is None
        tasks = self._path(lams, self._only_terms() if terms is None else terms)
        for lam, task in zip(lams, tasks, strict=True):
            task.warm.state = self._states.get(lam)
        solutions = solve_tasks(self.prepared, tasks, related=True, near=near)
        for lam, task in zip(lams, tasks, strict=True):
            if is_whole and isinstance(task.warm.state, multipliers.State):
                self._states[lam] = task.warm.state
                task.warm.state.forget_rows()
        for lam, solution in zip(lams, solutions, strict=True):
            self._warn_unless_converged(solution, lam)
        return solutions

    def separating_odds(self) -> float:
        """Return the ``λ / (1 − λ)`` from which weights that separate the class means pay.

        ``Σ_j h(f_j w_j) / (2 d)`` for the weights of `mean_weights`: their penalty, by what they
        save of the losses of both classes.
        """
        prepared = self.prepared
        task = make_task(prepared, self._only_terms(), self.hyperparameters.lam, seed=0)
        if prepared.data.stream is not None:
            task = working_set.on_sample(task, prepared.space, Sample(prepared.data.stream))
        w, _ = mean_weights(task)
        penalty = task.problem.penalty_value(np.append(w, 0.0))
        return penalty / (2.0 * task.problem.rho * prepared.space.n_features)

    def start_folds(self, lams: Sequence[float]) -> None:
        """Solve for each λ on all groups, where the same λ on some of them can begin from there."""
        is_solved_so = (
            self.hyperparameters.solver == "working_set"
            and self.hyperparameters.objective == "gcm"
            and self.prepared.data.stream is None
        )
        if is_solved_so and multipliers.applies(self._path(lams[:1], self._only_terms())[0]):
            self.solve_path(lams)

    def _path(self, lams: Sequence[float], terms: list[Terms]) -> list[Task]:
        seed = self.hyperparameters.draw_seed()
        made_for = self.hyperparameters.lam
        return [
            make_task(self.prepared, _weighted(terms, lam / made_for), lam, seed) for lam in lams
        ]

    def choose_unannotated(self, lam: float) -> Alternation:
        """Solve with a candidate chosen in each positive group without annotation.

        The first choice is that of the problem of the annotated groups. Nothing is random.
        """
        prepared = self.prepared
        terms = self._only_terms()
        if self.hyperparameters.C is None:
            terms = _weighted(terms, lam / self.hyperparameters.lam)
        first = make_task(self.prepared, terms, lam, seed=0)
        positive = [part for part in terms if part.sign > 0]
        negative = [part for part in terms if part.sign < 0]
        groups = Terms.of_groups(-1, prepared.data.groups, prepared.unannotated)
        weights, of_groups = prepared.data.weights, np.ones(len(groups))
        if weights is not None:
            of_groups = weights.of_groups(groups, prepared.data.groups)
        costs = replace(costs_of(self.hyperparameters, prepared.data), lam=lam)
        annotated, others = (
            sum(part.group_weight for part in side) for side in (positive, negative)
        )
        before = costs.of_weights(annotated, others)
        after = costs.of_weights(annotated + float(np.sum(of_groups)), others)
        fixed = [
            *_weighted(positive, after[0] / before[0]),
            *_weighted(negative, after[1] / before[1]),
        ]
        weight = after[0] if weights is None else after[0] * of_groups
        choice = Choice(replace(first, terms=fixed), groups, weight)
        found = self._alternate(choice, lambda _: first, _MOST_ROUNDS)
        _warn_unless_settled(
            found, "the choice in groups without annotation", "annotate more of them"
        )
        return found

    def choose_everywhere(self, most_rounds: int) -> Alternation:
        """Solve MI-SVM: a candidate is chosen in every positive group, whatever its labels.

        The first choice is that of the means of the groups. Nothing is random.
        """
        data, terms = self.prepared.data, self._only_terms()
        groups = Terms.of_groups(-1, data.groups, data.groups_of(data.rows_of(1)))
        total = sum(part.total_weight for part in terms if part.sign > 0)
        negative = [part for part in terms if part.sign < 0]
        task = make_task(self.prepared, negative, self.hyperparameters.lam, seed=0)
        weight = total / len(groups)
        if data.weights is not None:
            of_groups = data.weights.of_groups(groups, data.groups)
            weight = total * of_groups / np.sum(of_groups)
        choice = Choice(task, groups, weight)
        found = self._alternate(choice, problem_of_means, most_rounds)
        _warn_unless_settled(found, "MI-SVM", "raise ", Argument("max_iter"))
        return found

    def _alternate(
        self, choice: Choice, first_problem: Callable[[Choice], Task], most_rounds: int
    ) -> Alternation:
        with solving(self.prepared.data):
            found = alternate(choice, first_problem(choice), most_rounds=most_rounds)
            task = choice.task_with(found.witnesses)
            found = replace(found, solution=as_returned(self.prepared, task, found.solution))
        self._warn_unless_converged(found.solution)
        return found

    def _only_terms(self) -> list[Terms]:
        """Return the terms of the one class that is trained, of two."""
        (terms,) = self.prepared.terms
        assert terms is not None
        return terms

    def _warn_unless_converged(self, solution: Solution, lam: float | None = None) -> None:
        """Warn how far a solution is from the optimum, where a `StopRule` is not met.

        ``lam`` is the solution's, where that is not the hyperparameter.
        """
        if solution.converged:
            return
        options = self.hyperparameters
        reached = f"a relative gap of {solution.gap:.2g}, above "
        if solution.gap <= options.tol:
            reached = (
                f"a gap of {100 * solution.gap_of_gain:.2g} % of what weights can gain over an "
                "intercept alone, above the square root of "
            )
        warning = StoppedWarning(
            f"stopped after {solution.passes:.3g} passes at {reached}",
            Argument("tol", options.tol),
            "; ",
            *self._advice(solution, options.lam if lam is None else lam),
            ".",
            alike=str(solution.stop),
        )
        warn_user(warning)

    def _advice(self, solution: Solution, lam: float) -> tuple[object, ...]:
        """Return the parts of a sentence: what would help against a gap that did not close."""
        options, prepared = self.hyperparameters, self.prepared
        passes, tol = Argument("max_passes"), Argument("tol")
        if solution.interrupted:
            return ("it was interrupted",)
        quasi_newton = options.solver == "lbfgs"
        other = ("use ", Argument("solver", "working_set"))
        if solution.stop == "passes":
            return "raise ", passes, *((", or ", *other) if quasi_newton else ())
        if solution.stop == "time":
            return Argument("max_time", options.max_time), " was used up, so raise it"
        scaling = prepared.scaling
        if solution.stop == "rounding":
            far = int(np.argmax(np.abs(solution.weights * scaling.mean / scaling.scale)))
            name = prepared.feature_names()[far]
            return (
                f"the values of feature {name} are so far from zero that its weight and the "
                "intercept lose the digits that matter, so subtract a constant from it",
            )
        if not options.standardize and np.max(1.0 / scaling.units) > _BAD_SCALE:
            scale = "the features are on a large scale, so "
            return scale, "rescale them or leave out ", Argument("standardize", False)
        if quasi_newton and solution.stop == "stalled":
            stalls = " stalls where the winners of groups change, so "
            return Argument("solver", "lbfgs"), stalls, *other
        if options.C is None and lam > _NEAR_ONE:
            lower = (" leaves almost no penalty, so lower ", Argument("lam"), " or raise ", tol)
            return Argument("lam", lam), *lower
        if solution.stop == "work":
            return "the work allowed was used up, so raise ", passes, " or ", tol
        return "no more progress was made, so raise ", tol


def _weighted(terms: Sequence[Terms], factor: float) -> list[Terms]:
    return [replace(part, weight=part.weight * factor) for part in terms]


@contextmanager
def reporting_checkpoint(checkpoint: str | os.PathLike[str] | None) -> Iterator[None]:
    """Within the block, an interrupt that leaves no model reports what a checkpoint keeps."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if interrupt.args:
            raise
        if checkpoint is None:
            kept = "nothing is kept; with a checkpoint file the same fit can resume"
        elif os.path.exists(checkpoint):
            kept = f"{checkpoint} keeps its state, and the same fit resumes from there"
        else:
            kept = f"it had not reached a point that {checkpoint} could keep"
        raise KeyboardInterrupt(f"the fit was interrupted before it had a model: {kept}.") from None


def _warn_unless_settled(found: Alternation, what: str, *advice: object) -> None:
    """Warn where the choices of candidates still changed; ``advice`` are parts of a sentence."""
    if found.outcome in ("settled", "interrupted"):  # an interrupt needs no warning
        return
    why: dict[str, tuple[object, ...]] = {
        "cycled": (
            "the choices of candidates came back to earlier ones, so they cycle; a smaller ",
            Argument("tol"),
            " may end that",
        ),
        "exhausted": ("choices of candidates still changed; ", *advice),
    }
    warning = StoppedWarning(
        f"{what} stopped after {found.rounds} problems: ",
        *why[found.outcome],
        ".",
        alike=found.outcome,
    )
    warn_user(warning)
