"""A small web on loopback for tests: pages, the troubles of pages, and engines that search it."""

from .engines import Engines
from .pages import BEACON, ORDER, Listed, Reply, html
from .server import LocalWeb

__all__ = ["BEACON", "ORDER", "Engines", "Listed", "LocalWeb", "Reply", "html"]
