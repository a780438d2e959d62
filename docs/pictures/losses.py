"""Draw the losses and penalties of the user guide: ``python -m docs.pictures.losses``."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib import pyplot as plt

from groupcm.objective.losses import make_loss
from groupcm.objective.penalties import make_penalty

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#7f3c8d")
_LINES = ("-", "--", "-.", ":")


def draw(path: Path) -> None:
    """Draw all losses and all penalties with their default hyperparameters."""
    plt.rcParams.update({"svg.hashsalt": "groupcm", "svg.fonttype": "path", "font.size": 10})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    t = np.linspace(-1.5, 2.5, 401)
    for number, name in enumerate(("smoothed_hinge", "hinge", "logistic")):
        style = {"color": _COLOURS[number], "linestyle": _LINES[number], "linewidth": 2}
        left.plot(t, make_loss(name).value(t), label=name, **style)
    left.set(xlabel="margin t", ylabel="loss L(t)", ylim=(0, 2.6), title="Losses")
    w = np.linspace(-2.0, 2.0, 401)
    for number, name in enumerate(("huber", "l2", "l1", "elasticnet")):
        penalty = make_penalty(name)
        values = [float(penalty.value(np.array([each]))) for each in w]
        style = {"color": _COLOURS[number], "linestyle": _LINES[number], "linewidth": 2}
        right.plot(w, values, label=name, **style)
    right.set(xlabel="weight w", ylabel="penalty h(w)", ylim=(0, 2.6), title="Penalties")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"))
