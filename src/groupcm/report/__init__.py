"""Reports of evaluations and comparisons: figures in one self-contained HTML page."""

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
