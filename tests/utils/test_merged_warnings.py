"""Warnings of a block, shown once each, also where the block fails."""

from __future__ import annotations

import warnings

import pytest

from groupcm.errors import MessageWarning
from groupcm.utils.merged_warnings import merge_warnings


def warn_and_fail():
    with merge_warnings():
        for gap in (0.1, 0.2):
            warning = MessageWarning(f"stopped at a gap of {gap}.", alike="gap")
            warnings.warn(warning, stacklevel=1)
        warnings.warn("one more thing", UserWarning, stacklevel=1)
        raise OSError("no more room")


def test_warnings_are_told_where_the_block_fails():
    always = warnings.catch_warnings(record=True, action="always")
    with always as heard, pytest.raises(OSError, match="no more room"):
        warn_and_fail()
    told = [str(warning.message) for warning in heard]
    assert told == ["stopped at a gap of 0.1. (2 such warnings)", "one more thing"]
    assert {warning.filename for warning in heard} == {__file__}


def test_the_block_s_own_error_comes_before_warnings_that_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OSError, match="no more room"):
            warn_and_fail()


def test_a_warning_that_is_an_error_still_ends_a_block_that_did_not_fail():
    with pytest.raises(UserWarning, match="one more thing"), merge_warnings():
        warnings.warn("one more thing", UserWarning, stacklevel=1)
