"""The threshold that keeps a target on scored candidates.

A sensitivity or a specificity is about groups, and false alarms are candidates; here both are read
from the same `ScoredCandidates`. Candidates whose own labels are not known count no false alarms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from groupcm.errors import Argument, InputError
from groupcm.estimators.threshold_choice import choose_threshold
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.metrics.decision import ChosenThreshold, resolve_threshold

__all__ = ["check_target", "choose_on", "threshold_of_evaluation"]

_TARGETS = ("specificity", "sensitivity", "false_alarms")


def check_target(wanted: Mapping[str, float | None]) -> None:
    """Raise one sentence where several targets of a threshold are given, or one is impossible.

    Examples
    --------
    >>> check_target({"threshold": None, "specificity": 0.9, "false_alarms": 1.0})
    Traceback (most recent call last):
    groupcm.errors.InputError: specificity and false_alarms are both given; a threshold follows one
    >>> check_target({"false_alarms": -1.0})
    Traceback (most recent call last):
    groupcm.errors.InputError: false_alarms is -1; it is a number per group, of at least 0
    """
    given = {name: value for name, value in wanted.items() if value is not None}
    if len(given) > 1:
        first, second, *_ = given
        raise InputError(
            Argument(first),
            " and ",
            Argument(second),
            " are both given; a threshold follows one",
        )
    for name, value in given.items():
        if name == "false_alarms":
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(
                    Argument(name), f" is {value:g}; it is a number per group, of at least 0"
                )
        elif name != "threshold" and not 0.0 <= value <= 1.0:
            raise InputError(Argument(name), f" is {value:g}; it is a share, between 0 and 1")


def choose_on(
    scored: ScoredCandidates, *, false_alarms: float | None = None, **options: Any
) -> ChosenThreshold:
    """Choose the threshold that keeps a target on scored candidates.

    Parameters
    ----------
    scored : ScoredCandidates
    false_alarms : float, optional
        Candidates that are not positive and reach the threshold, per group at most.
    **options
        The other options of `groupcm.estimators.threshold_choice.choose_threshold`.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm.data.groups import index_groups
    >>> scored = ScoredCandidates(
    ...     index_groups(["a", "a", "b", "b"]),
    ...     score=np.array([3.0, 2.0, 1.0, 0.0]),
    ...     is_positive=np.array([True, False, False, False]),
    ...     rows=lambda rows: np.zeros((len(rows), 1)),
    ... )
    >>> found = choose_on(scored, false_alarms=0.5)
    >>> found.value, found.decision.target
    (1.5, 'false_alarms')
    """
    patients = scored.group_patient
    if false_alarms is None:
        return choose_threshold(
            scored.group_positive,
            scored.group_score,
            patients=patients,
            levels=scored.group_levels,
            **options,
        )
    rows = scored.all_rows
    known = rows.has_label
    group = rows.group[known]
    return choose_threshold(
        rows.is_positive[known],
        rows.score[known],
        group,
        patients=None if patients is None else patients[group],
        false_alarms=false_alarms,
        **options,
    )


def threshold_of_evaluation(
    model: Any,
    candidates: ScoredCandidates,
    threshold: float | ChosenThreshold | None,
    **targets: float | None,
) -> ChosenThreshold:
    """Return the threshold that is given, chosen on the evaluated candidates, or the model's.

    Parameters
    ----------
    model : estimator
    candidates : ScoredCandidates
    threshold : float, ChosenThreshold or None
    **targets : float or None
        ``specificity``, ``sensitivity`` or ``false_alarms``, to choose it here.
    """
    number = threshold if isinstance(threshold, float | int) else None
    check_target({"threshold": number, **targets})
    given = {name: value for name, value in targets.items() if value is not None}
    if given:
        if threshold is not None:
            raise InputError(
                Argument("threshold"),
                " and ",
                Argument(next(iter(given))),
                " are both given; a threshold follows one",
            )
        return choose_on(candidates, where="groups evaluated here", is_chosen_here=True, **given)
    chosen = resolve_threshold(model, threshold)
    assert chosen is not None, "only a model of two classes can be evaluated"
    return chosen
