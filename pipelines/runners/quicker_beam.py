"""What Beam 2.77 does at each graph, for processes that run chunk after chunk.

Each is a private detail, so setup.py holds Beam to that version, and tests tell when one is gone.
"""

from functools import partialmethod
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

_SAMPLING_MS = 5


def quicken() -> None:
    """Change Beam in this process, which does nothing but evaluate chunks."""
    _end_stages_promptly()
    _inspect_each_step_once()
    _read_each_signature_once()
    _leave_sources_unread()
    _parse_options_once()
    _look_for_no_protocol_buffers()


def _end_stages_promptly() -> None:
    """Let stages end when their work does.

    A stage ends by waiting for the thread that samples what it is doing. That sleeps longer and
    longer, up to 200 ms (`StateSampler`), and no option shortens it.
    """
    from apache_beam.runners.worker.statesampler import StateSampler

    StateSampler.__init__ = partialmethod(StateSampler.__init__, sampling_period_ms=_SAMPLING_MS)


def _inspect_each_step_once() -> None:
    """Look at the methods of a kind of step once.

    Whether a step has state is asked at a dozen places for every step of every graph, each time by
    the signatures of all its methods.
    """
    from apache_beam.transforms import userstate
    from apache_beam.transforms.core import CallableWrapperDoFn

    inspect = userstate.get_dofn_specs
    known: dict[type, Any] = {}

    def get_dofn_specs(step: Any) -> Any:
        kind = type(step)
        if issubclass(kind, CallableWrapperDoFn):
            return inspect(step)  # what it calls is each one's own
        if kind not in known:
            known[kind] = inspect(step)
        return known[kind]

    userstate.get_dofn_specs = get_dofn_specs


def _read_each_signature_once() -> None:
    """Keep the arguments of functions, of which a graph asks for over a thousand."""
    from apache_beam.transforms import core

    read = core.get_function_args_defaults
    known: WeakKeyDictionary[FunctionType, dict[bool, Any]] = WeakKeyDictionary()

    def get_function_args_defaults(f: Any) -> tuple[list[str], list[Any]]:
        function = getattr(f, "__func__", f)
        if not isinstance(function, FunctionType):
            found: tuple[list[str], list[Any]] = read(f)
            return found
        kept = known.setdefault(function, {})
        bound = function is not f
        if bound not in kept:
            kept[bound] = read(f)
        names, defaults = kept[bound]
        return list(names), list(defaults)

    core.get_function_args_defaults = get_function_args_defaults


def _leave_sources_unread() -> None:
    """Do not look in the source of each step whether it both yields and returns, to warn of it."""
    from apache_beam.transforms import core

    core._check_fn_use_yield_and_return = lambda fn: False


def _parse_options_once() -> None:
    """Keep the views of options, of which a graph asks for a hundred and thirty.

    For each, Beam builds a parser of arguments. All views of the same options have the same values
    already.
    """
    from apache_beam.options.pipeline_options import PipelineOptions

    view = PipelineOptions.view_as

    def view_as(self: Any, kind: type) -> Any:
        kept = self.__dict__.setdefault("_kept_views", {})
        if kind not in kept:
            kept[kind] = view(self, kind)
        return kept[kind]

    def state(self: Any) -> dict[str, Any]:
        found: dict[str, Any] = plain_state(self)
        return {name: value for name, value in found.items() if name != "_kept_views"}

    plain_state = PipelineOptions.__getstate__
    PipelineOptions.view_as = view_as
    PipelineOptions.__getstate__ = state


def _look_for_no_protocol_buffers() -> None:
    """Take the coder of plain values and pickles for what has none of its own at once.

    Beam asks first whether it is a protocol buffer of either kind, fifty times a graph, and imports
    a library for that. None of ours is.
    """
    from apache_beam import coders

    coders.registry.register_fallback_coder(coders.FastPrimitivesCoder)
