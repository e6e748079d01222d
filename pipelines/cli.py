"""Run the command that the command line names; each command has its own module."""

import atexit
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any, NoReturn

from ufo.pipelines import logs
from ufo.pipelines.options.option import Parser
from ufo.pipelines.stopping import end_with_owner, signals_interrupt
from ufo.pipelines.streams import ReaderGone, ignored_error, open_outputs
from ufo.pipelines.version import VERSION
from ufo.schemas.dependencies import import_error_message
from ufo.schemas.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_USAGE,
    UfoError,
    UsageError,
    has_cause,
    lacks_memory,
    unknown_value,
)
from ufo.schemas.file_systems import RemoteError, command_error
from ufo.schemas.temporary import check_temporary_folder, temporary_files_in_own_folder

# The commands in the order of `ufo --help`: each with its purpose and the module whose `register`
# adds it. Only the module of the given command is imported.
_COMMANDS = {
    "evaluate": ("evaluate", "evaluate responses against fact sources"),
    "check": ("check", "check one text, and print what decided each claim"),
    "recall": ("recall", "measure how many facts of a true answer other answers state"),
    "index": ("index", "build, search and describe a local index"),
    "report": ("report", "print the results of a finished run"),
    "sql": ("report", "query the tables and views of all finished runs"),
    "benchmark": (
        "compare",
        "recompute a run's scores with other sources, orders or passages",
    ),
    "compare": ("compare", "compare two runs, question by question"),
    "import": ("label", "convert a published data set to input records"),
    "label": ("label", "write sheets for human labels, and import them"),
    "sources": ("installed", "list the fact sources that are installed"),
    "judges": ("installed", "list the judges and verifiers that are installed"),
    "status": ("status", "list runs: finished, running or stopped"),
    "doctor": ("doctor", "test the configured LLM endpoints"),
    "cache": ("cache", "inspect and prune the cache of model replies"),
    "serve": ("serve", "serve the page: check a text, browse runs"),
    "mcp": ("mcp", "let agents check and search, over stdin and stdout"),
}

_NO_MEMORY = (
    "no memory left; give the process more (ulimit -v, or the limit of its container), or let a "
    "run take less: fewer --workers, a smaller --chunk_size. What was finished is kept, and the "
    "same command goes on"
)
# Commands whose results are files; what they print is only a summary.
_RESULTS_ON_DISK = ("evaluate", "recall", "index build")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: done. 1: could not finish. 2: wrong usage. 3: below a gate. 4: at --max_cost. 5: batches
    under way. Without `argv` it is the command line of this process, which does nothing else.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        open_outputs(results_on_disk=" ".join(words).startswith(_RESULTS_ON_DISK))
        # Beam's own clean-up at exit still needs the folder. Functions registered first run last.
        temporary = ExitStack()
        temporary.enter_context(temporary_files_in_own_folder())
        atexit.register(temporary.close)
    try:
        check_temporary_folder()
        with signals_interrupt(ends=argv is None):
            return _run_and_flush(words, whole=argv is None)
    except UfoError as error:
        logs.fail(error.message, type(error).__name__)
        return error.exit_code
    except RemoteError as error:
        logs.fail(f"{error}")
        return command_error("", error).exit_code
    except KeyboardInterrupt:
        logs.fail("interrupted")
        return EXIT_FAILED
    except ReaderGone:
        return EXIT_DONE
    except Exception as error:
        if has_cause(error, lacks_memory):
            logs.fail(_NO_MEMORY)
            return EXIT_FAILED
        needed = import_error_message(error) if isinstance(error, ImportError) else None
        if needed is None:
            raise
        logs.fail(needed)
        return EXIT_USAGE
    finally:
        logs.stop()


def _run_and_flush(words: list[str], whole: bool) -> int:
    try:
        return _run(words, whole)
    finally:
        sys.stdout.flush()
        error = ignored_error()
        if error is not None and not isinstance(error, BrokenPipeError):
            logs.tell(f"The output cannot be written: {error.strerror}.")


def _run(words: list[str], whole: bool) -> int:
    parser = Parser(
        prog="ufo",
        description="How factual is LLM output? Its claims, checked against the fact sources you "
        "choose, with evidence in Parquet.",
    )
    parser.add_argument("--version", action="version", version=f"ufo {VERSION}")
    commands: Any = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    if words and words[0] in _COMMANDS:
        import_module(f"ufo.pipelines.commands.{_COMMANDS[words[0]][0]}").register(commands)
    else:
        for name, (_, purpose) in _COMMANDS.items():
            commands.add_parser(name, help=purpose)
    if not words:
        parser.print_help()
        return 2
    if not words[0].startswith("-") and words[0] not in _COMMANDS:
        raise UsageError(unknown_value("command", words[0], _COMMANDS))
    chosen = commands.choices.get(words[0])
    if chosen is not None and chosen.get_default("parse"):
        # Only this command can parse its options, Beam's among them.
        return int(chosen.get_default("parse")(chosen, words[1:], whole))
    arguments = parser.parse_args(words)
    return int(arguments.handler(arguments))


def program() -> NoReturn:
    """Run the command of this process as the program `ufo`, and end the process."""
    end_with_owner()
    sys.exit(main())


if __name__ == "__main__":
    program()
