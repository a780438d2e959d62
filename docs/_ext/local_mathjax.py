"""MathJax from an installed package, so that no page makes a request to another site.

The package ``sphinx-mathjax-offline`` holds the files of MathJax 3.2.2. Pages need the script and
the fonts, about 1.5 MB of its 24 MB; only these are copied.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

SCRIPT = "tex-chtml.js"
FONTS = "output/chtml/fonts/woff-v2"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", configure)
    app.connect("builder-inited", copy_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def configure(_app: Sphinx, config: Config) -> None:
    config["mathjax_path"] = f"mathjax/{SCRIPT}"
    # The menu would offer speech rules that are not copied.
    config["mathjax3_config"] = {
        "options": {"enableMenu": False, "processHtmlClass": "math", "ignoreHtmlClass": "document"}
    }
    config["myst_update_mathjax"] = False


def copy_files(app: Sphinx) -> None:
    if app.builder.format != "html":
        return
    package = find_spec("sphinx-mathjax-offline")
    if package is None or package.origin is None:
        raise ExtensionError("The site needs sphinx-mathjax-offline: pip install 'groupcm[docs]'")
    files = Path(package.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    (target / FONTS).mkdir(parents=True, exist_ok=True)
    shutil.copy(files / SCRIPT, target / SCRIPT)
    for font in (files / FONTS).glob("*.woff"):
        shutil.copy(font, target / FONTS / font.name)
