"""
All displays on one sheet
=========================

The displays of :mod:`groupcm.plots` follow those of scikit-learn: ``from_estimator`` takes a fitted
model and data, ``from_predictions`` takes scores, and both draw into the axes that they are given.
The reports of ``groupcm evaluate`` draw with the same classes. This example draws nine of them for
one calibrated model, and ends with the model as a notebook shows it.
"""

# %%
# A calibrated model
# ------------------
# λ is chosen by folds that split no patient. The scores of the left-out frames also give the
# threshold and the probabilities.

import matplotlib.pyplot as plt
import pandas as pd

from groupcm import CalibratedGroupClassifier, GroupClassifierCV, plots
from groupcm.simulate import capsule

size = {"n_negative": 500, "n_positive": 120, "n_patients": 80, "group_size": 40}
train = capsule(**size, seed=0)
test = capsule(**size, seed=1)
X, X_test = (pd.DataFrame(each.X, columns=each.feature_names) for each in (train, test))

search = GroupClassifierCV(lams=8, cv=4)
search.fit(X, train.y, train.groups, train.overlap, patients=train.patient)
model = CalibratedGroupClassifier.of_held_out(search)
model.tune_threshold(specificity=0.9)
scores = model.decision_function(X_test)

# %%
# Nine displays
# -------------
# ``clusters`` adds confidence bands that resample whole patients, and ``threshold`` marks the
# operating point.

fig, axes = plt.subplots(3, 3, figsize=(13.5, 12.5), layout="constrained")
data = test.y, scores, test.groups
marked = {"threshold": model.threshold_}
ours = {"clusters": test.patient, "n_resamples": 200}
polyps = {"objects": test.polyp, "object_word": "polyp"}

displays = [
    plots.GroupRocDisplay.from_predictions(*data, **ours, **marked, ax=axes[0, 0]),
    plots.PrecisionRecallDisplay.from_predictions(*data, **ours, **marked, ax=axes[0, 1]),
    plots.ScoreDistributionDisplay.from_predictions(*data, **marked, ax=axes[0, 2]),
    plots.FrocDisplay.from_predictions(*data, **polyps, **ours, **marked, ax=axes[1, 0]),
    plots.AfrocDisplay.from_predictions(*data, **polyps, clusters=test.patient, ax=axes[1, 1]),
    plots.YieldDisplay.from_predictions(*data, **polyps, unit="frame", ax=axes[1, 2]),
    plots.ReliabilityDisplay.from_estimator(
        model, X_test, test.y, test.groups, clusters=test.patient, ax=axes[2, 0]
    ),
    plots.WeightsDisplay.from_estimator(search, top=8, ax=axes[2, 1]),
    plots.LambdaPathDisplay.from_estimator(search, ax=axes[2, 2]),
]
for display in displays:
    display.ax_.set_title(type(display).__name__, fontweight="bold")
plt.show()

# %%
# The model in a notebook
# -----------------------
# As the last expression of a cell, a fitted model shows its certificate, its threshold and its
# largest weights below the diagram of scikit-learn.

model
