"""The command line: which commands there are. What one does is in its own module."""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from pipelines import logs
from pipelines.stopping import sigterm_interrupts
from schemas.errors import EXIT_FAILED, UfoError, UsageError, unknown_value


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
    if whole and words[:1] == ["evaluate"]:
        from pipelines.evaluate_command import begin

        begin(words[1:])
    from pipelines import (
        benchmark_commands,
        cache_commands,
        compare_command,
        doctor_commands,
        evaluate_command,
        import_commands,
        index_commands,
        label_commands,
        recall_command,
        report_commands,
        serve_command,
        source_commands,
        status_command,
    )
    from pipelines.arguments import Parser
    from pipelines.version import VERSION

    parser = Parser(
        prog="ufo",
        description="How factual is LLM output? Fact units, checked against the fact sources you "
        "choose, with evidence in Parquet.",
    )
    parser.add_argument("--version", action="version", version=f"ufo {VERSION}")
    commands: Any = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    evaluate_command.register(commands)
    recall_command.register(commands)
    index_commands.add_index_commands(commands)
    report_commands.register(commands)
    benchmark_commands.register(commands)
    compare_command.register(commands)
    import_commands.register(commands)
    label_commands.register(commands)
    source_commands.register(commands)
    status_command.register(commands)
    doctor_commands.register(commands)
    cache_commands.register(commands)
    serve_command.register(commands)
    if not words:
        parser.print_help()
        return 2
    if not words[0].startswith("-") and words[0] not in commands.choices:
        raise UsageError(unknown_value("command", words[0], commands.choices))
    chosen = commands.choices.get(words[0])
    if chosen is not None and chosen.get_default("parse"):
        # This command has options that only it can parse: Beam's.
        return int(chosen.get_default("parse")(chosen, words[1:], whole))
    arguments = parser.parse_args(words)
    return int(arguments.handler(arguments))


def program() -> NoReturn:
    """Be the program `ufo`: run the command of this process and end it."""
    from pipelines.leaving import leave

    leave(main())


if __name__ == "__main__":
    program()
