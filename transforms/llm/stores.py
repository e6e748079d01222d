"""Open the store at a URI: a SQLite file or a prefix."""

from transforms.llm.store import Report, Store, report
from transforms.llm.store_sqlite import SqliteStore


def open_store(uri: str, report: Report = report) -> Store:
    """Open the store at a URI that `checked_uri` returned, made where it is not there.

    Raises:
        StoreError: there can be none.
    """
    if not uri.endswith("/"):
        return SqliteStore(uri, report)
    from transforms.llm.store_prefix import PrefixStore  # needs pyarrow, which is slow to import

    return PrefixStore(uri)
