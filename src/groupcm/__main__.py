"""The command ``groupcm`` as ``python -m groupcm``."""

import sys

from groupcm.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
