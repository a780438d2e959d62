"""Shrink the figures of the paper's experiment for its page.

``python -m docs.pictures.paper PAPER ABLATIONS``, the folders of ``groupcm experiment paper`` and
of ``python -m benchmarks.ablations``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

_WIDTH, _COLOURS = 540, 64
_FIGURES = (
    *("hinge", "smoothed_hinge", "huber", "group_negatives", "group_positives"),
    *("per_candidate", "per_candidate_high_specificity", "per_candidate_training_size"),
    *("per_group", "per_group_high_specificity", "per_group_training_size"),
    *("claims_per_candidate", "claims_per_group", "misvm_spread"),
    *(
        f"{method}_sizes_per_{level}{axis}"
        for method in ("gcm", "ungrouped")
        for level in ("candidate", "group")
        for axis in ("", "_high_specificity")
    ),
)


def shrink(source: Path, target: Path) -> None:
    """Write a picture at the width of the page, with few colours."""
    picture = Image.open(source).convert("RGB")
    height = round(picture.height * _WIDTH / picture.width)
    small = picture.resize((_WIDTH, height), Image.Resampling.LANCZOS)
    # The largest coverage keeps the colours of thin lines.
    few = small.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2)
    few.save(target, optimize=True)


def main(paper: Path, ablations: Path) -> None:
    """Shrink all figures."""
    folder = Path(__file__).with_suffix("")
    folder.mkdir(exist_ok=True)
    for name in _FIGURES:
        shrink(paper / "paper_figures" / f"{name}.png", folder / f"{name}.png")
    for source in sorted(ablations.glob("ablation_*.png")):
        shrink(source, folder / source.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
