"""The scikit-learn estimator of trees on the group objective."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from groupcm.boosting.feature_kinds import FROM_DTYPE, encode
from groupcm.boosting.forest import Forest
from groupcm.boosting.lightgbm_text import read_forest, write_text
from groupcm.boosting.parameters import check_tree_parameters
from groupcm.boosting.scorer import TreeScorer
from groupcm.boosting.training import train_estimator
from groupcm.data.frames import as_frame
from groupcm.errors import InputError
from groupcm.estimators.group_model import GroupModel
from groupcm.estimators.training.profile import measure_training
from groupcm.objective.smoothed import Matrix
from groupcm.utils.extras import BOOSTING
from groupcm.utils.fitted_state import (
    Anything,
    Array,
    Expected,
    Fields,
    ListOf,
    Maybe,
    Number,
    PerClass,
    Text,
)
from groupcm.utils.progress import printing_progress

__all__ = ["GroupBoostingClassifier"]


class GroupBoostingClassifier(GroupModel):
    """Gradient-boosted trees, trained for decisions about groups.

    LightGBM grows trees whose sum ``s`` makes small

    ::

        c+ Σ_{k positive} ω_k L(s_k*) + c− Σ_{k negative} ω_k ‖(L(−s_i))_{i in k}‖_p

    where ``k*`` is the candidate of positive group ``k`` that fits its annotation best,
    ``ω_k`` its ``sample_weight`` (1 without), and ``c±`` balance positive and negative groups by
    default. ``p`` grows over the first trees: the sum of the losses of all candidates of a negative
    group turns into nearly the largest of them. The score of a group is the largest score of its
    candidates.

    Parameters
    ----------
    n_estimators : int, default=300
        The number of trees; with ``early_stopping`` the largest number.
    learning_rate : float, default=0.05
        The shrinkage of each tree.
    num_leaves : int, default=31
        The largest number of leaves of a tree.
    min_child_samples : int, default=20
        The least number of candidates in a leaf.
    subsample : float, default=1.0
        The share of candidates each tree is grown on.
    colsample_bytree : float, default=0.5
        The share of features each tree may use.
    extra_trees : bool, default=False
        Try one random threshold of each feature at each split, which can help with few groups.
    reg_lambda : float, default=0.0
        The L2 penalty (regularisation) of the values of leaves.
    power : float, default=5.0
        ``p`` at the end: 1 for the sum of losses, infinity for the largest.
    first_power : float, default=1.0
        ``p`` of the first tree.
    n_annealed : int, default=100
        Trees over which ``p`` grows from one to the other.
    objective : {"gcm", "partial_auc"}, default="gcm"
        The loss of groups, or of pairs of groups for the ROC curve up to ``max_fpr``.
    max_fpr : float, default=1.0
        The share of the negative groups, those of the largest scores, that count in the end with
        ``objective="partial_auc"``; over the first ``n_annealed`` trees it falls from 1.
    loss : {"logistic", "smoothed_hinge"}
        The loss ``L``.
    delta : float, default=0.5
        Half the length of the smoothed hinge's quadratic piece.
    background : {"ignore", "negative"}
        Whether the other candidates of a positive group take no part, or are a negative group.
    min_overlap : float, default=0.0
        Positive groups whose best overlap is below this are left out, with a warning.
    class_weight : {"balanced", None} or dict, default="balanced"
        With ``W±``, the weights ``ω`` of the groups of each class together, "balanced" is
        ``c± = (W+ + W−) / 2W±``; None is ``c± = 1``; a dict of ``{label: weight}`` gives ``c±``.
    early_stopping : bool, default=True
        Choose the number of trees by groups that are left out.
    validation : int or float, default=3
        A number of folds over which ``scoring`` is averaged, or one share of the groups.
        The trees are grown on all groups in the end.
    scoring : str, default="group_roc_auc"
        The metric that chooses the number of trees; also "group_partial_auc",
        "group_average_precision" or "sensitivity_at_specificity".
    n_iter_no_change : int, default=50
        Trees without a better ``scoring`` before it stops, counted from ``n_annealed`` on.
    n_warm_up : int, default=100
        Trees before positive groups without annotation take part, where there are any.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Features that are categories: the categorical columns of a data frame, or a list of names,
        numbers or flags; outside data frames their values are whole numbers from 0. A category
        that training did not have is a missing value. None: no feature is.
    monotone_constraints : dict or array-like of int, optional
        1 where the score must not fall as the feature rises, −1 where it must not rise, else 0:
        for each feature, or a dict by name or number.
    lightgbm_params : dict, optional
        Other parameters of LightGBM, such as ``{"max_bin": 63}``.
    n_jobs : int, optional
        Threads; by default as many as there are cores, and one for fewer than 50,000 candidates.
    memory : int or str, optional
        How much a fit on a source may use, such as ``"2GB"``; see the user guide.
    max_passes : int, default=5
        The most passes over the rows of such a source.
    pos_label : label, optional
        The positive one of the two labels; None is the larger.
    verbose : int, default=0
        Above 0, print the number of trees every five seconds.
    random_state : int, RandomState or None, default=0
        Of the candidates and features each tree sees and of the groups left out.

    Attributes
    ----------
    trees_ : list of str
        The trees in LightGBM's text form; of more than two classes one text for each class, whose
        trees separate it from the rest.
    forests_ : list of Forest
        The same trees as flat arrays, which score rows without LightGBM.
    boosters_ : list of lightgbm.Booster
        The same trees, to be used with LightGBM.
    n_trees_ : int, or ndarray of shape (n_classes,) for more than two classes
        The number of trees.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in what all splits gained in training; they sum to 1, or are
        all 0 without splits. `groupcm.evaluation.explain_scores` explains single scores.
    validation_curve_ : ndarray
        ``scoring`` after each tree, averaged over the folds; empty without early stopping and for
        more than two classes, which have no held-out scores either.
    witnesses_ : ndarray
        The row that counts in the end for each positive group without annotation, in order.
    n_passes_ : int
        Passes over the rows of a source that did not fit into memory; else 0.
    new_winners_ : int
        How many groups had a winner in the last pass that was not among the rows that the trees
        were grown on: the fewer, the closer these are to trees grown on all rows.
    categories_ : dict of str to list
        The labels of each categorical column of the data frame, in the order of their codes.
    is_categorical_ : ndarray of bool of shape (n_features,)
        Which features are categories.
    held_out_scores_ : ndarray of shape (n_groups,)
        The score of each group by the trees of the fold of ``validation`` that left it out; NaN
        where none did. A saved model carries none of these.
    held_out_labels_, held_out_patients_ : ndarray of shape (n_groups,)
        The class of each group, and the number of its patient (None without ``patients``).
    threshold_, decision_ :
        As of `GroupClassifier`.
    classes_ : ndarray of shape (n_classes,)
        Of two, the second is the positive one.
    n_features_in_, feature_names_in_ :
        The names where X had them.

    Examples
    --------
    >>> from groupcm import GroupBoostingClassifier
    >>> from groupcm.simulate import capsule
    >>> data = capsule(100, n_positive=40, group_size=20)
    >>> model = GroupBoostingClassifier(50, early_stopping=False)
    >>> model = model.fit(data.X, data.y, data.groups, data.overlap)
    >>> round(model.score(data.X, data.y, data.groups), 1)
    1.0
    """

    __metadata_request__fit: ClassVar = {
        "groups": True,
        "overlap": True,
        "annotated": True,
        "objects": True,
        "patients": True,
        "sample_weight": True,
    }

    trees_: list[str]
    n_trees_: int | NDArray[np.int64]
    validation_curve_: NDArray[np.float64]
    witnesses_: NDArray[np.int64]
    categories_: dict[str, list[Any]]
    is_categorical_: NDArray[np.bool_]
    held_out_scores_: NDArray[np.float64]
    held_out_labels_: NDArray[Any]
    held_out_patients_: NDArray[np.intp] | None

    _fitted_state: ClassVar[Mapping[str, Expected]] = {
        "trees_": ListOf(Text(), "scores"),
        "n_trees_": PerClass(Number(low=0, whole=True), Array("i", "scores", low=0)),
        "validation_curve_": Array("f", "tried", finite=False),
        "witnesses_": Array("i", "unannotated", low=0),
        "n_passes_": Maybe(Number(low=0, whole=True)),
        "new_winners_": Maybe(Number(low=0, whole=True)),
        "categories_": Maybe(Fields({}, others=ListOf(Anything()))),
        "is_categorical_": Maybe(Array("b", "features")),
    }

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        learning_rate: float = 0.05,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        colsample_bytree: float = 0.5,
        extra_trees: bool = False,
        reg_lambda: float = 0.0,
        power: float = 5.0,
        first_power: float = 1.0,
        n_annealed: int = 100,
        objective: str = "gcm",
        max_fpr: float = 1.0,
        loss: str = "logistic",
        delta: float = 0.5,
        background: str = "ignore",
        min_overlap: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = "balanced",
        early_stopping: bool = True,
        validation: float = 3,
        scoring: str = "group_roc_auc",
        n_iter_no_change: int = 50,
        n_warm_up: int = 100,
        categorical_features: Any = FROM_DTYPE,
        monotone_constraints: Any = None,
        lightgbm_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        max_passes: int = 5,
        pos_label: Any = None,
        verbose: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.extra_trees = extra_trees
        self.reg_lambda = reg_lambda
        self.power = power
        self.first_power = first_power
        self.n_annealed = n_annealed
        self.objective = objective
        self.max_fpr = max_fpr
        self.loss = loss
        self.delta = delta
        self.background = background
        self.min_overlap = min_overlap
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation = validation
        self.scoring = scoring
        self.n_iter_no_change = n_iter_no_change
        self.n_warm_up = n_warm_up
        self.categorical_features = categorical_features
        self.monotone_constraints = monotone_constraints
        self.lightgbm_params = lightgbm_params
        self.n_jobs = n_jobs
        self.memory = memory
        self.max_passes = max_passes
        self.pos_label = pos_label
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        overlap: ArrayLike | None = None,
        annotated: ArrayLike | None = None,
        objects: ArrayLike | None = None,
        patients: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> GroupBoostingClassifier:
        """Fit the trees to candidates.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d), a source, or a path
            One row per candidate; see `GroupClassifier.fit`. Values in memory may be missing (NaN).
        y : array-like of shape (n,)
            One label per candidate; of two, the positive one is ``pos_label``, by default the
            larger. A group is positive if any of its candidates is. Of more classes, each is
            trained against the rest, and groups may hold several.
        groups : array-like of shape (n,), or "none", optional
            The group of each candidate. Without it every row is its own group, with a
            `groupcm.errors.GroupsWarning` where the rows look like candidates of groups;
            "none" states that this is intended, and issues no warning.
        overlap : array-like of shape (n,), optional
            How well each candidate fits the annotation.
        annotated : array-like of bool of shape (n,), optional
            False for all candidates of a positive group in which it is unknown which candidate
            shows the object. After ``n_warm_up`` trees each such group counts by the
            candidate that the trees before score highest.
        objects : array-like of shape (n,), optional
            Which object of its group a positive candidate shows; each counts by its best
            candidate, and the objects of a group share its weight.
        patients : array-like of shape (n,), optional
            The patient of each candidate: none is both grown on and left out.
        sample_weight : array-like of shape (n,), optional
            One weight per candidate, finite and at least 0, with the meaning that it has for
            `GroupClassifier.fit`: it multiplies the derivatives of the candidate's term, all
            candidates of a negative or unannotated group need the same, and candidates of weight
            0 are left out. The weights are not normalised: a group of weight 2 is a group given
            twice. ``min_child_samples`` counts candidates; ``scoring`` weighs the groups.
        """
        BOOSTING.load("lightgbm")
        self._check_parameters()
        given = {"annotated": annotated, "objects": objects, "sample_weight": sample_weight}
        with printing_progress(self.verbose):
            trained = train_estimator(self, X, y, groups, overlap, patients, **given)
        data, grown = trained.data, trained.grown
        self._store_data(data, np.array([each is None for each in grown]))
        self.categories_, self.is_categorical_ = trained.categories, trained.is_categorical
        found = [each for each in grown if each is not None]
        nothing = write_text(Forest.of_no_trees(data.n_features))
        self.trees_ = [nothing if each is None else each.text for each in grown]
        self.n_passes_ = max(each.n_passes for each in found)
        self.new_winners_ = sum(each.new_winners for each in found)
        is_binary = len(data.classes) == 2
        counts = np.array([0 if each is None else each.n_trees for each in grown])
        self.n_trees_ = int(counts[0]) if is_binary else counts
        of_two = found[0]
        self.validation_curve_ = of_two.validation_curve if is_binary else np.empty(0)
        self.witnesses_ = of_two.witnesses
        if is_binary:
            self.held_out_scores_ = of_two.held_out_scores
            self.held_out_labels_ = data.classes[of_two.is_positive.astype(int)]
            self.held_out_patients_ = of_two.patient
        elif hasattr(self, "held_out_scores_"):
            del self.held_out_scores_, self.held_out_labels_, self.held_out_patients_
        self.training_profile_ = measure_training(data, self._scorer, None)
        self._profile_held_out()
        return self

    @property
    def boosters_(self) -> list[Any]:
        """The trees as LightGBM's own boosters."""
        check_is_fitted(self)
        booster = BOOSTING.load("lightgbm").Booster
        # Written anew: LightGBM trusts its text, and this one may have come with a file.
        return [booster(model_str=write_text(forest)) for forest in self.forests_]

    @property
    def forests_(self) -> list[Forest]:
        """The trees as flat arrays."""
        check_is_fitted(self)
        return [_forest(text, self.n_features_in_) for text in self.trees_]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each feature in what all splits gained in training; they sum to 1."""
        shares = np.sum(self._scorer.gain_shares(), axis=0)
        return shares / max(1.0, round(float(np.sum(shares))))

    @property
    def _scorer(self) -> TreeScorer:
        return TreeScorer(self.forests_, self.n_jobs or -1)

    def _read_rows(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return super()._read_rows(encode(as_frame(X), getattr(self, "categories_", {})))

    def _check_parameters(self) -> None:
        """Raise one sentence about the first parameter that is not possible."""
        check_tree_parameters(self.get_params(deep=False))

    def _check_state(self) -> None:
        """Raise one sentence where the trees are damaged, or are not as many as there should be."""
        super()._check_state()
        for forest, n_trees in zip(self.forests_, np.ravel(self.n_trees_), strict=True):
            if forest.n_trees != n_trees:
                raise InputError(f"n_trees_ is {n_trees}, but trees_ holds {forest.n_trees} trees")


@lru_cache(maxsize=16)
def _forest(text: str, n_features: int) -> Forest:
    """Read trees once, however often they score."""
    return read_forest(text, n_features)
