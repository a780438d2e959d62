"""Losses: convex, never increasing functions of a margin ``t = y (w·x + b)``.

A loss is one module of this package, a subclass of `Loss`, and one entry of `LOSSES`. Everything
else asks it: the problem for its conjugate, the solvers for its derivatives and for the margin
where it becomes zero, the command line and the checks of parameters for its name.
"""

from __future__ import annotations

from importlib import import_module

from groupcm import TYPE_CHECKING
from groupcm.utils.parameters import ABOVE_ZERO, Parameter
from groupcm.utils.registry import Plugin, Registry

if TYPE_CHECKING:
    from typing import Any

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


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make_loss(name: str, delta: float = 0.5, **hyperparameters: float) -> Loss:
    """Return the loss that an estimator's ``loss`` and its hyperparameters describe.

    Examples
    --------
    >>> make_loss("hinge", delta=0.5)
    SmoothedHinge(delta=0.0)
    """
    return LOSSES.make(name, delta=delta, **hyperparameters)
