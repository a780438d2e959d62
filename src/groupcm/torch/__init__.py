"""The group objective for networks: a loss on ragged groups, and a metric over batches."""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        'groupcm.torch is made of torch; install it with: pip install "groupcm[torch]"'
    ) from error

from groupcm.torch.loss import GroupLoss
from groupcm.torch.metric import GroupMetric

__all__ = ["GroupLoss", "GroupMetric"]
