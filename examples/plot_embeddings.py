"""
A network's embeddings as features
==================================

Can a network that was trained for another task provide the features? Its hidden layer has learned
what does not matter, here the place of a digit in the picture, and that knowledge carries over to
classes that it has never seen. A small network of scikit-learn learns to distinguish the
handwritten digits 0 to 5 wherever they are; its hidden layer then describes the digits 6 to 9, and
the question is whether a group of digits contains a 9. The same recipe serves the embeddings of a
large pretrained network; only the function that computes them changes.
"""

# %%
# A network for another task
# --------------------------
# Each picture of 8 × 8 pixels is put at a random place of a canvas of 12 × 12.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from groupcm import GroupClassifier
from groupcm.errors import ConstantFeaturesWarning
from groupcm.metrics import group_roc_auc

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})
rng = np.random.default_rng(0)

pictures, digit = load_digits(return_X_y=True)
pictures = pictures.reshape(-1, 8, 8) / 16


def put(pictures):
    """Return the pictures at random places of the canvas, one row each."""
    canvas = np.zeros((len(pictures), 12, 12))
    for image, picture in zip(canvas, pictures, strict=True):
        row, column = rng.integers(0, 5, 2)
        image[row : row + 8, column : column + 8] = picture
    return canvas.reshape(len(pictures), -1)


seen = digit <= 5
network = MLPClassifier((128,), alpha=1e-3, learning_rate_init=2e-3, max_iter=30, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # 30 epochs are enough here
    network.fit(np.concatenate([put(pictures[seen]) for _ in range(12)]), np.tile(digit[seen], 12))


def embed(X):
    """Return the hidden layer of the network, with its ReLU."""
    return np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)


print(f"accuracy on its own digits: {network.score(put(pictures[seen]), digit[seen]):.3f}")

# %%
# Groups of digits
# ----------------
# A group holds ten of the digits 6, 7 and 8; a positive group has a 9 in place of one of them. Half
# of the pictures of each digit are for training, the others for testing.

is_training = rng.random(len(digit)) < 0.5


def make_groups(n_groups, n_positive, available):
    """Return the canvas of each candidate, its label and its group."""
    others = np.flatnonzero((digit >= 6) & (digit <= 8) & available)
    nines = np.flatnonzero((digit == 9) & available)
    chosen = rng.choice(others, (n_groups, 10))
    chosen[:n_positive, 0] = rng.choice(nines, n_positive)
    y = (digit[chosen] == 9).astype(int)
    return put(pictures[chosen.ravel()]), y.ravel(), np.repeat(np.arange(n_groups), 10)


X_test, y_test, groups_test = make_groups(600, 300, ~is_training)

# %%
# Pixels against embeddings
# -------------------------
# Each comparison is repeated with other training groups. The corners of the canvas are hardly ever
# used; groupcm gives constant pixels the weight 0, and we silence the warning about it.

warnings.simplefilter("ignore", ConstantFeaturesWarning)
sizes = [5, 12, 25, 50, 100]
spaces = {"pixels": lambda X: X, "embedding": embed}
areas = {name: np.zeros((len(sizes), 6)) for name in spaces}
for row, n_positive in enumerate(sizes):
    for repeat in range(6):
        X, y, groups = make_groups(n_positive + 100, n_positive, is_training)
        for name, describe in spaces.items():
            model = GroupClassifier(lam=0.1).fit(describe(X), y, groups=groups)
            scores = model.decision_function(describe(X_test))
            areas[name][row, repeat] = group_roc_auc(y_test, scores, groups_test)
for name, values in areas.items():
    row = "  ".join(f"{value:.3f}" for value in values.mean(axis=1))
    print(f"{name:>9}: group AUC {row}   ({', '.join(map(str, sizes))} positive groups)")

# %%
# The figure shows the mean and the range over the repeats. A linear score of pixels has to learn
# every place of a 9 from the few positive groups; the embedding brings that from the other task.
# Where the features of the new task are good already, an embedding may also lose: compare it with
# simpler features before relying on it, as this example does.

fig, axes = plt.subplots(1, 2, figsize=(11.5, 4.4), width_ratios=(1.25, 1), layout="constrained")
tiles = X_test.reshape(-1, 10, 12, 12)[[0, 1, 300, 301]].transpose(0, 2, 1, 3).reshape(48, 120)
axes[0].imshow(1 - tiles, cmap="gray")
axes[0].set_yticks([5.5, 17.5, 29.5, 41.5], ["positive", "positive", "negative", "negative"])
axes[0].set(title="Four groups of ten candidates", xticks=[])
axes[0].hlines([11.5, 23.5, 35.5], -0.5, 119.5, color=GREY, linewidth=1)
axes[0].vlines(np.arange(11.5, 110, 12), -0.5, 47.5, color=GREY, linewidth=0.4)
for k in range(2):
    axes[0].add_patch(
        plt.Rectangle((-0.5, 12 * k - 0.5), 12, 12, fill=False, color=ORANGE, linewidth=2.5)
    )
for (name, values), colour, look in zip(areas.items(), (BLUE, ORANGE), ("s--", "o-"), strict=True):
    axes[1].fill_between(sizes, values.min(1), values.max(1), color=colour, alpha=0.15)
    axes[1].plot(sizes, values.mean(1), look, color=colour, linewidth=2.4, label=name)
axes[1].axhline(0.5, color=GREY, linestyle=":", linewidth=1)
axes[1].set(title="Does the group contain a 9?", ylabel="group AUC", xscale="log")
axes[1].set(xlabel="positive groups in training")
axes[1].set_xticks(sizes, [str(size) for size in sizes])
axes[1].minorticks_off()
axes[1].grid(alpha=0.25)
axes[1].legend(frameon=False, loc="upper left")
plt.show()
