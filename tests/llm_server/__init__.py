"""A local OpenAI endpoint for tests: real HTTP, real errors, answers from the offline judge."""

from . import faults
from .answerers import Answerer
from .chat import IGNORED, REJECTED, WORKS, Chat, Reply, Switches
from .log import Logged
from .profiles import PROFILES
from .server import KEY, MODELS, LlmServer

__all__ = [
    "IGNORED", "KEY", "MODELS", "PROFILES", "REJECTED", "WORKS", "Answerer", "Chat",
    "LlmServer", "Logged", "Reply", "Switches", "faults",
]  # fmt: skip
