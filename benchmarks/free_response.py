"""``python -m benchmarks.free_response``: figures of merit against those of the R package RJafroc.

The reader study dataset01 (two modalities, five readers, 185 cases) is read where it is stored; its
published figures of merit are the reference. For the weighted AFROC area it is dataset04 (five
modalities, four readers, 200 cases), whose values the documentation of RJafroc prints with eight
decimals. The folder is that of the data sets, or the one of the reader studies itself.
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
from groupcm.metrics import afroc_auc, froc_curve, group_roc_auc, wafroc_auc

__all__ = ["main"]

STUDY, WEIGHTED_STUDY = "dataset01", "dataset04"
_TOLERANCE = 1e-12
_PRINTED = 5.1e-9  # half of the last decimal printed
#: wAFROC areas of dataset04, one row per modality, as in "The RJafroc Froc Book" by D. Chakraborty.
WAFROC = (
    (0.77926667, 0.72489167, 0.70362500, 0.80509167),
    (0.78700000, 0.72690000, 0.72261667, 0.80378333),
    (0.72969167, 0.71575833, 0.67230833, 0.77265833),
    (0.81013333, 0.74311667, 0.69435833, 0.82940833),
    (0.74880000, 0.68227500, 0.65517500, 0.77125000),
)
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
    folder = folder if (folder / f"{STUDY}.RData").is_file() else folder / "froc"
    studies = [f"{name}.RData" for name in (STUDY, WEIGHTED_STUDY)]
    missing = missing_data(folder, [*studies, *map(_reference, FIGURES)])
    if missing is not None:
        say(missing)
        return 2
    import rdata

    lines, is_wrong = [("figure of merit", "readings", "largest difference")], False
    study = rdata.read_rda(folder / f"{STUDY}.RData")[STUDY]
    compared = [
        (name, study, figure, np.asarray(rdata.read_rds(folder / _reference(name))), _TOLERANCE)
        for name, figure in FIGURES.items()
    ]
    weighted = rdata.read_rda(folder / f"{WEIGHTED_STUDY}.RData")[WEIGHTED_STUDY]
    compared.append(("wAFROC", weighted, wafroc_auc, np.array(WAFROC), _PRINTED))
    for name, of, figure, reference, tolerance in compared:
        found = np.array(
            [
                [figure(*reading(of, modality, reader)) for reader in range(reference.shape[1])]
                for modality in range(reference.shape[0])
            ]
        )
        difference = float(np.abs(found - reference).max())
        is_wrong |= difference > tolerance
        lines.append((name, str(reference.size), f"{difference:.1e}"))
    print(aligned(lines))
    return int(is_wrong)


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
    return str(Path("reference") / f"UtilFigureOfMeritFROC-{name}.rds")


if __name__ == "__main__":
    sys.exit(main())
