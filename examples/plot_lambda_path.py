"""
The λ path
==========

How strong should the regularisation be? λ is the weight of the losses, and ``1 − λ`` that of the
penalty, so that a small λ means strong regularisation. :func:`groupcm.selection.lambda_path` fits
one certified model per λ on shared passes over the data, each started from the one before.
:class:`groupcm.GroupClassifierCV` does so in each fold, and chooses the λ with the best mean score
on groups that were left out; no group and no patient is on both sides of a fold.
"""

# %%
# The weights along the path
# --------------------------
# With the norm 1 as the penalty, features enter the model one after another as λ grows.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifierCV
from groupcm.metrics import group_roc_auc
from groupcm.selection import lambda_path
from groupcm.simulate import capsule

BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#b8558f", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

train = capsule(800, n_positive=80, n_patients=80, group_size=60, seed=1)
path = lambda_path(
    train.X,
    train.y,
    groups=train.groups,
    overlap=train.overlap,
    lams=np.linspace(0.1, 0.95, 18),
    penalty="l1",
)
weights = path.coef * train.X.std(axis=0)
n_used = np.count_nonzero(np.abs(weights) > 1e-3, axis=1)
print(f"{len(path.lams)} models, largest certified gap {max(m.gap_ for m in path.models):.1e}")
for lam, n in zip(path.lams[::4], n_used[::4], strict=True):
    print(f"λ = {lam:.2f}: {n} features with a weight above 0.001")

# %%
# The figure names the five features with the largest weights at the end of the path.

shown = np.argsort(-np.abs(weights[-1]))[:5]
fig, ax = plt.subplots(figsize=(9, 4.8), layout="constrained")
ax.plot(path.lams, np.delete(weights, shown, axis=1), color="0.75", linewidth=1.2)
for j, colour in zip(shown, (BLUE, ORANGE, GREEN, PINK, GREY), strict=True):
    ax.plot(path.lams, weights[:, j], color=colour, linewidth=2.4, label=train.feature_names[j])
ax.axhline(0, color="0.3", linewidth=0.8)
ax.set(title="Weights along the λ path (norm 1)")
ax.set(xlabel="λ  (weak regularisation on the right)", ylabel="weight of the standardised feature")
ax.legend(frameon=False, title="largest weights")
plt.show()

# %%
# Choosing λ on groups that were left out
# ---------------------------------------
# The score is the group AUC. Where the best λ is at an end of the grid, the grid is extended.

model = GroupClassifierCV(lams=10, cv=5, random_state=0)
model.fit(train.X, train.y, groups=train.groups, overlap=train.overlap, patients=train.patient)
test = capsule(800, n_positive=150, group_size=60, seed=2)
auc = group_roc_auc(test.y, model.decision_function(test.X), test.groups)
print(f"chosen λ = {model.lam_:.3g} of {len(model.lams_)} values")
print(f"group AUC: {model.best_score_:.3f} on left-out groups, {auc:.3f} on other patients")

# %%
# The mean over folds at the chosen λ is a little too good, because λ is the best of several. The
# curve is often flat, as the range over the folds shows: then any λ of the flat part will do.

mean = model.scores_.mean(axis=0)
chosen = int(np.argmin(np.abs(model.lams_ - model.lam_)))
fig, ax = plt.subplots(figsize=(9, 4.4), layout="constrained")
low, high = model.scores_.min(axis=0), model.scores_.max(axis=0)
ax.fill_between(model.lams_, low, high, color=BLUE, alpha=0.15, label="range over the folds")
ax.plot(model.lams_, mean, "o-", color=BLUE, linewidth=2.2, label="mean over the folds")
ax.plot(model.lam_, mean[chosen], "o", color=ORANGE, markersize=11)
ax.annotate(
    f"chosen: λ = {model.lam_:.3g}\ngroup AUC {mean[chosen]:.3f}",
    (model.lam_, mean[chosen]),
    (0, -16),
    textcoords="offset points",
    ha="center",
    va="top",
    color=ORANGE,
)
ax.set(title="Choosing λ by cross-validation", xscale="logit")
ax.set(xlabel="λ  (weak regularisation on the right)", ylabel="group AUC of left-out groups")
ax.grid(alpha=0.25)
ax.legend(frameon=False, loc="lower right")
plt.show()
