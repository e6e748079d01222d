"""`python -m ufo.pipelines.evaluate` is `ufo evaluate`."""

import sys

from ufo.pipelines.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "evaluate")
    sys.exit(main())
