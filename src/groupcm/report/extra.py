"""The extra that reports need, and the sentence for those who do not have it."""

from __future__ import annotations

from groupcm.extras import require_installed

__all__ = ["require_report_extra"]


def require_report_extra() -> None:
    """Say how to install what reports are drawn and written with, where it is missing.

    Examples
    --------
    >>> require_report_extra()
    """
    require_installed(("matplotlib", "jinja2"), "report", "a report needs matplotlib and jinja2")
