"""The learning curve of ``groupcm evaluate --train``: the model again, on fewer negative groups."""

from __future__ import annotations

from typing import Any

from groupcm.cli.commands.candidates import Candidates
from groupcm.cli.options.mistakes import mistakes_in_options
from groupcm.cli.output import Display
from groupcm.evaluation._learning_curve import TrainingGroups, learning_curve
from groupcm.evaluation.results import DataCounts, LearningCurve
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.utils.progress import listening

__all__ = ["learn_again"]

# Rows of the training tables that are picked out fit into this.
_MOST_BYTES = 1 << 30
# Parameters of a model that was fitted before are changed by fitting it again.
_OPTION_OF_PARAMETER = {
    "lower min_overlap": "fit the model with a lower --min-overlap",
    "min_overlap=": "--min-overlap ",
}


def learn_again(
    model: Any, train: Candidates, test: Candidates, scored: ScoredCandidates, display: Display
) -> tuple[DataCounts, LearningCurve]:
    """How much there is to train on, and the group AUC on ``test`` that less of it gives."""
    is_positive = train.groups_with(model.classes_[1])
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    counts = DataCounts("", train.n_rows, n_positive, n_negative, train.n_patients)
    groups = TrainingGroups(is_positive, train.fit_groups, train.most_groups(_MOST_BYTES))

    def show(size: int, fit: int, n_fits: int) -> None:
        display.status(f"fit {fit} of {n_fits}: {size:,} negative groups")

    # The steps of so many fits would bury everything else.
    with mistakes_in_options(_OPTION_OF_PARAMETER), listening(lambda step: None, display.reading):
        learning = learning_curve(
            model, groups, scored, lambda fitted: test.group_scores(fitted).score, on_fit=show
        )
    return counts, learning
