"""What other libraries import where it is installed, and our own program does not use.

The import of pandas alone takes as long as evaluating two hundred responses.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader


class _Absent:
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in self._names:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


class _Later:
    def __init__(self, names: frozenset[str]) -> None:
        self._names = set(names)
        self._made: set[str] = set()
        self.over = False

    def _stood_for(self, name: str) -> str | None:
        """Return what of ours a module is, or is in."""
        return next((n for n in self._names if name == n or name.startswith(f"{n}.")), None)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if self._stood_for(name):
            # The base class of loaders would bring a dozen modules with it.
            return ModuleSpec(name, cast("Loader", self), is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._made.add(spec.name)
        return _StandIn(spec.name, self)

    def exec_module(self, module: ModuleType) -> None:
        """A stand-in has nothing to run."""

    def withdraw(self, module: str) -> None:
        """Stand in no more for what a module belongs to: it is imported as ever."""
        name = self._stood_for(module)
        if name is not None:
            self._forget({made for made in self._made if self._stood_for(made) == name})
            self._names.remove(name)

    def end(self) -> None:
        """Stand in for nothing any more."""
        self._forget(set(self._made))
        self._names.clear()
        self.over = True

    def _forget(self, modules: set[str]) -> None:
        for name in modules:
            sys.modules.pop(name, None)
        self._made -= modules


class _StandIn(ModuleType):
    """A module that is imported when something of it is used."""

    def __init__(self, name: str, finder: _Later) -> None:
        super().__init__(name)
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system asks any module
            raise AttributeError(name)
        if self._finder.over:  # no import asks for this, but who has the module and uses it
            return getattr(import_module(self.__name__), name)
        return _Part(self.__name__, name, self._finder)


class _Part:
    """What a stand-in has under a name: a function or a class to call, or more names."""

    def __init__(self, module: str, name: str, finder: _Later) -> None:
        self._of = module, name, finder

    def _real(self) -> Any:
        module, name, finder = self._of
        finder.withdraw(module)
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
    """Within this context these modules, and what is below them, are stood in for, unless they are
    imported already.

    Who imports one has it once the context has ended, imported when something of it is used first.
    Who imports a part of one gets something that imports the real one when it is called, or asked
    for an attribute; it is no class to inherit from or to catch. Afterwards they are imported as
    ever.
    """
    finder = _Later(frozenset(names) - set(sys.modules))
    try:
        with _found_by(finder):
            yield
    finally:
        finder.end()


@contextmanager
def _found_by(finder: _Absent | _Later) -> Iterator[None]:
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def settle_arrow() -> None:
    """Have Arrow look for pandas, which it does once, at the first array that it makes."""
    import pyarrow as pa

    pa.array([0])
