"""Inspect or prune the cache of models' answers (`ufo cache stats | prune`)."""

import argparse
import json
import os
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, Final

from ufo.pipelines.commands.output import declare
from ufo.pipelines.options.option import Option, Parser
from ufo.schemas.cache_folder import OFF, cache_uri, default_cache
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.file_systems import is_remote
from ufo.schemas.text import quantity
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.client_settings import store_path
from ufo.transforms.llm.store import KINDS, SqliteStore, Store, StoreError, open_store

_AT_ONCE: Final = 1_000
_DAY: Final = 86_400.0
_MB: Final = 1_000_000


def register(commands: Any) -> None:
    """Add the command and its subcommands."""
    parser = commands.add_parser(
        "cache",
        description="Inspect and prune the cache of model replies.",
    )
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", parser_class=Parser, required=True
    )
    stats = actions.add_parser("stats", help="count the cached replies by kind and age")
    declare(stats, Option("json", bool, "print them as JSON"))
    prune = actions.add_parser("prune", help="delete old replies")
    most = "delete the oldest replies until the cache is at most this large"
    declare(
        prune,
        Option("older_than", float, "delete replies that are older than this", "DAYS", low=0),
        Option("max_mb", float, most, "MB", low=0),
    )
    for action, act in ((stats, _stats), (prune, _prune)):
        declare(action, Option("cache", str, "the cache (default: that of `ufo evaluate`)", "URI"))
        action.set_defaults(handler=_handle, act=act)


def _handle(arguments: argparse.Namespace) -> int:
    uri = cache_uri(arguments.cache) if arguments.cache else default_cache()
    if uri == OFF:
        raise UsageError("the cache is off; name one with --cache URI")
    if not is_remote(uri) and not os.path.exists(uri):
        raise UsageError(f"there is no cache at {uri!r}; a run that asks a model writes one")
    try:
        with closing(open_store(uri)) as store:
            arguments.act(arguments, store, uri)
    except StoreError as error:
        raise RunError(f"the cache cannot be used: {error}") from error
    return 0


def _stats(arguments: argparse.Namespace, store: Store, uri: str) -> None:
    entries = list(store.entries())
    kinds = Counter(KINDS[entry.key[0]] for entry in entries)
    written = sorted(entry.written for entry in entries)
    figures: dict[str, Any] = {"cache": uri, **{kind: kinds[kind] for kind in KINDS.values()}}
    figures["bytes"] = sum(entry.size for entry in entries)
    if not is_remote(uri) and os.path.exists(path := store_path(uri)):
        with closing(BatchStore(path, "")) as batches:
            figures |= batches.held()
    for name, times in (("oldest", written[:1]), ("newest", written[-1:])):
        moments = [datetime.fromtimestamp(one, UTC).isoformat(timespec="seconds") for one in times]
        figures[name] = moments[0] if moments else None
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:<14}  {value:,}" if isinstance(value, int) else f"{name:<14}  {value or '–'}")


def _prune(arguments: argparse.Namespace, store: Store, uri: str) -> None:
    if arguments.older_than is None and arguments.max_mb is None:
        raise UsageError("say what to delete: --older_than DAYS, --max_mb MB, or both")
    entries = sorted(store.entries(), key=lambda entry: (-entry.written, entry.key))
    sizes = accumulate(entry.size for entry in entries)
    days, megabytes = arguments.older_than, arguments.max_mb
    gone = [
        entry
        for entry, size in zip(entries, sizes, strict=True)
        if (days is not None and time.time() - entry.written > days * _DAY)
        or (megabytes is not None and size > megabytes * _MB)
    ]
    for start in range(0, len(gone), _AT_ONCE):
        store.remove([entry.key for entry in gone[start : start + _AT_ONCE]])
    if gone and isinstance(store, SqliteStore):
        store.compact()
    size = sum(entry.size for entry in gone)
    whole = quantity(len(entries), "entry", "entries")
    print(f"{len(gone):,} of {whole} forgotten ({size / _MB:,.1f} MB) in {uri}")
