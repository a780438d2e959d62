"""The fuzz harness itself: what it notices, what it forgives, and that its oracle is right."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from oracle import GroupProblem

from fuzz import command
from fuzz.cases import draw_case, shrink_case
from fuzz.certificate import Claim, Point, check_claim, columns_set_aside
from fuzz.forking import Zygote
from fuzz.outcomes import Failed, Verdict
from fuzz.problem_data import make_rows

if not sys.platform.startswith("linux"):
    pytest.skip("the fuzzers run on Linux only", allow_module_level=True)


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as zygote:
        yield zygote


@pytest.mark.parametrize(
    ("what", "outcome", "check"),
    [
        ("nothing", "ok", ""),
        ("folder", "ok", ""),
        ("refused", "refused", ""),
        ("two lines", "unclean_error", "ValueError"),
        ("error", "unclean_error", "KeyError"),
        ("wrong", "wrong_model", "the sum is large"),
        ("segfault", "death", "SIGSEGV while misbehaving"),
        ("abort", "death", "SIGABRT while misbehaving"),
        ("exit", "death", "status 3 while misbehaving"),
        ("murder", "death", "the process that forks has ended"),
        ("spin", "over_time", "while misbehaving"),
        ("greedy", "over_memory", "MemoryError"),
        ("wasteful", "over_memory", "peak while misbehaving"),
    ],
)
def test_every_end_of_a_process_has_its_outcome(zygote, what, outcome, check):
    verdict = zygote.run("misbehaving", {"what": what, "list": [11]})
    assert (verdict.outcome, verdict.check[: len(check)]) == (outcome, check), verdict


def test_a_case_is_the_same_wherever_it_is_drawn():
    first = draw_case("problems", 5, 3)
    assert json.loads(json.dumps(first)) == first == draw_case("problems", 5, 3)
    assert first != draw_case("problems", 5, 4) != draw_case("problems", 6, 4)


def test_a_failure_shrinks_to_the_smallest_case_with_the_same_check(zygote):
    wanted = ("wrong_model", "the sum is large")

    def run(case):
        return zygote.run("misbehaving", case)

    number = next(n for n in range(50) if _failed(run(draw_case("misbehaving", 0, n)), wanted))
    verdict = run(draw_case("misbehaving", 0, number))
    case, smallest = shrink_case("misbehaving", 0, number, run, verdict)
    assert case == {"what": "wrong", "list": [11]}
    assert _failed(smallest, wanted)


def _failed(verdict: Verdict, wanted: tuple[str, str]) -> bool:
    return (verdict.outcome, verdict.check) == wanted


def test_a_run_counts_describes_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "TARGETS", {"misbehaving": 1.0})
    monkeypatch.setattr(command, "_MOST_DESCRIBED", 1)
    run = ["--cases", "12", "--seed", "0", "--target", "misbehaving"]
    assert command.main([*run, "--jobs", "1"]) == 1
    printed = capsys.readouterr().out
    assert "12 " in printed.split("misbehaving", 1)[1]
    (repro,) = (tmp_path / ".fuzz").glob("*.json")
    assert f"--replay {repro.relative_to(tmp_path)}" in printed
    assert command.main(["--replay", str(repro)]) == 1
    journal = tmp_path / ".fuzz" / "run-0.jsonl"
    lines = journal.read_text().splitlines()
    assert len(lines) == 12
    journal.write_text("\n".join(line for line in lines if "death" not in line) + "\n")
    assert command.main([*run, "--resume"]) == 1
    assert _ends(journal.read_text().splitlines()) == _ends(lines)


def _ends(lines: list[str]) -> list[tuple[int, str]]:
    return sorted((number, fields["outcome"]) for _, number, fields in map(json.loads, lines))


# Two rows of one column at +1 and −1: with the hinge and the squared norm, as C grows, the widest
# margin, w = 1 and b = 0, of objective 1; below C = 1 the objective is 2C − C².
@pytest.mark.parametrize(("C", "w", "value"), [(0.25, 0.25, 0.4375), (5.0, 1.0, 1.0)])
def test_the_oracle_agrees_with_a_solution_in_closed_form(C, w, value):
    X = np.array([[10.0], [30.0]])
    problem = GroupProblem(X, [0, 1], positive_label=1, loss="hinge", penalty="l2", C=C)
    assert problem.objective(np.array([w]), 0.0) == pytest.approx(value, rel=1e-14)
    best = problem.solve()
    assert best.value == pytest.approx(value, rel=1e-7)
    claim = Claim(np.array([w / 10.0]), -2.0 * w, value, value - 1e-12, 1e-12 / value)
    point = Point("cvxpy's", best.w, best.b)
    check_claim(problem, claim, [point])


def _claimed(**changed):
    """A true claim about a small problem in closed form, but for what is changed."""
    X = np.array([[10.0], [30.0]])
    problem = GroupProblem(X, [0, 1], positive_label=1, loss="hinge", penalty="l2", C=5.0)
    claim = {"coef": np.array([0.1]), "intercept": -2.0, "objective": 1.0, "lower_bound": 1 - 1e-6}
    claim |= changed
    gap = changed.get("gap", (claim["objective"] - claim["lower_bound"]) / claim["objective"])
    return problem, Claim(**claim | {"gap": gap}), [Point("optimal", np.array([1.0]), 0.0)]


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"objective": 1.0 + 1e-8}, "wrong_model"),
        ({"intercept": -2.0 - 1e-8}, "wrong_model"),
        ({"coef": np.array([0.1 + 1e-8])}, "wrong_model"),
        ({"lower_bound": 1.0 + 1e-8}, "false_bound"),
        ({"gap": 0.0}, "false_bound"),
    ],
)
def test_a_claim_that_is_off_by_a_hundred_millionth_is_false(changed, outcome):
    check_claim(*_claimed())
    with pytest.raises(Failed) as failed:
        check_claim(*_claimed(**changed))
    assert failed.value.outcome == outcome


def test_a_bound_above_the_objective_of_another_point_is_false():
    problem, claim, points = _claimed(
        coef=np.array([0.2]), intercept=-4.0, objective=4.0, lower_bound=1.0 + 1e-8
    )
    with pytest.raises(Failed, match="of optimal"):
        check_claim(problem, claim, points)


def test_rounding_is_forgiven_by_as_much_as_large_means_cost():
    """Weights of rows around 1e8 fix scores to about 1e-8 only; those of rows around 1 to 1e-16."""
    for mean, forgiven in ((1e8, True), (1.0, False)):
        X = mean + np.array([[-1.0], [1.0]])
        problem = GroupProblem(X, [0, 1], positive_label=1, loss="hinge", penalty="l2", C=0.25)
        claim = Claim(np.array([0.25]), -0.25 * mean + 2e-8, 0.4375, 0.4374, 0.0001 / 0.4375)
        # The loss of one row falls as much as that of the other grows, so they weigh differently.
        problem.terms = [problem.terms[0]]
        expected = 0.0625 + 0.25 * 0.75
        claim = Claim(claim.coef, claim.intercept, expected, expected - 1e-6, 1e-6 / expected)
        if forgiven:
            check_claim(problem, claim, [])
        else:
            with pytest.raises(Failed, match="returned weights"):
                check_claim(problem, claim, [])


def test_a_weight_on_a_constant_column_is_a_wrong_model():
    X = np.column_stack([np.full(6, 1e3), np.arange(6.0)])
    X[0, 0] = np.nextafter(1e3, 2e3)
    assert columns_set_aside(X, np.array([[0.0, 1.0]])).tolist() == [True, False]
    with pytest.raises(Failed, match="constant column"):
        columns_set_aside(X, np.array([[1e-9, 1.0]]))


def test_rows_without_a_group_or_a_column_keep_the_others():
    """So that shrinking a case does not change what is left of it."""
    case = draw_case("problems", 1, 0) | {"twins": False, "shuffled": False, "kind": "float64"}
    case["columns"] = [{"kind": "normal", "scale": 0, "mean": None}] * 3
    rows = make_rows(case)
    fewer = make_rows(case | {"groups": case["groups"][:-1], "columns": case["columns"][:-1]})
    np.testing.assert_array_equal(fewer.X, rows.X[: len(fewer.X), :-1])
