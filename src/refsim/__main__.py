"""`python -m refsim`: the command line."""

import sys

from refsim.cli import main

if __name__ == "__main__":
    sys.exit(main())
