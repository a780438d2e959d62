"""The extra that the pages need, and the sentence for those who do not have it."""

from __future__ import annotations

from groupcm.extras import require_installed

__all__ = ["require_web"]


def require_web() -> None:
    """Say how to install what serves the pages, where it is missing.

    Examples
    --------
    >>> require_web()
    """
    why = "the page in the browser is served by Starlette and uvicorn"
    require_installed(("starlette", "uvicorn", "PIL"), "web", why)
