"""Losses: convex, never increasing functions of a margin ``t = y (w·x + b)``.

A loss is one module of this package, which answers what `Loss` lists, and one entry of `LOSSES`.
Everything else uses it: the problem for its conjugate, the solvers for its derivatives and for the
margin where it becomes zero, the command line and the checks of parameters for its name.
"""

from __future__ import annotations

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names
from groupcm.utils.parameters import ABOVE_ZERO, Parameter
from groupcm.utils.registry import Plugin, Registry

if TYPE_CHECKING:
    from groupcm.objective.losses.base import DualGain, Jet, Loss, SmoothLoss
    from groupcm.objective.losses.smoothed_hinge import SmoothedHinge, SoftHinge

__all__ = [
    "LOSSES",
    "DualGain",
    "Jet",
    "Loss",
    "SmoothLoss",
    "SmoothedHinge",
    "SoftHinge",
    "make_loss",
]

#: The losses by the name that an estimator's ``loss`` gives them.
LOSSES = Registry(
    __name__,
    {
        "smoothed_hinge": Plugin(
            "smoothed_hinge.SmoothedHinge",
            Parameter(
                "delta",
                ABOVE_ZERO,
                0.5,
                option="--delta",
                help="half the width of the quadratic piece of the smoothed hinge",
            ),
        ),
        "hinge": Plugin("smoothed_hinge.hinge"),
        "logistic": Plugin("logistic.Logistic"),
    },
)

_HOME = {
    "DualGain": "base",
    "Jet": "base",
    "Loss": "base",
    "SmoothLoss": "base",
    "SmoothedHinge": "smoothed_hinge",
    "SoftHinge": "smoothed_hinge",
}


__getattr__, __dir__ = lazy_names(__name__, _HOME)


def make_loss(name: str, delta: float = 0.5, **hyperparameters: float) -> Loss:
    """Return the loss that an estimator's ``loss`` and its hyperparameters describe.

    Examples
    --------
    >>> make_loss("hinge", delta=0.5)
    SmoothedHinge(delta=0.0)
    """
    return LOSSES.make(name, delta=delta, **hyperparameters)
