"""A model in a comparison: how it is made and trained, and the settings it may choose among."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from groupcm.any_estimator import fit_with, require_finished
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
        ``decision_function(X)``; its ``fit`` also gets ``overlap`` and ``patients`` if it
        names them.
    has_path : bool
        Whether the settings are values of ``lam`` that `lambda_path` fits together.

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

    def fit(self, setting: Setting, data: LabelledCandidates) -> Any:
        """The model of one setting."""
        known = {"groups": data.groups, "overlap": data.overlap, "patients": data.patients}
        return require_finished(fit_with(self.make(**setting), data.X, data.y, **known))

    def fit_every(self, data: LabelledCandidates) -> Sequence[Any]:
        """The models of all settings, in their order."""
        if not self.has_path:
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
