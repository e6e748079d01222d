"""Print the check of one text against fact sources (`ufo check`)."""

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
from ufo.pipelines.runs.program_input import file_text
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, NothingUsable, UsageError
from ufo.schemas.text import escaped, is_utf8
from ufo.schemas.text_file import looks_like_file, read_text, text_of
from ufo.transforms.loop import wait_for


def register(commands: Any) -> None:
    """Add the command, whose options are parsed by `handle`."""
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
    """Print the check of a text; return the exit code."""
    arguments, unknown = parser.parse_known_args(argv)
    parser.refuse(unknown)
    options = parser.values_of(arguments)
    reference_arguments = arguments.references or []
    # `ufo check --references about.txt TEXT`: argparse takes TEXT for a reference.
    whole = (
        reference_arguments.pop()
        if arguments.text is None and len(reference_arguments) > 1
        else arguments.text
    )
    if whole is None:
        parser.error("expected TEXT, the text to check")
    if [whole, *reference_arguments].count("-") > 1:
        raise UsageError("- stands for stdin, which has one text; give the others as files")
    references = [_reference(one) for one in reference_arguments]
    text = _text(whole)
    if not text.strip():
        raise NothingUsable("the text is empty; there is nothing to check")
    check_result = wait_for(check(text, None, references, None, options))
    if arguments.json:
        print(as_json(check_result.to_dict(), indent=1))
    else:
        with page(sys.stdout) as console:
            print_check(check_result, console)
    for message in dict.fromkeys(failure.message for failure in check_result.failures):
        logs.tell(message)
    if check_result.lost.sentence:
        logs.tell(check_result.lost.sentence)
    return EXIT_FAILED if check_result.lost.all else EXIT_DONE


def _text(argument: str) -> str:
    """Return the text of an argument or of the file that it names; tell which where unclear."""
    if argument == "-":
        with _refusal("stdin"):
            return text_of(sys.stdin.buffer.read())
    if os.path.isdir(argument):
        raise UsageError(f"{argument!r} is a folder; give a text, a file that holds it, or -")
    if os.path.exists(argument):  # a file, or a pipe as of `<(…)`
        logs.tell(f"Checking the text of the file {escaped(argument)}.")
        with _refusal(f"TEXT {argument!r}"):
            return read_text(argument)
    if not is_utf8(argument):
        raise UsageError(f"TEXT {argument!r:.100} is not UTF-8, and there is no such file")
    if len(argument.split()) == 1:
        if looks_like_file(argument):
            return file_text(argument, "TEXT")  # it is not there, or in a bucket
        logs.tell(f"There is no file {argument}, so this word is the text.")
    return argument


def _reference(argument: str) -> str:
    """Return the text of an argument, of the file that it names, or of stdin."""
    if argument == "-":
        with _refusal("stdin"):
            text = text_of(sys.stdin.buffer.read())
    elif looks_like_file(argument):
        text = file_text(argument, "--references")
    else:
        if not is_utf8(argument):
            raise UsageError(
                f"--references {argument!r:.100} is not UTF-8, and there is no such file"
            )
        if len(argument.split()) == 1 and argument.isascii():  # not Chinese, which has no blanks
            why = "there is no such file, and one word is no text"
            raise UsageError(f"--references {argument!r} cannot be read: {why}")
        text = argument
    if not text.strip():
        raise UsageError(f"--references {argument!r} has no text")
    return text


@contextmanager
def _refusal(what: str) -> Iterator[None]:
    """Convert an error of reading a text within this context to a UsageError that names it."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{what} cannot be read: {error}") from error
