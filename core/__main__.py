"""The command line of sizing: `python -m core train|serve|fits MODEL`, `... explain FILE`."""

import sys

from core.budget.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
