"""
A network trained end to end on groups
======================================

Can a network learn from the decision about the group itself? :class:`groupcm.torch.GroupLoss` is
the objective of :class:`groupcm.GroupClassifier` as a PyTorch module: in a negative group the
gradient goes to the candidate with the largest score, in a positive group to the annotated one.
This example trains a small convolutional network on groups of handwritten digits, and compares it
with the same network trained on single candidates, and with the certified linear model on pixels.
The problem of the network is not convex, so that it has no certificate.
"""

# %%
# Groups of digits
# ----------------
# A group holds 20 digits; a positive group has an 8 among them, which resembles 3 and 9. The images
# of training and test groups are distinct.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import torch
from groupcm import GroupClassifier
from groupcm.errors import ConstantFeaturesWarning
from groupcm.plots import GroupRocDisplay
from groupcm.torch import GroupLoss
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(0)
pixels, digit = load_digits(return_X_y=True)
pixels = (pixels / 16).astype(np.float32)
is_training = rng.random(len(digit)) < 0.5


def make_groups(n_groups, n_positive, available, size=20):
    """Return the pixels, the label and the group of each candidate."""
    others = np.flatnonzero((digit != 8) & available)
    eights = np.flatnonzero((digit == 8) & available)
    images = rng.choice(others, (n_groups, size))
    images[:n_positive, 0] = rng.choice(eights, n_positive)
    y = (digit[images] == 8).astype(int)
    return pixels[images.ravel()], y.ravel(), np.repeat(np.arange(n_groups), size)


X, y, groups = make_groups(300, 100, is_training)
X_test, y_test, groups_test = make_groups(800, 400, ~is_training)

# %%
# The network and two losses
# --------------------------
# ``GroupLoss`` takes the scores of a batch with one label and one group per candidate. A
# temperature shares the gradient of a negative group among candidates near the largest score, which
# helps at the start. The comparison minimises the cross-entropy of single candidates, weighted so
# that both classes count equally.


def make_network():
    """Return a network that gives one score per 8 × 8 image."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 1),
        nn.Flatten(0),
    )


group_loss = GroupLoss(temperature=0.5)
balance = torch.tensor(float((y == 0).sum() / (y == 1).sum()))
cross_entropy = nn.BCEWithLogitsLoss(pos_weight=balance)
losses = {
    "group loss": lambda scores, rows: group_loss(scores, y[rows], groups=groups[rows]),
    "candidate loss": lambda scores, rows: cross_entropy(scores, torch.tensor(y[rows]).float()),
}


def train(loss, epochs=20, groups_per_batch=50):
    """Train a network, and return it with the mean loss of each epoch."""
    network, order = make_network(), np.random.default_rng(1)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-3)
    history = []
    for _ in range(epochs):
        batches = np.array_split(order.permutation(groups.max() + 1), 300 // groups_per_batch)
        values = []
        for batch in batches:
            rows = np.flatnonzero(np.isin(groups, batch))
            value = loss(network(torch.from_numpy(X[rows])), rows)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            values.append(value.item())
        history.append(np.mean(values))
    return network.eval(), history


trained = {name: train(loss) for name, loss in losses.items()}

# %%
# The linear model on the same pixels is trained to its certified optimum. Pixels at the border are
# constant and get the weight 0; we silence the warning about them.

warnings.simplefilter("ignore", ConstantFeaturesWarning)
linear = GroupClassifier(lam=0.5).fit(X, y, groups=groups)
print(f"linear model: certified gap {linear.gap_:.1e}")

# %%
# Test groups
# -----------
# On the right is the part of the ROC curve with few false alarms.

with torch.no_grad():
    scores = {
        f"network, {name}": network(torch.from_numpy(X_test)).numpy()
        for name, (network, _) in trained.items()
    }
scores["linear on pixels"] = linear.decision_function(X_test)

fig, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for name, values in scores.items():
    GroupRocDisplay.from_predictions(y_test, values, groups_test, name=name, ax=axes[1])
for (name, (_, history)), colour, dash in zip(
    trained.items(), ("#0072b2", "#d55e00"), ("-", "--"), strict=True
):
    epochs = np.arange(1, len(history) + 1)
    axes[0].plot(epochs, history, dash, color=colour, linewidth=2.2, label=name)
axes[0].legend(frameon=False)
axes[0].set(title="Training", xlabel="epoch", ylabel="mean loss of the batches", yscale="log")
axes[0].spines[["top", "right"]].set_visible(False)
axes[0].grid(alpha=0.25)
axes[1].set(title="ROC of the test groups", xlim=(-0.01, 0.5), ylim=(0.5, 1.01))
plt.show()

# %%
# A comparison of two losses depends on the number of epochs, the step size and the seed. Repeat it
# on your own data before drawing a conclusion; what this example shows is how to use the loss.
