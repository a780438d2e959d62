"""Train a small convolutional network end to end on groups, and compare it with a linear model.

Synthetic frames of capsule endoscopy are split by patient. In each frame candidates are proposed.
The network sees the pixels of every candidate, cut out to 32 × 32, and learns to score them by the
group loss alone; the linear model, trained to its certified optimum, sees the features that
`groupcm.images` measures of the same candidates. Both are judged on the held-out frames.

    pip install "groupcm[torch,images]"
    python examples/end_to_end.py --frames 240 --epochs 12

These are the defaults. The network then reaches about 0.8 and the linear model 0.92: from 160
frames, 80 of them with a polyp, features that people thought of are hard to beat. What the script
shows is how to train a network of your own.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groupcm.utils.extras import MissingExtra, require_installed

try:
    require_installed(
        ("torch", "PIL", "skimage"), "torch,images", "this example trains a network on pictures"
    )
except MissingExtra as error:
    raise SystemExit(f"end_to_end.py: {error}") from None

import numpy as np

import torch
from groupcm import GroupClassifierCV
from groupcm.images.features.embedding import crops
from groupcm.images.proposals import Proposals
from groupcm.images.recipe import Recipe
from groupcm.images.regions import Regions
from groupcm.images.synthetic import SyntheticFrame, make_frames
from groupcm.images.tables.labelling import Labelling
from groupcm.images.view import View
from groupcm.metrics import group_roc_auc
from groupcm.torch import GroupLoss, GroupMetric
from torch import Tensor, nn

RECIPE = Recipe(Proposals(Proposals.default().parts, at_most=100))
HELD_OUT = 1 / 3
FRAMES_A_BATCH = 4
N_FOLDS = 3
# Two thirds of them, half of these with a polyp, are enough for the folds.
FEWEST_FRAMES = 12


@dataclass
class Candidates:
    """The candidates of one frame."""

    pixels: Tensor  # (n, 3, 32, 32)
    features: np.ndarray
    labels: np.ndarray
    overlap: np.ndarray


def candidates_of(frame: SyntheticFrame) -> Candidates:
    """Propose, measure, cut out and label."""
    found = RECIPE.candidates(frame.pixels)
    cut_out = crops(View.of(frame.pixels), found.regions, size=32, margin=0.25)
    marked = [each.region for each in frame.picture.objects]
    truth = Labelling().of(found.regions, Regions.of(marked, *frame.pixels.shape[:2]))
    pixels = torch.from_numpy(cut_out).permute(0, 3, 1, 2)
    return Candidates(pixels, found.values, truth.label, truth.overlap)


def make_network() -> nn.Module:
    """One score a crop, shape (n,)."""

    def layer(n_in: int, n_out: int) -> nn.Module:
        convolution = nn.Conv2d(n_in, n_out, 3, stride=2, padding=1, bias=False)
        return nn.Sequential(convolution, nn.BatchNorm2d(n_out), nn.ReLU())

    layers = layer(3, 16), layer(16, 32), layer(32, 64), layer(64, 64)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 2 * 2, 1), nn.Flatten(0))


def train(network: nn.Module, frames: list[Candidates], epochs: int) -> None:
    """Minimise the group loss, a few frames at a time."""
    loss = GroupLoss(temperature=0.5, background="negative")
    optimiser = torch.optim.AdamW(network.parameters(), weight_decay=0.05)
    n_steps = epochs * math.ceil(len(frames) / FRAMES_A_BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=4e-3, total_steps=n_steps)
    network.train()
    for epoch in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(frames)).split(FRAMES_A_BATCH):
            chosen = [frames[i] for i in batch]
            pixels = torch.cat([frame.pixels for frame in chosen])
            turned = [side for side in (2, 3) if torch.rand(()) < 0.5]
            scores = network(pixels.flip(turned))
            value = loss(
                scores,
                np.concatenate([frame.labels for frame in chosen]),
                offsets=np.cumsum([0, *(len(frame.labels) for frame in chosen)]),
                overlap=np.concatenate([frame.overlap for frame in chosen]),
            )
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            schedule.step()
            total += value.item() * len(chosen)
        print(f"epoch {epoch + 1}/{epochs}: group loss {total / len(frames):.3f}", flush=True)


@torch.no_grad()
def network_auc(network: nn.Module, frames: list[Candidates]) -> float:
    """Held-out frames, one at a time."""
    metric = GroupMetric("group_roc_auc")
    network.eval()
    for number, frame in enumerate(frames):
        metric.update(network(frame.pixels), frame.labels, np.full(len(frame.labels), number))
    return metric.compute()


def linear_auc(training: list[Candidates], held_out: list[Candidates]) -> float:
    """The same candidates by their hand-made features; λ is chosen on the training frames."""

    def gathered(frames: list[Candidates]) -> tuple[np.ndarray, ...]:
        sizes = [len(frame.labels) for frame in frames]
        columns = ([getattr(f, name) for f in frames] for name in ("features", "labels", "overlap"))
        return *map(np.concatenate, columns), np.repeat(np.arange(len(frames)), sizes)

    X, y, overlap, groups = gathered(training)
    model = GroupClassifierCV(cv=N_FOLDS).fit(X, y, groups=groups, overlap=overlap)
    X, y, _, groups = gathered(held_out)
    return group_roc_auc(y, model.decision_function(X), groups)


def at_least(least: int) -> Callable[[str], int]:
    """What argparse reads a whole number with."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return whole


def options_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog='Needs pip install "groupcm[torch,images]".',
    )
    parser.add_argument(
        "--frames",
        type=at_least(FEWEST_FRAMES),
        default=240,
        metavar="N",
        help=f"how many to make, at least {FEWEST_FRAMES} (default: %(default)s); a network needs "
        "far more than the least: with 60 frames and 3 epochs it is no better than chance",
    )
    parser.add_argument(
        "--epochs",
        type=at_least(1),
        default=12,
        metavar="N",
        help="how often the network sees every frame to train on (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=at_least(0),
        default=0,
        metavar="N",
        help="another seed makes other frames (default: %(default)s)",
    )
    return parser


def has_both_kinds(frames: list[Candidates], least: int) -> bool:
    """Whether so many frames have a candidate on a polyp, and so many have none."""
    n_positive = sum(bool(frame.labels.any()) for frame in frames)
    return min(n_positive, len(frames) - n_positive) >= least


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options_parser()
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)

    # The rows of a patient are contiguous, so a cut between two of them splits none.
    n_patients = max(3, options.frames // 4)
    made = make_frames(
        options.frames,
        share_with_polyps=0.5,
        n_patients=n_patients,
        height=144,
        width=192,
        seed=options.seed,
    )
    start = time.perf_counter()
    frames, patients = zip(*((candidates_of(f), f.patient) for f in made), strict=True)
    last = sorted(set(patients))[-round(HELD_OUT * n_patients) :]
    training = [f for f, patient in zip(frames, patients, strict=True) if patient not in last]
    held_out = [f for f, patient in zip(frames, patients, strict=True) if patient in last]
    print(f"{len(frames)} frames and their candidates: {time.perf_counter() - start:.0f} s")
    if not (has_both_kinds(training, N_FOLDS) and has_both_kinds(held_out, 1)):
        parser.error(
            f"{len(frames)} frames of seed {options.seed} have too few with a polyp, or without, "
            "to train on and to hold out; take more --frames, or another --seed"
        )

    network = make_network()
    start = time.perf_counter()
    train(network, training, options.epochs)
    results = [("network on pixels", network_auc(network, held_out), time.perf_counter() - start)]
    start = time.perf_counter()
    area = linear_auc(training, held_out)
    n_features = len(RECIPE.feature_names)
    results.append((f"linear model on {n_features} features", area, time.perf_counter() - start))

    print(f"\n{len(training)} frames to train on, {len(held_out)} of {len(last)} other patients")
    print(f"{'':32}{'held-out group AUC':>20}{'seconds':>10}")
    for name, area, seconds in results:
        print(f"{name:32}{area:20.3f}{seconds:10.0f}")


if __name__ == "__main__":
    main()
