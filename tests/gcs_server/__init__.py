"""A local Google Cloud Storage for tests: its JSON API over real HTTP."""

from .objects import Bucket, Object
from .server import GcsServer

__all__ = ["Bucket", "GcsServer", "Object"]
