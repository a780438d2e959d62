"""
From frames to patients
=======================

A capsule video has thousands of frames, and a physician wants to know how well a model works for
videos and patients, and how many frames remain to be seen. This example simulates videos of
patients with polyps that are seen in several frames, chooses a threshold with a guarantee, and
evaluates frames, videos and patients in one call.
"""

# %%
# Three sets of patients: to train, to choose the threshold, and to test. Every candidate has a
# frame, a video and a patient.

import matplotlib.pyplot as plt

from groupcm import GroupClassifierCV, simulate
from groupcm.evaluation import evaluate
from groupcm.plots import GroupRocDisplay, YieldDisplay

size = {"frames_per_video": 20, "group_size": 12, "share_with_polyps": 0.5, "world": 1}
train, validation, test = (simulate.videos(120, seed=seed, **size) for seed in range(3))
model = GroupClassifierCV(lams=[0.1, 0.5, 0.9]).fit(
    train.X, train.y, train.groups, train.overlap, patients=train.patient
)

# %%
# The threshold is to find at least one frame of 90 % of the patients with polyps, on new patients
# with a confidence of 0.9. The model keeps this decision.

model.tune_threshold(
    validation.X,
    validation.y,
    validation.groups,
    patients=validation.patient,
    patient_sensitivity=0.9,
    confidence=0.9,
)
print(model.decision_.words)

# %%
# All intervals resample patients.

found = evaluate(
    model,
    test.X,
    test.y,
    test.groups,
    objects=test.polyp,
    levels=test.levels,
    n_resamples=200,
    unit="frame",
)
frame = found.decision
print(f"frames: sensitivity {frame.sensitivity.estimate:.2f}, ", end="")
print(f"specificity {frame.specificity.estimate:.2f}")
for level in found.levels:
    decision, auc = level.decision, level.roc.auc
    print(f"{level.name}s: AUC {auc.estimate:.2f} ({auc.low:.2f} to {auc.high:.2f}), ", end="")
    print(f"{decision.point.true_positives} of {level.n_positive} with polyps raise an alarm")

# %%
# The curves of the three levels, and the frames that a reader has to see to find the polyps: in the
# right figure the line marks the threshold.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for name, roc in (
    ("frame", found.group_roc),
    *((level.name, level.roc) for level in found.levels),
):
    GroupRocDisplay(roc.curve, roc.auc, name=name).plot(left)
left.set_xlabel("Negatives called positive (1 − specificity)")
left.set_ylabel("Positives found (sensitivity)")
YieldDisplay(found.yields, unit="frame", object_word="polyp", threshold=frame.point.threshold).plot(
    right
)
plt.show()
