"""``python -m benchmarks.free_response``: figures of merit against those of the R package RJafroc.

The reader study dataset01 (two modalities, five readers, 185 cases) is read where it is stored; its
published figures of merit are the reference.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data
from benchmarks.support.text_table import aligned
from groupcm.metrics import afroc_auc, froc_curve, group_roc_auc

__all__ = ["main"]

STUDY = "froc/dataset01.RData"
_TOLERANCE = 1e-12
#: The file of each figure of merit, and its computation from (y, scores, groups, objects).
FIGURES: dict[str, Callable[..., float]] = {
    "AFROC1": lambda *rows: afroc_auc(*rows, false_alarms_in="all"),
    "HrAuc": lambda y, scores, groups, _: group_roc_auc(y, scores, groups),
    "MaxLLF": lambda *rows: froc_curve(*rows).sensitivity[-1],
    "MaxNLF": lambda *rows: froc_curve(*rows, false_alarms_in="negative").false_alarms[-1],
}


def main(arguments: list[str] | None = None) -> int:
    """Print the largest difference of each figure of merit; 1 where one is not rounding."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.free_response", description=__doc__)
    add_data_option(parser)
    folder = parser.parse_args(arguments).data
    missing = missing_data(folder, [STUDY, *map(_reference, FIGURES)])
    if missing is not None:
        say(missing)
        return 2
    import rdata

    study = rdata.read_rda(folder / STUDY)["dataset01"]
    lines, worst = [("figure of merit", "readings", "largest difference")], 0.0
    for name, figure in FIGURES.items():
        reference = np.asarray(rdata.read_rds(folder / _reference(name)))
        found = np.array(
            [
                [figure(*reading(study, modality, reader)) for reader in range(reference.shape[1])]
                for modality in range(reference.shape[0])
            ]
        )
        difference = float(np.abs(found - reference).max())
        worst = max(worst, difference)
        lines.append((name, str(reference.size), f"{difference:.1e}"))
    print(aligned(lines))
    return int(worst > _TOLERANCE)


def reading(study: dict[str, Any], modality: int, reader: int) -> tuple[Any, ...]:
    """Return labels, scores, groups and objects of one reading, one row per mark or lesion.

    Cases without a mark, and lesions that were not marked, have one row with the score −∞.
    """
    false = np.asarray(study["ratings"]["NL"])[modality, reader]
    true = np.asarray(study["ratings"]["LL"])[modality, reader]
    n_lesions = np.asarray(study["lesions"]["perCase"]).astype(int)
    n_normal = len(false) - len(true)
    rows: list[tuple[int, float, int, int]] = []
    for case, ratings in enumerate(false):
        marks = ratings[np.isfinite(ratings)].tolist()
        rows += [(0, mark, case, -1) for mark in marks or [-np.inf]]
        if case >= n_normal:
            lesions = true[case - n_normal, : n_lesions[case - n_normal]]
            scores = np.where(np.isfinite(lesions), lesions, -np.inf).tolist()
            rows += [(1, score, case, 1000 * case + k) for k, score in enumerate(scores)]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def _reference(name: str) -> str:
    return str(Path("froc") / "reference" / f"UtilFigureOfMeritFROC-{name}.rds")


if __name__ == "__main__":
    sys.exit(main())
