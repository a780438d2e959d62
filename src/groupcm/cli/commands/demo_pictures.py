"""``groupcm demo``: made frames of capsule endoscopy, and every step a command to paste."""

from __future__ import annotations

import re
import shlex
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from groupcm.annotations import Annotations
from groupcm.cli.output import print_line, seconds
from groupcm.errors import InputError
from groupcm.images.synthetic import write_frames
from groupcm.images.synthetic.frames import ANNOTATION_FILE, PICTURE_FOLDER
from groupcm.utils.extras import is_installed

__all__ = ["Sizes", "Step", "require_extras", "run_on_pictures", "steps_with"]

_PACKAGES = ("PIL", "skimage", "matplotlib", "jinja2")
_MADE_PICTURE = re.compile(r"patient\d+_frame\d+\.png")


@dataclass(frozen=True)
class Sizes:
    """How many frames of how many patients, how large, and how many candidates in each."""

    n_train: int = 144
    n_test: int = 72
    frames_a_patient: int = 6
    share_with_polyps: float = 0.4
    height: int = 192
    width: int = 256
    at_most: int = 150


@dataclass(frozen=True)
class Step:
    """A command of the demo, and what it is for."""

    told: str
    command: str


def require_extras() -> None:
    """Say how to install what pictures and reports need, and which demo needs less."""
    if not all(map(is_installed, _PACKAGES)):
        raise InputError(
            "the demo makes pictures and a report of them; install what that needs with: "
            'pip install "groupcm[images,report]", or run groupcm demo --tables, which does '
            "without pictures"
        )


def run_on_pictures(folder: Path, seed: int, sizes: Sizes | None = None) -> int:
    """Make frames, then do with them what a user would do with frames of their own."""
    from groupcm.cli._main import main

    sizes = sizes or Sizes()
    began = time.perf_counter()
    # Another seed is other patients: nobody in the test was seen in training.
    for part, n_frames, own_seed in (
        ("train", sizes.n_train, 2 * seed),
        ("test", sizes.n_test, 2 * seed + 1),
    ):
        marked = _make_frames(folder / part, n_frames, own_seed, sizes)
        print_line(f"Made {_counts(marked)}: {folder / part / PICTURE_FOLDER}")
    for step in steps_with(folder, sizes):
        print_line()
        print_line(step.told)
        print_line(f"$ {step.command}")
        status = main(shlex.split(step.command)[1:])
        if status:
            return status
    print_line()
    print_line(
        f"Done in {seconds(time.perf_counter() - began)}. What follows a $ is a command: paste "
        "it to do that step again, or with your own pictures."
    )
    print_line(
        f"Look at {folder / 'report.html'} in a browser, and at the frames in {folder}/overlays."
    )
    return 0


def steps_with(folder: Path, sizes: Sizes) -> list[Step]:
    """What is done with the frames in ``folder/train`` and ``folder/test``."""

    def at(*parts: str) -> str:
        return shlex.quote(str(folder.joinpath(*parts)))

    def frames(part: str) -> str:
        return f"{at(part, PICTURE_FOLDER)} --annotations {at(part, ANNOTATION_FILE)}"

    def propose(part: str) -> str:
        output = at(f"{part}.parquet")
        return f"groupcm images propose {frames(part)} --at-most {sizes.at_most} -o {output}"

    model, test = at("model.json"), at("test.parquet")
    return [
        Step("Find candidates in the frames to train on, and measure them:", propose("train")),
        Step("The same in the frames of other patients:", propose("test")),
        Step(
            "Train; folds of patients choose λ and the threshold:",
            f"groupcm fit {at('train.parquet')} --cv --lams 5 --specificity 0.9 -o {model}",
        ),
        Step(
            "How good is it on patients it has not seen?",
            f"groupcm evaluate {model} {test} --images {frames('test')} "
            f"--report {at('report.html')}",
        ),
        Step(
            "Score a folder of frames, and mark in each what was found:",
            f"groupcm images score {model} {frames('test')} --overlays {at('overlays')} "
            f"-o {at('scores.parquet')}",
        ),
    ]


def _make_frames(folder: Path, n_frames: int, seed: int, sizes: Sizes) -> Annotations:
    _clear(folder)
    return write_frames(
        folder,
        n_frames,
        share_with_polyps=sizes.share_with_polyps,
        n_patients=max(1, n_frames // sizes.frames_a_patient),
        height=sizes.height,
        width=sizes.width,
        seed=seed,
    )


def _clear(folder: Path) -> None:
    """Remove the frames of an earlier demo; whatever else is there is not ours."""
    if not folder.is_dir():
        return
    pictures = folder / PICTURE_FOLDER
    made = {pictures, folder / ANNOTATION_FILE}
    for path in folder.rglob("*"):
        if path not in made and not (
            path.parent == pictures and _MADE_PICTURE.fullmatch(path.name)
        ):
            raise InputError(
                f"cannot write frames to {folder}: {path} was not made by the demo; "
                "choose another folder with -o"
            )
    shutil.rmtree(folder)


def _counts(marked: Annotations) -> str:
    n_patients = len({picture.extra["patient"] for picture in marked})
    n_positive = sum(picture.is_positive for picture in marked)
    return f"{len(marked)} frames of {n_patients} patients, {n_positive} of them with a polyp"
