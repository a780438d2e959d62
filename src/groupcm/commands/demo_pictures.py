"""``groupcm demo``: made frames of capsule endoscopy, and every step as a command to paste."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shlex import join

from groupcm.annotations import Annotations
from groupcm.commands.words import seconds
from groupcm.errors import InputError
from groupcm.images.made import write_frames
from groupcm.images.made.folder import ANNOTATION_FILE, PICTURE_FOLDER

__all__ = ["Sizes", "require_extras", "run_on_pictures", "steps"]

_PACKAGES = ("PIL", "skimage", "matplotlib", "jinja2")


@dataclass(frozen=True)
class Sizes:
    """How many frames of how many patients, how large, and how many candidates each."""

    n_train: int = 160
    n_test: int = 80
    frames_a_patient: int = 8
    share_with_polyps: float = 0.4
    height: int = 192
    width: int = 256
    at_most: int = 150


def require_extras() -> None:
    """Say how to install what pictures and reports need, and which demo needs less."""
    if not all(find_spec(package) for package in _PACKAGES):
        raise InputError(
            "the demo makes pictures and a report of them; install what it needs with: "
            "pip install 'groupcm[images,report]', or run groupcm demo --tables, which needs "
            "no pictures"
        )


def run_on_pictures(folder: Path, seed: int, sizes: Sizes = Sizes()) -> int:
    """Make frames, then do what a user would do with frames of their own."""
    from groupcm.cli import main

    began = time.perf_counter()
    # Another seed is other patients: nobody in the test was seen in training.
    for part, n_frames, of_seed in (
        ("train", sizes.n_train, 2 * seed),
        ("test", sizes.n_test, 2 * seed + 1),
    ):
        marked = _make(folder / part, n_frames, of_seed, sizes)
        print(f"Made {_counted(marked)}: {folder / part / PICTURE_FOLDER}")
    for step in steps(folder, sizes):
        print(f"\n{step.told}\n$ groupcm {join(step.command)}", flush=True)
        status = main(step.command)
        if status:
            return status
    took = seconds(time.perf_counter() - began)
    print(f"\nDone in {took}. Each line that begins with $ is a command; paste it to do it again.")
    print(f"Open {folder / 'report.html'} in a browser, and look into {folder / 'overlays'}.")
    return 0


@dataclass(frozen=True)
class Step:
    """A command of the demo, and what it is for."""

    told: str
    command: list[str]


def steps(folder: Path, sizes: Sizes) -> list[Step]:
    """What is done with the frames, as the arguments of ``groupcm``."""
    model, report, overlays, scores = (
        str(folder / name) for name in ("model.json", "report.html", "overlays", "scores.parquet")
    )
    train, test = (_Part(folder / part) for part in ("train", "test"))
    return [
        *(
            Step(told, [*_words("images propose"), *part.frames, *part.marked]
                 + [*_words(f"--at-most {sizes.at_most} -o"), part.table])
            for told, part in (
                ("Candidates of the frames to train on, and their features:", train),
                ("The same of the frames of other patients:", test),
            )
        ),
        Step(
            "Train; folds of patients choose λ and the threshold:",
            ["fit", train.table, *_words("--cv --lams 5 --specificity 0.9 -o"), model],
        ),
        Step(
            "How good it is on patients it has not seen, and a report with pictures:",
            ["evaluate", model, test.table, "--images", *test.frames, *test.marked]
            + ["--report", report],
        ),
        Step(
            "Score a folder of frames, and mark in each what was found:",
            [*_words("images score"), model, *test.frames, *test.marked]
            + ["--overlays", overlays, "-o", scores],
        ),
    ]
