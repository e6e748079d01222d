"""`python -m ufo.pipelines.recall` is `ufo recall`."""

import sys

from ufo.pipelines.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "recall")
    sys.exit(main())
