"""``groupcm demo --tables``: the whole journey on made tables, from candidates to alarms."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa

from groupcm import simulate
from groupcm.cli.commands.fit import fit_candidates
from groupcm.cli.commands.fit_notes import fit_notes, fold_notes
from groupcm.cli.commands.held_out import held_out_rows
from groupcm.cli.commands.in_memory import InMemory
from groupcm.cli.commands.score import score_candidates
from groupcm.cli.output import Display, plain_warnings, print_line, show_rows, working
from groupcm.cli.summaries import certificate, summary
from groupcm.data.groups import index_groups
from groupcm.data.tables.candidates import read_tables
from groupcm.data.tables.formats import write_table
from groupcm.errors import InputError
from groupcm.estimators.classifier_cv import GroupClassifierCV
from groupcm.evaluation._evaluate import evaluate_scored
from groupcm.persistence.model_file import read, save

__all__ = ["run_on_tables"]

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
