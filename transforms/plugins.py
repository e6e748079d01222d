"""Load plug-ins, built-in and third-party, by name.

A type is the name of an entry point in the registry's group, or `path/to/file.py:Class`.
"""

import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from ufo.schemas.errors import PluginError, UsageError, unknown_value
from ufo.transforms.plugin_errors import named_errors

CONTEXT = "context"
"""The parameter of a plug-in's constructor for the run's context, which is not an option."""
_PLAIN = (str, int, float, bool, list, tuple, dict, type(None))
_SECRETS = ("key", "token", "secret", "password")


class Plugin(Protocol):
    """The methods of every plug-in."""

    def fingerprint(self) -> str:
        """Return a text that changes whenever results may change, beside the options."""
        ...

    def unavailable(self) -> str | None:
        """Return an error message with the remedy if the plug-in cannot be used here, else None."""
        ...


P = TypeVar("P", bound=Plugin)


@dataclass(frozen=True, slots=True)
class Spec:
    """The specification of a plug-in, which is sent to workers: plain values, or an `instance`.

    `name` is shown in tables, `type` names the class, `options` are its constructor's keyword
    arguments.
    """

    name: str
    type: str
    options: Mapping[str, Any] = field(default_factory=dict)
    instance: Any = None


class Registry(Generic[P]):
    """The plug-ins of one kind.

    `group` is the group of their entry points, `base` their base class, and `noun` their name in
    messages.
    """

    def __init__(self, group: str, base: type[P], noun: str) -> None:
        self.group = group
        self.base = base
        self.noun = noun

    def types(self) -> list[str]:
        """Return the names of all declared types, sorted, without loading them."""
        return sorted(_declared(self.group))

    def about(self, type_name: str) -> dict[str, Any]:
        """Return the package of a type, the first line of its docstring, and its options.

        Raises what `load` raises.
        """
        kind = self.load(type_name)
        distribution = _declared(self.group)[type_name].dist
        return {
            "type": type_name,
            "package": distribution.name if distribution else "",
            "help": (inspect.getdoc(kind) or "").partition("\n")[0],
            "options": {
                parameter.name: None if parameter.default is parameter.empty else parameter.default
                for parameter in options_of(kind).values()
                if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
                # Parameters with other defaults cannot be set in a configuration.
                and (parameter.default is parameter.empty or isinstance(parameter.default, _PLAIN))
            },
        }

    def load(self, type_name: str) -> type[P]:
        """Return the class behind a type name or a `path/to/file.py:Class`.

        Raises:
            UsageError: no such type, file or class.
            PluginError: the code does not load, or is not such a plug-in.
        """
        if is_file_type(type_name):
            path, _, class_name = type_name.rpartition(":")
            if not Path(path).is_file():
                raise UsageError(f"no file {path!r} to load the {self.noun} {class_name!r} from")
            loaded = getattr(_module_of(Path(path).resolve()), class_name, None)
            if loaded is None:
                raise UsageError(f"the file {path!r} has no class {class_name!r}")
            return self._checked(loaded, type_name)
        entry = _declared(self.group).get(type_name)
        if entry is None:
            known = [*self.types(), "path/to/file.py:Class"]
            raise UsageError(unknown_value(self.noun, type_name, known))
        try:
            loaded = entry.load()
        except Exception as error:
            raise PluginError(
                f"the {self.noun} {type_name!r} of {_package(entry)} does not load: "
                f"{type(error).__name__}: {error}"
            ) from error
        return self._checked(loaded, f"{entry.value} of {_package(entry)}")

    def spec(
        self, item: object, definitions: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    ) -> Spec:
        """Return the spec of a name, of a file's class or of an object.

        `definitions` are the named instances of the configuration.

        Raises:
            UsageError: `item` is something else.
        """
        if isinstance(item, self.base):
            kind = f"{type(item).__module__}.{type(item).__qualname__}"
            name = getattr(item, "name", "") or type(item).__name__
            return Spec(name, kind, instance=item)
        if not isinstance(item, str):
            raise UsageError(
                f"a {self.noun} is a name or an ufo.{self.base.__name__}, not {item!r}"
            )
        if item in definitions:
            defined = definitions[item]
            return Spec(item, absolute_type(defined["type"]), dict(defined["options"]))
        name = item.rpartition(":")[2] if is_file_type(item) else item
        return Spec(name, absolute_type(item))

    def kind(self, spec: Spec) -> type[P]:
        """Return the class behind a spec. Raises what `load` raises."""
        return type(spec.instance) if spec.instance is not None else self.load(spec.type)

    def parameters(self, spec: Spec) -> Mapping[str, inspect.Parameter]:
        """Return the options of the spec's class, none for a ready instance."""
        return {} if spec.instance is not None else options_of(self.kind(spec))

    def make(self, spec: Spec, flags: Mapping[str, Any] | None = None, context: object = None) -> P:
        """Return the plug-in that `spec` describes, with `flags` as defaults of its options.

        `context` is passed to a constructor that takes it.

        Raises:
            UsageError: the constructor does not take an option, or its value is invalid.
        """
        if spec.instance is not None:
            instance: P = spec.instance
            return instance
        kind = self.kind(spec)
        parameters = options_of(kind)
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        for option in spec.options:
            if option not in parameters and not takes_any:
                what = f"option of the {self.noun} {spec.name!r} ({spec.type})"
                raise UsageError(unknown_value(what, option, parameters or ["no options"]))
        options = {k: v for k, v in (flags or {}).items() if k in parameters} | dict(spec.options)
        context_option = {} if context is None or not takes_context(kind) else {CONTEXT: context}
        try:
            return kind(**options, **context_option)
        except UsageError:
            raise
        except Exception as error:
            raise PluginError(
                f"the {self.noun} {spec.name!r} ({spec.type}) cannot be made with "
                f"{hide_secrets(options)}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def unavailable(self, plugin: P, name: str) -> str | None:
        """Return why a plug-in cannot be used here, with the remedy; None if it can."""
        with named_errors(f"{self.noun} {name}, unavailable()"):
            return plugin.unavailable()

    def options(self, spec: Spec, plugin: P) -> dict[str, Any]:
        """Return a plug-in's options, with defaults that are plain values, and without secrets."""
        options = dict(spec.options)
        for name in self.parameters(spec):
            value = getattr(plugin, name, None)
            if isinstance(value, (str, int, float, bool)):
                options.setdefault(name, value)
        return hide_secrets(options)

    def fingerprint_entry(self, spec: Spec, plugin: P) -> dict[str, Any]:
        """Return the entry of a plug-in in a run's fingerprint."""
        with named_errors(f"{self.noun} {spec.name}, fingerprint()"):
            own = plugin.fingerprint()
        code = code_of(spec.type)
        return {
            "name": spec.name,
            "type": spec.type,
            "options": self.options(spec, plugin),
            "content": sha256(code + own.encode()).hexdigest()[:16] if code or own else "",
        }

    def _checked(self, loaded: object, where: str) -> type[P]:
        if isinstance(loaded, type) and issubclass(loaded, self.base):
            return loaded
        raise PluginError(
            f"{where} is not a {self.noun}: it must be a subclass of ufo.{self.base.__name__}"
        )


def options_of(kind: type) -> dict[str, inspect.Parameter]:
    """Return the options of a plug-in's class: the parameters of its constructor."""
    parameters = inspect.signature(kind).parameters
    return {name: one for name, one in parameters.items() if name != CONTEXT}


def takes_context(kind: type) -> bool:
    """Return whether the constructor of a plug-in's class takes the context of the run."""
    return CONTEXT in inspect.signature(kind).parameters


def hide_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with `***` as the value of each whose name suggests a secret."""
    return {
        name: "***" if any(word in name.lower() for word in _SECRETS) else value
        for name, value in options.items()
    }


def is_file_type(type_name: str) -> bool:
    """Return whether a type is a `path/to/file.py:Class`."""
    path, colon, _ = type_name.rpartition(":")
    return bool(colon) and path.endswith(".py")


def absolute_type(type_name: str) -> str:
    """Return the type with an absolute path: workers may have another working folder."""
    if not is_file_type(type_name):
        return type_name
    path, _, class_name = type_name.rpartition(":")
    return f"{Path(path).resolve()}:{class_name}"


def code_of(type_name: str) -> bytes:
    """Return the content of the file of a `path/to/file.py:Class`, b"" for a name."""
    return Path(type_name.rpartition(":")[0]).read_bytes() if is_file_type(type_name) else b""


@cache
def _declared(group: str) -> dict[str, EntryPoint]:
    declared: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        other = declared.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise PluginError(
                f"two packages declare {entry.name!r} in the entry points {group!r}: "
                f"{_package(other)} and {_package(entry)}; uninstall one, or name the class of the "
                "other by its file"
            )
    return declared


@cache  # the name is read from the package's files
def _package(entry: EntryPoint) -> str:
    return f"package {entry.dist.name!r}" if entry.dist else f"{entry.value!r}"


def _module_of(path: Path) -> Any:
    # The module is loaded only once in a process, so that its class is always the same object.
    module_name = "ufo_plugin_" + sha256(str(path).encode()).hexdigest()[:16]
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
    return module
