"""The scikit-learn estimator: validate, minimise, store."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from groupcm.candidates import Groups
from groupcm.group_index import index_groups
from groupcm.parameters import check_parameters
from groupcm.preparing import Prepared
from groupcm.progress import listening, print_readings, print_step
from groupcm.scoring import GroupScores, LinearScorer, require_features
from groupcm.smoothing import Matrix
from groupcm.solvers.solution import Solution
from groupcm.sources.arrays import NonFiniteValue
from groupcm.sources.source import Source
from groupcm.training import solve_classes
from groupcm.training_data import leave_out, read_training_data, source_of_columns
from groupcm.validation import as_labels, as_matrix, check_length, require_finite

__all__ = ["GroupClassifier", "GroupScores"]


class GroupClassifier(ClassifierMixin, BaseEstimator):
    """Group Classification Machine: a linear score, trained for decisions about groups.

    Minimises, to a certified optimum,

    ::

        (1−λ)/d Σ_j h(w_j) + λ/n+ Σ_{k positive} L(s_k*) + λ/n− Σ_{k negative} max_{i in k} L(−s_i)

    where ``s_i = w·x_i + b``, ``k*`` is the candidate of positive group ``k`` that fits its
    annotation best, and the sums run over groups (the paper's Problem 6).

    Parameters
    ----------
    lam : float, default=0.5
        λ, between 0 and 1: how much the losses count against the penalty.
    C : float, optional
        The SVM's form (Problem 1): minimise ``Σ h(w_j) + C Σ L`` instead, classes not
        balanced; ``lam`` is then not used.
    loss : {"smoothed_hinge", "hinge"}
        L.
    delta : float, default=0.5
        Half the length of the smoothed hinge's quadratic piece.
    penalty : {"huber", "l2", "l1"}
        h: Huber, squared norm, norm 1 (which makes the weights of useless features zero).
    epsilon : float, default=1.0
        Where the Huber penalty turns from quadratic to linear.
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
        "lbfgs" is the paper's; it reads all rows at every step.
    tol : float, default=1e-4
        The certified relative gap to stop at.
    max_passes : float, default=1000
        Stop, with a warning, after reading this many times all rows.
    memory : int or str, optional
        How much a fit on a source may use, such as ``"2GB"``: rows are kept in memory while
        they fit and read again otherwise. By default what the source says, or 60 % of what is
        free.
    checkpoint : path, optional
        A file to note how far the fit is. A fit that is interrupted (Ctrl-C) returns the best
        model so far with its gap; the same fit with the same file goes on from there. The
        file is removed when the fit ends by itself.
    verbose : int, default=0
        Above 0, print a line a step, and one every five seconds of a long pass.
    random_state : int, RandomState or None, default=None
        Which groups the solver starts on; the optimum does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (n_classes, d)
        With a feature map, ``d`` is the number of its outputs.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray
        Sorted; of two, the second is the positive one. Of more, each is trained against the
        rest; a class that every training group holds, such as the background of all frames,
        cannot be: it scores 0, and is predicted where no other class scores above that.
    background_ : ndarray of shape (n_classes,)
        Which classes count only where a group holds no other: the first of two, and of more
        those that every training group held.
    objective_, lower_bound_, gap_ : float, or ndarray of shape (n_classes,)
        The objective in the standardised units, a certified lower bound of its optimum,
        and ``(objective_ − lower_bound_) / objective_``.
    n_passes_ : float, or ndarray
        Rows read, in units of all rows that take part.
    feature_map_ : the fitted map, or None
    history_ : list of Step (of lists, one a class, for more than two classes)
    solution_ : Solution (a list for more than two classes)

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

    __metadata_request__fit: ClassVar = {"groups": True, "overlap": True}
    __metadata_request__score: ClassVar = {"groups": True}

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    classes_: NDArray[Any]
    background_: NDArray[np.bool_]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    objective_: Any
    lower_bound_: Any
    gap_: Any
    n_passes_: Any
    feature_map_: Any
    history_: list[Any]
    solution_: Any

    _fitted_state = (
        "coef_",
        "intercept_",
        "classes_",
        "background_",
        "n_features_in_",
        "feature_names_in_",
        "objective_",
        "lower_bound_",
        "gap_",
        "n_passes_",
        "feature_map_",
        "history_",
        "solution_",
    )

    def __init__(
        self,
        lam: float = 0.5,
        *,
        C: float | None = None,
        loss: str = "smoothed_hinge",
        delta: float = 0.5,
        penalty: str = "huber",
        epsilon: float = 1.0,
        grouping: str = "negative",
        background: str = "ignore",
        min_overlap: float = 0.0,
        feature_map: Any = None,
        standardize: bool = True,
        solver: str = "working_set",
        tol: float = 1e-4,
        max_passes: float = 1000,
        memory: int | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.C = C
        self.loss = loss
        self.delta = delta
        self.penalty = penalty
        self.epsilon = epsilon
        self.grouping = grouping
        self.background = background
        self.min_overlap = min_overlap
        self.feature_map = feature_map
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.memory = memory
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
    ) -> GroupClassifier:
        """Train.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            A row a candidate. With a source of `groupcm.sources` the rest comes with it. With
            the path of Parquet files, ``y``, ``groups`` and ``overlap`` name columns, and the
            other columns are the features.
        y : array-like of shape (n,)
            A label a candidate; of two labels the larger, ``classes_[1]``, is the positive one.
            A group is positive if any of its candidates is.
        groups : array-like of shape (n,), optional
            The group of each candidate; without it every row is its own group.
        overlap : array-like of shape (n,), optional
            How well each candidate fits the annotation: a positive group is represented by
            its positive candidate of largest overlap. Without it all its positive
            candidates share the group's weight.
        """
        with self._told():
            prepared = self._prepare(X, y, groups, overlap)
            solutions = solve_classes(self, prepared, self._seed())
        self._store(prepared, solutions)
        return self

    def _told(self) -> AbstractContextManager[None]:
        return listening(print_step, print_readings()) if self.verbose else nullcontext()

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _prepare(
        self, X: Any, y: Any, groups: Any, overlap: Any, *, shared_passes: bool = False
    ) -> Prepared:
        check_parameters(self.get_params(deep=False))
        data = read_training_data(self, X, y, groups, overlap)
        if shared_passes:
            data = data.for_shared_passes()
        n_classes = len(data.classes)
        return Prepared(self, data, range(n_classes) if n_classes > 2 else [1])

    @property
    def _scorer(self) -> LinearScorer:
        return LinearScorer(self.coef_, self.intercept_, self.feature_map_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each candidate: shape (n,), or (n, n_classes) for more than two classes."""
        X = self._source_at(X, None)
        if isinstance(X, Source):
            scores = self._scorer.of_source(self._read_source(X))
        else:
            X = self._read_rows(X)
            scores = self._scorer.of_rows(X)
            if not np.all(np.isfinite(scores)):
                require_finite(X, getattr(self, "feature_names_in_", None))
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each candidate."""
        return self._label(self.decision_function(X))

    def group_scores(self, X: Any, groups: ArrayLike | None = None) -> GroupScores:
        """Largest score of each group and the candidate that has it, the winner.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            A source is read once, in memory for its groups only.
        groups : array-like of shape (n,)
            The group of each candidate; a source brings its own, and of the Parquet files at a
            path it names the column.

        Returns
        -------
        GroupScores
            One entry a group, in order of first appearance.
        """
        if isinstance(X, Source):
            leave_out(groups=groups)
        X = self._source_at(X, groups)
        if isinstance(X, Source):
            found = self._scorer.of_source_groups(self._read_source(X))
        else:
            X = self._read_rows(X)
            if groups is None:
                raise ValueError("groups is needed: the group of each candidate.")
            check_length("groups", groups, X.shape[0])
            index = index_groups(groups)
            try:
                score, winner = self._scorer.of_groups(X, Groups.from_index(index))
            except NonFiniteValue:
                require_finite(X, getattr(self, "feature_names_in_", None))
                raise
            found = GroupScores(index.ids, score, winner)
        if len(self.coef_) > 1:
            return found
        return GroupScores(found.group, found.score[:, 0], found.winner[:, 0])

    def predict_groups(self, X: Any, groups: ArrayLike | None = None) -> NDArray[Any]:
        """Class of each group, in order of first appearance."""
        return self._label(self.group_scores(X, groups).score)

    def score(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Share of groups, or without ``groups`` of rows, that are classified right.

        With more than two classes a group may hold several; naming one of them is right.
        A class that every training group held counts only where the group holds no other.
        With ``sample_weight``, one a candidate, a group weighs the mean of its candidates'.
        """
        check_is_fitted(self)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if isinstance(X, Source):
            leave_out(y=y, groups=groups)
        if isinstance(X, str | os.PathLike):
            X = source_of_columns(X, groups, y, features=self._trained_names())
        if isinstance(X, Source):
            truth = X.index()
            y, groups = truth.labels_of_rows(), truth.groups_of_rows()
        if groups is None:
            return float(np.average(self.predict(X) == np.asarray(y), weights=weight))
        index = index_groups(groups)
        predicted = self.predict_groups(X, None if isinstance(X, Source) else groups)
        y = as_labels(y, index.n_rows)
        holds = np.stack([index.maxima(y == label) for label in self.classes_], axis=1)
        background = self.background_
        others = np.any(holds[:, ~background], axis=1, keepdims=True)
        holds[:, background] &= ~others
        right = holds[np.arange(index.n_groups), np.searchsorted(self.classes_, predicted)]
        if weight is not None:
            weight = np.bincount(index.codes, weight) / np.bincount(index.codes)
        return float(np.average(right, weights=weight))

    def _label(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        best = (scores > 0.0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[best]

    def _read_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        matrix = as_matrix(X, self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return matrix

    def _trained_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _source_at(self, X: Any, groups: Any) -> Any:
        """The source of a path; anything else as it is."""
        if not isinstance(X, str | os.PathLike):
            return X
        return source_of_columns(X, groups, features=self._trained_names())

    def _read_source(self, source: Source) -> Source:
        check_is_fitted(self)
        require_features(source, self.n_features_in_, getattr(self, "feature_names_in_", None))
        return source

    def _store(self, prepared: Prepared, solutions: list[Solution | None]) -> None:
        data, scaling = prepared.data, prepared.scaling
        nothing = Solution(np.zeros(len(scaling.mean)), 0.0, 0.0, 0.0, 0.0, True, [])
        found = [nothing if solution is None else solution for solution in solutions]
        binary = len(data.classes) == 2
        self.classes_ = data.classes
        untrained = np.array([solution is None for solution in solutions])
        self.background_ = np.array([True, False]) if binary else untrained
        self.n_features_in_ = data.n_features
        self.feature_map_ = prepared.feature_map
        if data.names is not None:
            self.feature_names_in_ = data.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        coef = np.stack([solution.weights for solution in found]) / scaling.scale
        # A constant feature is zero once its mean is off: its weight says nothing.
        coef[:, scaling.constant] = 0.0
        self.coef_ = coef
        self.intercept_ = np.array([solution.intercept for solution in found]) - coef @ scaling.mean
        for name in ("objective", "lower_bound", "gap"):
            values = np.array([getattr(solution, name) for solution in found])
            setattr(self, f"{name}_", float(values[0]) if binary else values)
        passes = np.array([solution.passes for solution in found])
        self.n_passes_ = float(passes[0]) if binary else passes
        self.history_ = found[0].steps if binary else [solution.steps for solution in found]
        self.solution_ = found[0] if binary else found
