"""What other libraries import where it is installed, and our own program does not use.

The import of pandas alone takes as long as evaluating two hundred responses.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Absent(MetaPathFinder):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in self._names:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


class _Later(MetaPathFinder, Loader):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = set(names)
        self._made: set[str] = set()

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name.split(".")[0] in self._names:
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._made.add(spec.name)
        return _StandIn(spec.name, self)

    def exec_module(self, module: ModuleType) -> None:
        """A stand-in has nothing to run."""

    def withdraw(self, package: str | None = None) -> None:
        """Stand in no more, for a package or for any: they are imported as ever."""
        gone = {name for name in self._made if package in (None, name.split(".")[0])}
        for name in gone:
            sys.modules.pop(name, None)
        self._made -= gone
        self._names -= {name.split(".")[0] for name in gone}


class _StandIn(ModuleType):
    """A module that is imported when something of it is used."""

    def __init__(self, name: str, finder: _Later) -> None:
        super().__init__(name)
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system asks any module
            raise AttributeError(name)
        return _Part(self.__name__, name, self._finder)


class _Part:
    """What a stand-in has under a name: a function or a class to call, or more names."""

    def __init__(self, module: str, name: str, finder: _Later) -> None:
        self._of = module, name, finder

    def _real(self) -> Any:
        module, name, finder = self._of
        finder.withdraw(module.split(".")[0])
        return getattr(import_module(module), name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._real()(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Within this context these modules look as if they were not installed, unless they are
    imported already."""
    with _found_by(_Absent(frozenset(names))):
        yield


@contextmanager
def later(*names: str) -> Iterator[None]:
    """Within this context these packages are stood in for, unless they are imported already.

    Who imports a part of one gets something that imports the real one when it is called, or asked
    for an attribute; it is no class to inherit from or to catch. Afterwards they are imported as
    ever.
    """
    finder = _Later(frozenset(names) - set(sys.modules))
    try:
        with _found_by(finder):
            yield
    finally:
        finder.withdraw()


@contextmanager
def _found_by(finder: MetaPathFinder) -> Iterator[None]:
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def settle_arrow() -> None:
    """Have Arrow look for pandas, which it does once, at the first array that it makes."""
    import pyarrow as pa

    pa.array([0])
