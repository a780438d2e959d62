"""Messages, docstrings and pages keep to the words of the style guide."""

from __future__ import annotations

import re
from pathlib import Path

import groupcm

PACKAGE = Path(groupcm.__file__).parent
ROOT = PACKAGE.parent.parent
# Words of the style guide that no page, message or docstring needs; see docs/glossary.md.
AVOIDED = re.compile(
    r"\b(whoever|nobody|somebody|as ever|worth having|for nothing|made (data|frames)"
    r"|(is|are|was) told|hears|weights whatever|stands? (together|beside)"
    r"|goes on (from|with|after)|an? (label|row|score) a (candidate|group|row))\b",
    re.IGNORECASE,
)
TEXTS = [
    *(p for kind in ("py", "html") for p in PACKAGE.rglob(f"*.{kind}") if "static" not in p.parts),
    *(p for kind in ("ts", "tsx") for p in (ROOT / "web/src").rglob(f"*.{kind}")),
    *(p for folder in ("docs", "docs/*") for p in ROOT.glob(f"{folder}/*.md")),
    *ROOT.glob("examples/*.py"),
    *ROOT.glob("*.md"),
    ROOT / "Makefile",
]


def test_no_text_has_words_that_a_reader_stumbles_over():
    found = []
    for path in TEXTS:
        text = re.sub(r"\[not: [^]]*\]", "", path.read_text(encoding="utf-8"))
        found += [f"{path}: {each.group()}" for each in AVOIDED.finditer(text)]
    assert not found, "\n".join(found)
    assert len(TEXTS) > 400
