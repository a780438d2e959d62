"""Order and seeds of the gallery, and the plain-text listing of the site for language models."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SECTIONS = (
    ("Get started", "get_started/"),
    ("User guide", "user_guide/"),
    ("How-to recipes", "how_to/"),
    ("Examples", "gallery/"),
    ("API reference", "api/"),
    ("More", ""),
)

EXAMPLES = (
    "why_grouping",
    "losses_and_penalties",
    "certificate",
    "lambda_path",
    "polynomial",
    "trees",
    "misvm",
    "annotation_curve",
    "streaming",
    "froc",
    "levels",
    "partial_auc",
    "calibration",
    "displays",
    "pictures",
    "embeddings",
    "torch",
)


class GalleryOrder:
    """Sort the examples from the idea to models, evaluation and pictures; unlisted ones come last.

    Sphinx-Gallery creates one for each folder of examples.
    """

    def __init__(self, _folder: str) -> None:
        self._places = {f"plot_{name}.py": place for place, name in enumerate(EXAMPLES)}

    def __call__(self, file: str) -> tuple[int, str]:
        return self._places.get(file, len(self._places)), file

    def __repr__(self) -> str:
        return f"GalleryOrder{EXAMPLES}"


class SetSeeds:
    """Set the seeds of Python, NumPy and PyTorch before each example."""

    def __call__(self, _conf: dict[str, Any], _name: str) -> None:
        import numpy as np

        import torch

        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        torch.manual_seed(0)

    def __repr__(self) -> str:
        return "SetSeeds()"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write_listing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_listing(app: Sphinx, error: Exception | None) -> None:
    """Write ``llms.txt``: each page's title, address and first sentence."""
    if error is not None or app.builder.format != "html":
        return
    remaining = sorted(app.env.found_docs - {"index"})
    lines = ["# groupcm", "", f"> {first_sentence(app.env, 'index')}", ""]
    for title, folder in SECTIONS:
        pages = [page for page in remaining if page.startswith(folder)]
        remaining = [page for page in remaining if page not in pages]
        lines += [f"## {title}", "", *(entry(app.env, page) for page in pages), ""]
    Path(app.outdir, "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def entry(env: BuildEnvironment, page: str) -> str:
    sentence = first_sentence(env, page)
    title = env.titles[page].astext()
    return f"- [{title}]({page}.html)" + (f": {sentence}" if sentence else "")


def first_sentence(env: BuildEnvironment, page: str) -> str:
    for paragraph in env.get_doctree(page).findall(nodes.paragraph):
        if text := " ".join(paragraph.astext().split()):
            return text.split(". ")[0].rstrip(".") + "."
    return ""
