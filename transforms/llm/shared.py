"""One client a process for equal settings: judge and sources share connections and limits."""

import threading

from transforms.llm.client import ClientSettings, OpenAiClient

_lock = threading.Lock()
_clients: dict[str, OpenAiClient] = {}


class _Shared(OpenAiClient):
    async def aclose(self) -> None:
        """Stay open: others of this process use it."""


def shared_client(settings: ClientSettings) -> OpenAiClient:
    """Return this process's client for these settings.

    It is used on the process's one event loop (`transforms.loop`) and lives as long as that.
    """
    # Settings hold mappings and so are no keys; their text tells equal ones, and has no secret.
    key = repr(settings)
    with _lock:
        if key not in _clients:
            _clients[key] = _Shared(settings)
        return _clients[key]
