"""`GroupClassifier`, the linear model with a certified optimum: validate, minimise, store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from groupcm.estimators.hyperparameters import LINEAR, check_parameters
from groupcm.estimators.linear_model import ChoosingModel
from groupcm.estimators.training.fit import Solved, Training, reporting_checkpoint
from groupcm.estimators.training.fit_setup import Hyperparameters
from groupcm.estimators.training.input import read_training_data
from groupcm.utils.progress import printing_progress

__all__ = ["FOR_PATHS", "GroupClassifier", "fit_path"]


#: Why a path of λ refuses more than two classes.
FOR_PATHS = ", and a path of λ is for two"


class GroupClassifier(ChoosingModel):
    """Group Classification Machine: a linear score, trained for decisions about groups.

    Minimises, to a certified optimum,

    ::

        (1−λ)/d Σ_j h(w_j) + λ/n+ Σ_{k positive} L(s_k*) + λ/n− Σ_{k negative} max_{i in k} L(−s_i)

    where ``s_i = w·x_i + b``, ``k*`` is the candidate of positive group ``k`` that fits its
    annotation best, and the sums run over groups (the paper's Problem 6).

    Positive groups without annotation take part by alternation: the problem of the annotated ones
    chooses a candidate in each of the others, that of all groups with these candidates chooses
    again, until no choice changes. Each problem is solved to a certified gap; which choices are
    best is not a convex question, so the end is a local optimum.

    Parameters
    ----------
    lam : float, default=0.5
        λ, between 0 and 1: the weight of the losses against the penalty (the regularisation, whose
        weight is ``1 − λ``).
    C : float, optional
        The SVM's form (Problem 1): minimise ``Σ h(w_j) + C Σ L`` instead, classes not
        balanced; ``lam`` is then not used.
    class_weight : {"balanced", None} or dict, default="balanced"
        What a group counts in the sum of its class. "balanced" is the objective above:
        ``c+ = λ/n+`` for each positive and ``c− = λ/n−`` for each negative group, so that both
        classes weigh the same. None: all groups weigh the same, ``c+ = c− = 2λ/(n+ + n−)``, with
        the same total, so that λ means the same. A dict of ``{label: weight}`` multiplies the
        ``c±`` of None, as in scikit-learn; labels that are missing from it weigh 1. With ``C``,
        "balanced" and None are both ``c+ = c− = C``, which a dict multiplies. Of more than two
        classes, each is trained against the rest, and ``n+``, ``n−`` are those of that problem;
        of a dict, the class that is trained has its weight, and the rest weighs 1.
    objective : {"gcm", "partial_auc"}, default="gcm"
        What is minimised. "gcm" is the objective above. "partial_auc" is for screening, where only
        a high specificity matters: a convex bound of the partial area under the ROC curve of groups
        up to the false-positive rate ``max_fpr``; see the notes.
    max_fpr : float, default=1.0
        β, above 0 and at most 1, of ``objective="partial_auc"``: only the share β of the negative
        groups with the largest scores counts. 1 is the area under the whole curve.
    loss : {"smoothed_hinge", "hinge", "logistic"}
        The loss ``L``. The logistic loss ``log(1 + exp(−t))`` never becomes zero: of every group at
        least one candidate is kept in memory, and without grouping the model is a logistic
        regression.
    delta : float, default=0.5
        Half the length of the smoothed hinge's quadratic piece.
    penalty : {"huber", "l2", "l1", "elasticnet"}
        The penalty ``h`` (the regularisation): Huber; the squared norm ``w²``; the norm 1 ``|w|``,
        which makes the weights of useless features zero; or a mixture of the last two, which does
        so too and gives correlated features similar weights.
    epsilon : float, default=1.0
        Where the Huber penalty turns from quadratic to linear.
    l1_ratio : float, default=0.5
        The share ``r`` of the norm 1 in the elastic net, ``h(w) = r |w| + (1 − r) w²``: 0 is "l2",
        and 1 is "l1".
    grouping : {"negative", "both", "none"}
        Negative groups by their largest loss (the GCM); positive ones too (Problem 5);
        or every candidate alone (Problem 4).
    background : {"ignore", "negative"}
        Whether the other candidates of a positive group take no part, or are one more
        negative group (for localisation).
    min_overlap : float, default=0.0
        Positive groups whose best overlap is below this are left out, with a warning.
    feature_map : a map of `groupcm.features`, or any fitted scikit-learn transformer, optional
        Scores are linear in its outputs: ``coef_`` has a weight for each. It is applied to a
        few rows at a time and its outputs are never stored. Maps of `groupcm.features` are
        fitted here, on a sample of the rows.
    standardize : bool, default=True
        Put the features on one scale before training; ``coef_`` is in the units of X again.
        Mean and deviation come from all rows up to 4 million values, from a fixed sample of
        groups beyond.
    solver : {"working_set", "lbfgs"}
        "lbfgs" is the paper's; it reads all rows at every step, and often stops before the gap
        reaches ``tol``.
    tol : float, default=1e-4
        The certified relative gap to stop at. The gap must also be at most √tol of what weights can
        gain over the best intercept alone, which only matters for λ near 0.
    max_passes : float, default=1000
        Stop, with a warning, after reading all rows this many times, or after as much work on the
        rows that are kept in memory; some seconds of work are always allowed.
    max_time : float, optional
        Stop, with a warning, after this many seconds, and return the best model so far with its
        certified gap. The time is looked at between passes and between the steps on the rows in
        memory; a first pass is always completed.
    memory : int or str, optional
        How much a fit on a source may use, such as ``"2GB"``: rows are kept in memory while
        they fit and read again otherwise. The default is the limit of the source, or 60 % of the
        free memory.
    pos_label : label, optional
        The positive one of two labels, such as ``"polyp"``; None is the larger, which of two texts
        is the later one in the alphabet (with a `groupcm.errors.PositiveLabelWarning`). Of more
        than two labels none is positive, and ``pos_label`` is refused.
    checkpoint : path, optional
        A file that keeps how far the fit is. An interrupt (Ctrl-C) after the first pass returns
        the best model so far with its certified gap and a warning. Before that, and while a
        class has no model yet, it raises `KeyboardInterrupt` with a sentence about what the
        file keeps. In both cases the same fit with the same file resumes from there. The file
        is removed when the fit ends by itself.
    verbose : int, default=0
        Above 0, print one line per step, and one every five seconds of a long pass.
    random_state : int, RandomState or None, default=None
        Which groups the solver starts on; the optimum does not depend on it. With groups
        without annotation nothing is random.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (n_classes, d)
        With a feature map, ``d`` is the number of its outputs.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercept ``b`` of each score.
    feature_means_ : ndarray of shape (d,)
        The means of what ``coef_`` multiplies over the training candidates, of large data over
        the sample that scales the features: the baseline of `groupcm.evaluation.explain_scores`.
    classes_ : ndarray
        Of two, the second is the positive one: a score above the threshold means it. With
        ``pos_label`` they need not be sorted; see the notes. More than two are sorted, and each
        is trained against the rest; a class that every training group holds, such as the
        background of all frames, cannot be: it scores 0, and is predicted where no other class
        scores above that.
    background_ : ndarray of shape (n_classes,)
        Which classes count only where a group holds no other: the first of two, and of more
        those that every training group held.
    objective_, lower_bound_, gap_ : float, or ndarray of shape (n_classes,)
        The objective in the standardised units, a certified lower bound of its optimum,
        and ``(objective_ − lower_bound_) / objective_``; with groups without annotation, of the
        last convex problem.
    n_passes_ : float, or ndarray
        Rows read, in units of all rows that take part.
    witnesses_ : ndarray of int
        The row chosen for each positive group without annotation, the groups in order of first
        appearance; empty where there is none.
    outcome_ : {"settled", "cycled", "exhausted", "interrupted"} or None
        Why choosing stopped: no choice changed; choices came back that were there before; too
        many rounds; Ctrl-C. None where there was nothing to choose.
    n_rounds_ : int
        Convex problems solved: 1 where there was nothing to choose.
    feature_map_ : the fitted map, or None
    history_ : list of Step (of lists, one per class, for more than two classes)
        The progress of the solver, one entry per step.
    solution_ : Solution (a list for more than two classes)
        The solution in the space of the standardised features, with its certificate.

    Notes
    -----
    ``objective="partial_auc"`` minimises, with the same certificate and no intercept,

    ::

        (1−λ)/d Σ_j h(w_j) + 2λ/(n+ m) Σ_k Σ_{l among the m largest M_l} L(s_k* − M_l)

    over all pairs of a positive group ``k`` with the ``m = ⌈β n−⌉`` negative groups of the largest
    scores ``M_l = max_{i in l} s_i``. The intercept is set afterwards, such that a threshold of 0
    is the best operating point of the training groups (the largest sum of sensitivity and
    specificity, weighted by ``class_weight``) among those whose false-positive rate is at most
    ``max_fpr``. ``class_weight`` means nothing else, and ``C`` and ``solver="lbfgs"`` are refused.
    With ``sample_weight``, the groups that count are those of the largest scores up to the share β
    of the weights. The logistic loss looks at every pair and is slower than the others.

    Metrics of scikit-learn take the larger of two labels as positive, whatever ``classes_`` is:
    where ``pos_label`` is the smaller one, ``scoring="roc_auc"`` returns one minus the area, and
    ``scoring="f1"`` needs ``make_scorer(f1_score, pos_label=...)``. The scorers of
    `groupcm.metrics` take the positive class from the estimator. ``CalibratedClassifierCV`` and
    ``StackingClassifier`` number the labels themselves, and raise where ``pos_label`` is the
    smaller one. Labels of 0 and 1, or False and True, leave no doubt anywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from groupcm import GroupClassifier
    >>> X = np.array([[0.0], [3.0], [0.2], [1.0], [0.1], [0.9]])
    >>> y = [0, 1, 0, 0, 0, 0]
    >>> groups = ["a", "a", "b", "b", "c", "c"]
    >>> model = GroupClassifier(lam=0.9).fit(X, y, groups=groups)
    >>> bool(model.gap_ <= 1e-4)
    True
    >>> model.group_scores(X, groups).winner
    array([1, 3, 5])
    >>> model.predict_groups(X, groups)
    array([1, 0, 0])
    """

    __metadata_request__fit: ClassVar = {
        "groups": True,
        "overlap": True,
        "annotated": True,
        "objects": True,
        "sample_weight": True,
    }

    def __init__(
        self,
        lam: float = 0.5,
        *,
        C: float | None = None,
        class_weight: Mapping[Any, float] | str | None = "balanced",
        objective: str = "gcm",
        max_fpr: float = 1.0,
        loss: str = "smoothed_hinge",
        delta: float = 0.5,
        penalty: str = "huber",
        epsilon: float = 1.0,
        l1_ratio: float = 0.5,
        grouping: str = "negative",
        background: str = "ignore",
        min_overlap: float = 0.0,
        feature_map: Any = None,
        standardize: bool = True,
        solver: str = "working_set",
        tol: float = 1e-4,
        max_passes: float = 1000,
        max_time: float | None = None,
        memory: int | str | None = None,
        pos_label: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.C = C
        self.class_weight = class_weight
        self.objective = objective
        self.max_fpr = max_fpr
        self.loss = loss
        self.delta = delta
        self.penalty = penalty
        self.epsilon = epsilon
        self.l1_ratio = l1_ratio
        self.grouping = grouping
        self.background = background
        self.min_overlap = min_overlap
        self.feature_map = feature_map
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.max_time = max_time
        self.memory = memory
        self.pos_label = pos_label
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
        annotated: ArrayLike | None = None,
        objects: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> GroupClassifier:
        """Fit the model to candidates.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            One row per candidate; an array of float16, float32 or float64 in C order is not
            copied. A data frame is one of pandas, polars or Arrow, and is matched
            by the names of its columns; a polars LazyFrame, a Dask DataFrame and an Arrow
            RecordBatch or Dataset are collected into memory first. With a source of
            `groupcm.sources` the rest comes with it. With the path of Parquet files, ``y``,
            ``groups`` and ``overlap`` name columns, and the other columns are the features.
        y : array-like of shape (n,)
            One label per candidate; of two labels ``pos_label``, by default the larger, is the
            positive one, ``classes_[1]``. A group is positive if any of its candidates is.
        groups : array-like of shape (n,), or "none", optional
            The group of each candidate. Without it every row is its own group, with a
            `groupcm.errors.GroupsWarning` where the rows look like candidates of groups;
            "none" states that this is intended, and issues no warning.
        overlap : array-like of shape (n,), optional
            How well each candidate fits the annotation: a positive group is represented by
            its positive candidate of largest overlap. Without it all its positive
            candidates share the group's weight.
        annotated : array-like of bool of shape (n,), optional
            False for all candidates of a positive group in which it is unknown which candidate
            shows the object: ``y`` then states only that the group is positive, whichever of its
            candidates carry the label. Their other candidates never count as background. On
            negative groups it means nothing. Needs two classes, ``grouping="negative"`` and all
            candidates in memory.
        objects : array-like of shape (n,), optional
            Which object of its group a positive candidate shows, by any id that is distinct
            within the group; other candidates need none. Each object counts by its own best
            candidate, and the objects of a group share its weight equally; one whose best
            overlap is below ``min_overlap`` is left out. Needs ``grouping="negative"``.
        sample_weight : array-like of shape (n,), optional
            One weight ``ω_i`` per candidate, finite and at least 0; see the notes. Needs all
            candidates in memory.

        Notes
        -----
        A candidate of weight 0 takes no part, as if it were not there; where all candidates of a
        class in a group have it, all others of the group need it, too. A candidate that counts
        for itself (a positive one, and with ``grouping="none"`` any) has its term multiplied by
        ``ω_i``. A term that is the largest loss of several candidates (a negative group, the
        background of a positive one, with ``grouping="both"`` a positive one too), and a positive
        group that is not annotated, needs the same weight ``ω_k`` for all its candidates, which
        multiplies it; other weights raise an error that names the group. The weights of the other
        candidates of a positive group mean nothing, but for the scale of the features.

        In ``λ/n+`` and ``λ/n−``, ``n+`` and ``n−`` are then the sums of the weights of the groups
        of each class, where a positive group weighs the mean of its candidates that count (of its
        objects). So only ratios of weights matter, and a weight of 2 is the same as the whole
        group given twice. With ``C``, a term has the factor ``C ω``. Means and deviations of the
        features are weighted in the same way; a feature map is fitted without weights.

        Examples
        --------
        >>> import numpy as np
        >>> from groupcm import GroupClassifier
        >>> X = np.array([[0.0], [3.0], [0.2], [2.8], [0.1], [0.3], [0.2], [0.0]])
        >>> y = [0, 1, 1, 1, 0, 0, 0, 0]
        >>> groups = ["a", "a", "b", "b", "c", "c", "d", "d"]
        >>> known = [group != "b" for group in groups]
        >>> model = GroupClassifier(lam=0.9).fit(X, y, groups, annotated=known)
        >>> model.witnesses_, model.outcome_
        (array([3]), 'settled')
        """
        self._check_parameters()
        with printing_progress(self.verbose), reporting_checkpoint(self.checkpoint):
            data = read_training_data(
                self, X, y, groups, overlap, annotated, objects, sample_weight
            )
            training = Training(data, Hyperparameters.of(self))
            solved = training.solve()
        return self._fitted(training, solved)

    def _fitted(self, training: Training, solved: Solved) -> GroupClassifier:
        self._store(training.prepared, solved)
        return self

    def _check_parameters(self) -> None:
        check_parameters(self.get_params(deep=False), LINEAR)


def fit_path(
    template: GroupClassifier,
    lams_of: Callable[[Training], ArrayLike],
    X: Any,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    overlap: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> list[GroupClassifier]:
    """Fit one copy of an estimator for each λ, each from the one before.

    ``lams_of`` gives the λ of the data. On a stream, all λ share each pass.

    Examples
    --------
    >>> X, y, groups = [[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 0], [1, 1, 2, 2]
    >>> [model.lam for model in fit_path(GroupClassifier(), lambda _: [0.2, 0.8], X, y, groups)]
    [0.2, 0.8]
    """
    first: Any = clone(template)
    first._check_parameters()
    with printing_progress(first.verbose), reporting_checkpoint(first.checkpoint):
        data = read_training_data(first, X, y, groups, overlap, sample_weight=sample_weight)
        data.require_two_classes(FOR_PATHS)
        training = Training(data, Hyperparameters.of(first))
        # As numbers of numpy, which checkpoints of version 0.1 were named after.
        lams = list(np.asarray(lams_of(training), dtype=np.float64))
        solutions = training.solve_path(lams)
    models: list[Any] = [clone(template) for _ in lams]
    for model, lam, solution in zip(models, lams, solutions, strict=True):
        model.set_params(lam=float(lam))
        model._fitted(training, Solved([solution]))
    return models
