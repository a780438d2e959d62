"""``python -m benchmarks.guarantees``: how often guaranteed thresholds fail on new patients.

Validation sets of several numbers of patients are drawn again and again, and the threshold that
each gives is compared with the population, whose sensitivity or false alarms are known. A guarantee
with a confidence of 0.9 may fail in a tenth of the sets. The second figure is what the guarantee
costs: the specificity of the threshold, or for false alarms the sensitivity, on average over the
sets; a threshold that could not be found counts as one at which every group (no group) alarms.

    frame     a score is N(1.5, 1) where the frame is positive, else N(0, 1); one frame per patient
    patient   1 to 11 positive frames of each patient, an effect of the patient, N(0, 1), on top
    alarms    20 candidates per frame with that effect; at most 10 are counted per frame

MAPIE's Learn-then-Test for binary classifiers is measured where it is installed, with its default
correction and with a fixed sequence; it takes frames to be independent. "MAPIE's bound of patients"
is the p-value that it uses for losses between 0 and 1 (Hoeffding–Bentkus), of patients' shares.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from benchmarks.support.measure import say
from benchmarks.support.text_table import aligned
from groupcm.metrics import operating_point

__all__ = ["main"]

PATIENTS = (30, 60, 120, 480)
TARGET, CONFIDENCE, ALARMS = 0.9, 0.9, 0.5
SHIFT = 1.5
_CANDIDATES, _MOST = 20, 10
_GRID = np.linspace(-6.0, 8.0, 1401)

Vector = NDArray[np.float64]
Method = Callable[[np.random.Generator, int], tuple[float, float]]
How = Callable[[Vector, Vector, NDArray[np.intp]], float]


def main(arguments: list[str] | None = None) -> int:
    """Print violations and costs; 1 where more guarantees fail than a confidence of 0.9 allows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guarantees", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    lines = [("case", "patients", "method", "violations", "none found", "specificity kept")]
    worst = 0.0
    for n_patients in PATIENTS:
        for case, methods in _cases().items():
            rng = np.random.default_rng([n_patients, len(case)])
            for method, found in _measure(methods, n_patients, options.runs, rng).items():
                shown = [f"{share:.3f}" for share in found]
                lines.append((case, str(n_patients), method, *shown))
                worst = max(worst, found[0]) if method.startswith("groupcm") else worst
        say(f"    {n_patients} patients: done")
    print(f"{options.runs} validation sets each; target {TARGET:g} (alarms: at most {ALARMS:g} per")
    print(f"frame) with a confidence of {CONFIDENCE:g}; of alarms the sensitivity is shown as kept")
    print(aligned(lines))
    allowed = 1.0 - CONFIDENCE + 3.0 * math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / options.runs)
    return int(worst > allowed)


def _cases() -> dict[str, dict[str, Method]]:
    """For each case its methods, from a validation set to what is kept, and at which cost."""

    def on_frames(how: How) -> Method:
        return lambda rng, n: _kept(how(*_frames(rng, n)), _frame_sensitivity)

    def on_patients(how: How) -> Method:
        return lambda rng, n: _kept(how(*_videos(rng, n)), _video_sensitivity)

    found = {"frame": {"groupcm": on_frames(_ours)}, "patient": {"groupcm": on_patients(_ours)}}
    try:
        import mapie.risk_control  # noqa: F401
    except ImportError:
        say("MAPIE is not installed (pip install mapie); groupcm is measured alone")
    else:
        for name, how in (
            ("MAPIE, default", "bonferroni_holm"),
            ("MAPIE, fixed sequence", "fixed_sequence"),
        ):
            found["frame"][name] = on_frames(partial(_mapie, how=how))
            found["patient"][name] = on_patients(partial(_mapie, how=how))
        found["patient"]["MAPIE's bound of patients"] = on_patients(_mapie_of_patients)
    found["patient"]["groupcm, one frame of each"] = lambda rng, n: _kept(
        _ours(*_videos(rng, n), target="patient_sensitivity"), _patient_sensitivity
    )
    found["alarms"] = {"groupcm": _alarms}
    return found


def _measure(
    methods: dict[str, Method], n_patients: int, n_runs: int, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Return the share of violations, the share without a threshold, and the mean cost."""
    seeds = rng.integers(2**62, size=n_runs)
    found = {}
    for name, method in methods.items():
        kept = np.array([method(np.random.default_rng(seed), n_patients) for seed in seeds])
        # No threshold breaks nothing.
        broken = float(np.mean(kept[:, 0] < 0.0))
        found[name] = (broken, float(np.mean(np.isnan(kept[:, 0]))), float(kept[:, 1].mean()))
    return found


def _kept(threshold: float, sensitivity: Callable[[float], float]) -> tuple[float, float]:
    """Return by how much the target is kept, and the specificity."""
    if math.isnan(threshold):
        return math.nan, 0.0
    return sensitivity(threshold) - TARGET, float(norm.cdf(threshold / _spread(sensitivity)))


def _spread(sensitivity: Callable[[float], float]) -> float:
    return 1.0 if sensitivity is _frame_sensitivity else math.sqrt(2.0)


def _frames(rng: np.random.Generator, n: int) -> tuple[Vector, Vector, NDArray[np.intp]]:
    y = np.repeat([1.0, 0.0], n)
    return y, SHIFT * y + rng.standard_normal(2 * n), np.arange(2 * n)


def _videos(rng: np.random.Generator, n: int) -> tuple[Vector, Vector, NDArray[np.intp]]:
    sizes = rng.integers(1, 12, 2 * n)
    patient = np.repeat(np.arange(2 * n), sizes)
    y = (patient < n).astype(float)
    effect = rng.standard_normal(2 * n)[patient]
    return y, SHIFT * y + effect + rng.standard_normal(len(y)), patient


def _frame_sensitivity(threshold: float) -> float:
    return float(norm.sf(threshold - SHIFT))


def _video_sensitivity(threshold: float) -> float:
    return float(norm.sf((threshold - SHIFT) / math.sqrt(2.0)))


def _patient_sensitivity(threshold: float) -> float:
    """Integrate 1 − Φ(t − 1.5 − u)^n over the effect u, on average over n from 1 to 11."""
    weight = norm.pdf(_GRID)
    below = norm.cdf(threshold - SHIFT - _GRID)
    missed = np.mean([below**n for n in range(1, 12)], axis=0)
    return 1.0 - float((missed * weight).sum() / weight.sum())


def _ours(y: Vector, scores: Vector, patient: NDArray[np.intp], target="sensitivity") -> float:
    wanted = {target: TARGET}
    return operating_point(y, scores, confidence=CONFIDENCE, clusters=patient, **wanted).threshold


def _alarms(rng: np.random.Generator, n: int) -> tuple[float, float]:
    """Return by how much the false alarms stay below their number, and the sensitivity."""
    effect = rng.standard_normal(n)
    negatives = rng.standard_normal((n, _CANDIDATES)) + effect[:, None]
    y = np.append(np.zeros(negatives.size), 1.0)
    threshold = operating_point(
        y,
        np.append(negatives.ravel(), 1e6),
        np.append(np.repeat(np.arange(n), _CANDIDATES), n),
        false_alarms=ALARMS,
        confidence=CONFIDENCE,
        most_per_group=_MOST,
    ).threshold
    if threshold > 1e5:
        return math.nan, 0.0
    # The number of alarms of a frame is binomial given its effect.
    share = norm.sf(threshold - _GRID)
    counted = _counted(share)
    weight = norm.pdf(_GRID)
    mean = float((counted * weight).sum() / weight.sum())
    return ALARMS - mean, float(norm.sf((threshold - 2 * SHIFT) / math.sqrt(2.0)))


def _counted(share: Vector) -> Vector:
    """Return E min(Bin(20, share), 10)."""
    from scipy.stats import binom

    return sum((binom.sf(k, _CANDIDATES, share) for k in range(_MOST)), np.zeros_like(share))


def _mapie(y: Vector, scores: Vector, _: NDArray[np.intp], how: str) -> float:
    from mapie.risk_control import BinaryClassificationController

    def probabilities(values: Vector) -> Vector:
        one = expit(SHIFT * values.ravel() - SHIFT**2 / 2.0)  # that of the frame case
        return np.column_stack([1.0 - one, one])

    controller = BinaryClassificationController(
        probabilities, "recall", TARGET, confidence_level=CONFIDENCE, fwer_method=how
    )
    controller.calibrate(scores[:, None], y)
    share = controller.best_predict_param
    if share is None:
        return math.nan
    share = float(share)
    return -math.inf if share <= 0 else (math.log(share / (1.0 - share)) + SHIFT**2 / 2.0) / SHIFT


def _mapie_of_patients(y: Vector, scores: Vector, patient: NDArray[np.intp]) -> float:
    """Test the shares of patients in a fixed sequence, with the p-value that MAPIE computes."""
    from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value

    of_patient = np.split(scores[y == 1], np.flatnonzero(np.diff(patient[y == 1])) + 1)
    thresholds = np.unique(scores[y == 1])
    missed = np.mean(
        [np.searchsorted(np.sort(each), thresholds, "left") / len(each) for each in of_patient],
        axis=0,
    )
    p = compute_hoeffding_bentkus_p_value(missed, len(of_patient), 1.0 - TARGET)[:, 0]
    passes = np.flatnonzero(p <= 1.0 - CONFIDENCE)
    return float(thresholds[passes[-1]]) if len(passes) else math.nan


if __name__ == "__main__":
    sys.exit(main())
