"""Candidates that do not depend on the pixels: sliding windows, and the user's own detections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groupcm.images.proposals.base import check_positive
from groupcm.images.regions import Regions
from groupcm.images.view import View

__all__ = ["Given", "Windows"]

_MOST_BOXES = 1_000_000


@dataclass(frozen=True)
class Windows:
    """Sliding windows: boxes of several sizes and shapes at equal steps, the largest first.

    Parameters
    ----------
    sizes
        Square roots of the areas of the boxes, relative to that of the picture.
    aspects
        Ratios of width to height, relative to that of the picture.
    step
        The step from one box to the next, relative to the box.

    Examples
    --------
    >>> view = View(np.zeros((20, 40, 3), dtype=np.float32))
    >>> Windows(sizes=(0.5,), aspects=(1.0,), step=1.0).propose(view).edges
    array([[ 0.,  0., 20., 10.],
           [20.,  0., 40., 10.],
           [ 0., 10., 20., 20.],
           [20., 10., 40., 20.]])
    """

    sizes: tuple[float, ...] = (0.8, 0.55, 0.35)
    aspects: tuple[float, ...] = (0.5, 1.0, 2.0)
    step: float = 0.4

    def __post_init__(self) -> None:
        check_positive(sizes=self.sizes or (0,), aspects=self.aspects or (0,), step=self.step)

    def propose(self, view: View) -> Regions:
        """Return the boxes, the largest first."""
        boxes = [np.empty((0, 4))]
        for size in sorted(self.sizes, reverse=True):
            for aspect in self.aspects:
                across = _steps(view.width, min(size * aspect**0.5, 1.0), self.step)
                down = _steps(view.height, min(size / aspect**0.5, 1.0), self.step)
                if sum(map(len, boxes)) + len(across) * len(down) > _MOST_BOXES:
                    raise ValueError(
                        f"windows of these sizes and the step {self.step} are more than "
                        f"{_MOST_BOXES:,}; take a larger step, or fewer sizes"
                    )
                rows, columns = np.mgrid[: len(down), : len(across)].reshape(2, -1)
                left, right = across[columns].T
                top, bottom = down[rows].T
                boxes.append(np.stack([left, top, right, bottom], axis=1))
        return Regions.from_boxes(np.concatenate(boxes), view.height, view.width)


def _steps(length: int, share: float, step: float) -> np.ndarray:
    """Return begin and end of windows along one side, from one border to the other."""
    side = max(1.0, share * length)
    room = length - side
    count = 1 + int(min(np.ceil(room / (step * side) - 1e-9), length))
    begin = np.linspace(0.0, room, count) if count > 1 else np.array([room / 2])
    return np.stack([begin, begin + side], axis=1)


@dataclass(frozen=True)
class Given:
    """The detections given with the picture, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> regions = Regions.from_boxes([[0, 0, 2, 2]], height=4, width=4)
    >>> len(Given().propose(View(np.zeros((4, 4, 3), dtype=np.float32), given=regions)))
    1
    """

    def propose(self, view: View) -> Regions:
        """Return the given regions."""
        if view.given is None:
            raise ValueError(
                "the recipe uses the candidates of your own detector and none were given; "
                "give them, or leave 'given' out of the proposals"
            )
        return view.given
