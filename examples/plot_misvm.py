"""
MI-SVM against annotated groups
===============================

What is lost when only the groups are labelled? Multiple-instance learning knows that a picture is
positive, but not which candidate shows the object. :class:`groupcm.MISVMClassifier` guesses the
candidate, trains, and guesses again until nothing changes; the end is a local optimum.
:class:`groupcm.GroupClassifier` is given the candidate that fits the annotation, and solves one
convex problem to its certified optimum. This example trains both on the same synthetic frames,
with more and more candidates per frame among which MI-SVM has to guess.
"""

# %%
# One comparison
# --------------
# For MI-SVM, the label of a candidate is the label of its frame. ``witnesses_`` are the rows that
# it chose for the positive frames; in synthetic data we know which of them show the polyp.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier, MISVMClassifier
from groupcm.metrics import group_roc_auc
from groupcm.simulate import capsule

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})


def compare_on(group_size, seed, lam=0.5):
    """Return the group AUC of both models on other frames, and the share of right guesses."""
    train = capsule(400, n_positive=80, group_size=group_size, seed=seed)
    test = capsule(500, n_positive=150, group_size=group_size, seed=seed + 100)
    sizes = np.diff(train.group_ptr)
    frame_label = np.repeat(np.maximum.reduceat(train.y, train.group_ptr[:-1]), sizes)

    annotated = GroupClassifier(lam).fit(train.X, train.y, train.groups, overlap=train.overlap)
    weak = MISVMClassifier(lam).fit(train.X, frame_label, train.groups)
    areas = [
        group_roc_auc(test.y, model.decision_function(test.X), test.groups)
        for model in (annotated, weak)
    ]
    return *areas, train.y[weak.witnesses_].mean()


# %%
# More and more candidates per frame
# ----------------------------------
# Each comparison is repeated with other patients, because a local optimum depends on the data.

group_sizes = [10, 20, 40, 80, 120, 160]
seeds = [1, 2, 3, 4]
results = np.array([[compare_on(size, seed) for seed in seeds] for size in group_sizes])
annotated, weak, right = np.moveaxis(results, -1, 0)

print("candidates  annotated  MI-SVM  right guesses   (mean over the repeats)")
for size, *row in zip(group_sizes, annotated, weak, right, strict=True):
    means = [values.mean() for values in row]
    print(f"{size:10} {means[0]:10.3f} {means[1]:7.3f} {means[2]:14.0%}")

# %%
# While there are few candidates, MI-SVM finds most objects on its own, and annotation adds little.
# Once it starts from wrong guesses, training confirms them, and no warning shows it: its
# convex problems are all solved to a small gap. Whether your data are on the left or on the right
# of this figure is worth a small experiment with some annotated groups.

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for values, colour, look, name in (
    (annotated, ORANGE, "o-", "annotated groups (GCM)"),
    (weak, BLUE, "s--", "group labels only (MI-SVM)"),
):
    axes[0].plot(group_sizes, values.mean(axis=1), look, color=colour, linewidth=2.4, label=name)
    axes[0].plot(group_sizes, values, look[0], color=colour, alpha=0.3, markersize=4)
axes[1].plot(group_sizes, right.mean(axis=1), "s--", color=BLUE, linewidth=2.4)
axes[1].plot(group_sizes, right, "s", color=BLUE, alpha=0.3, markersize=4)
axes[0].axhline(0.5, color=GREY, linestyle=":")
axes[0].text(group_sizes[0], 0.51, "chance", color=GREY)
axes[0].set(title="Group AUC on other frames", ylabel="group AUC", ylim=(0.4, 1.02))
axes[0].legend(frameon=False, loc="center left")
axes[1].set(title="MI-SVM: guesses that show the polyp", ylabel="share of positive frames")
axes[1].set_ylim(-0.03, 1.03)
for ax in axes:
    ax.set(xlabel="candidates per frame (mean)", xscale="log")
    ax.set_xticks(group_sizes, [str(size) for size in group_sizes])
    ax.minorticks_off()
    ax.grid(alpha=0.25)
plt.show()
