"""From a name to a fact source: one mechanism for the built-in ones and everybody else's.

A type is the name of an entry point in the group `ufo.fact_sources`, or `path/to/file.py:Class`.
"""

import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import PluginError, UsageError, unknown_value
from transforms.sources.base import FactSource

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "ufo.fact_sources"


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A fact source as it travels to the workers: plain values, or a ready `instance`.

    `name` is what the tables show, `type` what it is built from, `options` its constructor's
    keyword arguments; `code` is `module:Class` behind the type, see `located`.
    """

    name: str
    type: str
    options: Mapping[str, Any] = field(default_factory=dict)
    instance: FactSource | None = None
    code: str = ""


@cache
def _declared() -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points

    declared: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        other = declared.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise PluginError(
                f"two packages declare a fact source {entry.name!r}: {_package(other)} and "
                f"{_package(entry)}; uninstall one, or name the class of the other by its file"
            )
    return declared


def _package(entry: "EntryPoint") -> str:
    return f"package {entry.dist.name!r}" if entry.dist else f"{entry.value!r}"


def source_types() -> list[str]:
    """Return the names of all declared types, sorted. Loads none of them."""
    return sorted(_declared())


def package_of(type_name: str) -> str:
    """Return the distribution that declares a type."""
    entry = _declared()[type_name]
    return entry.dist.name if entry.dist else ""


def source_class(type_name: str) -> type[FactSource]:
    """Return the class behind a type name or a `path/to/file.py:Class`.

    Raises:
        UsageError: no such type, file or class.
        PluginError: the code behind it does not load, or is no fact source.
    """
    path, colon, class_name = type_name.rpartition(":")
    if colon and path.endswith(".py"):
        return _checked(_from_file(Path(path), class_name), type_name)
    entry = _declared().get(type_name)
    if entry is None:
        known = [*source_types(), "path/to/file.py:Class"]
        raise UsageError(unknown_value("fact source", type_name, known))
    try:
        return _checked(entry.load(), f"{entry.value} of {_package(entry)}")
    except PluginError:
        raise
    except Exception as error:
        raise PluginError(
            f"the fact source {type_name!r} of {_package(entry)} does not load: "
            f"{type(error).__name__}: {error}"
        ) from error


def _from_file(path: Path, class_name: str) -> object:
    if not path.is_file():
        raise UsageError(f"no file {str(path)!r} to load the fact source {class_name!r} from")
    path = path.resolve()
    # The module keeps one identity in a process, so that a class found twice is the same class.
    module_name = "ufo_source_" + sha256(str(path).encode()).hexdigest()[:16]
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise PluginError(
                f"the file {str(path)!r} does not load: {type(error).__name__}: {error}"
            ) from error
    found = getattr(module, class_name, None)
    if found is None:
        raise UsageError(f"the file {str(path)!r} has no class {class_name!r}")
    return found


def _checked(found: object, where: str) -> type[FactSource]:
    if isinstance(found, type) and issubclass(found, FactSource):
        return found
    raise PluginError(f"{where} is not a fact source: it must be a subclass of ufo.FactSource")


def located(spec: SourceSpec) -> SourceSpec:
    """Return the spec with the code of its declared type: whoever makes the source from that need
    not go through all that is installed."""
    entry = None if spec.instance is not None else _declared().get(spec.type)
    return replace(spec, code=f"{entry.module}:{entry.attr}") if entry else spec


def _class_at(code: str) -> type[FactSource] | None:
    module, _, names = code.partition(":")
    try:
        return _checked(reduce(getattr, names.split("."), import_module(module)), code)
    except Exception:
        return None  # looked for by its type, it fails with the reason and the remedy


def make_source(spec: SourceSpec, flags: Mapping[str, Any] | None = None) -> FactSource:
    """Return the source that `spec` describes; a parameter not set in it takes the flag's value.

    Raises:
        UsageError: an option that the source's constructor does not take, or a wrong value.
    """
    if spec.instance is not None:
        spec.instance.name = spec.name
        return spec.instance
    kind = (_class_at(spec.code) if spec.code else None) or source_class(spec.type)
    parameters = inspect.signature(kind).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for option in spec.options:
        if option not in parameters and not takes_any:
            what = f"option of the fact source {spec.name!r} ({spec.type})"
            raise UsageError(unknown_value(what, option, parameters or ["no options"]))
    options = {k: v for k, v in (flags or {}).items() if k in parameters} | dict(spec.options)
    try:
        source = kind(**options)
    except UsageError:
        raise
    except Exception as error:
        raise PluginError(
            f"the fact source {spec.name!r} ({spec.type}) cannot be made with {options}: "
            f"{type(error).__name__}: {error}"
        ) from error
    source.name = spec.name
    return source
