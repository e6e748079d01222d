"""The command line: which commands there are. What one does is in its own module."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from pipelines import logs
from pipelines.commands.stopping import sigterm_interrupts
from schemas.errors import EXIT_FAILED, UfoError, UsageError, unknown_value

# The commands in the order of `ufo --help`, and the module that adds each by its `register`.
_COMMANDS = {
    "evaluate": "evaluate",
    "recall": "recall",
    "index": "index",
    "report": "report",
    "sql": "report",
    "benchmark": "benchmark",
    "compare": "compare",
    "import": "importing",
    "label": "label",
    "sources": "sources",
    "judges": "judges",
    "status": "status",
    "doctor": "doctor",
    "cache": "cache",
    "serve": "serve",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 could not finish, 2 wrong usage, 3 below.

    Without `argv` the command is that of this program, which does nothing else.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with sigterm_interrupts():
            return _run(words, whole=argv is None)
    except UfoError as error:
        logs.fail(error.message)
        return error.exit_code
    except KeyboardInterrupt:
        logs.fail("interrupted")
        return EXIT_FAILED
    except BrokenPipeError:
        # Whoever read our output has enough; Python would complain at exit.
        sys.stderr.close()
        return EXIT_FAILED
    finally:
        logs.stop()


def _run(words: list[str], whole: bool) -> int:
    from pipelines.options.arguments import Parser
    from pipelines.version import VERSION

    parser = Parser(
        prog="ufo",
        description="How factual is LLM output? Fact units, checked against the fact sources you "
        "choose, with evidence in Parquet.",
    )
    parser.add_argument("--version", action="version", version=f"ufo {VERSION}")
    commands: Any = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    # Only what is asked for is imported: the modules of all commands make a start slow.
    named = [word for word in words[:1] if word in _COMMANDS] or _COMMANDS
    for module in dict.fromkeys(_COMMANDS[name] for name in named):
        import_module(f"pipelines.commands.{module}").register(commands)
    if not words:
        parser.print_help()
        return 2
    if not words[0].startswith("-") and words[0] not in _COMMANDS:
        raise UsageError(unknown_value("command", words[0], _COMMANDS))
    chosen = commands.choices.get(words[0])
    if chosen is not None and chosen.get_default("parse"):
        # This command has options that only it can parse: Beam's.
        return int(chosen.get_default("parse")(chosen, words[1:], whole))
    arguments = parser.parse_args(words)
    return int(arguments.handler(arguments))


def program() -> NoReturn:
    """Be the program `ufo`: run the command of this process and end it."""
    sys.exit(main())


if __name__ == "__main__":
    program()
