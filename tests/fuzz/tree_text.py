"""Target: the text of trees inside model files, damaged line by line."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from fuzz import model_files
from fuzz.damage import byte_edits, damage_bytes, damage_text, text_edits
from fuzz.forking import Sandbox
from fuzz.model_files import FILE_SECONDS, MEGABYTES, check_model_file, sealed
from fuzz.outcomes import Verdict

__all__ = ["FILE_SECONDS", "MEGABYTES", "cases", "run", "warm_up"]

Case = dict[str, Any]

warm_up = model_files.warm_up


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw what is wrong with the text of one of the ensembles of a file."""
    how = draw(st.sampled_from(["text", "text", "text", "text", "bytes"]))
    return {
        "model": draw(st.sampled_from(["trees", "calibrated trees"])),
        "via": draw(st.sampled_from(model_files.VIA)),
        "how": how,
        "which": draw(st.integers(0, 9)),
        "edits": draw(text_edits() if how == "text" else byte_edits()),
    }


def run(case: Case, sandbox: Sandbox) -> Verdict:
    """Read a file whose trees are damaged."""
    content = json.loads(model_files._files[case["model"]])
    places = list(_texts(content["model"]))
    holder, key = places[case["which"] % len(places)]
    if case["how"] == "text":
        holder[key] = damage_text(holder[key], case["edits"])
    else:
        damaged = damage_bytes(holder[key].encode(), case["edits"])
        holder[key] = damaged.decode(errors="replace")
    return check_model_file(sealed(content, {}).encode(), case["via"], sandbox)


def _texts(node: Any) -> Any:
    """The places of a file that hold the text of trees."""
    if not isinstance(node, dict | list):
        return
    for key in node if isinstance(node, dict) else range(len(node)):
        if isinstance(node[key], str) and "num_leaves=" in node[key]:
            yield node, key
        yield from _texts(node[key])
