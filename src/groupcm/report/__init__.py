"""Reports of evaluations and comparisons: figures in one self-contained HTML page."""

from groupcm.utils.lazy import TYPE_CHECKING, lazy_names

if TYPE_CHECKING:
    from groupcm.report.page import CasePictures, comparison_page, evaluation_page
    from groupcm.report.save import check_report, save_comparison, save_evaluation

__all__ = [
    "CasePictures",
    "check_report",
    "comparison_page",
    "evaluation_page",
    "save_comparison",
    "save_evaluation",
]

# The model card is in this package and requires none of the packages that pages require.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CasePictures": "page",
        "check_report": "save",
        "comparison_page": "page",
        "evaluation_page": "page",
        "save_comparison": "save",
        "save_evaluation": "save",
    },
)
