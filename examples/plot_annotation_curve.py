"""
How many groups should be annotated?
====================================

Annotation costs time, and group labels are often free. How much does each annotated group add? This
example trains with more and more annotated positive groups, and scores other groups. At each size
it trains three models: the GCM on the annotated groups alone; the GCM on these and all other
positive groups, which take part by their labels alone; and MI-SVM, which has the labels of the
annotated groups and no annotation. ``groupcm experiment annotation`` runs the same experiment on
tables, with λ chosen by cross-validation and confidence intervals.
"""

# %%
# The data
# --------
# All positive frames are labelled. A permutation states in which order they are annotated, so that
# a larger size contains the smaller ones.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier, MISVMClassifier
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

train = capsule(250, n_positive=120, n_polyps=90, n_patients=120, group_size=80, seed=1)
test = capsule(500, n_positive=200, group_size=80, seed=2)
is_positive = np.maximum.reduceat(train.y, train.group_ptr[:-1])
frame_label = np.repeat(is_positive, np.diff(train.group_ptr))
positive_frames = np.unique(train.groups[train.y == 1])

# %%
# Three models at each size
# -------------------------
# ``annotated`` is False for the candidates of positive groups whose object is not marked. The GCM
# then chooses a candidate in each of them, starting from what it learnt on the annotated groups.


def areas_at(n_annotated, order, lam=0.5):
    """Return the group AUC on other frames of the three models."""
    marked = np.isin(train.groups, order[:n_annotated])
    few = marked | (frame_label == 0)
    alone = GroupClassifier(lam).fit(
        train.X[few], train.y[few], train.groups[few], overlap=train.overlap[few]
    )
    # Of frames that are not annotated only the label of the frame is used.
    with_others = GroupClassifier(lam).fit(
        train.X,
        np.where(marked, train.y, frame_label),
        train.groups,
        overlap=np.where(marked, train.overlap, 0),
        annotated=marked | (frame_label == 0),
    )
    weak = MISVMClassifier(lam).fit(train.X[few], frame_label[few], train.groups[few])
    models = alone, with_others, weak
    return [group_roc_auc(test.y, m.decision_function(test.X), test.groups) for m in models]


sizes = [5, 10, 20, 40, 80]
orders = [np.random.default_rng(seed).permutation(positive_frames) for seed in range(2)]
areas = np.array([[areas_at(size, order) for order in orders] for size in sizes])

names = ["annotated groups alone", "and the others by their labels", "MI-SVM, no annotation"]
for k, name in enumerate(names):
    row = "  ".join(f"{value:.3f}" for value in areas[:, :, k].mean(axis=1))
    print(f"{name:>30}: {row}   ({', '.join(map(str, sizes))} groups)")

# %%
# The bands are the range over two orders of annotation. The first annotated groups add most.
# Where the curve is flat, time is better spent on other data than on more annotation.

fig, ax = plt.subplots(figsize=(9, 4.8), layout="constrained")
looks = ((ORANGE, "o-"), (GREEN, "^-."), (BLUE, "s--"))
for k, (name, (colour, look)) in enumerate(zip(names, looks, strict=True)):
    of_model = areas[:, :, k]
    ax.fill_between(sizes, of_model.min(axis=1), of_model.max(axis=1), color=colour, alpha=0.12)
    ax.plot(sizes, of_model.mean(axis=1), look, color=colour, linewidth=2.4, label=name)
ax.axhline(0.5, color=GREY, linestyle=":")
ax.text(sizes[0], 0.51, "chance", color=GREY)
ax.set(title="The value of annotation", ylabel="group AUC on other frames", xscale="log")
ax.set(xlabel="annotated positive groups (MI-SVM: labelled positive groups)", ylim=(0.4, 1.0))
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.grid(alpha=0.25)
ax.legend(frameon=False, loc="center right")
plt.show()
