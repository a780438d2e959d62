"""The group loss of torch: equal to a slow twin and to the engine, for whatever batch."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torch
from groupcm import GroupClassifier
from groupcm.data.groups import index_groups
from groupcm.objective.grouping import Costs, binary_terms
from groupcm.objective.losses import LOSSES, make_loss
from groupcm.objective.penalties import make_penalty
from groupcm.objective.problem import Problem
from groupcm.objective.smoothed import Block, evaluate
from groupcm.objective.terms import Groups
from groupcm.torch import GroupLoss

repeatable = settings(derandomize=True, deadline=None, max_examples=80)
TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}
LOOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


@dataclass(frozen=True)
class Batch:
    """Candidates of a few ragged groups."""

    scores: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    overlap: np.ndarray | None = None
    objects: np.ndarray | None = None

    @property
    def optional(self) -> dict[str, Any]:
        return {"overlap": self.overlap, "objects": self.objects}


def make_batch(seed: int, *, ties: bool = False, overlap: bool = False, objects: bool = False):
    rng = np.random.default_rng(seed)
    groups = np.repeat(rng.permutation(40)[:8] - 20, rng.integers(1, 9, 8))
    n = len(groups)
    scores = 1.5 * rng.normal(size=n)
    labels = np.zeros(n, dtype=np.int64)
    for group in rng.choice(groups, int(rng.integers(0, 7))):
        rows = np.flatnonzero(groups == group)
        labels[rng.choice(rows, int(rng.integers(1, len(rows) + 1)), replace=False)] = 1
    order = rng.permutation(n)
    return Batch(
        (scores.round() if ties else scores)[order],
        labels[order],
        groups[order],
        rng.random(n).round(1) if overlap else None,
        rng.integers(-2, 1, n) if objects else None,
    )


batches = st.builds(
    make_batch,
    st.integers(0, 10**6),
    ties=st.booleans(),
    overlap=st.booleans(),
    objects=st.booleans(),
)
modules = st.builds(
    GroupLoss,
    loss=st.sampled_from([*LOSSES]),
    delta=st.sampled_from([0.1, 0.5, 1.0]),
    temperature=st.sampled_from([None, 0.01, 0.3, 2.0]),
    background=st.sampled_from(["ignore", "negative"]),
    min_overlap=st.sampled_from([0.0, 0.5]),
)


# ---- the slow twin --------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    weight: float
    sign: int
    rows: list[int]


def slow_terms(batch: Batch, module: GroupLoss) -> list[Term]:
    """The words of the contract, one group after another."""
    positive: list[list[Term]] = []
    negative: list[list[int]] = []
    for group in dict.fromkeys(batch.groups.tolist()):
        rows = [i for i, g in enumerate(batch.groups) if g == group]
        marked = [i for i in rows if batch.labels[i]]
        others = [i for i in rows if not batch.labels[i]]
        if not marked:
            negative.append(others)
            continue
        shown: dict[int, list[int]] = {}
        for i in marked:
            shown.setdefault(0 if batch.objects is None else int(batch.objects[i]), []).append(i)
        found = list(shown.values())
        if batch.overlap is not None:
            fit = batch.overlap.tolist()
            best = [max(each, key=lambda i, fit=fit: (fit[i], -i)) for each in found]
            found = [[i] for i in best if fit[i] >= module.min_overlap]
        if not found:
            continue
        positive.append([Term(1 / len(found) / len(each), 1, [i]) for each in found for i in each])
        if others and module.background == "negative":
            negative.append(others)
    terms = [replace(t, weight=t.weight / len(positive)) for of_group in positive for t in of_group]
    return terms + [Term(1 / len(negative), -1, rows) for rows in negative]


def slow_margin_loss(t: float, module: GroupLoss) -> tuple[float, float]:
    """``L(t)`` and its slope."""
    if module.loss == "logistic":
        tail = math.exp(-abs(t))
        return max(-t, 0.0) + math.log1p(tail), -(tail if t > 0 else 1.0) / (1 + tail)
    T, delta = module.temperature, module.delta
    if T is None:
        short, inner = max(1 - t, 0.0), float(t < 1)
    else:
        u = (1 - t) / T
        short = T * (max(u, 0.0) + math.log1p(math.exp(-abs(u))))
        inner = 1 / (1 + math.exp(-u)) if u > -700 else 0.0
    if module.loss == "hinge":
        return short, -inner
    if short > 2 * delta:
        return short - delta, -inner
    return short**2 / (4 * delta), -inner * short / (2 * delta)


def slow_loss(batch: Batch, module: GroupLoss) -> tuple[float, np.ndarray]:
    """The value and its slope by every score."""
    value, slope = 0.0, np.zeros(len(batch.scores))
    T = module.temperature
    for term in slow_terms(batch, module):
        margins = [term.sign * float(batch.scores[i]) for i in term.rows]
        least = min(margins)
        if T is None:
            winner = margins.index(least)
            t, shares = least, [float(j == winner) for j in range(len(margins))]
        else:
            parts = [math.exp((least - m) / T) for m in margins]
            t, shares = least - T * math.log(sum(parts)), [p / sum(parts) for p in parts]
        cost, by_margin = slow_margin_loss(t, module)
        value += term.weight * cost
        for i, share in zip(term.rows, shares, strict=True):
            slope[i] += term.weight * by_margin * term.sign * share
    return value, slope


def fast_loss(batch: Batch, module: GroupLoss, dtype=torch.float64) -> tuple[float, np.ndarray]:
    scores = torch.tensor(batch.scores, dtype=dtype, requires_grad=True)
    value = module(scores, batch.labels, batch.groups, **batch.optional)
    value.backward()
    assert value.dtype == dtype
    assert scores.grad is not None
    return value.item(), scores.grad.double().numpy()


@repeatable
@given(batch=batches, module=modules)
def test_value_and_slope_are_those_of_the_slow_twin(batch, module):
    value, slope = slow_loss(batch, module)
    fast_value, fast_slope = fast_loss(batch, module)
    np.testing.assert_allclose(fast_value, value, **TIGHT)
    np.testing.assert_allclose(fast_slope, slope, **TIGHT)


@repeatable
@given(batch=batches, module=modules)
def test_float32_is_close(batch, module):
    batch = replace(batch, scores=batch.scores.astype(np.float32))
    value, slope = slow_loss(batch, module)
    fast_value, fast_slope = fast_loss(batch, module, torch.float32)
    np.testing.assert_allclose(fast_value, value, **LOOSE)
    # A soft corner of 0.01 makes 100 of a rounding error.
    np.testing.assert_allclose(fast_slope, slope, rtol=1e-4, atol=1e-5)


@repeatable
@given(batch=batches, module=modules)
def test_offsets_sorted_ids_and_far_ids_are_the_same_groups(batch, module):
    order = np.argsort(batch.groups, kind="stable")
    taken = (batch.labels, batch.overlap, batch.objects)
    labels, overlap, objects = (None if v is None else v[order] for v in taken)
    scores, ids = torch.tensor(batch.scores[order]), batch.groups[order]
    begins = np.flatnonzero(np.diff(ids, prepend=ids[0] - 1))
    # A group of nobody, in the middle and at the end, is none.
    offsets = [0, *begins, *begins[-1:], len(ids), len(ids)]
    fast_value, _ = fast_loss(batch, module)
    for given_as in (
        {"groups": ids},
        {"groups": 10**12 * ids.astype(np.int64)},
        {"groups": (ids + 20).astype(np.uint8)},
        {"offsets": offsets},
    ):
        value = module(scores, labels, overlap=overlap, objects=objects, **given_as)
        np.testing.assert_allclose(value.item(), fast_value, **TIGHT)


# ---- the engine -----------------------------------------------------------------------------

LAM = 0.7


def engine(batch: Batch, module: GroupLoss, temperature: float) -> tuple[float, float, np.ndarray]:
    """λ times the smoothed value, the exact one, and the smoothed one's slope by every score."""
    n = len(batch.scores)
    terms = binary_terms(
        n,
        np.flatnonzero(batch.labels),
        Groups.from_index(index_groups(batch.groups)),
        costs=Costs(LAM),
        background=module.background,
        overlap=batch.overlap,
    )
    problem = Problem(make_loss(module.loss, module.delta), make_penalty("huber", 1.0), 1.0)
    smooth = exact = 0.0
    slope = np.zeros(n)
    for each in terms:
        rows = each.rows(np.arange(each.n_rows))
        ptr = None if each.alone else np.append(0, np.cumsum(each.stop - each.start))
        # Every candidate has a feature of its own, whose weight is its score.
        block = Block(lambda rows=rows: np.eye(n)[rows], ptr, each.sign, each.weight)
        found = evaluate(block, problem, temperature, batch.scores)
        smooth, exact = smooth + found.smooth, exact + found.exact
        slope -= each.sign * found.dual.moment
    return smooth, exact, slope


def two_sided(**options: bool) -> list[Batch]:
    made = [make_batch(seed, **options) for seed in range(40)]
    sides = [(np.unique(b.groups[b.labels == 1]).size, np.unique(b.groups).size) for b in made]
    return [b for b, (positive, all_) in zip(made, sides, strict=True) if 0 < positive < all_]


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("background", ["ignore", "negative"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("temperature", [None, 0.05, 1.0])
def test_it_is_the_objective_of_the_engine(temperature, loss, background, overlap):
    module = GroupLoss(loss=loss, delta=0.3, temperature=temperature, background=background)
    for batch in two_sided(overlap=overlap):
        smooth, exact, slope = engine(batch, module, temperature or 1e-12)
        value, by_score = fast_loss(batch, module)
        expected = exact if temperature is None else smooth
        np.testing.assert_allclose(LAM * value, expected, **TIGHT)
        np.testing.assert_allclose(LAM * by_score, slope, **TIGHT)


def test_it_is_the_objective_of_a_fitted_model():
    rng = np.random.default_rng(3)
    groups = rng.integers(30, size=200)
    y = ((groups < 10) & (rng.random(200) < 0.2)).astype(int)
    X = rng.normal(size=(200, 3)) + y[:, None]
    model = GroupClassifier(lam=0.8, standardize=False).fit(X, y, groups)
    value = GroupLoss()(torch.tensor(model.decision_function(X)), y, groups).item()
    penalty = 0.2 / 3 * make_penalty("huber", 1.0).value(model.coef_.ravel())
    assert 0.8 * value + penalty == pytest.approx(model.objective_, rel=1e-9)


# ---- slopes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("background", ["ignore", "negative"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("temperature", [None, 0.3])
def test_gradcheck(temperature, loss, background):
    module = GroupLoss(loss=loss, temperature=temperature, background=background)
    for seed in range(5):
        batch = make_batch(seed, overlap=True, objects=True)
        scores = torch.tensor(batch.scores, requires_grad=True)

        def value(scores, batch=batch):
            return module(scores, batch.labels, batch.groups, **batch.optional)

        assert torch.autograd.gradcheck(value, scores)


@pytest.mark.parametrize("temperature", [None, 0.3])
def test_the_functional_derivative_is_the_same(temperature):
    module, batch = GroupLoss(temperature=temperature, background="negative"), make_batch(3)
    labels, groups = torch.tensor(batch.labels), torch.tensor(batch.groups)
    slope = torch.func.grad(lambda s: module(s, labels, groups))(torch.tensor(batch.scores))
    np.testing.assert_allclose(slope.numpy(), fast_loss(batch, module)[1], **TIGHT)


def test_a_second_derivative_is_refused_rather_than_wrong():
    scores = torch.tensor([0.1, 0.4, 0.2], requires_grad=True)
    value = GroupLoss(temperature=0.5)(scores, [0, 0, 1], [0, 0, 1])
    (slope,) = torch.autograd.grad(value, scores, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_the_first_of_equal_winners_has_the_slope():
    scores = torch.zeros(6, requires_grad=True)
    GroupLoss()(scores, [0, 0, 0, 0, 0, 1], [4, 2, 4, 2, 4, 9]).backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [0.5, 0.5, 0.0, 0.0, 0.0, -1.0]


# ---- unusual batches ------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("temperature", [None, 0.2])


def slope_of(scores: torch.Tensor, call: Callable[[torch.Tensor], torch.Tensor]):
    leaf = scores.clone().requires_grad_()
    value = call(leaf)
    value.backward()
    assert leaf.grad is not None
    return value.item(), leaf.grad


@BOTH
def test_one_side_alone_costs_what_it_costs(temperature):
    module, scores = GroupLoss(temperature=temperature), torch.tensor([-2.0, -3.0, 1.0, 0.5])
    groups = [0, 0, 1, 1]
    positive, by_positive = slope_of(scores, lambda s: module(s, [1, 0, 1, 0], groups))
    negative, by_negative = slope_of(scores, lambda s: module(s, [0, 0, 0, 0], groups))
    assert positive == pytest.approx(1.25, abs=0.1)
    assert by_positive[[1, 3]].tolist() == [0.0, 0.0]
    assert by_positive[0] < -0.49
    assert negative == pytest.approx(0.75, abs=0.2)
    assert by_negative[2:].sum() > 0.49


@BOTH
def test_no_side_at_all_costs_nothing(temperature):
    module = GroupLoss(temperature=temperature, min_overlap=0.5)
    value, slope = slope_of(
        torch.zeros(3), lambda s: module(s, [1, 0, 1], [0, 0, 0], overlap=[0.1, 0.9, 0.2])
    )
    assert value == 0.0
    assert slope.tolist() == [0.0, 0.0, 0.0]


@BOTH
def test_without_groups_every_row_is_one(temperature):
    module, scores = GroupLoss(temperature=temperature), torch.tensor([0.3, -0.2, 0.1])
    alone = module(scores, [0, 1, 0])
    assert (
        alone == module(scores, [0, 1, 0], [5, 3, 9]) == module(scores, [0, 1, 0], offsets=range(4))
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@BOTH
def test_a_group_of_a_million(temperature, dtype):
    n, module = 1_000_000, GroupLoss(temperature=temperature)
    torch.manual_seed(0)
    scores = torch.rand(n, dtype=dtype)
    one = torch.zeros(n, dtype=torch.int64)
    with_a_positive_one = torch.tensor([3, 9]).repeat(n // 2)
    for groups in (one, with_a_positive_one):
        labels = groups == 9
        given = torch.where(labels, 50.0, scores)
        value, slope = slope_of(given, lambda s, labels=labels, of=groups: module(s, labels, of))
        rivals = scores[~labels].double()
        largest = rivals.max() if temperature is None else 0.2 * (rivals / 0.2).logsumexp(0)
        assert value == pytest.approx(module(largest[None], [0]).item(), rel=1e-6)
        assert slope.sum().item() == pytest.approx(1.0, abs=1e-4)


@BOTH
def test_a_million_equal_scores(temperature):
    scores = torch.zeros(1_000_000)
    _, slope = slope_of(
        scores, lambda s: GroupLoss(temperature=temperature)(s, scores, scores.int())
    )
    assert slope.sum().item() == pytest.approx(1.0, abs=1e-4)
    assert slope[0].item() == pytest.approx(1.0 if temperature is None else 1e-6, rel=1e-4)


@BOTH
def test_nan_shows_itself(temperature):
    module = GroupLoss(temperature=temperature)
    scores = torch.tensor([0.1, math.nan, 0.3, 0.4, 0.5])
    value, slope = slope_of(scores, lambda s: module(s, [0, 0, 0, 1, 0], [0, 0, 0, 1, 2]))
    assert math.isnan(value)
    assert slope[:3].isnan().any()
    assert not slope[3:].isnan().any()
    # The other candidates of a positive group take no part.
    value, _ = slope_of(scores, lambda s: module(s, [1, 0, 0, 0, 0], [0, 0, 0, 1, 2]))
    assert math.isfinite(value)


STRANGE = pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf])
# Rows of one block within a group and more, or of a few.
LENGTHS = pytest.mark.parametrize("length", [3, 200])


def tiled(values: list[float], length: int) -> torch.Tensor:
    """Each value followed by so many rows, of ever lower scores, that its group is long."""
    below = -1.0 - torch.arange(length, dtype=torch.float64) / length
    rows = [torch.cat([torch.tensor([value], dtype=torch.float64), below]) for value in values]
    return torch.cat(rows)


@pytest.mark.parametrize("as_offsets", [False, True])
@LENGTHS
@STRANGE
@BOTH
def test_who_takes_no_part_may_score_anything(temperature, strange, length, as_offsets):
    module, n = GroupLoss(temperature=temperature), length + 1
    scores = tiled([0.5, 0.2, -0.5], length)
    labels = torch.zeros(3 * n)
    labels[0] = 1
    if as_offsets:
        given: dict[str, Any] = {"offsets": [0, n, 2 * n, 3 * n]}
    else:
        given = {"groups": torch.tensor([7, 3, 5]).repeat_interleave(n)}
    expected, by_expected = slope_of(scores, lambda s: module(s, labels, **given))
    scores[n - 1] = strange
    value, slope = slope_of(scores, lambda s: module(s, labels, **given))
    assert value == pytest.approx(expected, rel=1e-12)
    torch.testing.assert_close(slope, by_expected, rtol=1e-12, atol=1e-12)


@STRANGE
@BOTH
def test_an_object_that_is_left_out_may_score_anything(temperature, strange):
    module = GroupLoss(temperature=temperature, background="negative", min_overlap=0.5)
    scores = torch.tensor([0.1, strange, 0.3, strange, 0.2, 0.4], dtype=torch.float64)
    labels, groups = [1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 2]
    overlap = [0.9, 0.6, 0.0, 0.1, 0.0, 0.0]
    value, slope = slope_of(scores, lambda s: module(s, labels, groups, overlap=overlap))
    rest = [0, 2, 5]
    expected, by_rest = slope_of(
        scores[rest], lambda s: module(s, [1, 0, 0], [0, 0, 2], overlap=[0.9, 0.0, 0.0])
    )
    assert value == pytest.approx(expected, rel=1e-12)
    torch.testing.assert_close(slope[rest], by_rest)
    assert slope[[1, 3, 4]].tolist() == [0.0] * 3


@LENGTHS
@BOTH
def test_infinity_in_a_negative_group_costs_infinity(temperature, length):
    module, n = GroupLoss(temperature=temperature), length + 1
    scores = tiled([0.5, math.inf, 0.2], length)
    scores[2 * n - 1] = math.inf
    labels = torch.zeros(3 * n)
    labels[0] = 1
    offsets = [0, n, 2 * n, 3 * n]
    value, slope = slope_of(scores, lambda s: module(s, labels, offsets=offsets))
    assert value == math.inf
    shares = [0.5, 0.0] if temperature is None else [0.25, 0.25]
    assert slope[[n, 2 * n - 1]].tolist() == shares
    assert slope.isfinite().all()
    assert not slope[n + 1 : 2 * n - 1].any()
    _, by_others = slope_of(
        torch.cat([scores[:n], scores[2 * n :]]),
        lambda s: module(s, torch.cat([labels[:n], labels[2 * n :]]), offsets=[0, n, 2 * n]),
    )
    # Two negative groups weigh half each.
    torch.testing.assert_close(slope[2 * n :], by_others[n:] / 2)
    torch.testing.assert_close(slope[:n], by_others[:n])


@pytest.mark.parametrize("background", ["ignore", "negative"])
@BOTH
def test_who_scores_minus_infinity_never_wins(temperature, background):
    module, low = GroupLoss(temperature=temperature, background=background), -math.inf
    scores = torch.tensor([low, 0.2, low, low, 0.5, low], dtype=torch.float64)
    value, slope = slope_of(scores, lambda s: module(s, [0, 0, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2]))
    kept = module(scores[[1, 4]], [0, 1])
    n_negative = 2 if background == "ignore" else 3
    both = module(scores[[4]], [1])
    assert value == pytest.approx(both.item() + (kept - both).item() / n_negative)
    assert slope.isfinite().all()
    assert slope[[0, 2, 3, 5]].tolist() == [0.0] * 4


def test_a_group_all_positive_has_no_background():
    module = GroupLoss(background="negative")
    value = module(torch.tensor([0.5, 0.5, -0.5]), [1, 1, 0], [0, 0, 1])
    assert value.item() == pytest.approx(0.125 + 0.125)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@BOTH
def test_half_precision_is_summed_in_float32(temperature, dtype):
    module, batch = GroupLoss(temperature=temperature), make_batch(1)
    scores = torch.tensor(batch.scores).to(dtype).requires_grad_()
    value = module(scores, batch.labels, batch.groups)
    value.backward()
    same = module(scores.detach().float(), batch.labels, batch.groups)
    assert value.dtype == torch.float32
    assert value == same
    assert scores.grad is not None
    assert scores.grad.dtype == dtype


@BOTH
def test_it_trains_under_autocast(temperature):
    batch = make_batch(2)
    network = torch.nn.Linear(1, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = network(torch.tensor(batch.scores, dtype=torch.float32)[:, None]).squeeze(1)
        value = GroupLoss(temperature=temperature)(scores, batch.labels, batch.groups)
    assert scores.dtype == torch.bfloat16
    assert value.dtype == torch.float32
    value.backward()
    assert network.weight.grad is not None
    assert network.weight.grad.isfinite().all()


def test_labels_of_any_type_are_the_same():
    batch, module = make_batch(4), GroupLoss()
    scores = torch.tensor(batch.scores)
    values = {
        module(scores, torch.tensor(batch.labels).to(dtype), batch.groups).item()
        for dtype in (torch.bool, torch.int8, torch.int64, torch.float32, torch.bfloat16)
    }
    assert len(values) == 1


# ---- mistakes -------------------------------------------------------------------------------

MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"scores": torch.zeros(0)}, "scores is empty; a batch needs at least one candidate."),
    ({"scores": torch.zeros(2, 1)}, r"shape \(n,\); got torch.float32 of shape \(2, 1\)"),
    ({"scores": torch.zeros(3, dtype=torch.int64)}, "one floating-point number per candidate"),
    ({"labels": [0, 1]}, r"labels must hold one value per candidate, shape \(3,\)"),
    ({"labels": [0, 1, 2]}, "labels is 2 at row 2; a label is 0 or 1"),
    ({"labels": [0.0, 1.0, math.nan]}, "labels is nan at row 2"),
    ({"labels": ["no", "yes", "no"]}, r"labels must hold numbers; got \['no', 'yes', 'no'\]"),
    ({"groups": ["a", "b", "b"]}, r"groups must hold whole numbers; numpy.unique\(groups, "),
    ({"groups": np.array(["a", "b", "b"])}, r"makes them of names; got array\("),
    ({"groups": np.array(["a", "b", None])}, "groups must hold whole numbers"),
    ({"groups": None, "offsets": ["a"]}, "offsets must hold numbers"),
    ({"groups": [0, 1]}, "groups must hold one value per candidate"),
    ({"groups": [0.0, 1.0, 1.0]}, "groups must hold whole numbers"),
    ({"objects": [0.0, 1.0, 1.0]}, "objects must hold whole numbers"),
    ({"overlap": [0.5, 0.5]}, "overlap must hold one value per candidate"),
    ({"overlap": [math.nan, math.nan, 0.5]}, "overlap is not a finite number at row 1"),
    ({"offsets": [0, 3]}, "groups and offsets are both given"),
    ({"groups": None, "offsets": [0, 2]}, "from 0 to 3, the number of candidates; got 0 to 2"),
    ({"groups": None, "offsets": [1, 3]}, "got 1 to 3"),
    ({"groups": None, "offsets": [3]}, r"got shape \(1,\)"),
    ({"groups": None, "offsets": [0, 2, 1, 3]}, "offsets falls from 2 to 1 at place 2"),
    ({"groups": None, "offsets": [0.0, 3.0]}, "offsets must hold whole numbers"),
]


@pytest.mark.parametrize(("wrong", "message"), MISTAKES)
def test_mistakes_are_told(wrong, message):
    right = {"scores": torch.zeros(3), "labels": [0, 1, 0], "groups": [0, 1, 1]}
    with pytest.raises(ValueError, match=message):
        GroupLoss()(**(right | wrong))


@pytest.mark.parametrize("scores", [[0.0, 0.5], np.zeros(2), 0.5, None])
def test_scores_that_are_no_tensor_are_told(scores):
    with pytest.raises(TypeError, match=r"scores must be a torch.Tensor.*torch.as_tensor"):
        GroupLoss()(scores, [0, 1])


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(1), Fraction(1, 2)])
def test_any_real_number_is_a_temperature(number):
    scores = torch.tensor([0.1, 0.4, 0.2])
    module = GroupLoss(temperature=number)
    assert module(scores, [0, 0, 1], [0, 0, 1]) == GroupLoss(temperature=float(number))(
        scores, [0, 0, 1], [0, 0, 1]
    )
    assert f"temperature={float(number)}" in repr(module)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "log"}, "loss must be one of"),
        ({"delta": 0.0}, "delta must be a number above 0"),
        ({"background": "both"}, "background must be one of"),
        ({"temperature": 0.0}, "temperature must be None or a number above 0; got 0.0"),
        ({"temperature": np.nan}, "temperature must be None or a number above 0"),
        ({"temperature": math.inf}, "temperature must be None or a number above 0"),
        ({"temperature": "0.1"}, "temperature must be None or a number above 0"),
        ({"temperature": True}, "temperature must be None or a number above 0"),
        ({"min_overlap": "half"}, "min_overlap must be a number"),
    ],
)
def test_impossible_options_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        GroupLoss(**options)


def test_without_torch_the_command_that_installs_it():
    code = "import sys; sys.modules['torch'] = None\nimport groupcm.torch"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    told = run.stderr.strip().splitlines()[-1]
    assert told.startswith("groupcm.utils.extras.MissingExtra: ")
    assert 'pip install "groupcm[torch]"' in told


def test_series_are_read_by_position_whatever_their_index():
    pd = pytest.importorskip("pandas")
    scores, labels, groups = torch.tensor([0.3, 0.1, -0.2, 0.4]), [0, 1, 0, 0], [0, 0, 1, 1]
    series = (pd.Series(each, index=[8, 7, 6, 5]) for each in (labels, groups))
    assert GroupLoss()(scores, *series) == GroupLoss()(scores, labels, groups)
    with pytest.raises(ValueError, match="overlap must hold numbers"):
        GroupLoss()(scores, labels, groups, overlap=[None] * 4)


def test_the_positive_label_may_be_zero():
    scores, groups = torch.tensor([0.1, 0.9, -0.2, 0.7]), torch.tensor([0, 0, 1, 2])
    labels = torch.tensor([0, 1, 0, 0])
    expected = GroupLoss()(scores, labels, groups)
    assert GroupLoss(pos_label=0)(scores, 1 - labels, groups) == expected
    assert GroupLoss(pos_label=False)(scores, labels == 0, groups) == expected
    assert GroupLoss(pos_label=7)(scores, 5 + 2 * labels, groups) == expected
    with pytest.raises(ValueError, match="pos_label is for two labels"):
        GroupLoss(pos_label=0)(scores, torch.tensor([0, 1, 2, 0]), groups)
    with pytest.raises(ValueError, match="pos_label must be None or a number"):
        GroupLoss(pos_label="polyp")  # pyright: ignore[reportArgumentType]
    assert "pos_label=0" in repr(GroupLoss(pos_label=0))
