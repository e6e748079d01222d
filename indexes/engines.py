"""The BM25 engines, by the name that the manifest of an index gives."""

from types import ModuleType
from typing import Final

from indexes import bm25, bm25_large

ENGINES: Final[dict[str, ModuleType]] = {"bm25": bm25, "tantivy": bm25_large}
