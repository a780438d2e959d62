"""Target: damaged model files of every kind, their checksum made to fit again."""

from __future__ import annotations

import hashlib
import json
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import groupcm
from fuzz.damage import byte_edits, damage_bytes, damage_json, dump_damaged, json_edits
from fuzz.forking import Sandbox
from fuzz.outcomes import Failed, Verdict, judge_refusal
from fuzz.shell import run_command
from groupcm import features

__all__ = ["MEGABYTES", "cases", "check_model_file", "run", "sealed", "warm_up"]

Case = dict[str, Any]

MEGABYTES = 2000
# What reading and using a file of less than 100 KB may take.
FILE_SECONDS = 8
FILE_MEGABYTES = 200

# Models that this version writes, and files that earlier versions wrote.
FRESH = (
    "two classes", "three classes", "no names", "cross-validated", "witnesses", "trees",
    "calibrated", "isotonic", "calibrated trees", "polynomial", "fourier", "nystroem", "pipeline",
    "spline", "quantiles", "bins",
)  # fmt: skip
EARLIER = {
    path.stem: path
    for path in sorted(Path(__file__).parents[1].glob("files/models_v*/*.json"))
    if path.stem != "expected_scores"
}
VIA = ("load", "load", "load", "describe", "score", "export")
# The files of whole models, written once by `warm_up`.
_files: dict[str, bytes] = {}
_table: list[bytes] = []


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a model, a way to read it, and what is wrong with its file."""
    how = draw(st.sampled_from(["json", "json", "json", "bytes"]))
    return {
        "model": draw(st.sampled_from([*FRESH, *EARLIER])),
        "via": draw(st.sampled_from(VIA)),
        "how": how,
        "edits": draw(json_edits() if how == "json" else byte_edits()),
    }


def warm_up() -> None:
    """Fit and save a model of every kind."""
    if _files:
        return
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    import sklearn.preprocessing as skp
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    import groupcm.cli.commands.describe
    import groupcm.cli.commands.export
    import groupcm.cli.commands.score

    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 4)
    X = rng.random((80, 5))
    y = ((groups % 2 == 0) & (np.arange(80) % 4 == 0)).astype(int)
    X[y == 1] += 0.5
    names = [f"f{j}" for j in range(5)]

    def linear(**options: Any) -> Any:
        return groupcm.GroupClassifier(lam=0.8, random_state=0, **options)

    def trees() -> Any:
        return groupcm.GroupBoostingClassifier(
            4, num_leaves=5, min_child_samples=3, early_stopping=False, random_state=0
        )

    def mapped(transformer: Any) -> Any:
        return linear(feature_map=transformer.fit(X))

    models = {
        "two classes": linear(),
        "three classes": linear(),
        "no names": linear(),
        "cross-validated": groupcm.GroupClassifierCV(lams=3, cv=2, random_state=0),
        "witnesses": groupcm.MISVMClassifier(lam=0.8),
        "trees": trees(),
        "calibrated": groupcm.CalibratedGroupClassifier(linear(), cv=2),
        "isotonic": groupcm.CalibratedGroupClassifier(linear(), method="isotonic", cv=2),
        "calibrated trees": groupcm.CalibratedGroupClassifier(trees(), cv=2),
        "polynomial": linear(feature_map=features.Polynomial(2)),
        "fourier": linear(feature_map=features.RandomFourier(6, random_state=0)),
        "nystroem": linear(feature_map=features.Nystroem(6, random_state=0)),
        "pipeline": mapped(make_pipeline(skp.StandardScaler(), PCA(3, random_state=0))),
        "spline": mapped(skp.SplineTransformer(n_knots=3)),
        "quantiles": mapped(skp.QuantileTransformer(n_quantiles=9, random_state=0)),
        "bins": mapped(skp.KBinsDiscretizer(3, encode="onehot-dense", random_state=0)),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        for kind, model in models.items():
            labels = np.where(y == 1, 1 + groups % 4 // 2, 0) if kind == "three classes" else y
            rows = X if kind == "no names" else pd.DataFrame(X, columns=names)
            model.fit(rows, labels, groups=groups)
            groupcm.save(model, path, notes={"columns": {"group": "frame", "label": "label"}})
            _files[kind] = path.read_bytes()
        _files.update({kind: earlier.read_bytes() for kind, earlier in EARLIER.items()})
        for content in _files.values():
            path.write_bytes(content)
            use_model(groupcm.load(path))
        table = pa.table({"frame": groups, **{name: X[:, j] for j, name in enumerate(names)}})
        pq.write_table(table, path)
        _table[:] = [path.read_bytes()]


def run(case: Case, sandbox: Sandbox) -> Verdict:
    """Read a damaged file: it must be refused in one sentence, or give a model that works."""
    content = _files[case["model"]]
    if case["how"] == "json":
        content = sealed(*damage_json(json.loads(content), case["edits"])).encode()
    else:
        content = damage_bytes(content, case["edits"])
        with suppress(ValueError, RecursionError):  # it may be no JSON any more
            content = sealed(json.loads(content), {}).encode()
    return check_model_file(content, case["via"], sandbox)


def sealed(content: dict[str, Any], raw: dict[str, str]) -> str:
    """The text of a model file, with the checksum of what it holds."""
    if not isinstance(content, dict):
        return dump_damaged(content, raw)
    content.pop("sha256", None)
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    return dump_damaged(content, raw)


def check_model_file(content: bytes, via: str, sandbox: Sandbox) -> Verdict:
    """Read a model file by ``load`` or by a command, and use what it gives."""
    path = sandbox.folder / "model.json"
    path.write_bytes(content)
    with sandbox.budget(f"reading a model ({via})", FILE_SECONDS):
        verdict = _load_and_use(path) if via == "load" else _command(via, path, sandbox)
    sandbox.require_memory(FILE_MEGABYTES + len(content) / 1000)
    return verdict


def _load_and_use(path: Path) -> Verdict:
    try:
        model = groupcm.load(path)
    except Exception as error:
        return _judge_load(error)
    use_model(model)
    again = path.with_name("again.json")
    groupcm.save(model, again)
    groupcm.load(again)
    return Verdict("ok")


def _judge_load(error: Exception) -> Verdict:
    verdict = judge_refusal(error)
    if verdict.outcome == "refused" and not isinstance(error, groupcm.errors.InputError):
        return Verdict("unclean_error", "load raises no InputError", verdict.detail)
    return verdict


def use_model(model: Any) -> None:
    """Score candidates and groups in every way that the model offers."""
    width = model.n_features_in_
    if not isinstance(width, int) or not 0 < width < 10_000:
        raise Failed("wrong_model", "a model of an impossible number of features", repr(width))
    X = np.random.default_rng(1).random((12, width))
    groups = np.repeat(np.arange(4), 3)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        repr(model)
        model.get_params()
        names = getattr(model, "feature_names_in_", None)
        if names is not None:
            import pandas as pd

            rows: Any = pd.DataFrame(X, columns=names)
        else:
            rows = X
        scores = np.asarray(model.decision_function(rows))
        model.predict(rows)
        found = model.group_scores(rows, groups)
        model.predict_groups(rows, groups)
        if hasattr(model, "predict_proba_groups"):
            chances = np.asarray(model.predict_proba_groups(rows, groups))
            if not np.all((chances >= 0) & (chances <= 1)):
                raise Failed("wrong_model", "a probability is not within 0 and 1", "")
    if len(scores) != 12 or len(found.score) != 4:
        raise Failed("wrong_model", "not one score per candidate and group", f"{scores.shape}")
    winner = np.asarray(found.winner).reshape(4, -1)
    if np.any(winner // 3 != np.arange(4)[:, None]):
        raise Failed("wrong_model", "a winner is not of its group", f"{winner.tolist()}")
    of_winner = scores.reshape(12, -1)[winner, np.arange(winner.shape[1])]
    score = np.asarray(found.score).reshape(4, -1)
    if np.any(np.isnan(scores)) or not np.allclose(of_winner, score, rtol=1e-6, equal_nan=True):
        raise Failed("wrong_model", "scores are NaN, or groups have others", f"{score.tolist()}")


def _command(via: str, path: Path, sandbox: Sandbox) -> Verdict:
    if via == "describe":
        return run_command(["describe", path])
    if via == "export":
        output = sandbox.folder / "out" / "model.onnx"
        output.parent.mkdir()
        return run_command(["export", path, "-o", output], output)
    table, output = sandbox.folder / "table.parquet", sandbox.folder / "out" / "scores.csv"
    table.write_bytes(_table[0])
    output.parent.mkdir()
    return run_command(["score", path, table, "-o", output], output)
