"""The group objective as a ``torch.nn.Module``."""

from __future__ import annotations

import math
from typing import Any

import torch
from groupcm.estimators.hyperparameters import LINEAR
from groupcm.objective.losses import LOSSES
from groupcm.torch.batch import (
    PositiveTerms,
    checked_scores,
    id_per_candidate,
    number_groups,
    one_per_candidate,
    positive_rows,
    positive_terms,
)
from groupcm.torch.block_groups import BlockGroups
from groupcm.torch.maxima import first_winners, soft_maxima
from groupcm.torch.row_groups import RowGroups
from groupcm.utils.parameters import Parameter, check_parameters, number, or_none, whole_number
from torch import Tensor

__all__ = ["GroupLoss"]

_OWN = (
    Parameter("temperature", or_none(number("a number above 0", lambda x: 0.0 < x < float("inf")))),
    Parameter("memory", whole_number(0)),
    Parameter("pos_label", or_none(number("a number", lambda x: x == x))),
)


class GroupLoss(torch.nn.Module):
    """The loss of the groups of a batch, from the scores of their candidates.

    ::

        value = 1/n+ Σ_{k positive} L(s_k*)  +  1/n− Σ_{k negative} L(−max_{i∈G_k} s_i)

    The mean over the batch's positive groups and the mean over its negative groups, added: ``λ``
    times it is the objective of `groupcm.GroupClassifier` without the penalty. A batch without
    positive groups, or without negative ones, costs nothing on that side. Groups may have any
    sizes; nothing is padded.

    With ``objective="partial_auc"`` it is that of pairs of groups, for screening::

        value = 2/(n+ m) Σ_{k positive} Σ_{l among the m largest M_l} L(s_k* − M_l)

    where ``M_l = max_{i∈G_l} s_i`` and ``m = ⌈max_fpr · n−⌉``: a convex bound of the partial area
    under the ROC curve up to the false-positive rate ``max_fpr``, of the batch and the memory.

    Parameters
    ----------
    objective : {"gcm", "partial_auc"}
    max_fpr : float, default=1.0
        The share of the negative groups that count with ``objective="partial_auc"``, those of the
        largest scores. Unused with "gcm".
    memory : int, default=0
        With ``objective="partial_auc"``, the largest scores of so many negative groups of recent
        batches are negative groups too, without slopes of their own: small batches then hold
        enough negative groups for a small ``max_fpr``. They are stored while the module is in
        training mode, in the buffer ``recent``, which ``state_dict`` leaves out.
    loss : {"smoothed_hinge", "hinge", "logistic"}
    delta : float
        Half the width of the smoothed hinge's bend; see `groupcm.objective.losses.SmoothedHinge`.
    temperature : float, optional
        None is the formula above. Its slope in a negative group is all the winner's, the first
        candidate's where several tie. A number is the smoothing of `groupcm.objective`:
        the maximum becomes ``T log Σ exp(s_i / T)``, whose slope all candidates near the winner
        share, and a hinge gets a soft corner. It is above the formula by ``T log(2 n_k)`` at most
        for a group of ``n_k``.
    background : {"ignore", "negative"}
        Whether the other candidates of a positive group take no part, or are one more negative
        group.
    min_overlap : float
        Objects whose best candidate overlaps them by less are left out, and positive groups that
        have no other; these then take no part at all.
    pos_label : number, optional
        The label of positive candidates; None is 1, and all others are 0.

    Notes
    -----
    Scores may be on any device and of any floating-point type; float16 and bfloat16 are summed
    and given back in float32, also under ``torch.autocast``.

    A candidate may score −∞, and then never wins. One of a negative group may score ∞, and then
    the value is ∞; the slope is the winner's, with a temperature shared by all that score ∞. A NaN
    of a candidate that takes part makes the value NaN and the slopes of its group meaningless; the
    slopes of other groups stay true. Candidates that take no part may have any score:
    their slopes are 0. All this holds with and without a temperature.

    With a temperature there are first derivatives only; ``torch.func.grad`` gives them as well.

    Examples
    --------
    Two frames: the first shows a polyp, candidate 1; in the second candidate 3 is the winner.

    >>> scores = torch.tensor([-1.0, 0.5, -2.0, 0.0, -0.5], requires_grad=True)
    >>> value = GroupLoss()(scores, [0, 1, 0, 0, 0], groups=[7, 7, 3, 3, 3])
    >>> value
    tensor(0.6250, grad_fn=<SumBackward0>)
    >>> value.backward()
    >>> scores.grad
    tensor([ 0.0000, -0.5000,  0.0000,  1.0000,  0.0000])
    """

    def __init__(
        self,
        *,
        objective: str = "gcm",
        max_fpr: float = 1.0,
        memory: int = 0,
        loss: str = "smoothed_hinge",
        delta: float = 0.5,
        temperature: float | None = None,
        background: str = "ignore",
        min_overlap: float = 0.0,
        pos_label: float | None = None,
    ) -> None:
        super().__init__()
        shared = {"objective": objective, "max_fpr": max_fpr, "loss": loss, "delta": delta}
        shared["background"] = background
        check_parameters(shared | {"min_overlap": min_overlap}, LINEAR)
        pos_label = int(pos_label) if isinstance(pos_label, bool) else pos_label
        check_parameters(
            {"temperature": temperature, "pos_label": pos_label, "memory": memory}, _OWN
        )
        self.objective = objective
        self.max_fpr = max_fpr
        self.memory = int(memory)
        self.recent: Tensor
        self.register_buffer("recent", torch.empty(0), persistent=False)
        self.loss = loss
        self.delta = delta
        self.temperature = None if temperature is None else float(temperature)
        self.background = background
        self.min_overlap = min_overlap
        self.pos_label = pos_label

    def forward(
        self,
        scores: Tensor,
        labels: Any,
        groups: Any = None,
        *,
        offsets: Any = None,
        overlap: Any = None,
        objects: Any = None,
    ) -> Tensor:
        """Return the value, with its slope by every score.

        Parameters
        ----------
        scores : Tensor of shape (n,)
            One score per candidate.
        labels : Tensor of shape (n,)
            1 for a positive candidate, else 0; with ``pos_label``, that one and one other. A
            group is positive if any of its candidates is.
        groups : Tensor of shape (n,), optional
            Whole numbers, in any order; ``numpy.unique(names, return_inverse=True)[1]`` makes
            them of names. Ids far apart are sorted first, which costs more than all the rest;
            number them from 0 where that counts.
        offsets : Tensor of shape (n_groups + 1,), optional
            Instead of ``groups``, where the rows of a group are contiguous: the row at which
            each begins and, last, the number of rows. Without both every row is a group.
        overlap : Tensor of shape (n,), optional
            How well each candidate fits the annotation; looked at where ``labels`` is positive. The
            positive candidate of largest overlap, the first where several tie, represents its
            object. Without it the positive candidates of an object share its weight.
        objects : Tensor of shape (n,), optional
            Which object of its group a positive candidate shows, as whole numbers. The objects
            of a group share its weight. Without it a group shows one.

        Returns
        -------
        Tensor of shape ()
        """
        scores = checked_scores(scores)
        grouped = number_groups(groups, offsets, scores)
        positive = positive_rows(one_per_candidate(labels, "labels", scores), self.pos_label)
        of_positive = grouped.of(positive)
        terms = positive_terms(
            positive,
            of_positive,
            None if objects is None else id_per_candidate(objects, "objects", scores)[positive],
            None if overlap is None else one_per_candidate(overlap, "overlap", scores)[positive],
            self.min_overlap,
        )
        margin = self._margins(scores, grouped, positive, of_positive, terms)
        if self.objective == "partial_auc":
            of_positives, of_negatives = margin.tensor_split([len(terms.row)])
            return self._of_pairs(of_positives, of_negatives, terms.weight)
        n_negative = len(margin) - len(terms.row)
        of_each_negative = scores.new_full((n_negative,), 1.0 / max(n_negative, 1))
        weight = torch.cat([terms.weight.to(scores.dtype), of_each_negative])
        loss = LOSSES.made_for(self.loss, self)
        return (weight * loss.of_tensor(margin, self.temperature)).sum()

    def _margins(
        self,
        scores: Tensor,
        grouped: RowGroups | BlockGroups,
        positive: Tensor,
        of_positive: Tensor,
        terms: PositiveTerms,
    ) -> Tensor:
        """``s`` of the positive terms, then ``−max s`` of the negative groups and backgrounds."""
        n_positive = torch.bincount(of_positive, minlength=grouped.n_groups)
        takes_part = n_positive == 0
        rivals, never = scores.detach(), None
        if self.background == "negative":
            takes_part[terms.group] = True
            rivals, never = rivals.index_fill(0, positive, -torch.inf), positive
        largest = grouped.maxima(rivals)
        if (largest == -torch.inf).any():  # perhaps only because the group is empty
            takes_part &= grouped.size > n_positive
        if self.temperature is None:
            winner = first_winners(rivals, grouped, largest, never)[takes_part]
            found = scores.index_select(0, torch.cat([terms.row, winner]))
        else:
            found = torch.cat(
                soft_maxima(
                    scores,
                    grouped,
                    largest,
                    self.temperature,
                    takes_part=takes_part,
                    alone=terms.row,
                    never=never,
                )
            )
        sign = torch.ones_like(found)
        sign[len(terms.row) :] = -1.0
        return sign * found

    def _of_pairs(self, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
        """Return the mean over pairs, twice, and remember the negative groups."""
        known = torch.cat([y, self.recent.to(y)]) if len(self.recent) else y
        if self.training and self.memory:
            self.recent = torch.cat([y.detach(), self.recent.to(y)])[: self.memory]
        if not len(x) or not len(known):
            return (x.sum() + y.sum()) * 0.0
        m = math.ceil(self.max_fpr * len(known) * (1.0 - 1e-12))
        largest = torch.topk(known, m, largest=False).values
        loss = LOSSES.made_for(self.loss, self)
        of_pairs = loss.of_tensor(x[:, None] + largest, self.temperature)
        weight = weight.to(x.dtype)
        return 2.0 * (weight / weight.sum() @ of_pairs.mean(dim=1))

    def extra_repr(self) -> str:
        return (
            (
                f"objective='partial_auc', max_fpr={self.max_fpr:g}, memory={self.memory}, "
                if self.objective == "partial_auc"
                else ""
            )
            + f"loss={self.loss!r}, delta={self.delta:g}, temperature={self.temperature}, "
            f"background={self.background!r}, min_overlap={self.min_overlap:g}"
            + ("" if self.pos_label is None else f", pos_label={self.pos_label!r}")
        )
