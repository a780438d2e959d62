"""The command line, as a user meets it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import groupcm
from groupcm import simulate
from groupcm.cli._main import _COMMANDS, _EXAMPLES, build_parser, main
from groupcm.data.tables.formats import write_table
from groupcm.estimators.classifier import GroupClassifier
from groupcm.metrics import group_roc_auc
from groupcm.persistence.model_file import load, save

HEAVY = ("numpy", "scipy", "sklearn", "numba", "rich", "pyarrow", "shutil", "typing")


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["fit", "--help"], ["fit"]])
def test_help_imports_nothing_heavy(arguments):
    code = f"""
import sys
from groupcm.cli._main import main
try:
    main({arguments!r})
except SystemExit:
    print("imported:", *sorted(set(sys.modules) & set({HEAVY!r})))
"""
    assert python(code).stdout.splitlines()[-1] == "imported:"


def test_help_and_version(capsys):
    for arguments, said in ((["--help"], "demo"), (["--version"], groupcm.__version__)):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
        assert said in capsys.readouterr().out


def as_table(made: simulate.Capsule, **more) -> pa.Table:
    columns = {"frame": [f"frame {g}" for g in made.groups], "polyp": made.y, "fit": made.overlap}
    columns |= {name: made.X[:, j].copy() for j, name in enumerate(made.feature_names)}
    return pa.table({**columns, **more})


@pytest.fixture
def made():
    return simulate.capsule(40, n_positive=12, group_size=12, seed=5)


@pytest.fixture
def folder(tmp_path, monkeypatch, made):
    """The current folder, with a table in it."""
    monkeypatch.chdir(tmp_path)
    write_table(as_table(made), "train.parquet")
    return tmp_path


FIT = ["fit", "train.parquet", "--group", "frame", "--label", "polyp", "--overlap", "fit"]


def test_fit_is_what_the_estimator_does(folder, made, capsys):
    options = "--lam 0.8 --penalty l2 --no-standardize --random-state 0"
    assert main([*FIT, *options.split(), "-o", "m.json"]) == 0
    model = load("m.json")
    same = GroupClassifier(lam=0.8, penalty="l2", standardize=False, random_state=0)
    same.fit(made.X, made.y, groups=made.groups, overlap=made.overlap)
    assert model.get_params() == same.get_params()
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)
    assert model.feature_names_in_.tolist() == made.feature_names
    shown = capsys.readouterr()
    assert f"{len(made.y):,} × 13 features, float32" in shown.out
    assert "52, of them 12 positive" in shown.out
    assert f"{float(model.objective_):.6g}" in shown.out
    assert "Certified: " in shown.out
    assert "Wrote m.json." in shown.out
    assert "passes  gap" in shown.err


def test_the_package_runs_as_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "groupcm", "--version"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (0, f"groupcm {groupcm.__version__}\n")
    run = subprocess.run([sys.executable, "-m", "groupcm", "fits"], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.startswith("groupcm: ")


@pytest.mark.parametrize("command", _COMMANDS)
def test_the_help_of_a_command_ends_with_an_example(command, capsys):
    words = _EXAMPLES[command].split()
    assert build_parser(command).parse_args(words[1:]).command == words[1] == command
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert " ".join(capsys.readouterr().out.split()).endswith(f"Example: {_EXAMPLES[command]}")


def test_every_estimator_option_is_reachable(folder):
    options = (
        "--lam 0.6 --C 2 --loss smoothed_hinge --delta 0.25 --penalty huber --epsilon 0.5 "
        "--grouping both "
        "--background negative --min-overlap 0.1 --solver lbfgs --tol 0.5 --max-passes 50 "
        "--random-state 4 --no-standardize"
    )
    assert main([*FIT, *options.split(), "-o", "m.json"]) == 0
    assert (
        load("m.json").get_params()
        == GroupClassifier(
            0.6,
            C=2,
            loss="smoothed_hinge",
            delta=0.25,
            penalty="huber",
            epsilon=0.5,
            grouping="both",
            background="negative",
            min_overlap=0.1,
            solver="lbfgs",
            tol=0.5,
            max_passes=50,
            random_state=4,
            standardize=False,
        ).get_params()
    )

    options = "--loss logistic --penalty elasticnet --l1-ratio 0.3 --tol 0.5"
    assert main([*FIT, *options.split(), "-o", "m.json"]) == 0
    assert load("m.json").l1_ratio == 0.3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--l1-ratio 0.5", "--l1-ratio has no effect without --penalty elasticnet."),
        ("--penalty l2 --epsilon 1", "--epsilon has no effect without --penalty huber."),
        ("--loss hinge --delta 0.5", "--delta has no effect without --loss smoothed_hinge."),
        ("--cv --loss logistic --delta 1", "--delta has no effect without --loss smoothed_hinge."),
    ],
)
def test_an_option_of_another_loss_or_penalty_is_refused(folder, capsys, options, said):
    assert main([*FIT, *options.split(), "-o", "other.json"]) == 2
    assert said in capsys.readouterr().err
    assert not Path("other.json").exists()


READERS = {
    "parquet": pa.parquet.read_table,
    "csv": pa.csv.read_csv,
    "arrow": pa.feather.read_table,
}


@pytest.mark.parametrize("suffix", list(READERS))
def test_score_is_what_the_estimator_does(folder, made, suffix, capsys):
    main([*FIT, "-o", "m.json"])
    # Other columns, in another order, in two files: features are found by name.
    table = as_table(made, note=["x"] * len(made.y))
    table = table.select(list(reversed(table.column_names)))
    half = len(made.y) // 2
    (folder / "new").mkdir()
    write_table(table.slice(0, half), "new/1.csv")
    write_table(table.slice(half), "new/2.parquet")
    assert main(["score", "m.json", "new", "--label", "polyp", "-o", f"s.{suffix}"]) == 0
    model = load("m.json")
    del model.feature_names_in_
    expected = model.group_scores(made.X, made.groups)
    scores = READERS[suffix](f"s.{suffix}")
    assert scores.column_names == ["group", "score", "winner", "alarm"]
    assert scores["group"].to_pylist() == [f"frame {g}" for g in expected.group]
    np.testing.assert_allclose(scores["score"], expected.score, rtol=1e-6)
    assert scores["winner"].to_pylist() == expected.winner.tolist()
    auc = group_roc_auc(made.y, model.decision_function(made.X), made.groups)
    assert f"group AUC  {auc:.4f}" in capsys.readouterr().out


def test_three_classes(folder, made, capsys):
    names = np.array(["none", "flat", "round"])
    kind = names[np.where(made.y == 1, 1 + made.groups % 2, 0)]
    write_table(as_table(made, kind=kind.tolist()).drop_columns(["polyp", "fit"]), "k.parquet")
    assert main(["fit", "k.parquet", "--group", "frame", "--label", "kind", "-o", "k.json"]) == 0
    assert main(["score", "k.json", "k.parquet", "--label", "kind", "-o", "k.csv"]) == 0
    out = capsys.readouterr().out
    assert "group AUC of none   not defined: every group holds the class" in out
    assert "group AUC of flat   0." in out or "group AUC of flat   1." in out
    header = (folder / "k.csv").read_text().splitlines()[0]
    assert header.replace('"', "").split(",")[:3] == ["group", "score_flat", "winner_flat"]


def test_a_model_from_python_needs_the_names(folder, made, capsys):
    save(GroupClassifier().fit(made.X, made.y, groups=made.groups), "m.json")
    score = ["score", "m.json", "train.parquet", "-o", "s.csv"]
    assert main(score) == 2
    assert "name it with --group" in capsys.readouterr().err
    assert main([*score, "--group", "frame"]) == 2
    assert "with --features" in capsys.readouterr().err
    names = made.feature_names
    assert main([*score, "--group", "frame", "--features", names[0]]) == 2
    assert "1 features are named" in capsys.readouterr().err
    assert main([*score, "--group", "frame", "--features", ",".join(names)]) == 0


def complaint(arguments, capsys, left=("train.parquet",)) -> str:
    """The one line of a user's mistake; only the files in ``left`` may be there after it."""
    try:
        status = main(arguments)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if line.startswith("groupcm")]
    assert len(lines) == 1
    assert shown.err.endswith(lines[0] + "\n")
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert {path.name for path in Path().iterdir()} == set(left)
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        ([*FIT], "required: -o/--output"),
        ([*FIT, "-o", "m.json", "--lam", "1"], "lam must be a number between 0 and 1"),
        ([*FIT, "-o", "m.json", "--lam", "x"], "'x' is not a number"),
        ([*FIT, "-o", "m.json", "--tol", "-1"], "tol must be a number above 0"),
        ([*FIT, "-o", "m.json", "--random-state", "1.5"], "'1.5' is not a whole number"),
        ([*FIT, "-o", "m.json", "--features", "a,,b"], "empty name"),
        ([*FIT, "-o", "m.json", "--loss", "square"], "invalid choice: 'square'"),
        ([*FIT, "-o", "m.json", "--group", "frmae"], "did you mean 'frame'?"),
        ([*FIT, "-o", "train.parquet/m.json"], "train.parquet is not a folder"),
        ([*FIT, "-o", "m.pkl"], "cannot write m.pkl: end its name in .json"),
        ([*FIT, "-o", "train.parquet"], "cannot write train.parquet: end its name in .json"),
        (["fit", "no.csv", *FIT[2:], "-o", "m.json"], "no.csv does not exist"),
        (["score", "no.json", "train.parquet", "-o", "s.csv"], "no.json: no such file"),
        (["score", "train.parquet", "train.parquet", "-o", "s.csv"], "not a model"),
        (["score", "no.json", "train.parquet", "-o", "s.xlsx"], ".parquet, .csv or .arrow"),
        (["score", "no.json", "train.parquet", "-o", "train.parquet"], "is one of the tables"),
        (["demo", "-o", "train.parquet"], "it is a file, not a folder"),
        (["demo", "--seed", "-1"], "'-1' is not a whole number"),
    ],
)
def test_a_mistake_gets_one_sentence(folder, capsys, arguments, said):
    assert said in complaint(arguments, capsys)


def as_one_class(folder) -> pa.Table:
    table = pa.parquet.read_table(folder / "train.parquet")
    zeros = pa.array(np.zeros(table.num_rows, np.int8))
    return table.set_column(table.column_names.index("polyp"), "polyp", zeros)


def test_scoring_mistakes(folder, made, capsys):
    main([*FIT, "-o", "m.json"])
    left = ("train.parquet", "m.json", "new.parquet")
    score = ["score", "m.json", "new.parquet", "-o", "s.parquet"]
    write_table(as_table(made).drop_columns([made.feature_names[0]]), "new.parquet")
    capsys.readouterr()
    assert f"no column {made.feature_names[0]!r}" in complaint(score, capsys, left)
    write_table(as_table(made, polyp=made.y + 5), "new.parquet")
    said = complaint([*score, "--label", "polyp"], capsys, left)
    assert "the label 5 is not a class" in said


def test_a_failed_fit_keeps_the_old_model(folder, capsys):
    (folder / "m.json").write_text("old")
    write_table(as_one_class(folder), "train.parquet")
    said = complaint([*FIT, "-o", "m.json"], capsys, left=("train.parquet", "m.json"))
    assert "'polyp' holds 0 in every row" in said
    assert (folder / "m.json").read_text() == "old"


def test_ctrl_c(folder, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(GroupClassifier, "fit", interrupted)
    assert main([*FIT, "-o", "m.json"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "groupcm: stopped by Ctrl-C"
    assert [path.name for path in folder.iterdir()] == ["train.parquet"]


def test_a_fit_that_does_not_converge_says_so(folder, capsys):
    assert main([*FIT, "--tol", "1e-15", "--max-passes", "1", "-o", "m.json"]) == 0
    shown = capsys.readouterr()
    assert "groupcm: warning: " in shown.err
    assert ".py:" not in shown.err
    assert "not yet the requested 1.0 × 10⁻¹³ %" in shown.out


def test_the_readme_is_short_and_its_links_lead_somewhere():
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    links = re.findall(r"\]\(([^)#]+)", readme)
    assert len(links) > 10
    assert [link for link in links if not (root / link).exists()] == []


# A new line, colours, a cleared screen, a bell, a turned direction of writing, half a character.
HOSTILE = "two\nlines \x1b[31m\x1b[2J\x07 \u202egnp.\u2066 \x85\u2028 \udce9"


def shows_nothing_to_obey(shown: str) -> bool:
    kinds = {unicodedata.category(character) for character in shown.replace("\n", "")}
    return kinds.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


def one_line(capsys) -> str:
    """The last line of the error stream, after those that show progress."""
    shown = capsys.readouterr().err
    assert shown.endswith("\n")
    assert shows_nothing_to_obey(shown)
    lines = shown.splitlines()
    assert [line.startswith("groupcm") for line in lines] == [False] * (len(lines) - 1) + [True]
    return lines[-1]


def test_control_characters_of_a_file_name_are_escaped(folder, capsys):
    name = HOSTILE.replace("\x85", "") + ".parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1]}), "plain.parquet")
    Path("plain.parquet").rename(name)
    assert main(["fit", name, "--group", "frame", "--label", "polyp", "-o", "m.json"]) == 2
    assert r"two\nlines \x1b[31m" in one_line(capsys)
    assert main(["score", f"no such {HOSTILE}.json", "train.parquet", "-o", "s.parquet"]) == 2
    assert r"\u202egnp" in one_line(capsys)
    with pytest.raises(SystemExit):
        main(["sort", "train.parquet", "-o", "s.parquet", "--group", "g", f"--no-{HOSTILE}"])
    assert r"\x1b[2J" in one_line(capsys)


def test_control_characters_of_columns_and_groups_are_escaped(folder, made, capsys):
    text = HOSTILE[:-2]  # Arrow holds no half characters
    table = as_table(made).rename_columns([text, "polyp", "fit", *made.feature_names])
    write_table(table, "columns.parquet")
    assert (
        main(["fit", "columns.parquet", "--group", "frame", "--label", "polyp", "-o", "m.json"])
        == 2
    )
    assert r"two\nlines" in one_line(capsys)
    frames = [text] * len(made.y)
    frames[len(made.y) // 2] = "another"
    write_table(as_table(made, frame=frames), "apart.parquet")
    command = ["fit", "apart.parquet", *FIT[2:], "--memory", "1MB", "-o", "m.json"]
    assert main(command) == 2
    assert r"two\nlines" in one_line(capsys)


def test_control_characters_of_features_are_escaped_in_warnings_and_cards(folder, made, capsys):
    text = HOSTILE[:-2]
    write_table(as_table(made, **{text: np.ones(len(made.y))}), "constant.parquet")
    output = f"{text}.json"
    assert main(["fit", "constant.parquet", *FIT[2:], "-o", output]) == 0
    shown = capsys.readouterr()
    assert r"two\nlines" in shown.err
    assert r"Wrote two\nlines" in shown.out
    assert shows_nothing_to_obey(shown.err + shown.out)
    for option in ([], ["--json"]):
        assert main(["describe", output, *option]) == 0
        shown = capsys.readouterr().out
        assert r"two\nlines" in shown
        assert shows_nothing_to_obey(shown)


def test_every_command_prints_through_the_function_that_escapes():
    """Only the function itself, and commands that print JSON, whose lines may be long."""
    folder = Path(groupcm.__file__).parent / "cli"
    callers = [
        path.name
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert callers == ["_main.py", "_main.py", "describe.py", "doctor.py", "output.py", "output.py"]


def test_a_message_has_a_bounded_length(folder, capsys):
    Path("long.csv").write_text("frame,polyp," + "x" * 100_000 + "\na,0,word\n")
    assert main(["fit", "long.csv", "--group", "frame", "--label", "polyp", "-o", "m.json"]) == 2
    shown = one_line(capsys)
    assert len(shown) < 2_100
    assert shown.startswith("groupcm: long.csv: the column 'xxx")
    assert "a feature must hold numbers" in shown


def test_too_little_memory_is_one_sentence(folder, capsys, monkeypatch):
    def fail(_paths):
        raise MemoryError

    monkeypatch.setattr("groupcm.data.tables.sorting.open_tables", lambda *_: fail(_))
    assert main(["sort", "train.parquet", "--group", "frame", "-o", "s.parquet"]) == 2
    assert "not enough memory" in one_line(capsys)
    assert not Path("s.parquet").exists()


@pytest.mark.parametrize(
    ("name", "more"),
    [("t.csv", []), ("t.csv", ["--cv", "--folds", "2", "--lams", "0.5"]), ("t.parquet", [])],
    ids=["csv", "csv-cv", "parquet"],
)
def test_a_feature_is_called_by_its_column_in_every_sentence(folder, made, name, more, capsys):
    write_table(as_table(made, level=np.ones(len(made.y))), name)
    assert main(["fit", name, *FIT[2:], *more, "-o", "m.json"]) == 0
    assert "are constant up to rounding and get weight 0: level." in capsys.readouterr().err
    huge = np.where(np.arange(len(made.y)) % 2, 1e300, -1e300)
    write_table(as_table(made, huge=huge), name)
    assert main(["fit", name, *FIT[2:], *more, "-o", "m.json"]) == 2
    assert "the values of feature huge are too large" in capsys.readouterr().err


def test_a_pattern_that_matches_columns_with_a_role_alone_is_named(folder, capsys):
    for pattern, said in (("fra*", "the group column 'frame'"), ("p?lyp,fi*", "'polyp', the")):
        assert main([*FIT, "--features", pattern, "-o", "m.json"]) == 2
        told = capsys.readouterr().err
        assert f"--features {pattern} matches" in told
        assert said in told
        assert "--exclude" not in told
