"""A target that misbehaves on request, to see that the harness notices."""

from __future__ import annotations

import ctypes
import os
import time
import warnings
from typing import Any

from hypothesis import strategies as st

from fuzz.forking import Sandbox
from fuzz.outcomes import Failed, Verdict, judge_refusal
from groupcm.errors import InputError

__all__ = ["MEGABYTES", "cases", "run", "warm_up"]

MEGABYTES = 300


def cases() -> st.SearchStrategy[dict[str, Any]]:
    """Draw what to do; what the tests shrink is the list."""
    what = st.sampled_from(["nothing", "wrong", "segfault"])
    return st.fixed_dictionaries({"what": what, "list": st.lists(st.integers(0, 99), max_size=20)})


def warm_up() -> None:
    """Do nothing: there is nothing to compile."""


def run(case: dict[str, Any], sandbox: Sandbox) -> Verdict:
    """Do what the case says."""
    what = case["what"]
    with sandbox.budget("misbehaving", 1):
        if what == "segfault":
            ctypes.string_at(0)
        elif what == "abort":
            os.abort()
        elif what == "exit":
            os._exit(3)
        elif what == "spin":
            while True:
                pass
        elif what == "greedy":
            bytearray(2000 << 20)
        elif what == "wasteful":
            held = bytearray(b"x") * (100 << 20)
            sandbox.require_memory(50)
            del held
        elif what == "wrong" and sum(case["list"]) > 10:
            raise Failed("wrong_model", "the sum is large", str(sum(case["list"])))
        elif what == "error":
            raise KeyError("x")
        elif what == "folder":
            (sandbox.folder / "file").write_text(str(os.getpid()))
            warnings.warn("printed to a file of the sandbox", stacklevel=1)
            print(time.process_time())
        elif what == "refused":
            return judge_refusal(InputError("the file frames.csv has no column 'frame'"))
        elif what == "two lines":
            return judge_refusal(ValueError("the file frames.csv has\nno column 'frame'"))
    return Verdict("ok")
