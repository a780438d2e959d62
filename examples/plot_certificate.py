"""
The certificate, and L-BFGS over time
=====================================

How far is a trained model from the best one? The working-set solver of
:class:`groupcm.GroupClassifier` keeps the few candidates that matter in memory, and reports an
upper and a lower bound of the optimum after each pass over the data. The difference is the
certificate: the model is at most that far from the global optimum. L-BFGS, the paper's solver,
reads all rows at each step. This example follows both over the passes that they make and over time.
"""

# %%
# The data and two solvers
# ------------------------
# The training set has 3,000 synthetic frames. One pass is one reading of all rows that take part,
# and it is what costs time where the data are large.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from groupcm import GroupClassifier
from groupcm.simulate import capsule

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

data = capsule(3000, n_positive=150, group_size=150, seed=1)
small = capsule(50, n_positive=10, seed=2)
print(f"{len(data):,} candidates of {data.n_groups:,} frames")

solvers = {
    "working set": GroupClassifier(lam=0.9, tol=1e-7),
    "L-BFGS": GroupClassifier(lam=0.9, tol=1e-7, solver="lbfgs", max_passes=100),
}
with warnings.catch_warnings():
    # L-BFGS may stop before the tolerance; the figure shows how far it gets.
    warnings.simplefilter("ignore", ConvergenceWarning)
    for model in solvers.values():
        model.fit(small.X, small.y, groups=small.groups)  # compiles the kernels, which takes time
        model.fit(data.X, data.y, groups=data.groups, overlap=data.overlap)

for name, model in solvers.items():
    last = model.history_[-1]
    print(
        f"{name:>12}: {model.n_passes_:6.1f} passes, objective {model.objective_:.8f}, "
        f"certified gap {model.gap_:.1e}, {last.working_rows:,} rows in memory"
    )

# %%
# Upper and lower bounds
# ----------------------
# ``history_`` has one entry per step, with the passes and seconds so far, the smallest objective
# and the largest certified lower bound. The best lower bound of both solvers is the reference: no
# weights have an objective below it.

optimum = max(model.lower_bound_ for model in solvers.values())
fig, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
looks = {"working set": (ORANGE, "o-"), "L-BFGS": (BLUE, "s--")}
for name, model in solvers.items():
    colour, look = looks[name]
    passes = np.array([step.passes for step in model.history_])
    seconds = np.array([step.seconds for step in model.history_])
    objective = np.array([step.objective for step in model.history_])
    bound = np.array([step.lower_bound for step in model.history_])
    known = np.isfinite(objective) & (passes > 0)
    excess = np.maximum(objective / optimum - 1, 1e-9)
    gap = np.maximum(1 - bound / objective, 1e-9)
    style = {"color": colour, "markersize": 4.5, "linewidth": 2, "label": name}
    axes[0].plot(passes[known], excess[known], look, **style)
    axes[1].plot(passes[known], gap[known], look, **style)
    axes[2].plot(seconds[known], gap[known], look, **style)

panels = [
    ("Distance from the optimum", "passes over the data", "objective above the optimum (relative)"),
    ("What the solver can certify", "passes over the data", "certified gap (relative)"),
    ("The same over time", "seconds", "certified gap (relative)"),
]
for ax, (title, over, label) in zip(axes, panels, strict=True):
    ax.set(title=title, xlabel=over, ylabel=label, xscale="log", yscale="log")
    ax.set_ylim(5e-10, 2)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, loc="upper right")
plt.show()

# %%
# The working set needs few passes because almost no candidate is ever near the largest score of
# its group. The lower bound holds for all rows nevertheless, since rows that are left out can
# only raise the objective.

kept = solvers["working set"].history_[-1].working_rows
print(f"rows kept by the working set: {kept:,} of {len(data):,} ({kept / len(data):.2%})")
