"""MI-SVM: only the labels of groups are known, and the positive candidates are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groupcm.estimators.hyperparameters import LINEAR, check_parameters
from groupcm.estimators.linear_model import LinearGroupModel
from groupcm.estimators.training.fit import Solved, Training
from groupcm.estimators.training.fit_setup import Hyperparameters
from groupcm.estimators.training.input import read_training_data
from groupcm.solvers.alternating import OUTCOMES
from groupcm.utils.fitted_state import Array, Expected, Number, Text
from groupcm.utils.progress import printing_progress

__all__ = ["MISVMClassifier"]


class MISVMClassifier(LinearGroupModel):
    """MI-SVM of Andrews, Tsochantaridis and Hofmann: only the labels of groups are known.

    Alternates between the convex problem

    ::

        (1−λ)/d Σ_j w_j² + λ/n+ Σ_{k positive} L(s_z(k)) + λ/n− Σ_{k negative} max_{i in k} L(−s_i)

    and the choice ``z(k)`` of a candidate for each positive group: its mean at first, then the
    one of largest score, until no choice changes. Where the means do not separate the classes
    (``w = 0``), the first choice is that of the problem with every negative candidate alone. A
    negative group has one slack, as in the original. Each problem is solved to a certified gap;
    the choice itself is not a convex problem, so that the result is a local optimum. Nothing is
    random.

    Parameters
    ----------
    lam : float, default=0.5
        λ, between 0 and 1: the weight of the losses against the penalty (the regularisation), with
        the classes balanced.
    C : float, optional
        The original's form: minimise ``Σ w_j² + C Σ L``, the classes not balanced; ``lam`` is
        then not used.
    class_weight : {"balanced", None} or dict, default="balanced"
        What the groups of each class weigh, as of `GroupClassifier`.
    loss : {"hinge", "smoothed_hinge", "logistic"}
        L; "hinge" is the original's.
    delta : float, default=0.5
        Half the length of the smoothed hinge's quadratic piece.
    penalty : {"l2", "huber", "l1", "elasticnet"}
        Of the weights; "l2", the squared norm, is the original's.
    epsilon : float, default=1.0
        Where the Huber penalty turns from quadratic to linear.
    l1_ratio : float, default=0.5
        The share of the norm 1 in the elastic net.
    feature_map : a map of `groupcm.features`, or any fitted scikit-learn transformer, optional
    standardize : bool, default=True
        Put the features on one scale before training; ``coef_`` is in the units of X again.
    tol : float, default=1e-4
        The certified relative gap of each convex problem.
    max_iter : int, default=50
        Problems to solve at most; a warning is issued if choices still changed then.
    max_passes : float, default=1000
        Over the rows, in each problem.
    max_time : float, optional
        Seconds for the whole fit, as of `GroupClassifier`.
    memory : int or str, optional
        How much a fit on a source may use; all candidates must fit.
    pos_label : label, optional
        The label of positive groups; None is the larger of the two.
    verbose : int, default=0
        Above 0, print one line per step.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_ :
        As of `GroupClassifier`.
    witnesses_ : ndarray of shape (n_positive_groups,)
        The row number of the candidate chosen for each positive group, the groups in order of
        first appearance.
    n_iter_ : int
        Convex problems solved.
    outcome_ : {"settled", "cycled", "exhausted", "interrupted"}
        Why it stopped: no choice changed; choices came back that were there before;
        ``max_iter``; or Ctrl-C. The last three come with a warning.
    objective_, lower_bound_, gap_ : float
        Of the last convex problem.
    n_passes_ : float
        Over the rows, in all problems together.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm import MISVMClassifier
    >>> X = np.array([[0.0], [3.0], [0.2], [2.8], [0.1], [0.3], [0.2], [0.0]])
    >>> group_label = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> groups = ["a", "a", "b", "b", "c", "c", "d", "d"]
    >>> model = MISVMClassifier(lam=0.9).fit(X, group_label, groups)
    >>> model.witnesses_, model.outcome_
    (array([1, 3]), 'settled')
    >>> model.predict_groups(X, groups)
    array([1, 1, 0, 0])
    """

    __metadata_request__fit: ClassVar = {"groups": True, "sample_weight": True}

    witnesses_: NDArray[np.int64]
    n_iter_: int
    outcome_: str

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        **LinearGroupModel._fitted_state,
        "witnesses_": Array("i", "positive groups", low=0),
        "n_iter_": Number(low=1, whole=True),
        "outcome_": Text(OUTCOMES),
    }

    def __init__(
        self,
        lam: float = 0.5,
        *,
        C: float | None = None,
        class_weight: Mapping[Any, float] | str | None = "balanced",
        loss: str = "hinge",
        delta: float = 0.5,
        penalty: str = "l2",
        epsilon: float = 1.0,
        l1_ratio: float = 0.5,
        feature_map: Any = None,
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 50,
        max_passes: float = 1000,
        max_time: float | None = None,
        memory: int | str | None = None,
        pos_label: Any = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.C = C
        self.class_weight = class_weight
        self.loss = loss
        self.delta = delta
        self.penalty = penalty
        self.epsilon = epsilon
        self.l1_ratio = l1_ratio
        self.feature_map = feature_map
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.max_passes = max_passes
        self.max_time = max_time
        self.memory = memory
        self.pos_label = pos_label
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> MISVMClassifier:
        """Fit the model to candidates of labelled groups.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            One row per candidate; see `GroupClassifier.fit`.
        y : array-like of shape (n,)
            The label of each candidate's group; ``pos_label``, by default the larger, is that of
            positive groups. A group is positive if any of its candidates has it.
        groups : array-like of shape (n,), or "none", optional
            The group of each candidate. Without it every row is its own group, with a
            `groupcm.errors.GroupsWarning` where the rows look like candidates of groups;
            "none" states that this is intended, and issues no warning.
        sample_weight : array-like of shape (n,), optional
            The weight of each candidate's group, which multiplies its term: the same for all its
            candidates, but for those of weight 0, which are left out. See `GroupClassifier.fit`.
        """
        self._check_parameters()
        with printing_progress(self.verbose):
            data = read_training_data(self, X, y, groups, sample_weight=sample_weight)
            data.require_two_classes_in_memory("MI-SVM needs")
            training = Training(data, Hyperparameters.of(self))
            found = training.choose_everywhere(self.max_iter)
        self._store(training.prepared, Solved([found.solution]))
        self.witnesses_ = data.as_given(found.witnesses)
        self.n_iter_ = found.rounds
        self.outcome_ = found.outcome
        self.n_passes_ = found.passes
        return self

    def _check_parameters(self) -> None:
        check_parameters(self.get_params(deep=False), LINEAR)
