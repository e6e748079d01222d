"""What other libraries import where it is installed, and our own program does not use.

The import of pandas alone takes as long as evaluating two hundred responses.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder


class _Absent(MetaPathFinder):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in self._names:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Within this context these modules look as if they were not installed, unless they are
    imported already."""
    finder = _Absent(frozenset(names))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def settle_arrow() -> None:
    """Have Arrow look for pandas, which it does once, at the first array that it makes."""
    import pyarrow as pa

    pa.array([0])
