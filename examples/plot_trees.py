"""
Trees against a linear model
============================

When is a linear score enough, and when do boosted trees pay? This example compares
:class:`groupcm.GroupClassifier`, also with a quadratic feature map, and
:class:`groupcm.GroupBoostingClassifier`, which grows LightGBM's trees on the same group objective.
Each model is trained with more and more positive groups, and scored on other groups. On the first
data set the best score is linear in the features, on the second one it is not. Trees need no
feature map and little tuning, but they have no certificate of optimality.
"""

# %%
# Two kinds of data
# -----------------
# In the first set, an object differs from the background by a shift of all features, and both have
# the same normal distribution otherwise; the best score is then linear. The second set are the
# synthetic frames of :mod:`groupcm.simulate`, where polyps vary less than the background and
# natural folds resemble them.

import time

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupBoostingClassifier, GroupClassifier
from groupcm.features import Polynomial
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})


def shifted(n_negative, n_positive, seed, group_size=40):
    """Return groups whose objects are shifted normal candidates."""
    rng = np.random.default_rng(seed)
    n_groups = n_negative + n_positive
    X = rng.standard_normal((n_groups, group_size, 13))
    y = np.zeros((n_groups, group_size), dtype=int)
    y[:n_positive, 0] = 1
    X[:n_positive, 0] += 1.1
    return X.reshape(-1, 13), y.ravel(), np.repeat(np.arange(n_groups), group_size)


def frames(n_negative, n_positive, seed):
    """Return synthetic frames."""
    data = capsule(n_negative, n_positive=n_positive, group_size=40, seed=seed)
    return data.X, data.y, data.groups


# %%
# Learning curves
# ---------------
# All models have the same 400 negative groups, and 10 to 160 positive ones. Hyperparameters are
# fixed; a λ chosen by cross-validation would help the quadratic map where groups are few.

models = {
    "linear": lambda: GroupClassifier(lam=0.5),
    "quadratic map": lambda: GroupClassifier(lam=0.5, feature_map=Polynomial(2)),
    "boosted trees": lambda: GroupBoostingClassifier(
        n_estimators=150, early_stopping=False, random_state=0
    ),
}
data_sets = {"The best score is linear": shifted, "Synthetic frames": frames}
n_positives = [10, 20, 40, 80, 160]
areas, seconds = {}, dict.fromkeys(models, 0.0)
for data_name, make in data_sets.items():
    X_test, y_test, groups_test = make(1000, 300, seed=2)
    X, y, groups = make(400, n_positives[-1], seed=1)
    positive = np.random.default_rng(0).permutation(np.unique(groups[y == 1]))
    for n in n_positives:
        kept = ~np.isin(groups, positive[n:])
        for name, make_model in models.items():
            begin = time.perf_counter()
            model = make_model().fit(X[kept], y[kept], groups=groups[kept])
            seconds[name] += time.perf_counter() - begin
            scores = model.decision_function(X_test)
            areas[data_name, name, n] = group_roc_auc(y_test, scores, groups_test)

for data_name in data_sets:
    for name in models:
        row = "  ".join(f"{areas[data_name, name, n]:.3f}" for n in n_positives)
        print(f"{data_name:>24}, {name:>13}: {row}")
for name, total in seconds.items():
    print(f"{name:>13}: {total / len(n_positives) / len(data_sets):.2f} s per fit")

# %%
# Neither model is always better. Where the truth is linear, the linear model needs the fewest
# positive groups, and the freedom of the others only costs. Where it is not, the linear model stops
# improving early; trees gain most, and the quadratic map needs many groups before it pays.

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), sharey=True, layout="constrained")
axes[0].set_ylabel("group AUC on other groups")
looks = ((BLUE, "o-"), (GREEN, "^-."), (ORANGE, "s--"))
for ax, data_name in zip(axes, data_sets, strict=True):
    for name, (colour, look) in zip(models, looks, strict=True):
        curve = [areas[data_name, name, n] for n in n_positives]
        ax.plot(n_positives, curve, look, color=colour, linewidth=2.4, label=name)
    ax.set(title=data_name, xlabel="positive groups in training", xscale="log")
    ax.set_xticks(n_positives, [str(n) for n in n_positives])
    ax.minorticks_off()
    ax.grid(alpha=0.25)
axes[1].legend(frameon=False, loc="lower right")
plt.show()
