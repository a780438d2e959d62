"""Penalties: sums over the weights, ``Σ_j h(w_j)``, each with its conjugate.

A penalty is one module of this package, which answers what `Penalty` lists, and one entry of
`PENALTIES`.
"""

from __future__ import annotations

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names
from groupcm.utils.parameters import ABOVE_ZERO, Parameter, number
from groupcm.utils.registry import Plugin, Registry

if TYPE_CHECKING:
    from groupcm.objective.penalties.base import Penalty, SmoothPenalty
    from groupcm.objective.penalties.huber import Huber
    from groupcm.objective.penalties.norms import Norm1, SoftNorm1, SquaredNorm

__all__ = [
    "PENALTIES",
    "Huber",
    "Norm1",
    "Penalty",
    "SmoothPenalty",
    "SoftNorm1",
    "SquaredNorm",
    "make_penalty",
]

#: The penalties by the name that an estimator's ``penalty`` gives them.
PENALTIES = Registry(
    __name__,
    {
        "huber": Plugin(
            "huber.Huber",
            Parameter(
                "epsilon",
                ABOVE_ZERO,
                1.0,
                option="--epsilon",
                help="where the Huber penalty turns from quadratic to linear",
            ),
        ),
        "l2": Plugin("norms.SquaredNorm"),
        "l1": Plugin("norms.Norm1"),
        "elasticnet": Plugin(
            "elastic_net.ElasticNet",
            Parameter(
                "l1_ratio",
                number("a number from 0 to 1", lambda x: 0.0 <= x <= 1.0),
                0.5,
                option="--l1-ratio",
                help="the share of the norm 1 in the elastic net; the rest is the squared norm",
            ),
        ),
    },
)

_HOME = {
    "Huber": "huber",
    "Norm1": "norms",
    "Penalty": "base",
    "SmoothPenalty": "base",
    "SoftNorm1": "norms",
    "SquaredNorm": "norms",
}


__getattr__, __dir__ = lazy_names(__name__, _HOME)


def make_penalty(name: str, epsilon: float = 1.0, **hyperparameters: float) -> Penalty:
    """Return the penalty that an estimator's ``penalty`` and its hyperparameters describe.

    Examples
    --------
    >>> make_penalty("huber", epsilon=0.5)
    Huber(epsilon=0.5)
    """
    return PENALTIES.make(name, epsilon=epsilon, **hyperparameters)
