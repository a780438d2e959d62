"""
Polynomial maps: not linear, still convex
=========================================

A linear score cannot separate classes whose boundary is curved. Any fixed map of the features
keeps the problem convex, so the certificate still holds. This example uses the paper's own map:
all products of two features up to degree 3, which turns :math:`x_1, x_2` into nine features. The
decision boundary is then a cubic curve. The map is applied to a few rows at a time and its outputs
are never stored.
"""

# %%
# Objects around a background of three corners
# --------------------------------------------
# Each group has 20 candidates in the plane. Background candidates are in the middle, in a region
# with three corners; the object of a positive group is outside of it, in any direction.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier
from groupcm.features import Polynomial
from groupcm.metrics import group_roc_auc

BLUE, ORANGE = "#0072b2", "#d55e00"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})


def draw_groups(n_groups, seed, group_size=20):
    """Return candidates of groups, every second of which has one object."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, (n_groups, group_size))
    radius = np.abs(rng.normal(0, 0.8, (n_groups, group_size)))
    y = np.zeros((n_groups, group_size), dtype=int)
    y[::2, 0] = 1
    radius[::2, 0] = rng.normal(2.5, 0.2, len(y[::2]))
    radius *= 1 + 0.3 * np.cos(3 * angle)
    X = np.column_stack([(radius * np.cos(angle)).ravel(), (radius * np.sin(angle)).ravel()])
    return X, y.ravel(), np.repeat(np.arange(n_groups), group_size)


X, y, groups = draw_groups(300, seed=0)
X_test, y_test, groups_test = draw_groups(1000, seed=1)

# %%
# One model per degree
# --------------------

models = {}
for degree in (1, 2, 3):
    model = GroupClassifier(lam=0.9, feature_map=Polynomial(degree))
    models[degree] = model.fit(X, y, groups=groups)
    auc = group_roc_auc(y_test, model.decision_function(X_test), groups_test)
    print(
        f"degree {degree}: {model.coef_.shape[1]} features, group AUC {auc:.3f} on other groups, "
        f"certified gap {model.gap_:.1e}"
    )
print("features of degree 3:", *models[3].feature_map_.get_feature_names_out())

# %%
# The decision boundary is where the score is zero. The largest candidate of each negative group
# decides, so that the boundary encloses nearly *all* background, not its average.

grid = np.linspace(-4.2, 4.2, 220)
first, second = np.meshgrid(grid, grid)
plane = np.column_stack([first.ravel(), second.ravel()])
fig, axes = plt.subplots(1, 3, figsize=(11, 4.2), sharey=True, layout="constrained")
for ax, (degree, model) in zip(axes, models.items(), strict=True):
    score = model.decision_function(plane).reshape(first.shape)
    ax.contourf(first, second, score, levels=[0, np.inf], colors=[ORANGE], alpha=0.12)
    if score.min() < 0 < score.max():
        ax.contour(first, second, score, levels=[0], colors=[ORANGE], linewidths=2.2)
    shown = y_test == 0
    ax.scatter(*X_test[shown][::6].T, s=4, color=BLUE, alpha=0.35, linewidth=0)
    ax.scatter(*X_test[~shown].T, s=12, color=ORANGE, marker="^", linewidth=0)
    auc = group_roc_auc(y_test, model.decision_function(X_test), groups_test)
    ax.set(title=f"degree {degree}: group AUC {auc:.3f}", xlabel="$x_1$", aspect="equal")
    ax.set(xlim=(-4.2, 4.2), ylim=(-4.2, 4.2))
axes[0].set_ylabel("$x_2$")
axes[0].text(-4, -4, "▲ object", color=ORANGE, va="bottom")
axes[0].text(4, -4, "● background", color=BLUE, ha="right", va="bottom")
plt.show()
