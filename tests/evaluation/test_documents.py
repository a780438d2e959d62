"""The JSON documents of evaluations and comparisons, against their schemas and the results."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import jsonschema
import pytest
from report_numbers import full_evaluation, made_comparison, made_evaluation

from groupcm.errors import InputError
from groupcm.evaluation import (
    comparison_document,
    document_schema,
    evaluation_document,
    save_document,
)
from groupcm.evaluation.documents import check_document
from groupcm.evaluation.provenance import digest_files
from groupcm.metrics import OperatingPoint


@pytest.fixture(scope="module")
def full():
    return full_evaluation()


def closed(schema):
    """A schema that allows no key that it does not name."""
    if isinstance(schema, dict):
        found = {key: closed(each) for key, each in schema.items()}
        if schema.get("type") == "object" and "additionalProperties" not in schema:
            found["additionalProperties"] = False
        return found
    return [closed(each) for each in schema] if isinstance(schema, list) else schema


def check(document) -> None:
    kind = document["schema"].split("/")[1]
    validator = jsonschema.Draft202012Validator(closed(document_schema(kind)))
    validator.validate(json.loads(json.dumps(document, allow_nan=False)))


@pytest.mark.parametrize("kind", ["evaluation", "comparison"])
def test_schemas_are_schemas(kind):
    jsonschema.Draft202012Validator.check_schema(document_schema(kind))


def test_an_evaluation_keeps_its_schema(full):
    check(evaluation_document(full))


@pytest.mark.parametrize("is_full", [True, False])
def test_other_evaluations_and_comparisons_keep_their_schemas(is_full):
    check(evaluation_document(made_evaluation(is_full=is_full)))
    check(comparison_document(made_comparison(is_full=is_full)))


def test_every_number_is_there(full):
    found = evaluation_document(full)
    point, decision = found["operating_point"], full.decision
    assert point["threshold"] == decision.point.threshold
    assert point["sensitivity"]["low"] == decision.sensitivity.low
    assert (point["target"], point["target_value"]) == ("specificity", 0.9)
    (level,) = found["levels"]
    assert level["name"] == "patient"
    assert level["n_positive"] == full.levels[0].n_positive
    assert level["operating_point"]["specificity"]["value"] == (
        full.levels[0].decision.specificity.estimate
    )
    rows = found["subgroups"][0]["rows"]
    assert [row["value"] for row in rows] == ["Bern", "Oslo"]
    assert sum(row["n_positive"] for row in rows) == 40
    assert found["objects"]["n_objects"] == full.objects.n_objects
    at = {(each["kind"], each["yield"]): each for each in found["yields"]["at_yield"]}
    assert at["objects", 0.95]["shown"] == full.yields.at_yield(0.95).shown
    assert at["objects", 0.95]["seconds_saved"] == pytest.approx(
        (1 - at["objects", 0.95]["shown"]) * 160 / 5
    )
    assert found["flow"][0]["n_groups"] == 160
    assert found["computation"]["n_resamples"] == 50
    assert found["computation"]["resampled"] == "patients"
    assert set(found["cases"]["typical"]) <= {"found", "missed", "false_alarm"}
    assert found["metrics"]["cpm"]["value"] == full.objects.sensitivity_at.mean.estimate


def test_numbers_that_are_not_finite_can_be_read_back():
    made = made_evaluation(is_full=False)
    nothing = OperatingPoint(math.inf, 0.0, 1.0, math.nan, 0, 80, 0, 300)
    found = evaluation_document(replace(made, decision=replace(made.decision, point=nothing)))
    check(found)
    assert float(found["operating_point"]["threshold"]) == math.inf
    assert found["metrics"]["precision"]["value"] is None


def test_a_document_is_saved_whole(tmp_path):
    document = evaluation_document(made_evaluation(title="f\u00fcr \ud800", is_full=False))
    path = save_document(document, tmp_path / "numbers.json")
    assert json.loads(path.read_text(encoding="utf-8"))["title"].startswith("für ")
    assert [*tmp_path.iterdir()] == [path]


def test_a_document_is_json(tmp_path):
    with pytest.raises(InputError, match=r"end its name in \.json"):
        check_document(tmp_path / "numbers.csv")
    with pytest.raises(ValueError, match="'report' is not known"):
        document_schema("report")


def test_a_tie_is_stated():
    document = comparison_document(made_comparison())
    assert {pair["is_tie"] for pair in document["pairs"]} == {True, False}


def test_digests_stop_where_files_are_large(tmp_path):
    small, large = tmp_path / "a.csv", tmp_path / "b.csv"
    small.write_bytes(b"x" * 10)
    large.write_bytes(b"x" * 100)
    found = digest_files([small, large, small], most_bytes=50)
    assert [(each.name, each.n_bytes) for each in found] == [("a.csv", 10), ("b.csv", 100)]
    assert found[0].sha256 is not None
    assert found[1].sha256 is None
