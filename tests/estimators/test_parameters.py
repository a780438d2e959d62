"""Hyperparameters are declared once; messages name them in Python and on the command line."""

from __future__ import annotations

import inspect
import pickle

import pytest

from groupcm import GroupBoostingClassifier, GroupClassifier, GroupClassifierCV, MISVMClassifier
from groupcm.boosting.parameters import check_tree_parameters
from groupcm.boosting.power_loss import CURVED_LOSSES
from groupcm.cli import build_parser, main
from groupcm.cli.options.spelling import in_options, name_options
from groupcm.errors import (
    Argument,
    FileName,
    InputError,
    OverlapWarning,
    ParameterError,
    PythonNote,
    UnusedParameterWarning,
)
from groupcm.estimators.hyperparameters import LINEAR, TREES, check_parameters

ESTIMATORS = [
    (GroupClassifier, LINEAR),
    (GroupClassifierCV, LINEAR),
    (MISVMClassifier, LINEAR),
    (GroupBoostingClassifier, TREES),
]
FIT = ["fit", "rows.parquet", "-o", "m.json"]


def fit_parser():
    return build_parser().parse_args(FIT).parser


@pytest.mark.parametrize(("estimator", "declared"), ESTIMATORS)
def test_every_hyperparameter_is_declared_once_with_its_default(estimator, declared):
    names = [parameter.name for parameter in declared]
    assert len(names) == len(set(names))
    parameters = dict(inspect.signature(estimator).parameters)
    assert set(parameters) <= set(names)
    for each in declared:
        if each.name in parameters and each.default is not ...:
            assert parameters[each.name].default == each.default, each.name


def test_no_hyperparameter_is_declared_that_no_estimator_has():
    for declared in (LINEAR, TREES):
        of = [
            set(inspect.signature(each).parameters) for each, some in ESTIMATORS if some is declared
        ]
        assert {each.name for each in declared} == set().union(*of)


def test_every_option_of_a_hyperparameter_is_one_of_fit():
    help = " ".join(fit_parser().format_help().split())
    for each in {*LINEAR, *TREES}:
        if each.option is not None:
            assert f"{each.option} " in help
            text = " ".join(each.help.replace("%%", "%").split())
            assert text in help


@pytest.mark.parametrize("estimator", [GroupClassifier, MISVMClassifier])
def test_a_wrong_value_is_an_error_with_the_parameter(estimator):
    model = estimator(tol=-1)
    with pytest.raises(ValueError, match="tol must be a number above 0; got -1") as raised:
        model.fit([[0.0], [1.0]], [0, 1], [0, 1])
    assert isinstance(raised.value, ParameterError)
    assert raised.value.parameter == "tol"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (GroupClassifier(l1_ratio=0.9), 'l1_ratio has no effect without penalty="elasticnet".'),
        (GroupClassifier(penalty="l1", epsilon=2), 'epsilon has no effect without penalty="huber"'),
        (MISVMClassifier(loss="hinge", delta=0.1), "delta has no effect without loss="),
        (GroupBoostingClassifier(delta=0.1), "delta has no effect without loss="),
        (GroupClassifier(lam=0.9, C=1.0), "lam has no effect with C."),
        (MISVMClassifier(lam=0.9, C=1.0), "lam has no effect with C."),
    ],
)
def test_a_parameter_without_effect_is_warned_of(model, said):
    if isinstance(model, GroupBoostingClassifier):
        model.set_params(n_estimators=1, early_stopping=False, min_child_samples=5)
    X, y, groups = [[0.0], [1.0], [0.1], [0.3]] * 20, [0, 1, 0, 0] * 20, [*range(40), *range(40)]
    with pytest.warns(UnusedParameterWarning, match=said):
        model.fit(X, y, groups)


def test_the_defaults_of_other_losses_and_penalties_are_no_mistake():
    X, y, groups = [[0.0], [1.0], [0.1], [0.3]], [0, 1, 0, 0], [0, 0, 1, 1]
    assert GroupClassifier(loss="logistic", penalty="l1").fit(X, y, groups).gap_ <= 1e-4
    assert GroupClassifier(C=1.0).fit(X, y, groups).gap_ <= 1e-4


@pytest.mark.parametrize(
    ("check", "given", "said"),
    [
        (check_parameters, {"lam": 1.0}, "--lam must be a number between 0 and 1"),
        (check_parameters, {"standardize": "no"}, "--no-standardize must be True or False"),
        (check_parameters, {"max_passes": 0}, "--max-passes must be a number above 0; got 0."),
        (check_tree_parameters, {"n_warm_up": -1}, "--n-warm-up must be a whole number of at"),
        (check_tree_parameters, {"power": 0.0}, "--power must be a number of at least 1; got 0.0."),
    ],
)
def test_the_command_line_spells_the_parameter_as_its_option(check, given, said):
    name_options(fit_parser())
    with pytest.raises(ParameterError) as raised:
        check(given, *[LINEAR] * (check is check_parameters))
    assert in_options(raised.value).startswith(said)
    assert str(raised.value).startswith(f"{next(iter(given))} must be")


@pytest.mark.parametrize(
    ("part", "python", "command"),
    [
        (Argument("memory"), "memory", "--memory"),
        (Argument("background", "negative"), 'background="negative"', "--background negative"),
        (Argument("cv", 3), "cv=3", "--folds 3"),
        (Argument("checkpoint", None), "checkpoint=None", "no --checkpoint"),
        (Argument("standardize", False), "standardize=False", "--no-standardize"),
        (Argument("pos_label", "a b"), 'pos_label="a b"', "--positive 'a b'"),
        (Argument("max_iter"), "max_iter", "max_iter"),
        (FileName("rows.csv"), "rows.csv", "rows.csv"),
        (PythonNote("in Python"), "in Python", ""),
        (InputError("raise ", Argument("tol")), "raise tol", "raise --tol"),
        (OSError("no room"), "no room", "no room"),
    ],
)
def test_a_part_of_a_message_in_python_and_on_the_command_line(part, python, command):
    name_options(fit_parser())
    error = InputError("<", part, ">")
    assert str(error) == f"<{python}>"
    assert in_options(error) == f"<{command}>"


def test_another_command_names_the_option_of_fit():
    name_options(build_parser().parse_args(["describe", "m.json"]).parser)
    warning = OverlapWarning("lower ", Argument("min_overlap"), ".")
    assert in_options(warning) == "lower --min-overlap of groupcm fit."


def test_the_fields_of_an_error_survive_a_process_and_a_longer_message():
    inner = InputError(FileName("rows.csv"), " has no ", column="frame", row=3, group="g")
    error = InputError("first: ", inner, Argument("memory", "2GB"))
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert str(each) == 'first: rows.csv has no memory="2GB"'
        fields = each.file, each.column, each.row, each.group, each.parameter
        assert fields == ("rows.csv", "frame", 3, "g", "memory")
        assert each.message(lambda part: "x") == "first: x has no x"


def test_braces_and_line_ends_of_names_are_only_text():
    error = InputError(FileName("{0}\n{memory}.csv"), " is empty; raise ", Argument("memory"))
    assert str(error) == r"{0}\n{memory}.csv is empty; raise memory"


def test_main_prints_the_option(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*FIT, "--group", "g", "--label", "y", "--epsilon", "0"]) == 2
    assert capsys.readouterr().err == "groupcm: --epsilon must be a number above 0; got 0.0.\n"


def test_the_losses_of_trees_are_those_with_curvature():
    (declared,) = [parameter for parameter in TREES if parameter.name == "loss"]
    assert declared.values.choices == CURVED_LOSSES
