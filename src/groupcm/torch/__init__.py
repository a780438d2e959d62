"""The group objective for networks: a loss on ragged groups, and a metric over batches."""

from __future__ import annotations

from groupcm.utils.extras import TORCH

TORCH.load("torch")

from groupcm.torch.loss import GroupLoss  # noqa: E402
from groupcm.torch.metric import GroupMetric  # noqa: E402

__all__ = ["GroupLoss", "GroupMetric"]
