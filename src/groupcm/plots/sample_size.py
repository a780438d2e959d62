"""The width of an interval, or the power of a comparison, against the number of patients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from groupcm.metrics.sample_size import SampleSize
from groupcm.plots.base import Display, labelled, mark_at
from groupcm.plots.style import CHANCE, frame, n_curves, next_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SampleSizeDisplay"]


@dataclass(eq=False)
class SampleSizeDisplay(Display):
    """The width of an interval, or the power, of studies of each number of patients.

    Create it from the result of `groupcm.metrics.sample_size`, and draw it with `plot`. The number
    of patients that reaches the goal is marked.

    Parameters
    ----------
    result : SampleSize
    name : str, optional
        The name of the line in the legend.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> from groupcm.metrics import sample_size
    >>> from groupcm.plots import SampleSizeDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> result = sample_size(y, y + rng.standard_normal(60), width=0.1, n_studies=100)
    >>> SampleSizeDisplay(result).plot().ax_.get_xlabel()
    'Patients'
    """

    result: SampleSize
    name: str | None = None

    def _draw(self, axes: Axes, **line: Any) -> str:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

        found, is_first = self.result, n_curves(axes) == 0
        is_width = found.goal == "width"
        metric = "difference" if found.difference is not None else found.metric_words
        what = f"Width of the {100 * found.level:g} % confidence interval"
        frame(axes, "Patients", what if is_width else "Power (share of studies that find it)")
        sizes, values = np.array(found.sizes), np.array(found.values)
        if is_first:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axes.set_ylim(0.0, 1.1 * values.max() if is_width else 1.02)
            axes.axhline(found.wanted, **CHANCE)
        label = labelled(self.name, metric)
        axes.plot(sizes, values, **{"label": label, **next_look(axes, line)})
        if found.n_patients is not None:
            reached = values[found.sizes.index(found.n_patients)]
            wanted = f"width {found.wanted:g}" if is_width else f"power {found.wanted:g}"
            mark_at(axes, found.n_patients, reached, f"{found.n_patients:,} patients: {wanted}")
        return "upper right" if is_width else "lower right"
