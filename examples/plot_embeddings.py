"""
A network's embeddings as features
==================================

Can a network that was trained for another task provide the features? Its last hidden layer is
often a good description of a candidate, and a certified linear model on top of it needs few
positive groups; but not always. Here a small network of scikit-learn learns to distinguish the
handwritten digits 0 to 5. Its hidden layer then describes the digits 6 to 9, which it has never
seen, and the question is whether a group of digits contains a 9. The same recipe serves the
embeddings of a large pretrained network; only the function that computes them changes.
"""

# %%
# A network for another task
# --------------------------

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from groupcm import GroupClassifier
from groupcm.errors import ConstantFeaturesWarning
from groupcm.metrics import group_roc_auc

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

pixels, digit = load_digits(return_X_y=True)
pixels = pixels / 16
seen = digit <= 5
network = MLPClassifier((48,), alpha=1e-3, max_iter=300, random_state=0)
network.fit(pixels[seen], digit[seen])


def embed(X):
    """Return the hidden layer of the network, with its ReLU."""
    return np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)


print(f"accuracy on its own training digits: {network.score(pixels[seen], digit[seen]):.3f}")
print(f"pixels: {pixels.shape[1]} features; embedding: {embed(pixels[:1]).shape[1]} features")

# %%
# Groups of digits
# ----------------
# A group holds ten of the digits 6, 7 and 8; a positive group has a 9 in place of one of them. Half
# of the images of each digit are for training, the others for testing.

rng = np.random.default_rng(0)
is_training = rng.random(len(digit)) < 0.5


def make_groups(n_groups, n_positive, available):
    """Return the image of each candidate, its label and its group."""
    others = np.flatnonzero((digit >= 6) & (digit <= 8) & available)
    nines = np.flatnonzero((digit == 9) & available)
    images = rng.choice(others, (n_groups, 10))
    images[:n_positive, 0] = rng.choice(nines, n_positive)
    y = (digit[images] == 9).astype(int)
    return images.ravel(), y.ravel(), np.repeat(np.arange(n_groups), 10)


test_images, test_y, test_groups = make_groups(600, 300, ~is_training)

# %%
# Pixels against embeddings
# -------------------------
# Each comparison is repeated with other training groups. Pixels at the border are constant; groupcm
# gives them the weight 0, and we silence the warning about it.

warnings.simplefilter("ignore", ConstantFeaturesWarning)
sizes = [3, 6, 12, 25, 50]
spaces = {"pixels": lambda X: X, "embedding": embed}
areas = {name: np.zeros((len(sizes), 8)) for name in spaces}
for row, n_positive in enumerate(sizes):
    for repeat in range(8):
        images, y, groups = make_groups(n_positive + 100, n_positive, is_training)
        for name, describe in spaces.items():
            model = GroupClassifier(lam=0.5).fit(describe(pixels[images]), y, groups=groups)
            scores = model.decision_function(describe(pixels[test_images]))
            areas[name][row, repeat] = group_roc_auc(test_y, scores, test_groups)
for name, values in areas.items():
    row = "  ".join(f"{value:.3f}" for value in values.mean(axis=1))
    print(f"{name:>9}: group AUC {row}   ({', '.join(map(str, sizes))} positive groups)")

# %%
# The figure shows the mean and the range over the repeats. Here the pixels are better: a network of
# 48 units that has seen 1,000 small images keeps what helped its own task, and discards part of
# what separates the new classes. Networks that were trained on millions of pictures often win.
# Compare an embedding with simpler features before relying on it, as this example does.

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), width_ratios=(1, 1.5), layout="constrained")
shown = test_images.reshape(-1, 10)[[0, 1, 300, 301]]
tiles = pixels[shown].reshape(4, 10, 8, 8).transpose(0, 2, 1, 3).reshape(32, 80)
axes[0].imshow(1 - tiles, cmap="gray")
axes[0].set_yticks([3.5, 11.5, 19.5, 27.5], ["positive", "positive", "negative", "negative"])
axes[0].set(title="Four groups of ten candidates", xticks=[])
axes[0].hlines([7.5, 15.5, 23.5], -0.5, 79.5, color=GREY, linewidth=1)
for (name, values), colour, look in zip(areas.items(), (BLUE, ORANGE), ("s--", "o-"), strict=True):
    axes[1].fill_between(sizes, values.min(1), values.max(1), color=colour, alpha=0.12)
    axes[1].plot(sizes, values.mean(1), look, color=colour, linewidth=2.4, label=name)
axes[1].set(title="Does the group contain a 9?", ylabel="group AUC", xscale="log")
axes[1].set(xlabel="positive groups in training")
axes[1].set_xticks(sizes, [str(size) for size in sizes])
axes[1].minorticks_off()
axes[1].grid(alpha=0.25)
axes[1].legend(frameon=False, loc="lower right")
plt.show()
