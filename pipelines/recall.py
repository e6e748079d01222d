"""`python -m pipelines.recall` is `ufo recall`."""

import sys

from pipelines.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "recall")
    sys.exit(main())
