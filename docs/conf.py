"""Configuration of the documentation site; `make docs` builds it."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))

from site_events import GalleryOrder, SetSeeds  # noqa: E402

import groupcm  # noqa: E402

# Page authors leave the gallery out with GROUPCM_DOCS_GALLERY=0: executing it takes minutes.
with_gallery = os.environ.get("GROUPCM_DOCS_GALLERY", "1") != "0"

project = "groupcm"
author = "The groupcm developers"
project_copyright = "the groupcm developers"
version = release = groupcm.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    *(["sphinx_gallery.gen_gallery"] if with_gallery else []),
    "annotated_types",
    "local_mathjax",
    "public_names",
    "site_events",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "pictures", "**/GALLERY_HEADER.rst"]
# Reference pages of packages that this version does not have are left out.
exclude_patterns += [
    f"api/{package}.*"
    for package in ("plots", "datasets", "diagnostics")
    if find_spec(f"groupcm.{package}") is None
]
suppress_warnings = ["config.cache", "toc.excluded"]  # the gallery's functions are not pickled
nitpicky = True
default_role = "py:obj"
# References to other projects are plain text: their inventories would have to be downloaded.
nitpick_ignore_regex = [(r"py:.*", r"(?!groupcm\.).*")]

# Markdown
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# API reference
autosummary_generate = True
autosummary_imported_members = False
autosummary_context = {"with_gallery": with_gallery}
# Two names that differ only in case would be one file on macOS and Windows.
autosummary_filename_map = {"groupcm.simulate.Capsule": "groupcm.simulate.Capsule_class"}
autodoc_default_options = {"member-order": "groupwise"}
autodoc_typehints = "none"  # the docstrings have them, in words
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": GalleryOrder,
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", SetSeeds()),
    "reset_modules_order": "before",
    "backreferences_dir": "api/generated/examples",
    "doc_module": ("groupcm",),
    "inspect_global_variables": True,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "thumbnail_size": (480, 320),
    "download_all_examples": False,
    "min_reported_time": 5,
}

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "groupcm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "which_model": [], "benchmarks": [], "limits": [], "glossary": []}
html_theme_options = {
    "logo": {"text": "groupcm"},
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    # Pages of the gallery use the whole width for code and figures.
    "secondary_sidebar_items": {
        "[!g]**": ["page-toc"],
        "g[!a]**": ["page-toc"],
        "gallery/**": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
