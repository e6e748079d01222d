"""Check one text against fact sources, and print what `ufo.check` returns (`ufo check`)."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ufo.pipelines import logs
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.option import Parser
from ufo.pipelines.reports.tabular import as_json, page
from ufo.pipelines.reports.terminal import print_check
from ufo.pipelines.runs.check import check
from ufo.pipelines.runs.given import file_text
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, NothingUsable, UsageError
from ufo.schemas.text import escaped, is_utf8
from ufo.schemas.text_file import looks_like_file, read_text, text_of
from ufo.transforms.loop import wait_for


def register(commands: Any) -> None:
    """Add the command. `handle` parses its options, and names the nearest option for a wrong
    one."""
    parser = commands.add_parser(
        "check",
        description="Check the claims of one text against fact sources, and print each with what "
        "decided it. Exit code 1 where nothing could be judged.",
    )
    parser.add_argument(
        "text",
        metavar="TEXT|FILE|-",
        nargs="?",
        help="the text, the file that holds it, or - for stdin",
    )
    parser.add_argument(
        "--references",
        action="extend",
        nargs="+",
        metavar="TEXT|FILE|-",
        help="texts that are trusted, for the source reference: files (also .gz, .bz2, .zst), "
        "texts, or - for stdin",
    )
    parser.add_argument("--json", action="store_true", help="print all rows as JSON")
    parser.add_options(OF_TEXT)
    parser.set_defaults(parse=handle, parser=parser)


def handle(parser: Parser, argv: Sequence[str], program: bool = False) -> int:
    """Print the check of a text; returns the exit code."""
    arguments, unknown = parser.parse_known_args(argv)
    parser.refuse(unknown)
    options = parser.given(arguments)
    given = arguments.references or []
    # `ufo check --references about.txt TEXT`: argparse takes TEXT for a reference.
    whole = given.pop() if arguments.text is None and len(given) > 1 else arguments.text
    if whole is None:
        parser.error("expected TEXT, the text to check")
    if [whole, *given].count("-") > 1:
        raise UsageError("- stands for stdin, which has one text; give the others as files")
    references = [_reference(one) for one in given]
    text = _text(whole)
    if not text.strip():
        raise NothingUsable("the text is empty; there is nothing to check")
    found = wait_for(check(text, None, references, None, options))
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
        with _refusal("stdin"):
            return text_of(sys.stdin.buffer.read())
    if os.path.isdir(given):
        raise UsageError(f"{given!r} is a folder; give a text, a file that holds it, or -")
    if os.path.exists(given):  # a file, or a pipe as of `<(…)`
        logs.tell(f"Checking the text of the file {escaped(given)}.")
        with _refusal(f"TEXT {given!r}"):
            return read_text(given)
    if not is_utf8(given):
        raise UsageError(f"TEXT {given!r:.100} is not UTF-8, and there is no such file")
    if len(given.split()) == 1:
        if looks_like_file(given):
            return file_text(given, "TEXT")  # it is not there, or in a bucket
        logs.tell(f"There is no file {given}, so this word is the text.")
    return given


def _reference(given: str) -> str:
    """Return an argument, the text of the file that it names, or that of stdin."""
    if given == "-":
        with _refusal("stdin"):
            text = text_of(sys.stdin.buffer.read())
    elif looks_like_file(given):
        text = file_text(given, "--references")
    else:
        if not is_utf8(given):
            raise UsageError(f"--references {given!r:.100} is not UTF-8, and there is no such file")
        if len(given.split()) == 1 and given.isascii():  # not Chinese, which has no blanks
            why = "there is no such file, and one word is no text"
            raise UsageError(f"--references {given!r} cannot be read: {why}")
        text = given
    if not text.strip():
        raise UsageError(f"--references {given!r} has no text")
    return text


@contextmanager
def _refusal(what: str) -> Iterator[None]:
    """Raise a UsageError that names the text where it cannot be read within this context."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{what} cannot be read: {error}") from error
