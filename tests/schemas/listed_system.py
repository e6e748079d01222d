"""A file system that lists what a test says, or fails."""

from typing import Any, ClassVar

from fsspec import AbstractFileSystem


class Lists(AbstractFileSystem):
    """A file system of another kind, which tells of one file, or refuses."""

    protocol = "lists"
    told: ClassVar[dict[str, Any]] = {}
    fault: ClassVar[Exception | None] = None

    def find(self, path: str, *args: object, **more: object) -> Any:
        if self.fault:
            raise self.fault
        return {"box/f": {"name": "box/f", "type": "file", **self.told}}
