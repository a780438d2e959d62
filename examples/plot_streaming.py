"""
Streaming Parquet within a memory budget
========================================

What if the candidates do not fit into memory? A source of :mod:`groupcm.sources` reads Parquet
files unit by unit, and the solver keeps only the few rows that may matter. This example writes
synthetic frames to a folder of Parquet files, fits the same model with less and less memory, and
compares the result with a fit in memory. The optimum is the same, because it is certified in all
cases. The data here are small so that the example runs in seconds.
"""

# %%
# A folder of Parquet files
# -------------------------
# The rows of a frame are contiguous; a frame may continue in the next file. Row groups should be
# small against the memory, because at least one is held whole.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier
from groupcm.simulate import capsule, capsule_to_parquet
from groupcm.sources import from_parquet

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

folder = Path(tempfile.mkdtemp()) / "frames"
shape = {"n_negative": 5000, "n_positive": 150, "group_size": 200, "seed": 1}
files = capsule_to_parquet(folder, **shape, n_files=4, rows_a_row_group=16_384)
on_disk = sum(file.stat().st_size for file in files)

source = from_parquet(
    folder, group="frame", label="label", overlap="overlap", exclude=["polyp", "patient"]
)
print(source)
print(f"{source.n_rows:,} candidates, {on_disk / 1e6:.0f} MB on disk")

# %%
# The same fit with less and less memory
# --------------------------------------
# ``memory`` limits the features that a fit on a source keeps. Where all rows fit, they are decoded
# once; otherwise they are read again. Labels and group ids, a few bytes per row, are kept in
# addition, and Python with its libraries needs memory of its own.

budgets = ["500MB", "40MB", "10MB"]
fits = {}
for budget in budgets:
    fits[budget] = GroupClassifier(lam=0.9, memory=budget, random_state=0).fit(source)

data = capsule(**shape)
in_memory = GroupClassifier(lam=0.9, random_state=0)
in_memory.fit(data.X, data.y, groups=data.groups, overlap=data.overlap)

print(f"{'memory':>8} {'passes':>7} {'rows kept':>10} {'seconds':>8} {'objective':>11} {'gap':>8}")
for budget, model in [("arrays", in_memory), *fits.items()]:
    last = model.history_[-1]
    print(
        f"{budget:>8} {model.n_passes_:7.1f} {last.working_rows:10,} {last.seconds:8.1f} "
        f"{model.objective_:11.6f} {model.gap_:8.1e}"
    )

# %%
# The optimum does not depend on the budget
# -----------------------------------------
# Each fit ends with an objective and a certified lower bound, and the optimum is between them.
# Rows that are kept are a small part of the whole.

names = ["arrays in memory", *(f"Parquet, {budget}" for budget in budgets)]
models = [in_memory, *fits.values()]
reference = max(model.lower_bound_ for model in models)
places = np.arange(len(names))
to_megabytes = data.X.itemsize * data.X.shape[1] / 1e6
kept = np.array([model.history_[-1].working_rows for model in models]) * to_megabytes
whole = len(data) * to_megabytes

fig, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), sharey=True, layout="constrained")
axes[0].barh(places, kept, color=BLUE, height=0.55)
for place, amount in zip(places, kept, strict=True):
    axes[0].text(amount + whole / 60, place, f"{amount:.1f} MB", va="center", color=BLUE)
axes[0].axvline(whole, color=GREY, linestyle="--")
axes[0].text(whole * 0.98, -0.62, f"all rows: {whole:.0f} MB", ha="right", color=GREY)
axes[0].set(title="Features that the solver keeps", xlabel="megabytes", xlim=(0, whole * 1.05))
axes[0].set(yticks=places, yticklabels=names, ylim=(len(names) - 0.4, -0.8))
for place, model in zip(places, models, strict=True):
    ends = [model.lower_bound_ / reference - 1, model.objective_ / reference - 1]
    axes[1].plot(ends, [place, place], color=ORANGE, linewidth=8, solid_capstyle="butt")
axes[1].axvline(0, color=GREY, linestyle="--")
axes[1].ticklabel_format(axis="x", scilimits=(0, 0))
axes[1].set(title="Certified range of the optimum")
axes[1].set(xlabel="relative to the best lower bound")
plt.show()
