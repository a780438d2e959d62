"""A metric of groups, accumulated over the batches of an epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from groupcm.data.groups import index_groups
from groupcm.data.labels import require_pos_label
from groupcm.metrics import Metric, candidate_roc_auc, metric_named
from groupcm.metrics.truth import require_both_classes, valid_scores

__all__ = ["GroupMetric"]

# Up to so many entries they are not worth merging.
_FEW_ENTRIES = 1000


class GroupMetric:
    """A metric of groups over batches that may split them.

    Of a group only its largest score and whether it is positive are kept, so an epoch needs a few
    numbers per group, however many candidates it has and however many batches they come in.

    Parameters
    ----------
    metric : str or callable
        A metric of groups: "group_roc_auc", "group_average_precision",
        "sensitivity_at_specificity", or a ``callable(y, scores, groups)``.
    pos_label : label, optional
        The label of positive candidates, which may be a text; None is 1, and all others are 0.

    Examples
    --------
    >>> metric = GroupMetric()
    >>> metric.update(torch.tensor([0.1, 0.9, 0.2]), [0, 1, 0], groups=[0, 1, 1])
    >>> metric.update(torch.tensor([0.7, 0.3]), [0, 0], groups=[0, 2])
    >>> metric.compute()
    1.0
    """

    def __init__(self, metric: str | Metric = "group_roc_auc", *, pos_label: Any = None) -> None:
        require_pos_label(pos_label)
        self._metric = metric_named(metric)
        self._pos_label = pos_label
        if self._metric is candidate_roc_auc:
            raise ValueError(
                "candidate_roc_auc needs all candidates, and none are kept; "
                'take a metric of groups, such as "group_roc_auc".'
            )
        self.reset()

    def reset(self) -> None:
        """Forget all groups."""
        self._ids: list[NDArray[Any]] = []
        self._scores: list[NDArray[Any]] = []
        self._is_positive: list[NDArray[np.bool_]] = []
        self._n_entries = self._n_merged = 0
        self._other_label: Any = None

    def update(self, scores: Any, labels: Any, groups: Any) -> None:
        """Add a batch.

        Parameters
        ----------
        scores : Tensor of shape (n,)
            One score per candidate, none of them NaN.
        labels : Tensor of shape (n,)
            1 for a positive candidate, else 0; with ``pos_label``, that one and one other.
        groups : Tensor or array-like of shape (n,)
            Ids of any kind, the same for a group in every batch.
        """
        labels = _on_the_host(labels)
        is_positive = self._is_positive_row(labels)
        if len(labels) == 0:
            return
        scores = valid_scores(_on_the_host(scores), len(labels))
        index = index_groups(_on_the_host(groups))
        if index.n_rows != len(labels):
            raise ValueError(
                f"labels has {len(labels)} rows but groups has {index.n_rows}; "
                "both need one value per candidate."
            )
        self._ids.append(index.ids)
        self._scores.append(index.maxima(scores))
        self._is_positive.append(index.maxima(is_positive))
        self._n_entries += index.n_groups
        # At twice the last size: on the whole every entry is merged a few times only.
        if self._n_entries > max(2 * self._n_merged, _FEW_ENTRIES):
            self._merge()

    def compute(self) -> float:
        """Return the metric of all groups since the last `reset`."""
        if not self._ids:
            raise ValueError("no group has been seen; call update with a batch first.")
        is_positive = np.concatenate(self._is_positive)
        require_both_classes(is_positive, "group")
        return self._metric(is_positive, np.concatenate(self._scores), np.concatenate(self._ids))

    def _is_positive_row(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        if self._pos_label is None:
            if labels.ndim != 1 or not np.isin(labels, (0, 1)).all():
                raise ValueError(
                    "labels must hold one label per candidate, each 0 or 1; for others set "
                    "pos_label."
                )
            return np.asarray(labels == 1)
        if labels.ndim != 1:
            raise ValueError(f"labels must hold one label per candidate; got {labels.shape}.")
        is_positive = np.asarray(labels == self._pos_label)
        others = {*labels[~is_positive].tolist()} - {self._other_label}
        if len(others) > (self._other_label is None):
            raise ValueError(
                f"pos_label is for two labels, and labels holds more than {self._pos_label!r} and "
                "one other; make one label against the rest."
            )
        self._other_label = next(iter(others), self._other_label)
        return is_positive

    def _merge(self) -> None:
        """Merge the entries of each group into one."""
        index = index_groups(np.concatenate(self._ids))
        self._scores = [index.maxima(np.concatenate(self._scores))]
        self._is_positive = [index.maxima(np.concatenate(self._is_positive))]
        self._ids = [index.ids]
        self._n_entries = self._n_merged = index.n_groups


def _on_the_host(values: Any) -> NDArray[Any]:
    if not isinstance(values, torch.Tensor):
        return np.asarray(values)
    values = values.detach().cpu()
    # NumPy has no bfloat16.
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()
