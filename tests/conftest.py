"""What several modules of tests need."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_ROOT = Path(__file__).parent.parent


def _digest_of_kernels() -> str:
    """Return a digest of the sources of all kernels."""
    digest = hashlib.sha256()
    for path in sorted((_ROOT / "src/groupcm/kernels").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# Numba's cache looks only at the file that defines a kernel, not at the kernels it calls, so an
# edited kernel can leave stale machine code behind. A cache for each state of the sources cannot.
os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".numba_cache" / _digest_of_kernels()))


# Every run has the same examples, so that a failure is due to a change of the code; `make fuzz`
# tries new ones. How long an example takes depends on what else the computer does.
hypothesis.settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("repeatable")


# Several processes share the cores: a thread of OpenMP that waits must not keep one busy.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once a module."""
    from browser import chromium

    with chromium() as browser:
        yield browser
