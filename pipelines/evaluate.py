"""`python -m pipelines.evaluate` is `ufo evaluate`."""

import sys

from pipelines.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "evaluate")
    sys.exit(main())
