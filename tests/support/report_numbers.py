"""Made evaluations and comparisons, of any size, for tests of reports."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from groupcm import GroupClassifier
from groupcm.evaluation import evaluate
from groupcm.evaluation.comparison.results import ModelComparison, ModelResult, Pair
from groupcm.evaluation.explanation import FeatureContribution
from groupcm.evaluation.results import (
    Case,
    DataCounts,
    Decision,
    Evaluation,
    Froc,
    LearningCurve,
    LearningLine,
    Reliability,
    Roc,
    Training,
    Weight,
)
from groupcm.metrics import (
    Comparison,
    FrocCurve,
    Interval,
    candidate_roc_curve,
    group_precision_recall_curve,
    group_roc_auc,
    group_roc_curve,
    operating_point,
)
from groupcm.simulate import capsule

FEATURES = ("redness", "roundness", "edge_strength", "texture_energy", "size_mm", "brightness")
MODELS = ("SVM", "MI-SVM", "GCM without grouping", "GCM")


def made_roc(shift: float, n_positive: int = 80, n_negative: int = 300, seed: int = 0) -> Roc:
    """A ROC curve of two normal distributions so far apart."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.ones(n_positive), np.zeros(n_negative)]
    scores = np.r_[rng.normal(shift, 1, n_positive), rng.normal(0, 1, n_negative)]
    curve = group_roc_curve(y, scores)
    grid = np.unique(np.r_[0, np.geomspace(1e-3, 1, 60)])
    middle = np.interp(grid, curve.fpr, curve.tpr)
    half = 0.12 * np.sqrt(np.clip(middle * (1 - middle), 0, 1)) * 2
    low, high = np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)
    return Roc(curve, about(float(group_roc_auc(y, scores)), 0.03), grid, low, high)


def about(estimate: float, half: float) -> Interval:
    """An interval inside [0, 1]."""
    return Interval(estimate, max(estimate - half, 0.0), min(estimate + 0.8 * half, 1.0))


def made_evaluation(
    *,
    features: Sequence[str] = FEATURES,
    group: str = "video_07/frame_{:05d}",
    n_positive: int = 80,
    n_negative: int = 300,
    n_cases: int = 6,
    shift: float = 2.2,
    is_chosen_here: bool = False,
    title: str = "Frames with polyps, hospital B",
    is_full: bool = True,
) -> Evaluation:
    """An evaluation with all parts, or (not ``is_full``) with as few as there can be."""
    rng = np.random.default_rng(1)
    y = np.r_[np.ones(n_positive), np.zeros(n_negative)]
    scores = np.r_[rng.normal(shift, 1, n_positive), rng.normal(0, 1, n_negative)]
    point = operating_point(y, scores, specificity=0.95)
    data = DataCounts(
        "test.parquet", 200 * len(y), n_positive, n_negative, 24 if is_full else None,
        31 if is_full else None,
    )  # fmt: skip
    weights = [
        Weight(name, float(size), float(size) / 3)
        for name, size in zip(features, rng.normal(0, 0.6, len(features)), strict=True)
    ]
    return Evaluation(
        title=title,
        version="0.0",
        training=Training(
            "GCM",
            {"lam": "0.9", "loss": "smoothed_hinge", "penalty": "huber", "grouping": "negative"},
            DataCounts("train.parquet", 1_200_000, 293, 5_700, 60) if is_full else None,
            *((0.1234567, 0.1234561, 4.9e-6, 1e-4, 2.4) if is_full else ()),
        ),
        data=data,
        group_roc=made_roc(shift, n_positive, n_negative, seed=1),
        candidate_roc=made_roc(1.4, 4 * n_positive, 40 * n_negative) if is_full else None,
        precision_recall=group_precision_recall_curve(y, scores),
        metrics={"average_precision": about(0.86, 0.05)},
        froc=_made_froc() if is_full else None,
        decision=Decision(
            point,
            "chosen for a specificity of 0.95 on 140 validation groups",
            is_chosen_here,
            about(point.sensitivity, 0.08),
            about(point.specificity, 0.02),
            point.true_positives - 3 if is_full else None,
        ),
        weights=weights,
        highest_negatives=_made_cases(n_cases, group, features, 2.4),
        lowest_positives=_made_cases(n_cases, group, features, -0.7),
        positive_scores=scores[:n_positive],
        negative_scores=scores[n_positive:],
        reliability=_made_reliability() if is_full else None,
        learning=made_learning(["GCM"]) if is_full else None,
        object_word="polyp" if is_full else "object",
        notes={"Columns": "group frame, label on_polyp"} if is_full else {},
    )


def full_evaluation(**options: Any) -> Evaluation:
    """An evaluation of a model, with levels, objects, yields and subgroups."""
    data = capsule(120, n_positive=40, n_patients=40, group_size=6, seed=0)
    model = GroupClassifier().fit(data.X, data.y, data.groups, data.overlap)
    sites = np.array(["Bern", "Oslo"])[data.patient % 2]
    given: dict[str, Any] = {
        "objects": data.polyp,
        "overlap": data.overlap,
        "levels": {"patient": data.patient},
        "by": {"site": sites},
        "specificity": 0.9,
        "groups_per_second": 5.0,
        "prevalence": 0.1,
        "unit": "frame",
        "object_word": "polyp",
        "n_resamples": 50,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of small subgroups
        return evaluate(model, data.X, data.y, data.groups, **{**given, **options})


def made_comparison(
    names: Sequence[str] = MODELS, *, title: str = "Is grouping worth it?", is_full: bool = True
) -> ModelComparison:
    """A comparison in which each model is a little better than the one before."""
    shifts = np.linspace(1.1, 2.4, len(names))
    models = [
        ModelResult(
            name,
            "Linear, trained on the best-fitting candidate of each positive group and all "
            "candidates of negative groups.",
            made_roc(float(shift), seed=k),
            made_roc(float(2.3 - shift / 2), seed=50 + k) if is_full else None,
            ["lam=0.9"] * 3 + ["lam=0.5"] * 2,
            3.7 ** (k + 0.3),
        )
        for k, (name, shift) in enumerate(zip(names, shifts, strict=True))
    ]
    pairs = [
        _made_pair(a, b) for k, a in reversed(list(enumerate(models))) for b in reversed(models[:k])
    ]
    return ModelComparison(
        title=title,
        version="0.0",
        data=DataCounts("frames.parquet", 76_000, 80, 300, 24 if is_full else None),
        n_folds=5,
        n_settings=10,
        folds_by="patients" if is_full else "groups",
        models=models,
        pairs=pairs,
        learning=made_learning(list(names)) if is_full else None,
    )


def made_learning(names: Sequence[str]) -> LearningCurve:
    """Learning curves that flatten; the last size is missing for the first model of several."""
    sizes = [25, 100, 500, 2_500, 10_000]
    lines = []
    for k, name in enumerate(names):
        ends = 0.8 + 0.15 * (1 - 0.5 ** np.arange(1, len(sizes) + 1)) * (k + 2) / (len(names) + 1)
        auc: list[Interval | None] = [about(float(end), 0.02) for end in ends]
        if len(names) > 1 and k == 0:
            auc[-1] = None
        lines.append(LearningLine(name, auc))
    return LearningCurve(sizes, "negative groups", lines)


def _made_pair(a: ModelResult, b: ModelResult) -> Pair:
    difference = a.group_roc.auc.estimate - b.group_roc.auc.estimate
    interval = Interval(difference, difference - 0.022, difference + 0.021)
    p_value = float(np.clip(np.exp(-3 * (difference / 0.022) ** 2), 0.0005, 1))
    comparison = Comparison(
        a.group_roc.auc, b.group_roc.auc, interval, p_value, 2000, "group_roc_auc"
    )
    return Pair(a.name, b.name, comparison)


def _made_froc() -> Froc:
    rng = np.random.default_rng(3)
    y = np.r_[np.ones(60), np.zeros(8000)]
    scores = np.r_[rng.normal(3, 1, 60), rng.normal(-1, 1.1, 8000)]
    curve = candidate_roc_curve(y, scores)
    return Froc(FrocCurve(curve.fpr * 8000 / 380, curve.tpr, curve.thresholds), 31, "polyp")


def _made_cases(n: int, group: str, features: Sequence[str], score: float) -> list[Case]:
    sign = np.sign(score)
    return [
        Case(
            group.format(37 * k + 11),
            score - sign * 0.17 * k,
            4_513 + 977 * k,
            f"P{k + 3:02d}",
            bool(k % 2),
            [
                FeatureContribution(name, 12.34 / (j + 1) ** 2, 3.2, sign * (1.21 - 0.4 * j))
                for j, name in enumerate(features[:4])
            ],
        )
        for k in range(n)
    ]


def _made_reliability() -> Reliability:
    predicted = np.array([0.04, 0.14, 0.27, 0.44, 0.63, 0.82, 0.96])
    observed = np.array([0.02, 0.11, 0.31, 0.40, 0.70, 0.80, 0.98])
    half = np.array([0.02, 0.05, 0.09, 0.12, 0.12, 0.09, 0.03])
    low, high = np.clip(observed - half, 0, 1), np.clip(observed + half, 0, 1)
    return Reliability(
        predicted, observed, low, high, np.array([190, 70, 40, 22, 18, 17, 23]), 0.0712
    )
