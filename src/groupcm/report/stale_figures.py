"""Figures that an earlier report of the same name left behind."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

__all__ = ["FIGURE_NAMES", "remove_stale_figures"]

FIGURE_NAMES = frozenset(
    {
        "candidate_auc",
        "candidate_roc",
        "froc",
        "group_auc",
        "group_precision_recall",
        "group_roc",
        "group_roc_high_specificity",
        "importances",
        "learning_curve",
        "paired_differences",
        "reliability",
        "score_distribution",
        "weights",
    }
)


def remove_stale_figures(folder: Path, written: Collection[Path]) -> None:
    """Remove the PNG and SVG files named as figures of reports that were not written now.

    Whatever else is in the folder is not ours and stays.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("froc.svg", "group_roc.svg", "mine.svg", "weights.txt"):
    ...     (folder / name).touch()
    >>> remove_stale_figures(folder, [folder / "group_roc.svg"])
    >>> sorted(file.name for file in folder.iterdir())
    ['group_roc.svg', 'mine.svg', 'weights.txt']
    """
    for name in FIGURE_NAMES:
        for file in (folder / f"{name}.svg", folder / f"{name}.png"):
            if file not in written and file.is_file():
                file.unlink()
