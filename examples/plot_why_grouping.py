"""
Why group the candidates?
=========================

A detector proposes many candidates per picture, and the decision is about the picture: it is
positive if its largest score exceeds a threshold. This example shows why a loss that is averaged
over candidates is the wrong target for such a decision. The first two figures redraw the paper's
examples of negative and positive groups from their losses. The third one trains the same linear
model with and without grouping on synthetic data, and shows the same effect there.
"""

# %%
# Two answers to the same picture
# -------------------------------
# Candidates of a negative group should score below −1, and the hinge loss grows with every unit
# above that. The paper compares two possible results for the same three candidates. We write down
# their losses and compute the scores that belong to them.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier
from groupcm.metrics import (
    candidate_roc_auc,
    candidate_roc_curve,
    compare,
    group_roc_auc,
    group_roc_curve,
)
from groupcm.objective.losses import make_loss
from groupcm.simulate import capsule

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

hinge = make_loss("hinge")
positive_score = 1 - 0.2  # the positive picture has one candidate, with a hinge loss of 0.2
negative_groups = {
    "One bad candidate": np.array([0.0, 0.4, 4.1]) - 1,
    "Three mediocre candidates": np.array([1.7, 1.7, 1.7]) - 1,
}
for name, scores in negative_groups.items():
    losses = hinge.value(-scores)
    print(f"{name}: mean loss {losses.mean():.1f}, largest loss {losses.max():.1f}")

# %%
# A model that minimises the *mean* loss prefers the first result. A model that minimises the
# *largest* loss prefers the second one, and only there does the positive picture have a larger
# score than the negative one. Bars show the losses, filled circles the score of the picture.


def draw_group(ax, scores, target, colour):
    """Draw the scores of one group, and the loss of each as a bar from its target."""
    places = np.arange(1, len(scores) + 1)
    ax.axhline(target, color=GREY, linewidth=1, linestyle=":")
    ax.vlines(places, target, scores, color=colour, alpha=0.35, linewidth=9)
    ax.scatter(places, scores, s=120, facecolor="white", edgecolor=colour, linewidth=2, zorder=3)
    winner = np.argmax(scores)
    ax.scatter(places[winner], scores[winner], s=120, color=colour, zorder=4)
    for place, score in zip(places, scores, strict=True):
        middle = (score + target) / 2
        loss = f"{abs(score - target):.1f}"
        ax.text(place + 0.13, middle, loss, va="center", color=colour, backgroundcolor="white")
    ax.set(xticks=places, xlabel="candidate", xlim=(0.4, len(scores) + 0.7))


fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), sharey=True, layout="constrained")
for ax, (name, scores) in zip(axes, negative_groups.items(), strict=True):
    losses = hinge.value(-scores)
    draw_group(ax, scores, -1.0, BLUE)
    ax.axhline(positive_score, color=ORANGE, linewidth=2.2)
    verdict = "ranked correctly" if scores.max() < positive_score else "ranked wrongly"
    ax.set_title(
        f"{name}: {verdict}\nmean loss {losses.mean():.1f}, largest loss {losses.max():.1f}"
    )
axes[0].text(0.45, positive_score + 0.12, "score of the positive picture", color=ORANGE)
axes[0].text(3.65, -1.08, "loss is 0 below", color=GREY, ha="right", va="top")
axes[0].set(ylabel="score", ylim=(-1.6, 3.6))
fig.suptitle("Negative groups: only the largest loss decides", weight="bold")
plt.show()

# %%
# Positive groups are different
# -----------------------------
# A positive picture is recognised if *one* candidate has a large score. Grouping positive
# candidates by their largest loss would raise the smallest score, which does not help.

positive_groups = {
    "Result a": 1 - np.array([0.0, 1.4]),
    "Result b": 1 - np.array([0.3, 0.7]),
}
fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), sharey=True, layout="constrained")
for ax, (name, scores) in zip(axes, positive_groups.items(), strict=True):
    losses = hinge.value(scores)
    draw_group(ax, scores, 1.0, ORANGE)
    ax.set_title(
        f"{name}: the picture scores {scores.max():.1f}\n"
        f"mean loss {losses.mean():.1f}, largest loss {losses.max():.1f}"
    )
axes[0].text(2.65, 1.03, "loss is 0 above", color=GREY, ha="right", va="bottom")
axes[0].set(ylabel="score", ylim=(-0.6, 1.3))
fig.suptitle("Positive groups: mean and largest loss prefer the lower score", weight="bold")
plt.show()

# %%
# Result a is better for the decision, because its picture has the larger score; the mean and the
# largest loss both prefer result b. Minimising the *smallest* loss would be right, but is not
# convex. The paper takes the loss of the candidate that fits the annotation best instead, which
# keeps the problem convex.
#
# The same effect in a trained model
# ----------------------------------
# We train a linear model twice on the same synthetic frames, with every candidate on its own and
# with the negative candidates grouped by frame, and score the frames of other patients.

train = capsule(1500, n_positive=150, group_size=200, seed=1)
test = capsule(1500, n_positive=150, group_size=200, seed=2)
models = {
    "without grouping": GroupClassifier(lam=0.5, grouping="none"),
    "with grouping": GroupClassifier(lam=0.5, grouping="negative"),
}
scores = {}
for name, model in models.items():
    model.fit(train.X, train.y, groups=train.groups, overlap=train.overlap)
    scores[name] = model.decision_function(test.X)

for name, values in scores.items():
    print(
        f"{name:>16}: candidate AUC {candidate_roc_auc(test.y, values):.3f}, "
        f"group AUC {group_roc_auc(test.y, values, test.groups):.3f}"
    )

# %%
# The confidence interval of the difference is from a bootstrap over patients. With few positive
# frames it is wide, and whether grouping helps on other data is a question for those data.

difference = compare(
    test.y,
    scores["with grouping"],
    scores["without grouping"],
    test.groups,
    clusters=test.patient,
    n_resamples=500,
).difference
print(
    f"group AUC with minus without grouping: {difference.estimate:+.3f} "
    f"(95 % CI {difference.low:+.3f} to {difference.high:+.3f})"
)

# %%
# The ROC curves of candidates hardly differ, because almost all of the many negative candidates
# are easy. Those of frames depend on the hardest candidate of each frame, which is what grouping
# works on.

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for (name, values), colour, dash in zip(scores.items(), (BLUE, ORANGE), ("--", "-"), strict=True):
    of_candidates = candidate_roc_curve(test.y, values)
    of_groups = group_roc_curve(test.y, values, test.groups)
    axes[0].plot(of_candidates.fpr, of_candidates.tpr, dash, color=colour, linewidth=2.2)
    axes[1].plot(of_groups.fpr, of_groups.tpr, dash, color=colour, linewidth=2.2, label=name)
axes[0].set_title("ROC of candidates")
axes[1].set_title("ROC of frames")
axes[1].legend(frameon=False, loc="lower right")
for ax, what in zip(axes, ("candidates", "frames"), strict=True):
    ax.set(xlabel=f"false alarms (share of negative {what})", xlim=(0, 0.3), ylim=(0, 1.02))
    ax.set_ylabel(f"sensitivity (share of positive {what})")
    ax.grid(alpha=0.25)
plt.show()
