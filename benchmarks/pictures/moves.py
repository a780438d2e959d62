"""``python -m benchmarks.pictures.moves``: a model and its threshold on pictures of another kind.

Polyp windows: trained on half of the sequences, tested on the others as they are and in changed
copies (darker, brighter and warmer). Magnetic tiles: trained on the smaller pictures, tested on
the larger ones. Compared are training on the pictures alone, with changed copies (``augment``),
and with highlights filled in; and the specificity at the threshold of the training (aimed at 0.9 on
pictures that folds left out) with that after ``recalibrate`` from unlabelled pictures by their
alarm rate. The rate is that of a sensitivity of 0.8 at the specificity of 0.9 and the true share of
positive pictures, which a user has to guess.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.pictures.sets import PICTURE_SETS, RealPicture
from benchmarks.support.measure import say
from benchmarks.support.shared_data import add_data_option, missing_data
from benchmarks.support.text_table import aligned
from groupcm import GroupClassifierCV
from groupcm.evaluation.recalibration import recalibrate
from groupcm.images.augmentation import PictureChange, draw_change
from groupcm.images.overlap import overlap
from groupcm.images.parallel import map_pictures
from groupcm.images.proposals import Proposals
from groupcm.images.reading import Pixels
from groupcm.images.recipe import Recipe

__all__ = ["main"]

CHANGES = {
    "as they are": PictureChange(),
    "darker": PictureChange(gain=0.6),
    "brighter, warmer": PictureChange(gain=1.3, warmth=0.15),
}
_SPECIFICITY = 0.9


@dataclass(frozen=True)
class _Work:
    """Candidates of a picture, and of its copies, as (features, overlap) each."""

    recipe: Recipe
    copies: int = 0
    changes: tuple[PictureChange, ...] = (PictureChange(),)

    def __call__(self, task: RealPicture, pixels: Pixels) -> list[tuple[NDArray, NDArray]]:
        found = []
        for change in self.changes:
            changed = pixels if change == PictureChange() else change(pixels)
            made = self.recipe.candidates(changed)
            table = overlap(made.regions, task.objects(*pixels.shape[:2]), "box_iou")
            best = table.max(axis=1) if table.shape[1] else np.zeros(len(table))
            found.append((made.values, best))
            for number in range(1, self.copies + 1):
                copy = draw_change(task.name, number)(changed)
                found.append((self.recipe.measured(copy, made.regions), best))
        return found


def measured(work: _Work, pictures: Sequence[RealPicture]) -> list[Any]:
    """The candidates of all pictures, and of their copies."""
    with closing(map_pictures(work, pictures, workers=1)) as results:
        return [found for _, found in results]


def trained(pictures: Sequence[RealPicture], found: Any, copies: int) -> GroupClassifierCV:
    """A linear model of the pictures and so many copies of each; folds split no cluster."""
    parts = [
        (each, values, best, number)
        for each, made in zip(pictures, found, strict=True)
        for number, (values, best) in enumerate(made[: 1 + copies])
        if not each.positive or best.max() >= 0.3
    ]
    sizes = [len(part[2]) for part in parts]
    best = np.concatenate([part[2] for part in parts])
    positive = np.repeat([part[0].positive for part in parts], sizes)
    model = GroupClassifierCV(lams=[0.1, 0.03, 0.01], cv=3, background="negative")
    model.fit(
        np.concatenate([part[1] for part in parts]),
        ((best >= 0.3) & positive).astype(int),
        np.repeat(np.arange(len(parts)), sizes),
        best,
        patients=np.repeat([part[0].cluster for part in parts], sizes),
    )
    return model.tune_threshold(specificity=_SPECIFICITY)


def row(model: Any, pictures: Sequence[RealPicture], made: Any, share: float) -> tuple[str, ...]:
    """AUC, winner on the object, sensitivity and specificity before and after recalibration."""
    positive = np.array([each.positive for each in pictures])
    of_rows = [model.decision_function(values) for values, _ in made]
    scores = np.array([each.max() for each in of_rows])
    hits = [best[np.argmax(s)] >= 0.3 for s, (_, best) in zip(of_rows, made, strict=True)]

    def shares(threshold: float) -> list[str]:
        alarm = scores >= threshold
        return [f"{each:.2f}" for each in (alarm[positive].mean(), 1 - alarm[~positive].mean())]

    before, kept = model.threshold_, model.decision_
    numbers = [f"{roc_auc_score(positive, scores):.3f}", f"{np.mean(np.array(hits)[positive]):.3f}"]
    numbers += shares(before)
    recalibrate(model, scores, alarm_rate=share)
    numbers += shares(model.threshold_)
    model.set_threshold(before, kept)
    return tuple(numbers)


def main(arguments: list[str] | None = None) -> int:
    """Print one table for each set; 0 if the data could be read."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pictures.moves", description=__doc__
    )
    add_data_option(parser)
    parser.add_argument("--pictures", type=int, default=120, help="of training, and of the test")
    parser.add_argument("--longest-side", type=int, default=160, help="default: 160 pixels")
    parser.add_argument("--copies", type=int, default=2, help="of each training picture")
    parser.add_argument("--sets", nargs="+", default=["cvc_clinicdb", "magnetic_tile"])
    options = parser.parse_args(arguments)
    missing = missing_data(options.data, [PICTURE_SETS[name].listing for name in options.sets])
    if missing is not None:
        say(missing)
        return 2
    parts = Proposals(Proposals.default().parts, at_most=150)
    recipe = Recipe(parts, longest_side=options.longest_side)
    for name in options.sets:
        train, test, changes = _split(name, PICTURE_SETS[name].pictures(options.data), options)
        n_positive = sum(each.positive for each in test)
        share = 0.1 + 0.7 * n_positive / len(test)
        lines: list[tuple[str, ...]] = [
            ("training", "test", "AUC", "on object", "sens.", "spec.", "sens. after", "spec. after")
        ]
        for highlights in ("keep", "fill"):
            chosen = replace(recipe, highlights=highlights)
            copies = options.copies if highlights == "keep" else 0
            found = measured(_Work(chosen, copies), train)
            tested = measured(_Work(chosen, 0, tuple(changes.values())), test)
            for n in sorted({0, copies}):
                model = trained(train, found, n)
                about = "highlights filled" if highlights == "fill" else f"{n} copies"
                for at, each in enumerate(changes):
                    made = [of_picture[at] for of_picture in tested]
                    lines.append((about, each, *row(model, test, made, share)))
                    say("  ".join(lines[-1]))
        print(f"{PICTURE_SETS[name].title}: {len(train)} pictures to train, {len(test)} to test")
        print(aligned(lines))
    return 0


def _split(
    name: str, pictures: Sequence[RealPicture], options: argparse.Namespace
) -> tuple[list[RealPicture], list[RealPicture], dict[str, PictureChange]]:
    """Training and test pictures of different clusters, evenly thinned, and the changes."""
    if name == "magnetic_tile":
        sizes = np.array([np.prod(each.read().shape[:2]) for each in pictures])
        is_train, changes = sizes <= np.median(sizes), {"larger": PictureChange()}
        clusters = {each.cluster for each, small in zip(pictures, is_train, strict=True) if small}
        is_test = ~is_train & np.array([each.cluster not in clusters for each in pictures])
    else:
        names = sorted({each.cluster for each in pictures})
        is_train = np.array([names.index(each.cluster) % 2 == 0 for each in pictures])
        is_test, changes = ~is_train, CHANGES
    parts = []
    for chosen in (is_train, is_test):
        part = []
        for positive in (False, True):
            rows = [
                p for p, c in zip(pictures, chosen, strict=True) if c and p.positive == positive
            ]
            most = min(len(rows), options.pictures // 2)
            part += [rows[at] for at in np.linspace(0, len(rows) - 1, most).astype(int)]
        parts.append(part)
    return parts[0], parts[1], changes


if __name__ == "__main__":
    sys.exit(main())
