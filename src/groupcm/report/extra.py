"""The extra that reports need, and the sentence for those who do not have it."""

from __future__ import annotations

from importlib.util import find_spec

from groupcm.errors import InputError

__all__ = ["is_installed", "require_report_extra"]

_PACKAGES = ("matplotlib", "jinja2")


def require_report_extra() -> None:
    """Say how to install what reports are drawn and written with, where it is missing.

    Examples
    --------
    >>> require_report_extra()
    """
    if not all(map(is_installed, _PACKAGES)):
        raise InputError(
            "a report needs matplotlib and jinja2; install them with: pip install 'groupcm[report]'"
        )


def is_installed(package: str) -> bool:
    """Whether a package could be imported.

    Examples
    --------
    >>> is_installed("numpy"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return find_spec(package) is not None
    except ValueError:  # what stands in sys.modules is no module
        return False
