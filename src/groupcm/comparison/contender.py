"""A model in a comparison: how it is made and trained, and the settings it may choose among."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from groupcm.any_estimator import fit_with, require_finished, takes, takes_missing
from groupcm.comparison.data import LabelledCandidates
from groupcm.selection import lambda_path

__all__ = ["Contender", "Setting"]

Setting = Mapping[str, Any]


@dataclass(frozen=True)
class Contender:
    """A model and the settings it may choose among.

    Attributes
    ----------
    name, about : str
        A short name, and one sentence on what it is and what it is trained on.
    settings : sequence of dict
        Parameters of ``make``, one dict a setting.
    make : callable
        ``make(**setting)`` is an estimator with ``fit(X, y, groups)`` and
        ``decision_function(X)``; its ``fit`` also gets ``overlap``, ``patients`` and what
        ``knows`` lists, if it names them.
    has_path : bool
        Whether the settings are values of ``lam`` that `lambda_path` fits together.
    knows : sequence of str
        What of the annotation it may be given: ``annotated``, ``objects``.
    by_group_labels : bool
        Whether it looks at labels of groups alone, for which no group needs an annotation.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> model = Contender("GCM", "Groups.", [{"lam": 0.5}, {"lam": 0.9}], GroupClassifier)
    >>> [model.words(setting) for setting in model.settings]
    ['λ = 0.5', 'λ = 0.9']
    """

    name: str
    about: str
    settings: Sequence[Setting]
    make: Callable[..., Any]
    has_path: bool = False
    knows: Sequence[str] = ("annotated", "objects")
    by_group_labels: bool = False

    @property
    def chooses_candidates(self) -> bool:
        """Whether it chooses a candidate in positive groups nobody annotated."""
        return self._is_given("annotated")

    @property
    def takes_missing(self) -> bool:
        """Whether it learns from rows with missing values, and scores them."""
        return takes_missing(self._example)

    @property
    def _example(self) -> Any:
        return self.make(**self.settings[0])

    def _is_given(self, mark: str) -> bool:
        return mark in self.knows and takes(self._example, mark)

    def fit(self, setting: Setting, data: LabelledCandidates) -> Any:
        """The model of one setting.

        Groups nobody annotated take part where the model can learn from them.
        """
        if not (self.by_group_labels or self.chooses_candidates):
            data = data.with_candidate_labels()
        known = {"groups": data.groups, "overlap": data.overlap, "patients": data.patients}
        known |= {mark: getattr(data, mark) for mark in self.knows}
        return require_finished(fit_with(self.make(**setting), data.X, data.y, **known))

    def fit_every(self, data: LabelledCandidates) -> Sequence[Any]:
        """The models of all settings, in their order.

        They are there to choose a setting by. Groups that nobody annotated take no part where
        a model would have to choose candidates of them, setting by setting.
        """
        if not self.by_group_labels:
            data = data.with_candidate_labels()
        has_objects = data.objects is not None and self._is_given("objects")
        if not self.has_path or has_objects:  # a path takes no objects
            return [self.fit(setting, data) for setting in self.settings]
        lams = [setting["lam"] for setting in self.settings]
        path = lambda_path(
            data.X, data.y, data.groups, data.overlap, lams=lams, estimator=self.make()
        )
        return [require_finished(model) for model in path.models]

    def words(self, setting: Setting) -> str:
        """A setting as a person reads it."""
        names = {"lam": "λ"}
        return ", ".join(f"{names.get(name, name)} = {_shown(v)}" for name, v in setting.items())


def _shown(value: Any) -> str:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{value:.3g}" if is_number else " ".join(str(value).split())
