"""Report pages from templates: self-contained HTML without scripts or network access."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from groupcm.evaluation.comparison.results import ModelComparison
from groupcm.evaluation.results import Case, Evaluation
from groupcm.plots.axes import clean
from groupcm.report.captions import sensitivity_at, specificities
from groupcm.report.figures.figure import CaptionedFigure
from groupcm.report.figures.style import NAMED_COLOURS
from groupcm.utils import formatting
from groupcm.utils.extras import REPORT
from groupcm.utils.formatting import number
from groupcm.utils.text import in_unit

if TYPE_CHECKING:
    from groupcm.report.figures.figure import CaptionedFigure

__all__ = [
    "CasePictures",
    "Page",
    "comparison_page",
    "draw_comparison",
    "draw_evaluation",
    "evaluation_page",
    "render",
]

# A line does not end between a number and its unit.
_STAYS_TOGETHER = re.compile(r"\bp [=<] \d|\d (?:%|s|min|h)(?!\w)")


def render(
    template: str, figures: Sequence[CaptionedFigure], *, unit: str = "group", **numbers: Any
) -> str:
    """Fill a template; text that comes from users is escaped.

    ``unit`` is the user's word for a group, by which the filter of this name calls it.
    """
    environment = Environment(
        loader=PackageLoader("groupcm.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        # No unpaired surrogates or control characters reach the page.
        finalize=_printable,
    )
    environment.globals |= {"specificities": specificities, "sensitivity_at": sensitivity_at}
    environment.filters |= {name: getattr(formatting, name) for name in formatting.__all__}
    environment.filters["unit"] = lambda text: in_unit(text, unit)
    drawn = {
        figure.name: {
            "name": figure.name,
            "title": figure.title,
            "caption": figure.caption,
            "svg": Markup(figure.inline_svg),
        }
        for figure in figures
    }
    return environment.get_template(template).render(
        figures=drawn, colours=NAMED_COLOURS, unit=unit, **numbers
    )


def _printable(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _STAYS_TOGETHER.sub(lambda found: found[0].replace(" ", "\u00a0"), clean(value))


@dataclass(frozen=True)
class CasePictures:
    """Pictures of cases with the outline of the winner, by the winner's row.

    Attributes
    ----------
    jpegs : mapping
        From the row of a winner to a JPEG file.
    missing : mapping
        From the row of a winner to the reason why its picture is not shown.
    marks_objects : bool
        Whether annotated objects are outlined too.

    Examples
    --------
    >>> pictures = CasePictures({7: b"..."}, marks_objects=True)
    >>> pictures.address(7)
    'data:image/jpeg;base64,Li4u'
    >>> pictures.alt(Case("frame 3", 1.25, 7))
    'frame 3: the winner, which scores 1.25, and what was marked, outlined'
    """

    most_of_a_kind: ClassVar[int] = 8  # two rows of a wide page

    jpegs: Mapping[int, bytes]
    missing: Mapping[int, str] = field(default_factory=dict)
    marks_objects: bool = False

    def address(self, row: int) -> str | None:
        """Return the picture as a data URL; None where there is none."""
        jpeg = self.jpegs.get(row)
        return None if jpeg is None else f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"

    def alt(self, case: Case) -> str:
        """Return the alternative text of a picture, for screen readers."""
        marked = ", and what was marked" if self.marks_objects else ""
        return f"{case.group}: the winner, which scores {number(case.score)}{marked}, outlined"


class Page(NamedTuple):
    """A page in HTML, and the figures that are in it."""

    html: str
    figures: Sequence[CaptionedFigure]


def evaluation_page(evaluation: Evaluation, pictures: CasePictures | None = None) -> str:
    """Write an evaluation as one HTML page, with its figures and pictures inside.

    Examples
    --------
    >>> from groupcm import GroupClassifier
    >>> from groupcm.evaluation._evaluate import evaluate
    >>> from groupcm.simulate import capsule
    >>> made = capsule(60, n_positive=20, group_size=5)
    >>> model = GroupClassifier().fit(made.X, made.y, made.groups)
    >>> found = evaluate(model, made.X, made.y, made.groups, title="Frames", n_resamples=50)
    >>> "<title>Frames</title>" in evaluation_page(found)
    True
    """
    return draw_evaluation(evaluation, pictures).html


def comparison_page(comparison: ModelComparison) -> str:
    """Write a comparison of models as one HTML page, with its figures inside.

    Examples
    --------
    >>> from groupcm.evaluation.comparison.compare_models import compare_models
    >>> from groupcm.simulate import capsule
    >>> made = capsule(40, n_positive=20, group_size=5)
    >>> found = compare_models(
    ...     made.X, made.y, made.groups, models=["svm", "gcm"], cv=2, n_settings=1,
    ...     learning=False, n_resamples=50, title="Two models",
    ... )
    >>> "<title>Two models</title>" in comparison_page(found)
    True
    """
    return draw_comparison(comparison).html


def draw_evaluation(evaluation: Evaluation, pictures: CasePictures | None = None) -> Page:
    """Draw the figures of an evaluation, and write its page."""
    REPORT.require()
    from groupcm.report import at_a_glance as glance
    from groupcm.report import details
    from groupcm.report import evaluation as parts
    from groupcm.report.figures.scores import by_size

    # Words end up in drawings, which cannot hold control characters.
    words = {"unit": clean(evaluation.unit), "object_word": clean(evaluation.object_word)}
    evaluation = replace(evaluation, **words)
    localisation, unit, level = evaluation.localisation, evaluation.unit, evaluation.level
    sentences = [parts.alarms_sentence(evaluation.decision, level)]
    sentences.append(parts.ranking_sentence(evaluation))
    if localisation is not None:
        sentences.append(parts.localisation_sentence(localisation, level))
    return _filled(
        "evaluation.html",
        evaluation,
        parts.evaluation_figures(evaluation),
        evaluation=evaluation,
        kinds=glance.Kinds.of(evaluation),
        verdict=glance.verdict_sentences(evaluation),
        glance=glance,
        details=details,
        tiles=parts.metric_tiles(evaluation),
        sentences=[in_unit(each, unit) for each in sentences],
        pictures=pictures,
        certificate=parts.certificate_sentence(evaluation.training),
        data_rows=parts.data_rows(evaluation),
        weights=by_size(evaluation.weights),
    )


def draw_comparison(comparison: ModelComparison) -> Page:
    """Draw the figures of a comparison, and write its page."""
    REPORT.require()
    from groupcm.report import comparison as parts
    from groupcm.report.figures.style import colour_name

    looks = parts.looks_of(comparison)
    models = parts.by_auc(comparison.models)
    return _filled(
        "comparison.html",
        comparison,
        parts.comparison_figures(comparison),
        comparison=comparison,
        summary=parts.summary_sentences(comparison),
        against=parts.against_reference(comparison),
        models=models,
        group_rocs=[(model.name, model.group_roc) for model in models],
        swatch=lambda name: colour_name(looks[name].colour),
        chosen_hyperparameters=parts.chosen_hyperparameters,
        pairs=parts.pair_sentences(comparison.pairs, comparison.level),
        level_pairs=[
            (each, parts.pair_sentences(each.pairs, comparison.level)) for each in comparison.levels
        ],
    )


def _filled(
    template: str,
    found: Evaluation | ModelComparison,
    figures: Sequence[CaptionedFigure],
    **values: Any,
) -> Page:
    common = {"level": found.level, "title": found.title, "version": found.version}
    common["unit"] = found.unit
    return Page(render(template, figures, **common, **values), figures)
