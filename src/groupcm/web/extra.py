"""The extra that the pages need, and the sentence for those who do not have it."""

from __future__ import annotations

from importlib.util import find_spec

from groupcm.errors import InputError

__all__ = ["require_web"]


def require_web() -> None:
    """Say how to install what serves the pages, where it is missing.

    Examples
    --------
    >>> require_web()
    """
    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "PIL")):
        raise InputError(
            "the page in the browser is served by Starlette and uvicorn; "
            "install them with: pip install 'groupcm[web]'"
        )
