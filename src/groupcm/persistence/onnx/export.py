"""Export of a fitted model to one ONNX file, with metadata that describe it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.estimators.calibration import CalibratedGroupClassifier
from groupcm.estimators.group_model import GroupModel
from groupcm.metrics.decision import resolve_threshold
from groupcm.persistence.onnx.graph import Graph, Shape
from groupcm.persistence.onnx.outputs import (
    candidate_scores,
    group_probabilities,
    has_known_scores,
    largest_of_groups,
    n_columns,
)
from groupcm.utils.files import check_output, whole_file

__all__ = ["export_onnx"]


def export_onnx(model: Any, path: str | os.PathLike[str], *, groups: bool = True) -> None:
    """Write a fitted model as one ONNX graph; the file appears whole or not at all.

    The graph contains all steps from the raw features to the winner of each group: the feature
    map, the scale of the features, the scores, their maximum in each group and, if the model is
    calibrated, the probability. It computes in float64. It needs opset 18,
    and for trees ai.onnx.ml 5, which onnxruntime has since version 1.21.

    ========================  ===================  =================================================
    input                     shape                meaning
    ========================  ===================  =================================================
    ``X`` float32             (n, d)               one row per candidate, features as in training
    ``groups`` int64          (n,)                 the number of each candidate's group, 0 to m − 1,
                                                   in any order
    ========================  ===================  =================================================

    ========================  ===================  =================================================
    output                    shape                meaning
    ========================  ===================  =================================================
    ``scores`` float32        (n,) or (n, k)       of each candidate
    ``group_scores`` float32  (m,) or (m, k)       the largest of each group
    ``winners`` int64         (m,) or (m, k)       the row of X that has it, the first of equal ones
    ``probabilities``         (m, 2)               of each class; only of a calibrated model
    float32
    ========================  ===================  =================================================

    ``m`` is the largest number in ``groups`` plus 1. A number that no candidate has is a group
    without candidates: its score is −∞, its winner −1 and its probabilities are NaN. Negative
    numbers are refused when the graph runs. With more than two classes there is one column per
    class, k of them, in the order of ``classes_``.

    groupcm refuses features that are not finite; a graph cannot. There, a candidate whose score
    is NaN wins its group, so that the score of the group is NaN and the winner is the row to look
    at. Trees treat NaN as they do in groupcm.

    Parameters
    ----------
    model : estimator
        A fitted classifier of groupcm. Feature maps: Polynomial, RandomFourier, AdditiveChi2,
        Nystroem with the usual kernels, and some transformers of scikit-learn.
    path : str or path
        The file to write; one that exists is replaced. Its name ends in .onnx; .json, the ending
        of models that `groupcm.save` writes, is refused.
    groups : bool, default=True
        Whether the graph takes groups. False leaves only ``X`` and ``scores``.

    Notes
    -----
    The graph takes float32, which has 7 digits. Features that need more, such as times in seconds
    near 1e7 that differ by tenths, are rounded before the graph sees them, and the scores are then
    not those of groupcm. Subtract a number near their mean, in float64, before training and before
    running the graph.

    The metadata of the file are ``groupcm_version``, ``model``, ``classes`` and ``feature_names``
    (JSON lists, the names only if known), ``decision`` (how scores become classes) and, of two
    classes, ``positive_class`` (JSON; the second of ``classes``), ``threshold`` and
    ``threshold_chosen`` (what it was chosen for, in words) and ``threshold_rule`` (JSON: level,
    target, value, guarantee, chosen_on, k). The scores are float32: compare them with the
    threshold rounded to float32, so that no alarm is lost.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import onnxruntime
    >>> from groupcm import GroupClassifier
    >>> from groupcm.persistence.onnx import export_onnx
    >>> from groupcm.simulate import capsule
    >>> data = capsule(100, n_positive=30, group_size=20)
    >>> model = GroupClassifier().fit(data.X, data.y, data.groups, data.overlap)
    >>> path = Path(tempfile.mkdtemp()) / "model.onnx"
    >>> export_onnx(model, path)
    >>> session = onnxruntime.InferenceSession(path)
    >>> X, groups = data.X.astype(np.float32), data.groups.astype(np.int64)
    >>> scores, group_scores, winners = session.run(None, {"X": X, "groups": groups})
    >>> bool(np.all(winners == model.group_scores(X, groups).winner))
    True
    >>> session.get_modelmeta().custom_metadata_map["classes"]
    '[0, 1]'
    """
    scorer = _scorer_of(model)
    check_output(path, endings=[".onnx"])
    graph = Graph()
    k = n_columns(scorer)
    x = graph.input("X", np.float32, ["candidates", scorer.n_features_in_])
    scores = candidate_scores(graph, scorer, graph.cast(x, np.float64))
    columns: Shape = [] if k == 1 else [k]
    graph.output("scores", _flat(graph, scores, k), np.float32, ["candidates", *columns])
    if groups:
        numbers = graph.input("groups", np.int64, ["candidates"])
        found = largest_of_groups(graph, scores, numbers, k)
        shape: Shape = ["groups", *columns]
        graph.output("group_scores", _flat(graph, found.score, k), np.float32, shape)
        graph.output("winners", _flat(graph, found.winner, k), np.int64, shape)
        if scorer is not model:
            probability = group_probabilities(graph, model.calibrator_, found)
            graph.output("probabilities", probability, np.float32, ["groups", 2])
    content = graph.model(_description(model, groups), _metadata(model))
    with whole_file(path) as temporary:
        temporary.write_bytes(content.SerializeToString())


def _scorer_of(model: Any) -> Any:
    """Return the model that scores candidates: this one, or the one that it calibrates."""
    name = type(model).__name__
    refusal = f"cannot export a {name}: export_onnx takes a classifier of groupcm"
    if not isinstance(model, GroupModel | CalibratedGroupClassifier):
        raise InputError(refusal)
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"this {name} is not fitted yet; call fit before exporting it"
        ) from None
    scorer = model
    if isinstance(model, CalibratedGroupClassifier):
        scorer = model.estimator_
        refusal = (
            f"cannot export this {name}: it calibrates a {type(scorer).__name__}, and only "
            "classifiers of groupcm can be exported"
        )
    if not has_known_scores(scorer):
        raise InputError(refusal)
    return scorer


def _flat(graph: Graph, value: str, n_columns: int) -> str:
    """Remove the only column of a value with one column."""
    return graph.op("Squeeze", value, graph.integers([1])) if n_columns == 1 else value


def _metadata(model: Any) -> dict[str, str]:
    """Return plain texts for users of the graph without groupcm."""
    decision = "the second class where the score is at least the threshold, else the first"
    if len(model.classes_) > 2:
        decision = "the class of the largest score"
    metadata = {
        "groupcm_version": __version__,
        "model": type(model).__name__,
        "classes": json.dumps(model.classes_.tolist(), default=str),
        "decision": decision,
    }
    own = resolve_threshold(model)
    if own is not None:
        metadata["positive_class"] = json.dumps(model.classes_.tolist()[1], default=str)
        metadata["threshold"] = repr(own.value)
        metadata["threshold_chosen"] = own.chosen
        metadata["threshold_rule"] = json.dumps(asdict(own.decision))
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        metadata["feature_names"] = json.dumps([str(name) for name in names])
    return metadata


def _description(model: Any, groups: bool) -> str:
    """Describe the inputs and outputs."""
    if not groups:
        return "X: one row per candidate. scores: of each candidate."
    text = (
        "X: one row per candidate. groups: the number of each candidate's group, from 0. "
        "scores: of each candidate. group_scores: the largest of each group. winners: the row "
        "that has it, the first of equal ones; -1 if a group has no candidate."
    )
    if hasattr(model, "calibrator_"):
        text += " probabilities: of each class, one row per group."
    return text
