"""The defaults of the built-in sources' options.

The constructors and the declarations of the options take them from here.
"""

from typing import Final

PASSAGES: Final = 5
"""Passages to retrieve for a fact unit."""
RETRIEVER: Final = "bm25"
"""The way to search an index or a web page."""

ENGINE: Final = "serper"
"""The search engine of the source `web`."""
PAGES: Final = 5
"""Pages to fetch for a query."""
PASSAGES_PER_PAGE: Final = 1
CONTEXT_SENTENCES: Final = 1

SAMPLES: Final = 5
"""Samples of the source `llm` for a query."""
TEMPERATURE: Final = 1.0
"""The temperature of samples."""
PER_QUERY: Final = "per_query"
BUNDLED: Final = "bundled"
