"""The HTTP packages of the installed `openai`: httpx2 from openai 3.0, before that httpx.

Both have the same names and classes. All code that sends requests to models imports them here.
"""

from typing import TYPE_CHECKING

import openai

if TYPE_CHECKING or int(openai.__version__.partition(".")[0]) >= 3:
    import httpcore2 as httpcore
    import httpx2 as httpx
else:
    import httpcore
    import httpx

__all__ = ["httpcore", "httpx"]
