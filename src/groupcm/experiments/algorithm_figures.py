"""The figures of the paper's section on the algorithm, drawn from the code of losses and
penalties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from groupcm.objective.losses import make_loss
from groupcm.objective.penalties import make_penalty
from groupcm.plots.style import INK, MUTED, NEGATIVE, POSITIVE, frame, looks
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.style import in_style, legend_below, new_axes
from groupcm.utils.typing import Vector

__all__ = ["algorithm_figures"]

# The losses of the candidates in the paper's figures, negatives and positives.
_NEGATIVE_GROUPS = {"One bad error": (0.0, 0.4, 4.1), "The same error thrice": (1.7, 1.7, 1.7)}
_POSITIVE_GROUPS = {"Image a": (0.0, 1.4), "Image b": (0.3, 0.7)}


def algorithm_figures() -> list[CaptionedFigure]:
    """Draw the losses, the penalty, and both figures on grouping.

    Examples
    --------
    >>> [figure.name for figure in algorithm_figures()]
    ['hinge', 'smoothed_hinge', 'huber', 'group_negatives', 'group_positives']
    """
    t, w = np.linspace(-1.5, 2.5, 401), np.linspace(-2.5, 2.5, 401)
    hinge = make_loss("hinge").value
    losses = {"hinge (δ = 0)": hinge(t)}
    for delta in (0.25, 0.5, 1.0):
        losses[f"δ = {delta:g}"] = make_loss("smoothed_hinge", delta).value(t)
    penalties = {f"ε = {epsilon:g}": _huber(w, epsilon) for epsilon in (0.1, 0.5, 1.0, 2.0)}
    penalties["norm 1 (ε = 0)"] = np.abs(w)
    ratio = [float(loss(-0.5) / loss(0.5)) for loss in (hinge, make_loss("smoothed_hinge").value)]
    return [
        CaptionedFigure(
            "hinge",
            "The hinge loss",
            "t = y (wᵀx + b) is the margin of a candidate.",
            "Zero from a margin of 1 on, and a line of slope −1 below.",
            _curves(t, {"hinge": losses["hinge (δ = 0)"]}, "Margin t", "Loss"),
        ),
        CaptionedFigure(
            "smoothed_hinge",
            "The smoothed hinge loss",
            f"A margin of −½ costs as much as {ratio[0]:.0f} of ½ with the hinge, and as "
            f"{ratio[1]:.0f} with δ = 0.5, the paper's value.",
            "The larger δ, the longer the quadratic piece between the line and zero.",
            _curves(t, losses, "Margin t", "Loss"),
        ),
        CaptionedFigure(
            "huber",
            "The Huber penalty",
            "Quadratic up to ε and a line beyond; the paper has ε = 1.",
            "The smaller ε, the closer to the norm 1.",
            _curves(w, penalties, "Weight w", "Penalty"),
        ),
        CaptionedFigure(
            "group_negatives",
            "Why to group negatives",
            "Two negative images by the hinge losses of their candidates. The mean prefers the "
            "left one, the largest loss the right one: and the largest decides on the image.",
            _described(_NEGATIVE_GROUPS),
            _groups(_NEGATIVE_GROUPS, -1, ("largest", "mean")),
        ),
        CaptionedFigure(
            "group_positives",
            "Why not to group positives",
            "Two positive images. The largest and the mean loss prefer image b, although image a "
            "has the candidate with the highest score, which decides on the image.",
            _described(_POSITIVE_GROUPS),
            _groups(_POSITIVE_GROUPS, 1, ("largest", "mean", "smallest")),
        ),
    ]


def _huber(w: Vector, epsilon: float) -> Vector:
    penalty = make_penalty("huber", epsilon)
    return np.array([float(penalty.value(np.array([each]))) for each in w])


@in_style
def _curves(x: Vector, curves: dict[str, Vector], xlabel: str, ylabel: str) -> Figure:
    figure, axes = new_axes(3.0 + 0.2 * (len(curves) > 1))
    for k, (name, y) in enumerate(curves.items()):
        look = looks(k)
        axes.plot(x, y, color=look.colour, linestyle=look.dashes, label=name)
    axes.set_ylim(-0.05, 2.5)
    frame(axes, xlabel, ylabel)
    if len(curves) > 1:
        legend_below(figure)
    return figure


def _described(groups: dict[str, tuple[float, ...]]) -> str:
    return " ".join(
        f"{name}: losses {', '.join(f'{loss:g}' for loss in losses)}; largest {max(losses):g}, "
        f"mean {np.mean(losses):.2g}, smallest {min(losses):g}."
        for name, losses in groups.items()
    )


@in_style
def _groups(groups: dict[str, tuple[float, ...]], label: int, shown: Sequence[str]) -> Figure:
    """Draw the losses of candidates as bars, from the margins that have them."""
    hinge = make_loss("hinge").value
    statistics = {"largest": np.max, "mean": np.mean, "smallest": np.min}
    figure, axes = new_axes(3.1)
    at, ticks = 0.0, []
    for name, wanted in groups.items():
        scores = label * (1.0 - np.array(wanted))  # a margin of 1 − loss
        losses = hinge(label * scores)
        x = np.arange(len(losses), dtype=np.float64) + at
        axes.bar(x, losses, width=0.6, color=POSITIVE if label > 0 else NEGATIVE, alpha=0.75)
        for place, score, loss in zip(x, scores, losses, strict=True):
            axes.annotate(
                f"{score:.1f}", (place, loss), (0, 3), textcoords="offset points",
                ha="center", fontsize=8, color=MUTED,
            )  # fmt: skip
        for k, statistic in enumerate(shown):
            _level(axes, x, float(statistics[statistic](losses)), k, statistic if at == 0 else None)
        ticks.append((float(x.mean()), name))
        at = x[-1] + 2.0
    axes.set_xticks([place for place, _ in ticks], [name for _, name in ticks])
    frame(axes, "above the bars: the score of the candidate", "Hinge loss")
    axes.margins(y=0.15)
    legend_below(figure)
    return figure


def _level(axes: Axes, x: Vector, value: float, number: int, name: str | None) -> None:
    axes.hlines(
        value,
        x[0] - 0.45,
        x[-1] + 0.45,
        color=INK,
        linestyle=["solid", "dashed", "dotted"][number],
        linewidth=1.4,
        label=name or "_unnamed",
    )
