"""The losses of `groupcm.losses`, as torch differentiates them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import smooth_l1_loss, softplus

__all__ = ["margin_loss"]

# Beyond it softplus drops its exponential, which float64 no longer sees.
_FAR = 50.0


def margin_loss(t: Tensor, delta: float, temperature: float | None = None) -> Tensor:
    """``L(t)``: `SmoothedHinge` with this δ, and with a temperature its `SoftHinge`.

    ::

        L(t) = α (z − δα),    α = min(z / 2δ, 1),    z = max(1 − t, 0)
                                               or    z = T log(1 + exp((1 − t) / T))

    Examples
    --------
    >>> margin_loss(torch.tensor([2.0, 0.5, -1.0]), delta=0.5)
    tensor([0.0000, 0.1250, 1.5000])
    """
    if temperature is None:
        short = torch.relu(1.0 - t)
    else:
        short = softplus(1.0 - t, beta=1.0 / temperature, threshold=_FAR)
    if delta == 0.0:
        return short
    # z² / 2β up to β and z − β / 2 beyond it, in one step.
    return smooth_l1_loss(short, torch.zeros_like(short), beta=2.0 * delta, reduction="none")
