"""Check one text against fact sources, and print what `ufo.check` returns (`ufo check`)."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import ufo
from ufo.pipelines import logs
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.option import Parser
from ufo.pipelines.reports.tabular import as_json, page
from ufo.pipelines.reports.terminal import print_check
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, NothingUsable, UsageError
from ufo.schemas.text import decoded


def register(commands: Any) -> None:
    """Add the command. `handle` parses its options, and names the nearest option for a wrong
    one."""
    parser = commands.add_parser(
        "check",
        description="Check the claims of one text against fact sources, and print each with what "
        "decided it. Exit code 1 where nothing could be judged.",
    )
    parser.add_argument(
        "text", metavar="TEXT|FILE|-", help="the text, the file that holds it, or - for stdin"
    )
    parser.add_argument(
        "--references",
        action="append",
        metavar="FILE",
        help="file with a text that is trusted, for the source reference; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print all rows as JSON")
    parser.add_options(OF_TEXT)
    parser.set_defaults(parse=handle, parser=parser)


def handle(parser: Parser, argv: Sequence[str], program: bool = False) -> int:
    """Print the check of a text; returns the exit code."""
    arguments, unknown = parser.parse_known_args(argv)
    parser.refuse(unknown)
    options = parser.given(arguments)
    references = [_read(path, "--references") for path in arguments.references or ()]
    text = _text(arguments.text)
    if not text.strip():
        raise NothingUsable("the text is empty; there is nothing to check")
    found = ufo.check_sync(text, references=references, **options)
    if arguments.json:
        print(as_json(found.to_dict(), indent=1))
    else:
        with page(sys.stdout) as console:
            print_check(found, console)
    for message in dict.fromkeys(failure.message for failure in found.failures):
        logs.tell(message)
    if found.lost.sentence:
        logs.tell(found.lost.sentence)
    return EXIT_FAILED if found.lost.all else EXIT_DONE


def _text(given: str) -> str:
    """Return an argument, or the text of the file that it names; say which if it is unclear."""
    if given == "-":
        return _decoded(sys.stdin.buffer.read(), "stdin")
    if os.path.isfile(given):
        logs.tell(f"Checking the text of the file {given}.")
        return _read(given, "TEXT")
    if len(given.split()) == 1:
        logs.tell(f"There is no file {given}, so this word is the text.")
    return given


def _read(path: str, name: str) -> str:
    try:
        with open(path, "rb") as file:
            return _decoded(file.read(), path)
    except OSError as error:
        raise UsageError(f"{name} {path!r} cannot be read: {error}") from error


def _decoded(content: bytes, name: str) -> str:
    try:
        return decoded(content)
    except ValueError as error:
        raise UsageError(f"{name} is no text: it is {error}") from error
