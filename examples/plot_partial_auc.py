"""
Screening: training for a high specificity
==========================================

A screening tool may raise few false alarms, so only the left end of its ROC curve matters. This
example trains the same linear score twice: for all negative groups alike, and with
``objective="partial_auc"``, for those that would be the first to raise a false alarm.
"""

# %%
# Two kinds of negative groups
# ----------------------------
# Most negative groups are easy. Some hold a confuser, a candidate with many marks of a true object:
# the mean over all negative groups hardly notices them, but they are what raises the false alarms.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier
from groupcm.metrics import group_partial_auc, group_roc_curve, sensitivity_at_specificity

plt.rcParams.update({"font.size": 11})
MAX_FPR = 0.1


def make(n_groups, seed, size=20):
    """Return candidates of groups, a third of which hold an object and a tenth a confuser."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), 4))
    y = np.zeros(len(groups), dtype=int)
    kind = rng.choice(3, n_groups, p=[0.57, 0.1, 0.33])
    for group in np.flatnonzero(kind):
        row = group * size
        if kind[group] == 1:
            X[row] += [4.5, 1.0, -1.5, 0.0]
        else:
            X[row] += [2.6, 2.2, 1.2, 0.0]
            y[row] = 1
    return X, y, groups


train, test = make(900, seed=1), make(6000, seed=2)
models = {
    "all negative groups": GroupClassifier(lam=0.5),
    f"partial AUC, max_fpr={MAX_FPR:g}": GroupClassifier(
        lam=0.5, objective="partial_auc", max_fpr=MAX_FPR
    ),
}
for model in models.values():
    model.fit(*train)

# %%
# The left end of the curve
# -------------------------
# The partial AUC gives up some of the curve on the right, where no one screens, for what it gains
# on the left. Both models are within the certified gap of the best weights for their objective.

figure, axes = plt.subplots(1, 2, figsize=(9.4, 4.4), layout="constrained")
X, y, groups = test
for (name, model), color, style in zip(
    models.items(), ("#777777", "#0b6e99"), ("--", "-"), strict=True
):
    scores = model.decision_function(X)
    curve = group_roc_curve(y, scores, groups)
    area = group_partial_auc(y, scores, groups, max_fpr=MAX_FPR)
    at_95 = sensitivity_at_specificity(y, scores, groups, specificity=0.95)
    print(f"{name}: partial AUC {area:.3f}, sensitivity {at_95:.2f} at 0.95, gap {model.gap_:.0e}")
    for axis in axes:
        axis.plot(curve.fpr, curve.tpr, style, color=color, lw=2, label=f"{name}: {area:.3f}")
        axis.plot(0.05, at_95, "o", color=color)
for axis, right in zip(axes, (MAX_FPR, 1.0), strict=True):
    axis.set(xlim=(0, right), ylim=(0, 1.01), xlabel="False-positive rate of groups")
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set(ylabel="Sensitivity of groups", title="Where screening happens")
axes[1].set(title="The whole curve")
axes[1].axvspan(0, MAX_FPR, color="#0b6e99", alpha=0.1, lw=0)
axes[0].legend(frameon=False, loc="lower right", title="partial AUC up to 0.1", fontsize=10)
plt.show()
