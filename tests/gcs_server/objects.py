"""Buckets and what is in them: names with slashes, no folders; every write is a new generation."""

import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from .checksums import crc32c, md5_hash

_generations = itertools.count(1_700_000_000_000_000)


class Refused(Exception):
    """A request that is answered with an error: its status and what is said."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def body(self) -> bytes:
        """Return the service's JSON for an error."""
        one = {"message": self.message, "domain": "global", "reason": _REASONS[self.status]}
        error = {"code": self.status, "message": self.message, "errors": [one]}
        return json.dumps({"error": error}).encode()


_REASONS = {
    400: "invalid",
    401: "required",
    403: "forbidden",
    404: "notFound",
    405: "methodNotAllowed",
    412: "conditionNotMet",
    416: "requestedRangeNotSatisfiable",
    429: "rateLimitExceeded",
    503: "backendError",
}


@dataclass(frozen=True, slots=True)
class Object:
    """The bytes of a name, and what the service tells of them."""

    bucket: str
    name: str
    data: bytes
    content_type: str = "application/octet-stream"
    generation: int = field(default_factory=lambda: next(_generations))
    updated: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
    )

    def resource(self) -> dict[str, Any]:
        """Return the `storage#object` of the JSON API."""
        return {
            "kind": "storage#object",
            "id": f"{self.bucket}/{self.name}/{self.generation}",
            "selfLink": f"/storage/v1/b/{self.bucket}/o/{quote(self.name, safe='')}",
            "name": self.name,
            "bucket": self.bucket,
            "generation": str(self.generation),
            "metageneration": "1",
            "contentType": self.content_type,
            "size": str(len(self.data)),
            "md5Hash": md5_hash(self.data),
            "crc32c": crc32c(self.data),
            "storageClass": "STANDARD",
            "timeCreated": self.updated,
            "updated": self.updated,
            "etag": str(self.generation),
        }


class Bucket:
    """The objects of a bucket. `private`: who has no token is answered 401, who has one 403."""

    def __init__(self, name: str, private: bool = False) -> None:
        self.name = name
        self.private = private
        self._objects: dict[str, Object] = {}
        self._lock = threading.RLock()

    def __getitem__(self, name: str) -> bytes:
        return self._objects[name].data

    def __setitem__(self, name: str, data: bytes) -> None:
        self.put(Object(self.name, name, data))

    def __delitem__(self, name: str) -> None:
        del self._objects[name]

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin so, sorted."""
        with self._lock:
            return sorted(name for name in self._objects if name.startswith(prefix))

    def get(self, name: str, conditions: Mapping[str, str] | None = None) -> Object:
        """Return an object; Refused where there is none, or a condition does not hold."""
        with self._lock:
            found = self._objects.get(name)
            if found is None:
                raise Refused(404, f"No such object: {self.name}/{name}")
            self._check(found, conditions or {})
            return found

    def put(self, new: Object, conditions: Mapping[str, str] | None = None) -> Object:
        """Keep an object in place of what has its name."""
        with self._lock:
            self._check(self._objects.get(new.name), conditions or {})
            self._objects[new.name] = new
            return new

    def delete(self, name: str, conditions: Mapping[str, str]) -> None:
        """Forget an object."""
        with self._lock:
            self.get(name, conditions)
            del self._objects[name]

    def _check(self, found: Object | None, conditions: Mapping[str, str]) -> None:
        generation = found.generation if found else 0
        wanted = conditions.get("ifGenerationMatch")
        unwanted = conditions.get("ifGenerationNotMatch")
        if wanted is not None and int(wanted) != generation:
            raise Refused(412, "At least one of the pre-conditions you specified did not hold.")
        if unwanted is not None and int(unwanted) == generation:
            raise Refused(412, "At least one of the pre-conditions you specified did not hold.")
