"""The text of a model card: sections of names and values, as plain text and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from groupcm.metrics.decision import threshold_rule
from groupcm.metrics.registry import metric_label
from groupcm.report.model_card.card import Certificate, HeldOut, ModelCard, Trees
from groupcm.utils.formatting import certified_gap, percent
from groupcm.utils.sections import Section, sections_as_text

__all__ = ["as_markdown", "as_text", "sections_of"]

Rows = list[tuple[str, str]]

_NOT_KNOWN = "not known"
_MOST_NAMES = 30
_KINDS = {
    "linear": "a linear score of each candidate; a group scores as its best candidate",
    "trees": "gradient-boosted trees score each candidate; a group scores as its best candidate",
    "other": "scores each candidate; a group scores as its best candidate",
}
_WIDTH = 100


def sections_of(card: ModelCard) -> list[Section]:
    """Return all sections of a card.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.report.model_card import model_card
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> [section.title for section in sections_of(model_card(model))][:3]
    ['Model', 'Trained on', 'Certificate']
    """
    found = [Section("Model", _model(card)), Section("Trained on", _trained_on(card))]
    if card.certificate is not None:
        chose = bool(card.trained_on.n_unannotated_groups)
        found.append(Section("Certificate", _certificate(card.certificate, chose)))
    if card.trees is not None:
        found.append(Section("Trees", _trees(card.trees)))
    found += [
        Section("On held-out groups", _unseen(card)),
        Section("Alarm", _alarm(card)),
        Section("Parameters", [(name, _shown(v)) for name, v in card.parameters.items()]),
        Section("Versions", list(card.versions.items())),
    ]
    return found


def _model(card: ModelCard) -> Rows:
    features = card.features
    names = features.names
    listed = "names not known" if names is None else _listed(names)
    rows = [("model", f"{_KINDS[card.kind]} ({card.model})")]
    if card.place is not None:
        rows.append(("place", f"a second model chooses the candidate of a group ({card.place})"))
    if card.positive_class is not None:
        negative = next(value for value in card.classes if value != card.positive_class)
        rows.append(("classes", f"{card.positive_class} (positive), {negative} (negative)"))
    else:
        rows.append(("classes", _listed([str(value) for value in card.classes])))
    rows.append(("features", f"{features.count:,}: {listed}"))
    if features.map is not None:
        rows.append(("feature map", f"{features.map}, to {features.count_of_map:,} features"))
    rows += [(f"{role} column", column) for role, column in card.columns.items()]
    return rows


def _trained_on(card: ModelCard) -> Rows:
    of = card.trained_on
    groups = _NOT_KNOWN
    if of.n_positive_groups is not None and of.n_negative_groups is not None:
        groups = f"{of.n_positive_groups:,} positive and {of.n_negative_groups:,} negative"
    return [
        ("tables", _NOT_KNOWN if of.tables is None else _listed(of.tables)),
        ("candidates", _count(of.n_candidates)),
        ("groups", groups),
        ("patients", _count(of.n_patients)),
        ("not annotated", _unannotated(of.n_unannotated_groups)),
        ("date", of.date or _NOT_KNOWN),
    ]


def _unannotated(n_groups: int | None) -> str:
    if not n_groups:
        return _NOT_KNOWN if n_groups is None else "none of the positive groups"
    return f"{n_groups:,} of the positive groups: training chose a candidate of each"


def _certificate(found: Certificate, chose: bool) -> Rows:
    return [
        *([("minimised", found.of)] if found.of else []),
        ("objective", _numbers(found.objective)),
        ("lower bound", _numbers(found.lower_bound)),
        ("certified gap", _numbers(found.gap)),
        ("certified", certified_gap(max(found.gap), found.tol, chose_candidates=chose)),
        ("passes", f"{max(found.passes):.3g} over the candidates"),
    ]


def _trees(found: Trees) -> Rows:
    rows = [("trees", ", ".join(f"{n:,}" for n in found.count))]
    best = found.validation
    if best is None:
        rows.append(("chosen by", "the user: there was no validation"))
    else:
        metric = metric_label(best.metric)
        text = f"{metric} {best.value:.4f} on groups left out, of up to {best.most:,} trees"
        rows.append(("chosen by", text))
    rows.append(("certificate", "none: the distance of trees from the optimum is not known"))
    return rows


def _unseen(card: ModelCard) -> Rows:
    rows = []
    chosen, held_out = card.chosen_by_folds, card.held_out
    if held_out is not None:
        groups = (
            f"{held_out.n_positive_groups:,} positive and {held_out.n_negative_groups:,} negative "
            "ones, each scored by a model of a fold that left it out"
        )
        rows += [("group AUC", _auc(held_out)), ("groups", groups)]
        if held_out.caution is not None:
            rows.append(("caution", held_out.caution))
    if chosen is not None:
        text = (
            f"{chosen.lam:.4g}, with a mean {metric_label(chosen.metric)} of "
            f"{chosen.mean:.4f} (range over {chosen.n_folds} folds: {chosen.low:.4f} to "
            f"{chosen.high:.4f})"
        )
        rows.append(("λ by folds", text))
    unknown = f"{_NOT_KNOWN}; groupcm evaluate computes it on tables that were not trained on"
    return rows or [("group AUC", unknown)]


def _auc(held_out: HeldOut) -> str:
    auc, low, high = held_out.group_auc, held_out.group_auc_low, held_out.group_auc_high
    if math.isnan(low) or math.isnan(high):
        return f"{auc:.3f} (too few {held_out.drawn} for a confidence interval)"
    return (
        f"{auc:.3f} ({percent(held_out.level)} CI {low:.3f} to {high:.3f}, bootstrap over "
        f"{held_out.drawn})"
    )


def _alarm(card: ModelCard) -> Rows:
    rows, held_out = [], card.held_out
    if card.threshold is None:
        rows.append(("threshold", "none: a group gets the class of its largest score"))
    else:
        rows.append(("threshold", threshold_rule(card.threshold.value)))
        rows.append(("threshold source", card.threshold.chosen))
    if held_out is not None and held_out.sensitivity is not None:
        rows.append(("positive groups found", f"{percent(held_out.sensitivity)} (sensitivity)"))
    if held_out is not None and held_out.specificity is not None:
        rows.append(
            ("negative groups without an alarm", f"{percent(held_out.specificity)} (specificity)")
        )
    calibration = card.calibration
    how = "none: scores have no unit"
    if calibration is not None:
        how = f"by {'an' if calibration[0] in 'aeiou' else 'a'} {calibration} curve"
    rows.append(("probabilities", how))
    return rows


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


def _count(value: int | None) -> str:
    return _NOT_KNOWN if value is None else f"{value:,}"


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_text(card: ModelCard) -> str:
    """Write the card as headings with aligned names and values.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.report.model_card import model_card
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> as_text(model_card(model)).splitlines()[3].split(maxsplit=1)
    ['classes', '1 (positive), 0 (negative)']
    """
    return sections_as_text(sections_of(card))


def as_markdown(card: ModelCard) -> str:
    """Write the card as one Markdown table per section.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.report.model_card import model_card
    >>> model = GroupClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> print(as_markdown(model_card(model)).splitlines()[0])
    # Model card
    """
    lines = ["# Model card"]
    for section in sections_of(card):
        lines += ["", f"## {section.title}", "", "| | |", "|---|---|"]
        lines += [f"| {name} | {_in_cell(value)} |" for name, value in section.rows]
    return "\n".join(lines) + "\n"


def _in_cell(text: str) -> str:
    for sign in "\\|`*_<>[]":
        text = text.replace(sign, f"\\{sign}")
    return text
