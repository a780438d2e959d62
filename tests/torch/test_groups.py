"""What groups find out of the values of their rows: row by row, by blocks, and as a slow twin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torch
from groupcm.torch import GroupLoss
from groupcm.torch.batch import number_groups
from groupcm.torch.block_groups import BlockGroups
from groupcm.torch.row_groups import RowGroups, true_rows

repeatable = settings(derandomize=True, deadline=None, max_examples=120)
UNUSUAL = [None, np.nan, -np.inf, np.inf]


@dataclass(frozen=True)
class Case:
    """Values of rows whose groups stand one after another."""

    size: np.ndarray
    values: np.ndarray

    @property
    def of_row(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.size)), self.size)

    @property
    def both(self) -> tuple[RowGroups, BlockGroups]:
        offsets = torch.tensor(np.append(0, np.cumsum(self.size)))
        rows = RowGroups(torch.tensor(self.of_row), len(self.size))
        return rows, BlockGroups(offsets, len(self.values))

    def groups(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.of_row == k) for k in range(len(self.size))]


def make_case(seed: int, longest: int, whole_blocks: bool, unusual: float | None) -> Case:
    rng = np.random.default_rng(seed)
    size = rng.integers(0, longest, int(rng.integers(1, 12)))
    size = size // 32 * 32 if whole_blocks else size
    size[rng.integers(len(size))] += 1
    values = rng.normal(size=size.sum()).round(1)
    if unusual is not None:
        values[rng.random(len(values)) < rng.choice([0.01, 0.9])] = unusual
    return Case(size, values)


cases = st.builds(
    make_case,
    st.integers(0, 10**6),
    st.sampled_from([2, 40, 90, 300]),
    st.booleans(),
    st.sampled_from(UNUSUAL),
)


@repeatable
@given(case=cases)
def test_maxima_and_who_reaches_them(case):
    values = torch.tensor(case.values)
    largest = [case.values[rows].max() if len(rows) else -np.inf for rows in case.groups()]
    reaching = [
        i
        for i, value in enumerate(case.values)
        if value == largest[case.of_row[i]] or np.isnan(value)
    ]
    for groups in case.both:
        found = groups.maxima(values)
        np.testing.assert_array_equal(found, largest)
        rows, of_rows = groups.reaching(values, found)
        order = rows.argsort()
        assert rows[order].tolist() == reaching
        assert of_rows[order].tolist() == case.of_row[reaching].tolist()


@pytest.mark.filterwarnings("ignore:invalid value")
@repeatable
@given(case=cases)
def test_sums_and_what_each_group_does_to_its_rows(case):
    values = torch.tensor(case.values)
    of_group = np.arange(1.0, len(case.size) + 1)
    for groups in case.both:
        total = [case.values[rows].sum() for rows in case.groups()]
        np.testing.assert_allclose(groups.sums(values), total, rtol=1e-12, atol=1e-12)
        for operation, slow in ((torch.sub, np.subtract), (torch.mul, np.multiply)):
            found = groups.combined(operation, values, torch.tensor(of_group))
            np.testing.assert_array_equal(found, slow(case.values, of_group[case.of_row]))
        np.testing.assert_array_equal(values, case.values)


@repeatable
@given(case=cases, step=st.sampled_from([1, 97]))
def test_groups_of_some_rows_and_their_sizes(case, step):
    rows = np.arange(0, len(case.values), step)
    for groups in case.both:
        assert groups.of(torch.tensor(rows)).tolist() == case.of_row[rows].tolist()
        assert groups.size.tolist() == case.size.tolist()
        assert groups.n_groups == len(case.size)


@pytest.mark.parametrize("n_rows", [300_001, 262_144])
def test_many_rows_in_any_order(n_rows):
    rng = np.random.default_rng(0)
    of_row, values = rng.integers(7, size=n_rows), rng.normal(size=n_rows)
    values[-1] = 9.0
    groups = RowGroups(torch.tensor(of_row), 8)
    largest = [values[of_row == k].max() for k in range(7)]
    assert groups.maxima(torch.tensor(values)).tolist() == [*largest, -np.inf]
    total = np.bincount(of_row, values, minlength=8)
    np.testing.assert_allclose(groups.sums(torch.tensor(values)), total, rtol=1e-10)


def test_long_groups_are_taken_by_blocks():
    scores, long = torch.zeros(640), torch.arange(640) // 320
    assert isinstance(number_groups(None, [0, 300, 640], scores), BlockGroups)
    assert isinstance(number_groups(long, None, scores), BlockGroups)
    assert isinstance(number_groups(long.flip(0), None, scores), RowGroups)
    assert isinstance(number_groups(None, range(641), scores), RowGroups)


@given(st.lists(st.booleans(), max_size=70), st.integers(0, 3), st.sampled_from([1, 400]))
def test_true_rows_are_those_of_nonzero(mask, start, times):
    mask = torch.tensor(mask, dtype=torch.bool).repeat(times)
    for part in (mask[start:], mask[::2], mask[::2][start:]):
        assert torch.equal(true_rows(part), part.nonzero().squeeze(1))


# ---- the loss of long groups ----------------------------------------------------------------


def value_and_slope(module, scores, *given, **optional):
    leaf = scores.clone().requires_grad_()
    value = module(leaf, *given, **optional)
    value.backward(retain_graph=True)
    assert leaf.grad is not None
    once = leaf.grad.clone()
    value.backward()
    torch.testing.assert_close(leaf.grad, 2 * once)
    return value.item(), once


@pytest.mark.parametrize("background", ["ignore", "negative"])
@pytest.mark.parametrize("temperature", [None, 0.001, 0.1, 30.0])
@pytest.mark.parametrize("spread", [0.01, 3.0])
def test_blocks_and_rows_in_any_order_cost_the_same(spread, temperature, background):
    rng = np.random.default_rng(5)
    size = np.append(rng.integers(0, 400, 30), [0, 1, 31, 32, 33])
    groups = torch.tensor(np.repeat(np.arange(len(size)), size))
    n = len(groups)
    level = torch.tensor(rng.normal(size=len(size)) * spread)
    scores = level[groups] + torch.tensor(rng.normal(size=n))
    labels, overlap = torch.tensor(rng.random(n) < 0.002).int(), torch.tensor(rng.random(n))
    labels[:2] = 1
    module = GroupLoss(temperature=temperature, background=background)
    offsets = np.append(0, np.cumsum(size))
    value, slope = value_and_slope(module, scores, labels, offsets=offsets, overlap=overlap)
    order = torch.tensor(rng.permutation(n))
    mixed, by_mixed = value_and_slope(
        module, scores[order], labels[order], groups[order], overlap=overlap[order]
    )
    assert value == pytest.approx(mixed, rel=1e-12)
    torch.testing.assert_close(slope[order], by_mixed, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("apart", [0.0, 5.5, 5.7, 500.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_groups_near_and_far_apart_have_the_soft_maxima_of_each_alone(apart, dtype):
    torch.manual_seed(1)
    scores = torch.randn(2, 500, dtype=dtype) - torch.tensor([[0.0], [apart]], dtype=dtype)
    module = GroupLoss(temperature=0.1, loss="hinge")
    groups = torch.arange(1000) % 2
    given = torch.cat([scores.T.flatten(), torch.full((1,), -torch.inf, dtype=dtype)])
    groups, labels = torch.cat([groups, torch.tensor([2])]), torch.zeros(1001)
    value, slope = value_and_slope(module, given, labels, groups)
    alone = [
        value_and_slope(module, one, torch.zeros(500), torch.zeros(500).int()) for one in scores
    ]
    rtol, atol = (1e-12, 1e-14) if dtype == torch.float64 else (2e-5, 1e-9)
    assert value == pytest.approx(sum(each for each, _ in alone) / 3, rel=rtol)
    by_each = torch.stack([by for _, by in alone]) / 3
    torch.testing.assert_close(slope[:1000].view(500, 2).T, by_each, rtol=rtol, atol=atol)
    assert slope[1000] == 0.0


def test_scores_that_stand_apart_in_memory():
    scores = torch.randn(400, 3, dtype=torch.float64)
    labels, offsets = torch.arange(400) == 7, [0, 150, 400]
    for temperature in (None, 0.3):
        module = GroupLoss(temperature=temperature)
        apart = scores.clone().requires_grad_()
        module(apart[:, 1], labels, offsets=offsets).backward()
        assert apart.grad is not None
        _, slope = value_and_slope(module, scores[:, 1], labels, offsets=offsets)
        assert torch.equal(apart.grad[:, 1], slope)
