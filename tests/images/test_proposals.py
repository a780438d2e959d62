"""Proposals: what they find, and that the kernels below them do what slow loops do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from groupcm.errors import InputError
from groupcm.images.overlap import overlap
from groupcm.images.proposals import (
    PROPOSERS,
    ExtremalRegions,
    Given,
    Merging,
    Proposals,
    Ridges,
    Superpixels,
    Windows,
)
from groupcm.images.recipe import Recipe, noted_recipe
from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.images.merge_tree import merge_tree
from groupcm.kernels.images.merging import graph_pieces, pieces_and_borders
from groupcm.kernels.images.tree import (
    branch_strips,
    component_tree,
    contrasts,
    descent,
    distinct_places,
)

FINDERS = [Merging(), Merging("detail"), Merging("chroma"), ExtremalRegions(), Ridges()]
ODD_SIZES = [(1, 1), (1, 2), (2, 1), (1, 40), (40, 1), (2, 2), (3, 3), (2, 60)]


def called(thing) -> str:
    return repr(thing)


def picture(height: int, width: int, seed: int = 0) -> View:
    rgb = np.random.default_rng(seed).random((height, width, 3), dtype=np.float32)
    return View(ndimage.gaussian_filter(rgb, (2, 2, 0)))


def grey(pixels: np.ndarray) -> View:
    return View(np.repeat(pixels[:, :, None], 3, axis=2).astype(np.float32))


@pytest.mark.parametrize("finder", [*FINDERS, Windows(), Superpixels(20)], ids=called)
def test_candidates_lie_in_the_picture_and_their_numbers_are_true(finder):
    view = picture(40, 60)
    found = finder.propose(view)
    assert len(found) > 5
    for place in range(len(found)):
        left, top, right, bottom = found.edges[place]
        assert 0 <= left < right <= 60
        assert 0 <= top < bottom <= 40
        if not found.is_box[place]:
            rows, columns = np.nonzero(found.mask(place))
            assert len(rows) == found.areas[place]
            box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert found.edges[place].tolist() == box


@pytest.mark.parametrize("finder", [*FINDERS, Windows(), Superpixels(), Proposals.default()])
@pytest.mark.parametrize(("height", "width"), ODD_SIZES)
@pytest.mark.parametrize("flat", [True, False])
def test_tiny_and_flat_pictures_are_no_trouble(finder, height, width, flat):
    view = grey(np.full((height, width), 0.5)) if flat else picture(height, width)
    found = finder.propose(view)
    assert (found.height, found.width) == (height, width)
    if isinstance(finder, Proposals):
        assert found.edges[-1].tolist() == [0, 0, width, height]


@pytest.mark.parametrize("finder", [Merging(), Merging("detail"), ExtremalRegions()], ids=called)
@pytest.mark.parametrize("dark", [True, False])
def test_a_spot_is_found(finder, dark):
    rows, columns = np.mgrid[:80, :100]
    spot = (rows - 40) ** 2 / 100 + (columns - 60) ** 2 / 225 < 1
    noise = np.random.default_rng(1).normal(0, 0.01, spot.shape)
    view = grey(np.clip(0.5 + (-0.2 if dark else 0.2) * spot + noise, 0, 1))
    best = overlap(finder.propose(view), Regions.from_masks(spot[None]), "iou").max()
    assert best > 0.8


def test_a_red_spot_of_the_same_lightness_is_found():
    rgb = np.full((60, 60, 3), 0.5, dtype=np.float32)
    rgb[20:40, 25:45] = [0.66, 0.42, 0.5]
    spot = Regions.from_boxes([[25, 20, 45, 40]], 60, 60)
    for finder in (Merging("chroma"), ExtremalRegions()):
        assert overlap(finder.propose(View(rgb)), spot, "box_iou").max() > 0.8


@pytest.mark.parametrize("dark", [True, False])
def test_a_slanted_crack_is_found_by_ridges(dark):
    pixels = np.full((80, 80), 0.5)
    for step in range(60):
        pixels[10 + step // 2, 10 + step] = 0.1 if dark else 0.9
    box = Regions.from_boxes([[10, 10, 70, 40]], 80, 80)
    found = Ridges().propose(grey(pixels))
    best = int(np.argmax(overlap(found, box, "box_iou")[:, 0]))
    assert overlap(found, box, "box_iou")[best, 0] > 0.7
    assert found.areas[best] < 0.3 * box.areas[0]


def test_the_union_keeps_to_its_number_and_ends_with_the_whole():
    view = picture(60, 80)
    for at_most in (1, 7, 50):
        found = Proposals(Proposals.default().parts, at_most=at_most).propose(view)
        assert len(found) == at_most
        assert found.edges[-1].tolist() == [0, 0, 80, 60]


def test_the_union_holds_no_near_duplicates_and_is_the_same_again():
    view = picture(60, 80)
    found = Proposals.default().propose(view)
    boxes = Regions.from_boxes(found.edges, 60, 80)
    alike = overlap(boxes, boxes, "iou") >= 0.7
    sides = np.sqrt(found.areas)
    alike &= np.minimum.outer(sides, sides) >= 0.7 * np.maximum.outer(sides, sides)
    np.fill_diagonal(alike, False)
    assert not alike.any()
    again = Proposals.default().propose(picture(60, 80))
    np.testing.assert_array_equal(found.edges, again.edges)
    np.testing.assert_array_equal(found.column, again.column)


def test_every_proposer_survives_the_file_of_a_recipe():
    parts = tuple(kind() for kind in PROPOSERS.values())
    recipe = Recipe(Proposals(parts, at_most=9, distinct=0.5))
    assert Recipe.from_json(recipe.to_json()) == recipe


def in_part(kind: str, **changes):
    def change(plain):
        parts = [*plain["proposals"], *plain["features"]]
        next(part for part in parts if part["kind"] == kind).update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (in_part("extremal", widths=[4.0, 10**9]), "widths .* 10,000 at most"),
        (in_part("extremal", widths=[4.0, 5_000]), "widths .* 1,000 pixels at most"),
        (in_part("ridges", dark=3), "dark .* must be a list of numbers"),
        (in_part("ridges", dark=["x"]), "dark .* must be of the type float, not a str"),
        (in_part("merging", smooth=True), "smooth .* must be of the type float, not a bool"),
        (in_part("merging", each=2**70), "each .* 10,000 at most"),
        (in_part("contrast", margin="wide"), "margin .* must be of the type float"),
        (in_part("contrast", margin=float("nan")), "margin .* 10,000 at most"),
        (in_part("gradients", cells=9_999), "take fewer"),
        (lambda plain: plain.update(longest_side=1.5), "longest_side must be of the type int"),
        (lambda plain: plain.update(at_most="many"), "at_most must be of the type int"),
    ],
)
def test_a_recipe_from_elsewhere_has_settings_within_bounds(change, said):
    plain = Recipe().to_json()
    change(plain)
    with pytest.raises(InputError, match=rf"^the recipe of pictures in m\.json .*{said}"):
        noted_recipe({"recipe": plain}, "m.json")


def test_windows_without_number_are_refused():
    view = picture(40, 60)
    assert len(Windows(sizes=(0.5,), step=1e-9).propose(view)) < 10_000
    with pytest.raises(ValueError, match="are more than 1,000,000; take a larger step"):
        Windows(sizes=(0.001,) * 500, step=1e-9).propose(view)


def test_given_regions_that_nobody_gave_are_asked_for():
    with pytest.raises(ValueError, match="give them, or leave 'given' out"):
        Given().propose(picture(9, 9))


def slow_pieces(planes, scale, smallest):
    """Felzenszwalb's algorithm as its paper writes it."""
    height, width = planes.shape[:2]
    edges = []
    for row in range(height):
        for column in range(width):
            for r, c in ((row, column + 1), (row + 1, column)):
                if r < height and c < width:
                    weight = np.sqrt(np.sum((planes[r, c] - planes[row, column]) ** 2))
                    edges.append((weight, row * width + column, r * width + c))
    edges.sort(key=lambda edge: edge[0])
    piece = {pixel: {pixel} for pixel in range(height * width)}
    inner = dict.fromkeys(range(height * width), 0.0)

    def join(a, b):
        joined = piece[a] | piece[b]
        for pixel in joined:
            piece[pixel] = joined

    for weight, a, b in edges:
        one, two = piece[a], piece[b]
        if one is not two and all(
            weight <= inner[min(each)] + scale / len(each) for each in (one, two)
        ):
            join(a, b)
            inner[min(piece[a])] = weight
    for _, a, b in edges:
        if piece[a] is not piece[b] and min(len(piece[a]), len(piece[b])) < smallest:
            join(a, b)
    return {frozenset(each) for each in piece.values()}


@pytest.mark.parametrize("seed", range(5))
def test_pieces_are_those_of_the_slow_algorithm(seed):
    rng = np.random.default_rng(seed)
    # Whole numbers in one channel: equal weights are equal, so that their order is that of pixels.
    planes = rng.integers(0, 4, size=(9, 11, 1)).astype(np.float32)
    labels, count = graph_pieces(planes, 3.0, 2)
    found = {frozenset(np.flatnonzero(labels.ravel() == each)) for each in range(count)}
    assert found == slow_pieces(planes.astype(float), 3.0, 2)


def test_pieces_know_their_colour_box_and_borders():
    labels = np.array([[0, 0, 1], [0, 2, 1]], dtype=np.int32)
    planes = np.arange(6, dtype=np.float32).reshape(2, 3, 1)
    strength = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)
    area, colour, edges, length, total = pieces_and_borders(planes, strength, labels, 3)
    assert area.tolist() == [3, 2, 1]
    np.testing.assert_allclose(colour[:, 0], [4 / 3, 3.5, 4])
    assert edges.tolist() == [[0, 0, 2, 2], [2, 0, 3, 2], [1, 1, 2, 2]]
    assert length.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert total.tolist() == [[0, 3, 10], [3, 0, 6], [10, 6, 0]]


def slow_merging(area, colour, length, total, by_colour, by_border, power):
    """Merge the cheapest neighbours repeatedly, with all costs computed again each time."""
    alive = {k: (area[k], colour[k] * area[k]) for k in range(len(area))}
    borders = {}
    for a, b in np.argwhere(np.triu(length)):
        borders[frozenset((int(a), int(b)))] = (float(length[a, b]), float(total[a, b]))
    costs, parents = {}, {}
    for new in range(len(area), 2 * len(area) - 1):
        cost = {}
        for each, (many, sum_) in borders.items():
            (m, x), (n, y) = (alive[k] for k in each)
            distance = np.sqrt(np.sum((x / m - y / n) ** 2))
            alike = by_colour * distance + by_border * sum_ / many + 0.01
            cost[each] = alike * (m * n / (m + n)) ** power
        pair = min(cost, key=lambda each: cost[each])
        costs[new] = cost[pair]
        a, b = pair
        parents[a] = parents[b] = new
        (m, x), (n, y) = alive.pop(a), alive.pop(b)
        alive[new] = m + n, x + y
        joined = {}
        for each, (many, sum_) in borders.items():
            if each != pair:
                renamed = frozenset(new if k in pair else k for k in each)
                old = joined.get(renamed, (0.0, 0.0))
                joined[renamed] = old[0] + many, old[1] + sum_
        borders = joined
    return parents, costs


@pytest.mark.parametrize("criteria", [(1.0, 0.0, 0.5), (0.0, 1.0, 0.5)])
def test_merging_joins_the_cheapest_neighbours(criteria):
    rng = np.random.default_rng(3)
    planes = ndimage.gaussian_filter(rng.random((12, 14, 3)), (1, 1, 0)).astype(np.float32)
    labels, count = graph_pieces(planes, 0.1, 2)
    assert count > 8
    strength = rng.random((12, 14)).astype(np.float32)
    pieces = pieces_and_borders(planes, strength, labels, count)
    parent, cost, area, edges = merge_tree(*pieces, *criteria)
    parents, costs = slow_merging(*pieces[:2], *pieces[3:], *criteria)
    assert {k: int(parent[k]) for k in parents} == parents
    np.testing.assert_allclose([cost[k] for k in costs], list(costs.values()), rtol=1e-5)
    assert area[-1] == 12 * 14
    assert edges[-1].tolist() == [0, 0, 14, 12]


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_holds_every_connected_part_above_every_level(seed):
    levels = np.random.default_rng(seed).integers(0, 5, size=(8, 9)).astype(np.uint8)
    parent, level, area, edges, own = component_tree(levels, 8)
    first, last = descent(parent)
    number = np.ascontiguousarray(first[own].T)
    ptr, (column, top, bottom) = branch_strips(number, first, last, edges)
    regions = Regions(
        8, 9, edges.astype(float), area.astype(float), np.zeros(len(area), bool), ptr, column,
        top, bottom,
    )  # fmt: skip
    found = {regions.mask(part).tobytes() for part in range(len(area))}
    expected = set()
    for value in np.unique(levels):
        parts, count = ndimage.label(levels >= value)
        expected |= {(parts == part).tobytes() for part in range(1, count + 1)}
    assert found == expected
    for part in range(len(area)):
        mask = regions.mask(part)
        assert mask.sum() == area[part]
        assert levels[mask].min() == level[part]
        assert part == 0 or (mask <= regions.mask(parent[part])).all()
    clear = contrasts(parent, level, area, 1.5)
    for part in range(len(area)):
        around = part
        while around > 0 and area[around] < 1.5 * area[part]:
            around = parent[around]
        base = level[around] if around else level[0] - 1
        assert clear[part] == pytest.approx(levels[regions.mask(part)].mean() - base)


def test_distinct_places_are_those_of_a_slow_loop():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 20, size=(80, 2))
    edges = np.hstack([first, first + rng.integers(1, 12, size=(80, 2))]).astype(float)
    areas = rng.random(80) + 0.5
    boxes = Regions.from_boxes(edges, 40, 40)
    shared = overlap(boxes, boxes, "iou")
    kept = []
    for place in range(80):
        ratio = [min(areas[place], areas[k]) / max(areas[place], areas[k]) for k in kept]
        if not any(shared[place, k] >= 0.5 and r >= 0.5 for k, r in zip(kept, ratio, strict=True)):
            kept.append(place)
    assert distinct_places(edges, areas, 0.5, 1000).tolist() == kept
    assert distinct_places(edges, areas, 0.5, 4).tolist() == kept[:4]
