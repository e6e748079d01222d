"""Serve the page with its HTTP interface (`ufo serve`)."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufo.indexes.index import open_index
from ufo.indexes.remote_index import local_index
from ufo.pipelines.build_index import build
from ufo.pipelines.commands.output import declare
from ufo.pipelines.options.choose_sources import choose_sources
from ufo.pipelines.options.command_line import settings_of
from ufo.pipelines.options.groups import OF_SERVICE, OF_TEXT
from ufo.pipelines.options.option import Option
from ufo.pipelines.version import VERSION
from ufo.schemas.cache_folder import cache_folder
from ufo.schemas.dependencies import need
from ufo.schemas.errors import EXIT_DONE, IndexUnusable, UsageError, unknown_value
from ufo.schemas.file_systems import is_remote
from ufo.transforms.sources.fact_source import SOURCES

if TYPE_CHECKING:
    from ufo.webapp.service import Setup

TOKEN_VARIABLE = "UFO_TOKEN"  # noqa: S105 - the name of a variable


def register(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "serve",
        description="Serve the page and its HTTP API. Without a token only this machine and this "
        f"origin can use it: the environment variable {TOKEN_VARIABLE} has one.",
    )
    help_text = "port to listen on (default 8080; 0: any free port)"
    declare(
        parser,
        Option(
            "host", str, "address to listen on (default 127.0.0.1)", "HOST", default="127.0.0.1"
        ),
        Option("port", int, help_text, "N", default=8080, low=0, high=65535),
        Option(
            "results",
            str,
            "folder with the runs to browse (default: results)",
            "DIR",
            default="results",
        ),
    )
    group = parser.add_argument_group(
        "as of `ufo evaluate`",
        "defaults for checking a text; without --index the source wikipedia has the articles of "
        "the examples",
    )
    for flag in OF_SERVICE:
        flag.add(group)
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    need("serve", "`ufo serve`")
    from ufo.webapp.server import serve  # of the extra `serve`

    token = os.environ.get(TOKEN_VARIABLE) or None
    options = {flag.name: getattr(arguments, flag.name) for flag in OF_SERVICE}
    index, sources = options.pop("index"), options.pop("sources")
    flags = {name: value for name, value in options.items() if value is not None}
    ready = setup(arguments.results, index, token, flags, sources)
    serve(ready, arguments.host, arguments.port)
    return EXIT_DONE


def setup(
    results: str,
    index: str | None = None,
    token: str | None = None,
    flags: Mapping[str, Any] | None = None,
    sources: Sequence[str] | None = None,
) -> "Setup":
    """Return the checked set-up of the service.

    `flags` are options of `ufo evaluate` and `sources` fact sources by name, for requests that do
    not set them.

    Raises:
        UsageError: `index` is not an index, `results` is not a folder of this machine, a flag is
            wrong, or a source cannot serve.
    """
    if is_remote(results):
        raise UsageError(
            f"--results {results!r}: the page browses and writes runs on this machine; name a "
            f"folder, and bring runs there: 'gcloud storage cp -r {results.rstrip('/')}/* DIR'"
        )
    from ufo.webapp.service import Setup  # of the extra `serve`

    folder = str(local_index(index)) if index else example_index()
    open_index(folder)  # so an unusable index is reported now, and no request waits for it
    for name in sources or ():
        if name not in SOURCES.types():
            raise UsageError(unknown_value("fact source of a service", name, SOURCES.types()))
    usual = dict(flags or {})
    # Wrong flags are reported at the start; `usable` has made a path absolute.
    chosen = settings_of({**usual, "index": folder}, sources, OF_TEXT)
    choose_sources(chosen)
    if chosen.verifier:
        usual["verifier"] = chosen.verifier
    paths = {one.name for one in OF_SERVICE if one.is_path}
    for name in paths & usual.keys():  # uploads are evaluated in folders of their own
        usual[name] = os.path.abspath(usual[name])
    return Setup(
        results=Path(results).absolute(),
        flags=usual,
        sources=sources,
        index=folder,
        evaluate=(sys.executable, "-m", "ufo.pipelines.cli", "evaluate"),
        version=VERSION,
        token=token,
    )


def example_index() -> str:
    """Return the index of the bundled encyclopaedia; build it at the first start."""
    with as_file(files("ufo.examples") / "encyclopaedia.xml") as dump:
        digest = sha256(dump.read_bytes()).hexdigest()[:12]
        folder = str(cache_folder() / f"examples-{digest}")
        try:
            open_index(folder)
        except IndexUnusable:
            print("ufo: building the index of the examples", file=sys.stderr, flush=True)
            build(dump, folder)
    return folder
