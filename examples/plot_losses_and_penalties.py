r"""
Losses and penalties
====================

The objective of :class:`groupcm.GroupClassifier` adds a penalty of the weights (the
regularisation) to a loss of the groups,

.. math::

    \frac{1-\lambda}{d} \sum_j h(w_j)
    + \frac{\lambda}{n_+} \sum_{k\,\text{positive}} L(s_{k^*})
    + \frac{\lambda}{n_-} \sum_{k\,\text{negative}} \max_{i \in G_k} L(-s_i).

Which losses :math:`L` and penalties :math:`h` are there, and what does the choice change? This
example draws all of them, and then compares the weights that each penalty gives on the same data.
Every combination is convex, and is solved to the same certified gap.
"""

# %%
# The losses
# ----------
# A loss is a function of the margin :math:`t`, which is the score for a positive candidate and
# minus the score for a negative one.
#
# - ``"hinge"``: :math:`\max(0, 1 - t)`, the loss of the support vector machine.
# - ``"smoothed_hinge"``: zero for :math:`t \ge 1`, :math:`(1-t)^2 / 4\delta` for
#   :math:`1 - 2\delta \le t < 1` and :math:`1 - t - \delta` below, the paper's loss and the
#   default. Candidates inside the margin cost less than with the hinge, in relation to errors.
# - ``"logistic"``: :math:`\log(1 + e^{-t})`, the loss of logistic regression, which never
#   becomes zero.

import matplotlib.pyplot as plt
import numpy as np

from groupcm import GroupClassifier
from groupcm.metrics import group_roc_auc
from groupcm.objective.losses import make_loss
from groupcm.objective.penalties import make_penalty
from groupcm.simulate import capsule

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#6b7280"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 11})

t = np.linspace(-1.5, 3.5, 400)
losses = {
    "hinge": (make_loss("hinge"), GREY, "-"),
    "smoothed hinge, δ = 0.5": (make_loss("smoothed_hinge", delta=0.5), BLUE, "-"),
    "smoothed hinge, δ = 1": (make_loss("smoothed_hinge", delta=1.0), BLUE, "--"),
    "logistic": (make_loss("logistic"), ORANGE, "-."),
}
for name, (loss, _, _) in losses.items():
    ratio = loss.value(-0.5) / loss.value(0.5)
    print(f"{name:>24}: an error at t = -0.5 costs {ratio:.1f} times as much as t = 0.5")

# %%
# The penalties
# -------------
# A penalty is a sum over the weights of the standardised features.
#
# - ``"huber"``: :math:`w^2 / 2\varepsilon` for :math:`|w| \le \varepsilon` and
#   :math:`|w| - \varepsilon/2` beyond, the paper's penalty and the default.
# - ``"l2"``: :math:`w^2`.
# - ``"l1"``: :math:`|w|`, which sets the weights of useless features to zero.
# - ``"elasticnet"``: :math:`r |w| + (1 - r) w^2` with ``l1_ratio`` :math:`r`.

w = np.linspace(-2, 2, 401)
penalties = {
    "Huber, ε = 1": (make_penalty("huber", epsilon=1.0), BLUE, "-"),
    "squared norm (l2)": (make_penalty("l2"), ORANGE, "-."),
    "norm 1 (l1)": (make_penalty("l1"), GREY, "-"),
    "elastic net, r = 0.5": (make_penalty("elasticnet", l1_ratio=0.5), GREEN, "--"),
}

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for name, (loss, colour, dash) in losses.items():
    axes[0].plot(t, loss.value(t), dash, color=colour, linewidth=2.4, label=name)
axes[0].axvspan(0, 1, color="0.5", alpha=0.1, linewidth=0)
axes[0].text(0.5, -0.02, "inside\nthe margin", ha="center", va="top", color=GREY)
axes[0].set(title="Losses", xlabel="margin t", ylabel="L(t)", ylim=(-0.4, 2.5))
axes[0].legend(frameon=False, loc="upper right")
for name, (penalty, colour, dash) in penalties.items():
    # A penalty is a sum over the weights, so that each weight is evaluated on its own.
    values = [penalty.value(np.array([each])) for each in w]
    axes[1].plot(w, values, dash, color=colour, linewidth=2.4, label=name)
axes[1].set(title="Penalties", xlabel="weight w", ylabel="h(w)", ylim=(-0.4, 2.5))
axes[1].legend(frameon=False, loc="upper center")
plt.show()

# %%
# What the penalty does to the weights
# ------------------------------------
# We add ten columns of noise to the 13 features of synthetic frames, and train on few positive
# frames. The loss is the same for all penalties.

rng = np.random.default_rng(0)
train = capsule(600, n_positive=40, group_size=50, seed=1)
test = capsule(600, n_positive=150, group_size=50, seed=2)
n_useful, n_noise = train.X.shape[1], 10


def with_noise(X):
    return np.hstack([X, rng.standard_normal((len(X), n_noise)).astype(np.float32)])


X_train, X_test = with_noise(train.X), with_noise(test.X)
weights = {}
for penalty in ("huber", "l2", "l1", "elasticnet"):
    model = GroupClassifier(lam=0.1, penalty=penalty)
    model.fit(X_train, train.y, groups=train.groups, overlap=train.overlap)
    weights[penalty] = model.coef_[0] * X_train.std(axis=0)
    auc = group_roc_auc(test.y, model.decision_function(X_test), test.groups)
    n_zero = np.count_nonzero(weights[penalty][n_useful:] == 0)
    print(
        f"{penalty:>10}: group AUC {auc:.3f}, {n_zero} of {n_noise} noise weights are zero, "
        f"certified gap {model.gap_:.1e}"
    )

# %%
# The weights below are those of the standardised features. Grey bars belong to the noise.

fig, axes = plt.subplots(1, 4, figsize=(11, 5), sharey=True)
fig.subplots_adjust(left=0.13, right=0.98, bottom=0.11, top=0.87, wspace=0.12)
names = [*train.feature_names, *(f"noise {k + 1}" for k in range(n_noise))]
places = np.arange(len(names))
for ax, (penalty, values) in zip(axes, weights.items(), strict=True):
    colours = np.where(places < n_useful, BLUE, GREY)
    is_zero = values == 0
    ax.barh(places, values, color=colours, height=0.7)
    ax.plot(
        values[is_zero], places[is_zero], "o", color="white", markeredgecolor=ORANGE, clip_on=False
    )
    ax.set(title=penalty, xlabel="weight")
    ax.axvline(0, color="0.3", linewidth=0.8)
axes[0].set(yticks=places, yticklabels=names, ylim=(len(names) - 0.4, -0.6))
circle = plt.Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor=ORANGE)
fig.legend([circle], ["exactly zero"], frameon=False, loc="upper right")
plt.show()
