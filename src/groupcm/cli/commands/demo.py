"""``groupcm demo``: the whole journey on made data, from pictures or from tables.

``groupcm demo``: made frames of capsule endoscopy, and every step a command to paste.

``groupcm demo --tables``: the whole journey on made tables, from candidates to alarms.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm import simulate
from groupcm.annotations import Annotations
from groupcm.cli.commands.fit import fit_candidates
from groupcm.cli.commands.fit_notes import fit_notes, fold_notes
from groupcm.cli.commands.held_out import held_out_rows
from groupcm.cli.commands.in_memory import InMemory
from groupcm.cli.commands.score import score_candidates
from groupcm.cli.output import Display, plain_warnings, print_line, seconds, show_rows, working
from groupcm.cli.summaries import certificate, summary
from groupcm.data.groups import index_groups
from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.evaluation._evaluate import evaluate_scored
from groupcm.images.synthetic import write_frames
from groupcm.images.synthetic.frames import ANNOTATION_FILE, PICTURE_FOLDER
from groupcm.persistence.model_file import read, save
from groupcm.utils.extras import is_installed

__all__ = [
    "Sizes",
    "Step",
    "require_extras",
    "run",
    "run_on_pictures",
    "run_on_tables",
    "steps_with",
]


def run(arguments: argparse.Namespace) -> int:
    """Make data, train on it, and tell how good the model is on other patients."""
    if arguments.tables:
        return run_on_tables(_make_folder(Path(arguments.output)), arguments.seed)

    require_extras()
    return run_on_pictures(_make_folder(Path(arguments.output)), arguments.seed)


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"cannot write into {folder}: it is a file, not a folder") from None
    return folder


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
    from groupcm.cli import main

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


_N_LAMS = 5
_SPECIFICITY = 0.95
_COLUMNS: dict[str, Any] = {
    "group": "frame",
    "label": "on_polyp",
    "overlap": "overlap",
    "patient": "patient",
}


def run_on_tables(folder: Path, seed: int) -> int:
    """Simulate, write tables, fit, score unseen frames, explain."""
    train, test, model_file, scores, report = (
        folder / name
        for name in ("train.parquet", "test.parquet", "model.json", "scores.parquet", "report.html")
    )
    model = GroupClassifierCV(lams=_N_LAMS)
    with plain_warnings(), working(model.tol) as display:
        display.status("simulating frames of capsule endoscopy")
        # Another seed is other patients: nobody in the test was seen in training.
        for path, own_seed in ((train, 2 * seed), (test, 2 * seed + 1)):
            write_table(_as_table(simulate.capsule(seed=own_seed)), path)
        seen = InMemory(read_tables([train], **_COLUMNS))
        took = fit_candidates(model, seen, display)
        model.tune_threshold(specificity=_SPECIFICITY)
        notes = fit_notes(model, seen, _COLUMNS, [train])
        notes |= fold_notes(model, seen, display)
        save(model, model_file, notes=notes)
        saved = read(model_file)
        unseen = read_tables([test], **_COLUMNS, features=seen.feature_names)
        scored = score_candidates(saved.model, InMemory(unseen), display, has_truth=True)
        write_table(scored.table, scores)
        has_report = _write_report(saved.model, InMemory(unseen), report, display)

    print_line("Trained on made frames of capsule endoscopy, each with about 200 candidates:")
    show_rows(summary(model, seen, took) + held_out_rows(model))
    print_line(certificate(model))
    print_line()
    print_line(
        f"Scored {scored.table.num_rows:,} frames of other patients, by their best candidate:"
    )
    label = np.asarray(unseen.label)
    show_rows([*scored.auc, _alarms(scored.table, unseen.group.codes, label)])
    print_line("The frames that score highest, and the truth:")
    _show_highest(scored.table, unseen.group.codes, label)
    print_line()
    print_line("Files:")
    files = [
        (str(train), "the candidates trained on"),
        (str(test), "the candidates scored"),
        (str(model_file), "the model; groupcm.load reads it"),
        (str(scores), "one row per frame: group, score, winner, alarm"),
    ]
    if has_report:
        files.append((str(report), "how good the model is: open it in a browser"))
    show_rows(files)
    print_line("The same by hand:")
    options = " ".join(f"--{role} {column}" for role, column in _COLUMNS.items())
    train, test, model_file, scores = (quote(str(p)) for p in (train, test, model_file, scores))
    folds = f"--cv --lams {_N_LAMS} --specificity {_SPECIFICITY}"
    print_line(f"  groupcm fit {train} {options} {folds} -o {model_file}")
    print_line(f"  groupcm score {model_file} {test} --label {_COLUMNS['label']} -o {scores}")
    print_line(f"  groupcm evaluate {model_file} {test} --report {quote(str(report))}")
    return 0


def _write_report(model: Any, unseen: InMemory, report: Path, display: Display) -> bool:
    """Write the report, unless what draws it is not installed."""
    try:
        from groupcm.report.save import check_report, save_evaluation

        check_report(report)
    except InputError as error:
        display.status(str(error))
        return False
    display.status("drawing the report")
    evaluation = evaluate_scored(
        model,
        unseen.scored(model),
        title="Polyps in made frames of capsule endoscopy",
        data_name="test.parquet",
    )
    save_evaluation(evaluation, report)
    return True


def _as_table(made: simulate.Capsule) -> pa.Table:
    columns = {
        _COLUMNS["group"]: made.groups,
        _COLUMNS["patient"]: made.patient,
        _COLUMNS["label"]: made.y,
        _COLUMNS["overlap"]: made.overlap,
    }
    # The polyp's number stays out: a column of numbers left over would be taken for a feature.
    columns |= {name: made.X[:, j] for j, name in enumerate(made.feature_names)}
    return pa.table({name: pa.array(np.ascontiguousarray(v)) for name, v in columns.items()})


def _alarms(scores: pa.Table, groups: np.ndarray, label: np.ndarray) -> tuple[str, str]:
    """Count the alarms of the scored frames."""
    alarm = scores["alarm"].to_numpy(zero_copy_only=False)
    winner = scores["winner"].to_numpy()
    positive = index_groups(groups).maxima(label == 1)
    found, false = positive & alarm, ~positive & alarm
    return (
        "at the threshold",
        f"{found.sum()} of {positive.sum()} frames with a polyp are found, "
        f"{(label[winner[found]] == 1).sum()} of them by a candidate on the polyp; "
        f"{false.sum()} of {(~positive).sum():,} without one raise an alarm",
    )


def _show_highest(scores: pa.Table, groups: np.ndarray, label: np.ndarray, count: int = 8) -> None:
    group, score, winner = (scores[name].to_numpy() for name in ("group", "score", "winner"))
    print_line("     frame   score  winner row  the frame has   the winner is on")
    for k in np.argsort(-score)[:count]:
        frame = "a polyp" if label[groups == group[k]].any() else "no polyp"
        candidate = "the polyp" if label[winner[k]] else "something else"
        print_line(f"  {group[k]:>8}  {score[k]:+6.2f}  {winner[k]:>10}  {frame:<14}  {candidate}")
