"""Run `ufo evaluate` with the parameters of a launch of the flex template.

A parameter comes as `--name=value`. Empty ones are dropped, a switch is
true or false, and the launcher may pass options that Beam's Python does not know: they are
logged and dropped, since Dataflow has checked the parameters against metadata.json already.
"""

import os
import sys
from collections.abc import Sequence

from ufo.pipelines.options.beam_flags import beam_parser, takes_value
from ufo.pipelines.options.command_line import IMAGE
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Parser

RUNNER = "--runner=DataflowRunner"


def words(given: Sequence[str], image: str | None = None) -> list[str]:
    """Return the words of the command that a launch with these parameters means.

    `image` is that of the workers where the launch names none.
    """
    known = Parser(add_help=False, parents=[beam_parser()], conflict_handler="resolve")
    known.add_options(GROUPS)
    found = []
    for word in given:
        name, equals, value = word.partition("=")
        valued = takes_value(known, name) if name.startswith("--") else True
        if valued is None:
            print(f"ufo: {word} is left out: neither ufo nor Beam knows it", file=sys.stderr)
        elif not valued and value.lower() in ("true", "false"):
            found += [name] if value.lower() == "true" else []
        elif value or not equals:
            found.append(word)
    named = {word.partition("=")[0] for word in found}
    if "--runner" not in named:
        found.append(RUNNER)
    if image and "--sdk_container_image" not in named:
        found.append(f"--sdk_container_image={image}")
    return ["evaluate", *found]


if __name__ == "__main__":
    from ufo.pipelines.cli import main

    sys.argv[1:] = words(sys.argv[1:], os.environ.get(IMAGE))
    sys.exit(main())
