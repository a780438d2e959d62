"""
Probabilities that can be trusted
=================================

A score ranks groups, but is it a probability? :class:`groupcm.CalibratedGroupClassifier` learns the
probability that a group is positive from the scores of groups that were held out. This example
compares it with a logistic function of the raw score, on the frames of other patients. It then
shows a limit: calibrated probabilities hold for groups drawn as those of the fit were, and fail
where positive groups are rarer.
"""

# %%
# Raw scores and two calibrations
# -------------------------------
# The score of a group is the largest of its candidates, and the model balances both classes, so
# that a logistic function of it has no reason to be a probability.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from groupcm import CalibratedGroupClassifier, GroupClassifier
from groupcm.metrics import group_brier_score
from groupcm.plots import ReliabilityDisplay
from groupcm.simulate import capsule

plt.rcParams.update({"font.size": 11})

train = capsule(1200, n_positive=300, group_size=60, seed=1)
test = capsule(2000, n_positive=500, group_size=60, seed=2)

estimator = GroupClassifier(lam=0.5)
calibrated = {
    method: CalibratedGroupClassifier(estimator, method=method, cv=5).fit(
        train.X, train.y, groups=train.groups, overlap=train.overlap, patients=train.patient
    )
    for method in ("sigmoid", "isotonic")
}


def probabilities(data):
    """Return three probabilities per group."""
    raw = calibrated["sigmoid"].group_scores(data.X, data.groups).score
    found = {"logistic of the raw score": expit(raw)}
    for method, model in calibrated.items():
        found[method] = model.predict_proba_groups(data.X, data.groups)[:, 1]
    return found


on_test = probabilities(test)
for name, values in on_test.items():
    brier = group_brier_score(test.y, values, test.groups)
    print(f"{name:>26}: Brier score {brier:.4f}, mean probability {values.mean():.3f}")
observed = np.mean(np.maximum.reduceat(test.y, test.group_ptr[:-1]))
print(f"share of positive frames: {observed:.3f}")

# %%
# A reliability diagram shows the observed share of positive groups against the mean probability in
# bins of equally many groups. On the diagonal, a probability of 0.3 means that 3 of 10 such groups
# are positive.

fig, axes = plt.subplots(1, 3, figsize=(12, 4.6), sharey=True, layout="constrained")
for ax, (name, values) in zip(axes, on_test.items(), strict=True):
    ReliabilityDisplay.from_predictions(test.y, values, test.groups, ax=ax)
    ax.set_title(name)
fig.suptitle("Reliability on the frames of other patients", weight="bold")
plt.show()

# %%
# The limit: another share of positive groups
# -------------------------------------------
# In use, positive frames are much rarer than in the training set. The same model then states
# probabilities that are too large. Its Brier score is smaller nevertheless, because rare events are
# easier to predict in that sense; do not compare Brier scores across different shares.

rare = capsule(4000, n_positive=100, group_size=60, seed=3)
values = probabilities(rare)["sigmoid"]
observed = np.mean(np.maximum.reduceat(rare.y, rare.group_ptr[:-1]))
print(f"mean probability {values.mean():.3f}, share of positive frames {observed:.3f}")

fig, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
ReliabilityDisplay.from_predictions(
    test.y, on_test["sigmoid"], test.groups, name="as in training", ax=ax
)
ReliabilityDisplay.from_predictions(
    rare.y, values, rare.groups, name="positive frames are rarer", ax=ax
)
ax.set_title("Calibration does not survive another share of positives")
plt.show()

# %%
# The remedy is to calibrate on groups that are drawn as in use: fit
# ``CalibratedGroupClassifier(model, cv="prefit")`` on such groups, which needs only their labels.
