"""``python -m tests.fuzz``: run the fuzzers, or replay a case."""

import sys
from pathlib import Path

# The package is called ``fuzz``, as pytest calls it, however it is started.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.command import main

sys.exit(main())
