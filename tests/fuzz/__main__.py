"""``python -m tests.fuzz``: run the fuzzers, or replay a case."""

import signal
import sys
from pathlib import Path

# The package is called ``fuzz``, as pytest calls it, however it is started.
_TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_TESTS), str(_TESTS / "support")]

from fuzz.command import main  # noqa: E402

# A request of the system to end leaves as little behind as Ctrl-C.
signal.signal(signal.SIGTERM, signal.default_int_handler)
sys.exit(main())
