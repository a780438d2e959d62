"""A batch of candidates, validated: scores, labels, groups, and the terms of its positive groups.

Groups are given by ids in any order, or by the rows at which they begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import torch
from groupcm.torch.block_groups import BlockGroups
from groupcm.torch.maxima import first_winners
from groupcm.torch.row_groups import RowGroups, true_rows, wide_dtype
from torch import Tensor

__all__ = [
    "PositiveTerms",
    "as_numbers",
    "checked_scores",
    "id_per_candidate",
    "number_groups",
    "one_per_candidate",
    "positive_rows",
    "positive_terms",
    "require_whole",
]

_NARROW = (torch.float16, torch.bfloat16)
_MOST_SHOWN = 60
# Ids that lie this close together are group numbers already; others are sorted first.
_NUMBERS_PER_ROW = 4
_FEW_NUMBERS = 1024
_FEW_ROWS = 1000


def checked_scores(scores: Any) -> Tensor:
    """Return one contiguous number per candidate, in float32 where it came in half precision.

    Examples
    --------
    >>> checked_scores(torch.zeros(2, dtype=torch.bfloat16)).dtype
    torch.float32
    """
    if not isinstance(scores, Tensor):
        raise TypeError(
            "scores must be a torch.Tensor, such as a network gives; got "
            f"{type(scores).__name__}; torch.as_tensor makes one of numbers."
        )
    if scores.ndim != 1 or not scores.is_floating_point():
        raise ValueError(
            "scores must hold one floating-point number per candidate, shape (n,); "
            f"got {scores.dtype} of shape {tuple(scores.shape)}."
        )
    if len(scores) == 0:
        raise ValueError("scores is empty; a batch needs at least one candidate.")
    return (scores.float() if scores.dtype in _NARROW else scores).contiguous()


def positive_rows(labels: Tensor, pos_label: float | None = None) -> Tensor:
    """Return the rows of label 1, or of ``pos_label`` and one other label.

    Examples
    --------
    >>> positive_rows(torch.tensor([0, 1, 1]))
    tensor([1, 2])
    >>> positive_rows(torch.tensor([0, 1, 1]), pos_label=0)
    tensor([0])
    """
    if pos_label is not None:
        is_positive = labels == pos_label
        others = labels[~is_positive]
        if len(others) and (others != others[0]).any():
            raise ValueError(
                f"pos_label is for two labels, and labels holds more than {pos_label!r} and one "
                "other; make one label against the rest."
            )
        return true_rows(is_positive)
    rows = true_rows(labels.bool())
    wrong = labels[rows] != 1
    if wrong.any():
        row = int(rows[wrong][0])
        raise ValueError(
            f"labels is {labels[row].item():g} at row {row}; a label is 0 or 1, "
            "1 for a positive candidate."
        )
    return rows


def positive_terms(
    row: Tensor,
    group: Tensor,
    objects: Tensor | None = None,
    overlap: Tensor | None = None,
    min_overlap: float = 0.0,
) -> PositiveTerms:
    """Choose among the positive candidates ``row`` of the groups ``group``, rows in their order.

    ``objects`` and ``overlap`` are those of these candidates. Without ``objects`` every group
    shows one object.

    Examples
    --------
    Group 0 shows one object, of which candidate 3 fits best; group 1 shows two.

    >>> terms = positive_terms(
    ...     row=torch.tensor([2, 3, 7, 8]),
    ...     group=torch.tensor([0, 0, 1, 1]),
    ...     objects=torch.tensor([5, 5, 0, 1]),
    ...     overlap=torch.tensor([0.4, 0.9, 0.5, 0.6]),
    ... )
    >>> terms.row, terms.weight
    (tensor([3, 7, 8]), tensor([0.5000, 0.2500, 0.2500], dtype=torch.float64))
    """
    dtype = wide_dtype(row.device)
    of_object = group if objects is None else _object_numbers(group, objects)
    if overlap is None:
        count = torch.bincount(of_object)
        share = 1.0 / count[of_object].to(dtype)
    else:
        overlap = overlap.to(dtype)
        _require_finite(overlap, row)
        best = _best_fitting(of_object, overlap)
        best = best[overlap[best] >= min_overlap]
        row, group = row[best], group[best]
        share = torch.ones(len(row), dtype=dtype, device=row.device)
    n_objects = torch.zeros(_n_numbers(group), dtype=dtype, device=row.device)
    n_objects.index_add_(0, group, share)
    n_groups = torch.count_nonzero(n_objects)
    return PositiveTerms(row, group, share / (n_objects[group] * n_groups))


@dataclass(frozen=True, eq=False)
class PositiveTerms:
    """Candidates that represent positive groups.

    Attributes
    ----------
    row, group : Tensor of shape (k,), int64
        The candidate, and the number of its group.
    weight : Tensor of shape (k,)
        All groups weigh the same, and the weights add up to 1.
    """

    row: Tensor
    group: Tensor
    weight: Tensor


def number_groups(groups: Any, offsets: Any, scores: Tensor) -> RowGroups | BlockGroups:
    """Number the groups of the rows of ``scores``; without ids and offsets every row is one.

    Examples
    --------
    >>> number_groups(None, [0, 2, 3], torch.zeros(3))
    RowGroups(of_row=tensor([0, 0, 1]), n_groups=2)
    >>> number_groups([8, 5, 8], None, torch.zeros(3)).of(torch.tensor([0, 1]))
    tensor([3, 0])
    """
    if groups is not None and offsets is not None:
        raise ValueError("groups and offsets are both given; give one of the two.")
    if groups is not None:
        return _from_ids(id_per_candidate(groups, "groups", scores))
    if offsets is not None:
        return _from_offsets(as_numbers(offsets, "offsets", scores.device), len(scores))
    return RowGroups(torch.arange(len(scores), device=scores.device), len(scores))


def one_per_candidate(values: Any, name: str, scores: Tensor, wanted: str = "numbers") -> Tensor:
    """``values`` where the scores are, one for each of them.

    Examples
    --------
    >>> one_per_candidate([0, 1], "labels", torch.zeros(3))
    Traceback (most recent call last):
    ValueError: labels must hold one value per candidate, shape (3,) to match scores; got shape
    (2,).
    """
    given = as_numbers(values, name, scores.device, wanted)
    if given.shape != scores.shape:
        raise ValueError(
            f"{name} must hold one value per candidate, shape ({len(scores)},) to match scores; "
            f"got shape {tuple(given.shape)}."
        )
    return given


def as_numbers(values: Any, name: str, device: torch.device, wanted: str = "numbers") -> Tensor:
    """``values`` on the device; `ValueError` where they are not what is wanted.

    Examples
    --------
    >>> as_numbers(["large"], "overlap", torch.device("cpu"))
    Traceback (most recent call last):
    ValueError: overlap must hold numbers; got ['large'].
    """
    try:
        # A Series, say, is an array under an index that torch would look its rows up by.
        if hasattr(values, "__array__") and not isinstance(values, Tensor | np.ndarray):
            values = np.array(values)
        return torch.as_tensor(values, device=device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} must hold {wanted}; got {_shortened(values)}.") from error


def id_per_candidate(values: Any, name: str, scores: Tensor) -> Tensor:
    """As `one_per_candidate`, for ids; the error for names suggests how to number them.

    Examples
    --------
    >>> id_per_candidate([0.5], "groups", torch.zeros(1))
    Traceback (most recent call last):
    ValueError: groups must hold whole numbers; got torch.float32.
    """
    wanted = f"whole numbers; numpy.unique({name}, return_inverse=True)[1] makes them of names"
    given = one_per_candidate(values, name, scores, wanted)
    require_whole(given, name)
    return given.long()


def require_whole(values: Tensor, name: str) -> None:
    """`ValueError` for anything but whole numbers.

    Examples
    --------
    >>> require_whole(torch.tensor([5]), "offsets")
    """
    if values.is_floating_point() or values.is_complex() or values.dtype == torch.bool:
        raise ValueError(f"{name} must hold whole numbers; got {values.dtype}.")


def _shortened(values: Any) -> str:
    text = " ".join(repr(values).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _from_ids(ids: Tensor) -> RowGroups | BlockGroups:
    low, high = (int(end) for end in ids.aminmax())
    n_numbers = high - low + 1
    if n_numbers > max(_NUMBERS_PER_ROW * len(ids), _FEW_NUMBERS):
        distinct, number = torch.unique(ids, return_inverse=True)
        return RowGroups(number.contiguous(), len(distinct))
    number = (ids - low if low else ids).contiguous()
    if BlockGroups.suits(n_numbers, len(ids)) and _is_sorted(number):
        ends = torch.arange(n_numbers + 1, device=ids.device)
        return BlockGroups(torch.searchsorted(number, ends), len(ids))
    return RowGroups(number, n_numbers)


def _is_sorted(numbers: Tensor) -> bool:
    """Return whether they never fall; the first few show it of most that do."""
    return all(bool((part[1:] >= part[:-1]).all()) for part in (numbers[:_FEW_ROWS], numbers))


def _from_offsets(offsets: Tensor, n_rows: int) -> RowGroups | BlockGroups:
    require_whole(offsets, "offsets")
    if offsets.ndim != 1 or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != n_rows:
        raise ValueError(
            "offsets must hold where each group begins and, last, where the last one ends: "
            f"from 0 to {n_rows}, the number of candidates; got {_ends_of(offsets)}."
        )
    offsets = offsets.long().contiguous()
    size = offsets.diff()
    if (size < 0).any():
        place = int((size < 0).nonzero()[0]) + 1
        raise ValueError(
            f"offsets falls from {int(offsets[place - 1])} to {int(offsets[place])} at place "
            f"{place}; a group ends where the next begins, so it must never fall."
        )
    if BlockGroups.suits(len(size), n_rows):
        return BlockGroups(offsets, n_rows)
    return RowGroups(torch.repeat_interleave(size, output_size=n_rows), len(size))


def _ends_of(offsets: Tensor) -> str:
    if offsets.ndim != 1 or len(offsets) < 2:
        return f"shape {tuple(offsets.shape)}"
    return f"{int(offsets[0])} to {int(offsets[-1])}"


def _object_numbers(group: Tensor, objects: Tensor) -> Tensor:
    """One number for each object of each group: ids of objects mean nothing across groups."""
    if len(group) == 0:
        return group
    ids, number = torch.unique(objects, return_inverse=True)
    return torch.unique(group * len(ids) + number, return_inverse=True)[1]


def _best_fitting(of_object: Tensor, overlap: Tensor) -> Tensor:
    """Where each object has its largest overlap, the first where several do."""
    objects = RowGroups(of_object, _n_numbers(of_object))
    best = first_winners(overlap, objects, objects.maxima(overlap))
    return best[best < len(overlap)]


def _n_numbers(numbers: Tensor) -> int:
    return int(numbers.max()) + 1 if len(numbers) else 0


def _require_finite(overlap: Tensor, row: Tensor) -> None:
    finite = torch.isfinite(overlap)
    if not finite.all():
        raise ValueError(
            f"overlap is not a finite number at row {int(row[~finite][0])}; "
            "every positive candidate needs one."
        )
