"""Candidates cut out of their picture, all to one size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groupcm.images.regions import Regions
from groupcm.images.view import View
from groupcm.kernels.resize_boxes import resize_boxes

__all__ = ["crops"]

_Floats = NDArray[np.float32]


def crops(
    view: View, regions: Regions, size: int = 64, margin: float = 0.1, square: bool = True
) -> _Floats:
    """Cut the box of every candidate out of the picture, as size × size pixels.

        crop = D P A',   D[i, r] ∝ max(0, 1 - |r - r_i| / max(1, s))

    P is one colour of the picture and r_i the centre of row i of the crop, rows s apart; A does
    for columns what D does for rows. So shrinking averages over all pixels and growing is linear
    between two. Beyond its edge the picture goes on as it is there.

    Parameters
    ----------
    view, regions
        The picture and its candidates. Of masks, the box around them is cut out.
    size
        Pixels of a side of a crop.
    margin
        What is added on each side of a box, in parts of its own height and width.
    square
        Whether the shorter side takes in more of the picture, so that shapes stay what they are;
        otherwise the box is stretched to a square.

    Returns
    -------
    ndarray of float32, shape (n, size, size, 3)
        Red, green and blue from 0 to 1, in memory one colour after another.

    Examples
    --------
    >>> view = View(np.repeat(np.eye(4, dtype=np.float32)[:, :, None], 3, axis=2))
    >>> corner = Regions.from_boxes([[0, 0, 2, 2]], height=4, width=4)
    >>> crops(view, corner, size=2, margin=0)[0, :, :, 0]
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    made = np.empty((len(regions), 3, size, size), dtype=np.float32)
    resize_boxes(np.ascontiguousarray(view.rgb), _enlarged(regions, margin, square), made)
    return made.transpose(0, 2, 3, 1)


def _enlarged(regions: Regions, margin: float, square: bool) -> NDArray[np.float64]:
    first, last = regions.edges[:, :2], regions.edges[:, 2:]
    sides = (last - first) * (1 + 2 * margin)
    if square:
        sides = np.repeat(sides.max(axis=1, keepdims=True), 2, axis=1)
    centre = (first + last) / 2
    return np.concatenate([centre - sides / 2, centre + sides / 2], axis=1)
