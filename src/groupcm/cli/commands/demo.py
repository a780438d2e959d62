"""``groupcm demo``: all steps on synthetic frames of capsule endoscopy, from data to a report.

By default the frames are pictures, and every step is a command to paste; with ``--tables`` they are
tables of candidates.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupcm import simulate
from groupcm.annotations import Annotations
from groupcm.cli.commands.score import auc_rows
from groupcm.cli.output import plain_warnings, print_line, seconds, show_rows, working
from groupcm.cli.summaries import certificate, held_out_rows, summary
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.estimators.tables import fit_tables
from groupcm.evaluation.table_evaluation import evaluate_tables
from groupcm.evaluation.table_scores import TableScores, score_tables
from groupcm.images.synthetic import write_frames
from groupcm.images.synthetic.frames import ANNOTATION_FILE, PICTURE_FOLDER
from groupcm.persistence.model_file import SavedModel, read, save
from groupcm.report.model_card import fit_notes
from groupcm.utils.extras import is_installed
from groupcm.utils.progress import announce_stage, listening

__all__ = ["Sizes", "run"]

_PACKAGES = ("PIL", "skimage", "matplotlib", "jinja2")
_DEMO_PICTURE = re.compile(r"patient\d+_frame\d+\.png")
_N_LAMS = 5
_SPECIFICITY = 0.95
_COLUMNS: dict[str, Any] = {
    "group": "frame",
    "label": "on_polyp",
    "overlap": "overlap",
    "patient": "patient",
}


def run(arguments: argparse.Namespace) -> int:
    """Create synthetic data, train on them, and evaluate the model on other patients."""
    if arguments.tables:
        return _run_on_tables(_make_folder(Path(arguments.output)), arguments.seed)

    _require_extras()
    return _run_on_pictures(_make_folder(Path(arguments.output)), arguments.seed)


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"cannot write into {folder}: it is a file, not a folder") from None
    return folder


@dataclass(frozen=True)
class Sizes:
    """The numbers of frames, patients and candidates, and the size of a frame."""

    n_train: int = 144
    n_test: int = 72
    frames_per_patient: int = 6
    share_with_polyps: float = 0.4
    height: int = 192
    width: int = 256
    at_most: int = 150


@dataclass(frozen=True)
class _Step:
    """A command of the demo, and its purpose."""

    title: str
    command: str


def _require_extras() -> None:
    """Refuse to run without the extras of pictures and reports."""
    if not all(map(is_installed, _PACKAGES)):
        raise InputError(
            "the demo draws pictures and a report; install what it requires with: "
            'pip install "groupcm[images,report]", or run groupcm demo --tables, which needs '
            "no pictures"
        )


def _run_on_pictures(folder: Path, seed: int, sizes: Sizes | None = None) -> int:
    """Draw frames, and run on them the commands that a user would run on their own."""
    from groupcm.cli import main

    sizes = sizes or Sizes()
    began = time.perf_counter()
    # Another seed draws other patients: no patient of the test is in the training set.
    for part, n_frames, own_seed in (
        ("train", sizes.n_train, 2 * seed),
        ("test", sizes.n_test, 2 * seed + 1),
    ):
        marked = _make_frames(folder / part, n_frames, own_seed, sizes)
        print_line(f"Drew {_counts(marked)}: {folder / part / PICTURE_FOLDER}")
    for step in _steps(folder, sizes):
        print_line()
        print_line(step.title)
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


def _steps(folder: Path, sizes: Sizes) -> list[_Step]:
    """Return the commands on the frames in ``folder/train`` and ``folder/test``."""

    def at(*parts: str) -> str:
        return shlex.quote(str(folder.joinpath(*parts)))

    def frames(part: str) -> str:
        return f"{at(part, PICTURE_FOLDER)} --annotations {at(part, ANNOTATION_FILE)}"

    def propose(part: str) -> str:
        output = at(f"{part}.parquet")
        return f"groupcm images propose {frames(part)} --at-most {sizes.at_most} -o {output}"

    model, test = at("model.json"), at("test.parquet")
    return [
        _Step("Find candidates in the frames to train on, and measure them:", propose("train")),
        _Step("The same in the frames of other patients:", propose("test")),
        _Step(
            "Train; folds of patients choose λ and the threshold:",
            f"groupcm fit {at('train.parquet')} --cv --lams 5 --specificity 0.9 -o {model}",
        ),
        _Step(
            "How good is it on patients it has not seen?",
            f"groupcm evaluate {model} {test} --images {frames('test')} "
            f"--report {at('report.html')}",
        ),
        _Step(
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
        n_patients=max(1, n_frames // sizes.frames_per_patient),
        height=sizes.height,
        width=sizes.width,
        seed=seed,
    )


def _clear(folder: Path) -> None:
    """Remove the frames of an earlier demo, and refuse a folder with other files."""
    if not folder.is_dir():
        return
    pictures = folder / PICTURE_FOLDER
    made = {pictures, folder / ANNOTATION_FILE}
    for path in folder.rglob("*"):
        if path not in made and not (
            path.parent == pictures and _DEMO_PICTURE.fullmatch(path.name)
        ):
            raise InputError(
                f"cannot write frames to {folder}: {path} was not written by the demo; "
                "choose another folder with -o"
            )
    shutil.rmtree(folder)


def _counts(marked: Annotations) -> str:
    n_patients = len({picture.extra["patient"] for picture in marked})
    n_positive = sum(picture.is_positive for picture in marked)
    return f"{len(marked)} frames of {n_patients} patients, {n_positive} of them with a polyp"


def _run_on_tables(folder: Path, seed: int) -> int:
    """Simulate, write tables, fit, score unseen frames, explain."""
    train, test, model_file, scores, report = (
        folder / name
        for name in ("train.parquet", "test.parquet", "model.json", "scores.parquet", "report.html")
    )
    model = GroupClassifierCV(lams=_N_LAMS)
    with (
        plain_warnings(),
        working(model.tol) as display,
        listening(display.step, display.reading, display.status),
    ):
        announce_stage("simulating frames of capsule endoscopy")
        # Another seed draws other patients: no patient of the test is in the training set.
        seen, unseen = simulate.capsule(seed=2 * seed), simulate.capsule(seed=2 * seed + 1)
        for path, made in ((train, seen), (test, unseen)):
            write_table(made.to_table(), path)
        fit = fit_tables(model, train, **_COLUMNS, specificity=_SPECIFICITY)
        save(fit.model, model_file, notes=fit_notes(fit))
        saved = read(model_file)
        scored = score_tables(saved, test, label=_COLUMNS["label"])
        write_table(scored.table, scores)
        has_report = _write_report(saved, test, report)

    print_line("Trained on synthetic frames of capsule endoscopy, each with about 200 candidates:")
    show_rows(summary(fit) + held_out_rows(fit))
    print_line(certificate(model))
    print_line()
    print_line(
        f"Scored {scored.table.num_rows:,} frames of other patients, by their best candidate:"
    )
    show_rows([*auc_rows(scored), _alarms(scored, unseen)])
    print_line("The frames that score highest, and the truth:")
    _show_highest(scored, unseen)
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
    paths = (train, test, model_file, scores, report)
    train, test, model_file, scores, report = (shlex.quote(str(path)) for path in paths)
    folds = f"--cv --lams {_N_LAMS} --specificity {_SPECIFICITY}"
    print_line(f"  groupcm fit {train} {options} {folds} -o {model_file}")
    print_line(f"  groupcm score {model_file} {test} --label {_COLUMNS['label']} -o {scores}")
    print_line(f"  groupcm evaluate {model_file} {test} --report {report}")
    return 0


def _write_report(model: SavedModel, test: Path, report: Path) -> bool:
    """Write the report, unless the extra that draws it is not installed."""
    try:
        from groupcm.report.save import check_report, save_evaluation

        check_report(report)
    except InputError as error:
        announce_stage(str(error))
        return False
    title = "Polyps in synthetic frames of capsule endoscopy"
    evaluation = evaluate_tables(model, test, title=title, name="model.json")
    announce_stage("drawing the report")
    save_evaluation(evaluation, report)
    return True


def _alarms(scored: TableScores, made: simulate.Capsule) -> tuple[str, str]:
    """Count the alarms of the scored frames."""
    rows = scored.table.to_pylist()
    positive = set(made.groups[made.y == 1].tolist())
    found = [row for row in rows if row["alarm"] and row["group"] in positive]
    false = [row for row in rows if row["alarm"] and row["group"] not in positive]
    on_polyp = sum(made.y[row["winner"]] == 1 for row in found)
    return (
        "at the threshold",
        f"{len(found)} of {len(positive)} frames with a polyp are found, "
        f"{on_polyp} of them by a candidate on the polyp; "
        f"{len(false)} of {len(rows) - len(positive):,} without one raise an alarm",
    )


def _show_highest(scored: TableScores, made: simulate.Capsule, count: int = 8) -> None:
    positive = set(made.groups[made.y == 1].tolist())
    print_line("     frame   score  winner row  the frame has   the winner is on")
    rows = sorted(scored.table.to_pylist(), key=lambda row: -row["score"])
    for row in rows[:count]:
        frame = "a polyp" if row["group"] in positive else "no polyp"
        candidate = "the polyp" if made.y[row["winner"]] else "something else"
        print_line(
            f"  {row['group']:>8}  {row['score']:+6.2f}  {row['winner']:>10}  {frame:<14}  "
            f"{candidate}"
        )
