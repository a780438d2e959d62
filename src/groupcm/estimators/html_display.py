"""The HTML representation of models in notebooks: scikit-learn's diagram and a panel below it.

The panel of a fitted model shows the certificate of its optimum, the threshold, and the largest
weights of a linear model or importances of trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

import numpy as np

from groupcm.estimators.weights import feature_names, feature_weights, linear_part, tree_part
from groupcm.metrics.decision import threshold_rule
from groupcm.utils.formatting import certified_gap, number
from groupcm.utils.text import printable
from groupcm.utils.typing import Vector

__all__ = ["HtmlPanel"]

_TOP = 8
_MOST_CLASSES = 4
_LONGEST_NAME = 60
# What scikit-learn's diagram ends with; the panel goes inside the element that has its theme.
_END = "</div></div><script>"
_STYLE = """<style>
.groupcm-panel{--ink:var(--sklearn-color-text-on-default-background,currentColor);
--up:#d55e00;--down:#0072b2;color:var(--ink);font:13px/1.45 system-ui,sans-serif;
max-width:34em;margin:.5em 0;padding:.6em .9em;border-radius:6px;
border:1px solid color-mix(in srgb,var(--ink) 25%,transparent)}
.dark .groupcm-panel{--up:#f08a4b;--down:#56b4e9}
.groupcm-panel p{margin:0 0 .4em}
.groupcm-panel table{border-collapse:collapse;margin:.2em 0;width:100%}
.groupcm-panel tr,.groupcm-panel tr:hover{background:none}
.groupcm-panel :is(th,td){padding:.1em .6em .1em 0;text-align:left;font-weight:normal;
vertical-align:middle;border:0;color:var(--ink)}
.groupcm-panel th{white-space:nowrap;width:1%}
.groupcm-panel .facts th{opacity:.75}
.groupcm-panel td.number{white-space:nowrap;width:1%;text-align:right;
font-variant-numeric:tabular-nums}
.groupcm-panel caption{text-align:left;opacity:.75;padding:.3em 0 .1em;color:var(--ink)}
.groupcm-panel i{display:block;height:.7em;border-radius:2px;background:var(--up)}
.groupcm-panel i.down{background:var(--down)}
</style>"""


class HtmlPanel:
    """Add the panel to the representation that scikit-learn builds."""

    def _repr_html_inner(self) -> str:
        return _with_panel(super()._repr_html_inner(), self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = _with_panel(bundle["text/html"], self)
        return bundle


def _with_panel(diagram: str, model: Any) -> str:
    panel = _panel(model)
    before, end, after = diagram.rpartition(_END)
    if not end:
        return f"{diagram}{panel}"
    return f"{before}</div>{panel}</div><script>{after}"


def _panel(model: Any) -> str:
    """Return the panel of a fitted model; nothing for one that is not fitted.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> _panel(GroupClassifier())
    ''
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> "of the global optimum" in _panel(model)
    True
    """
    if not hasattr(model, "classes_"):
        return ""
    linear, trees = linear_part(model), tree_part(model)
    facts = [*_threshold(model)]
    lead, bars = "", ""
    if linear is not None:
        lead = f"<p>{escape(_certificate(linear))}</p>"
        facts = [*_certified_numbers(linear), *facts]
        bars = "".join(_weights(linear))
    elif trees is not None:
        facts = [("Trees", ", ".join(f"{n:,}" for n in np.ravel(trees.n_trees_))), *facts]
        shares = trees.feature_importances_
        bars = _bars("Largest importances (share of the total gain)", feature_names(trees), shares)
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts)
    table = f'<table class="facts"><tbody>{rows}</tbody></table>' if rows else ""
    return f'{_STYLE}<div class="groupcm-panel">{lead}{table}{bars}</div>'


def _certificate(linear: Any) -> str:
    chose = len(getattr(linear, "witnesses_", ())) > 0
    gap = certified_gap(float(np.max(linear.gap_)), linear.tol, chose_candidates=chose)
    return f"Certified: {gap}."


def _certified_numbers(linear: Any) -> Iterator[tuple[str, str]]:
    for name, values in (
        ("Relative gap", linear.gap_),
        ("Objective", linear.objective_),
        ("Lower bound", linear.lower_bound_),
    ):
        yield name, ", ".join(number(float(value), 6) for value in np.ravel(values))


def _threshold(model: Any) -> Iterator[tuple[str, str]]:
    threshold = getattr(model, "threshold_", None)
    if threshold is None:
        return
    yield "Threshold", threshold_rule(float(threshold))
    decision = getattr(model, "decision_", None)
    if decision is not None:
        yield "", printable(decision.words)


def _weights(linear: Any) -> Iterable[str]:
    """Return one table per class; the weights of standardised features can be compared."""
    found = feature_weights(linear)
    for each in found[:_MOST_CLASSES]:
        unit = "for one standard deviation" if each.is_standardized else "for one unit"
        of_class = f" of class {printable(each.label)}" if len(found) > 1 else ""
        # A constant feature has no influence, whatever weight the solver left there.
        values = np.where(each.per_unit == 0.0, 0.0, each.trained)
        yield _bars(f"Largest weights{of_class} ({unit})", each.names, values)


def _bars(caption: str, names: list[str], values: Vector) -> str:
    """Return a table with a bar per feature, the largest value of either sign first.

    Examples
    --------
    >>> "&lt;b&gt;" in _bars("Weights", ["<b>"], np.array([1.0]))
    True
    """
    order = np.argsort(-np.abs(values), kind="stable")[:_TOP].tolist()
    order = [j for j in order if values[j] != 0.0]
    if not order:
        return ""
    reach = abs(float(values[order[0]]))
    rows = (
        f"<tr><th>{escape(printable(names[j], _LONGEST_NAME))}</th>"
        f'<td class="number">{number(float(values[j]))}</td>'
        f"<td><i{'' if values[j] > 0 else ' class=down'} "
        f'style="width:{100 * abs(values[j]) / reach:.3g}%"></i></td></tr>'
        for j in order
    )
    more = len(names) - len(order)
    rest = f", {len(order)} of {len(names):,} features" if more else ""
    return (
        f"<table><caption>{escape(caption + rest)}</caption><tbody>{''.join(rows)}</tbody></table>"
    )
