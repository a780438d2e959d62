"""References to public names by any path that Python accepts for them.

A page documents ``groupcm.GroupClassifier``; its class is defined in a private place and is also
found as ``groupcm.estimators.GroupClassifier``. A reference by one of the other paths leads to that
page. Docstrings that scikit-learn supplies refer to labels of its own documentation; these become
plain text.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

FOREIGN_ROLES = re.compile(
    r":(?:ref|term|class|func|meth|mod|user guide):`~?([^`<]+?)(?:\s*<[^`]*>)?`"
)

ROUTING = re.compile(r"get_params|set_params|get_metadata_routing|set_\w+_request")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("missing-reference", resolve)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("autodoc-process-docstring", plain_foreign_roles, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def find(path: str) -> Any:
    """Return the object with a dotted path, or None."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
            for name in parts[end:]:
                found = getattr(found, name)
        except (ImportError, AttributeError):
            continue
        return found
    return None


def documented(env: BuildEnvironment) -> dict[int, str]:
    """Return the path under which each object has its page, by the object's id."""
    if not hasattr(env, "_groupcm_pages"):
        objects = env.domains.python_domain.objects
        pages = {id(find(path)): path for path in objects if path.startswith("groupcm")}
        env._groupcm_pages = pages  # type: ignore[attr-defined]
    return env._groupcm_pages  # type: ignore[attr-defined]


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("groupcm."):
        return None
    found = find(target)
    path = documented(env).get(id(found)) if found is not None else None
    in_docstring = node.source is None or node.get("reftype") == "obj"
    if path is None and found is not None and in_docstring:
        return content  # a name that exists and has no page, as in a signature
    if path is None or path == target:
        return None
    return env.domains.python_domain.resolve_xref(
        env, node["refdoc"], app.builder, "obj", path, node, content
    )


def skip_routing(
    _app: Sphinx, _kind: str, name: str, _found: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out what every estimator of scikit-learn has; the page of estimators mentions it."""
    return True if ROUTING.fullmatch(name) else None


def plain_foreign_roles(
    _app: Sphinx, _kind: str, _name: str, found: Any, _options: Any, lines: list[str]
) -> None:
    if not (getattr(found, "__module__", None) or "").startswith(("sklearn", "torch")):
        return
    text = FOREIGN_ROLES.sub(r"\1", "\n".join(lines))
    lines[:] = text.split("\n")
