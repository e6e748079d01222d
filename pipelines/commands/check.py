"""Check one text against fact sources, and print what `ufo.check` returns (`ufo check`)."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

import ufo
from ufo.pipelines import logs
from ufo.pipelines.options.groups import OF_TEXT
from ufo.pipelines.options.option import Parser
from ufo.pipelines.reports.tabular import as_json, page
from ufo.pipelines.reports.terminal import print_claim
from ufo.pipelines.reports.unusable import OURS, Unusable
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, NothingUsable, UsageError
from ufo.transforms.extract import EXTRACT
from ufo.transforms.scores import is_unusable, state_of, usable_of
from ufo.transforms.votes import SEQ

_OF_VERDICT = ("label", "source", "n_supported", "n_refuted", "tied")
_OF_EVIDENCE = ("citation", "rationale", "reason")


def register(commands: Any) -> None:
    """Add the command. Its options are parsed by `handle`, which names the nearest of a wrong
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
        _print(found)
    for message in dict.fromkeys(failure.message for failure in found.failures):
        logs.tell(message)
    lost = _lost(found)
    if lost.sentence:
        logs.tell(lost.sentence)
    return EXIT_FAILED if lost.all else EXIT_DONE


def _text(given: str) -> str:
    """Return the text that an argument is, or that it names, and say which where one may err."""
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
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is no text: it is not UTF-8 at byte {error.start}") from error


def _lost(found: ufo.Check) -> Unusable:
    """Return what of the judgements, or of the extraction, is of no use."""
    told = [row.message for row in found.failures if not row.message.startswith(OURS)]
    said = told[-1] if told else ""
    failed = Counter(row.error_type for row in found.failures if row.step == EXTRACT)
    if failed and not found.fact_units:
        return Unusable(1, 1, failed, extraction=True, said=said)
    asked, usable = usable_of(found.evidence)
    reasons = Counter(row.reason or "unknown" for row in found.evidence if is_unusable(row))
    return Unusable(asked - usable, asked, reasons, said=said)


def _print(found: ufo.Check) -> None:
    with page(sys.stdout) as console:
        console.print(Text(found.headline, style="bold"))
        if found.score is not None:
            console.print(f"factuality {found.score:.3f}, coverage {found.coverage:.3f}")
        if found.judged_by:
            console.print(Text(found.judged_by))
        for row in _claims(found):
            print_claim(row, console)


def _claims(found: ufo.Check) -> Iterator[dict[str, Any]]:
    """Yield each claim with its verdict, and with the evidence that says most for it."""
    passages = {one.passage_id: one for one in found.passages}
    # In mode all, that of the sources in their order.
    verdicts = {row.unit_id: row for row in sorted(found.verdicts, key=lambda row: row.mode == SEQ)}
    for unit in found.fact_units:
        verdict = verdicts[unit.unit_id]
        own = [row for row in found.evidence if row.unit_id == unit.unit_id]
        best = min(
            (row for row in own if verdict.source in (row.source, "none", "multi")),
            key=lambda row: (row.label != verdict.label, row.citation is None, row.rank or 0),
        )
        passage = passages.get(best.passage_id or "")
        yield {
            "state": state_of([verdict.label], any(map(is_unusable, own))),
            "claim": unit.claim,
            "question": None,
            "model": None,
            "title": passage and passage.title,
            "url": passage and passage.url,
            "evidence_source": best.source,
            **{name: getattr(best, name) for name in _OF_EVIDENCE},
            **{name: getattr(verdict, name) for name in _OF_VERDICT},
        }
