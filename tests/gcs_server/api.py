"""What each request of the JSON API does, whether it came by itself or in a batch."""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from uuid import uuid4

from .objects import Bucket, Object, Refused

PAGE = 100
"""How many names a page of a listing has at most; fewer than the service's, to have several."""

_OBJECT = r"/storage/v1/b/([^/]+)/o/([^/]+)"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return {name: value[-1] for name, value in parse_qs(urlsplit(self.target).query).items()}


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def json_reply(value: object, status: int = 200) -> Reply:
    """Return a reply with a JSON body."""
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


@dataclass(slots=True)
class _Upload:
    bucket: Bucket
    name: str
    content_type: str
    conditions: Mapping[str, str]
    data: bytearray = field(default_factory=bytearray)
    finished: Object | None = None


class Api:
    """The buckets and how they answer; `token` is what a private one wants to see first."""

    def __init__(self, token: str) -> None:
        self.buckets: dict[str, Bucket] = {}
        self.token = token
        self._uploads: dict[str, _Upload] = {}
        self._lock = threading.Lock()
        self._routes: list[tuple[str, str, Callable[..., Reply]]] = [
            ("GET", r"/storage/v1/b/([^/]+)", self._bucket_resource),
            ("GET", r"/storage/v1/b/([^/]+)/o", self._list),
            ("GET", f"(?:/download)?{_OBJECT}", self._get),
            ("DELETE", _OBJECT, self._delete),
            ("POST", f"{_OBJECT}/(?:copyTo|rewriteTo)/b/([^/]+)/o/([^/]+)", self._copy),
            ("POST", f"{_OBJECT}/compose", self._compose),
            ("POST", r"/(?:resumable/)?upload/storage/v1/b/([^/]+)/o", self._insert),
            ("PUT", r"/(?:resumable/)?upload/storage/v1/b/([^/]+)/o", self._chunk),
        ]

    def answer(self, request: Request) -> Reply:
        """Return the reply to a request that is not a batch."""
        try:
            for method, pattern, handle in self._routes:
                match = re.fullmatch(pattern, request.path)
                if match and method == request.method:
                    words = [unquote(word) for word in match.groups()]
                    return handle(request, self._bucket(request, words[0]), *words[1:])
            raise Refused(405, f"{request.method} {request.path} is nothing of this server")
        except Refused as error:
            return Reply(error.status, error.body(), {"Content-Type": "application/json"})

    def _bucket(self, request: Request, name: str) -> Bucket:
        if name not in self.buckets:
            raise Refused(404, "The specified bucket does not exist.")
        bucket = self.buckets[name]
        if bucket.private:
            if request.headers.get("authorization") != f"Bearer {self.token}":
                raise Refused(401, "Anonymous caller does not have storage access to the bucket.")
            raise Refused(403, f"tests@example.com does not have access to the bucket {name}.")
        return bucket

    def _bucket_resource(self, request: Request, bucket: Bucket) -> Reply:
        return json_reply({"kind": "storage#bucket", "name": bucket.name, "metageneration": "1"})

    def _list(self, request: Request, bucket: Bucket) -> Reply:
        prefix, delimiter = request.query.get("prefix", ""), request.query.get("delimiter")
        after = request.query.get("pageToken", "")
        size = min(PAGE, int(request.query.get("maxResults", PAGE)))
        entries: dict[str, str] = {}
        for name in bucket.names(prefix):
            head, found, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            entries.setdefault(prefix + head + found if found else name, name)
        left = [entry for entry in entries if entry > after]
        value: dict[str, Any] = {"kind": "storage#objects"}
        shown = left[:size]
        value["items"] = [bucket.get(one).resource() for one in shown if one == entries[one]]
        value["prefixes"] = [one for one in shown if one != entries[one]]
        if len(left) > size:
            value["nextPageToken"] = shown[-1]
        return json_reply(value)

    def _get(self, request: Request, bucket: Bucket, name: str) -> Reply:
        found = bucket.get(name, request.query)
        if request.query.get("alt") != "media":
            return json_reply(found.resource())
        resource = found.resource()
        headers = {
            "Content-Type": found.content_type,
            "X-Goog-Generation": resource["generation"],
            "X-Goog-Hash": f"crc32c={resource['crc32c']},md5={resource['md5Hash']}",
        }
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("range", ""))
        if not asked:
            return Reply(200, found.data, headers)
        size = len(found.data)
        first = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
        last = min(size - 1, int(asked[2])) if asked[1] and asked[2] else size - 1
        if first >= size:
            raise Refused(416, "The requested range cannot be satisfied.")
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        return Reply(206, found.data[first : last + 1], headers)

    def _delete(self, request: Request, bucket: Bucket, name: str) -> Reply:
        bucket.delete(name, request.query)
        return Reply(204)

    def _copy(
        self, request: Request, bucket: Bucket, name: str, to_bucket: str, to_name: str
    ) -> Reply:
        source = bucket.get(name)
        target = self._bucket(request, to_bucket)
        made = target.put(
            Object(target.name, to_name, source.data, source.content_type), request.query
        )
        if "/copyTo/" in request.path:
            return json_reply(made.resource())
        size = str(len(source.data))
        told = {"totalBytesRewritten": size, "objectSize": size, "done": True}
        return json_reply({"kind": "storage#rewriteResponse", **told, "resource": made.resource()})

    def _compose(self, request: Request, bucket: Bucket, name: str) -> Reply:
        parts = [bucket.get(one["name"]) for one in json.loads(request.body)["sourceObjects"]]
        data = b"".join(part.data for part in parts)
        return json_reply(bucket.put(Object(bucket.name, name, data), request.query).resource())

    def _insert(self, request: Request, bucket: Bucket) -> Reply:
        query, kind = request.query, request.headers.get("content-type", "")
        if query.get("uploadType") == "resumable":
            return self._begin(request, bucket)
        name, data = query.get("name", ""), request.body
        if query.get("uploadType") == "multipart":
            about, data, kind = _related(request.body, kind)
            name = about.get("name", name)
            kind = about.get("contentType", kind)
        if not name:
            raise Refused(400, "Required parameter: name")
        return json_reply(bucket.put(Object(bucket.name, name, data, kind), query).resource())

    def _begin(self, request: Request, bucket: Bucket) -> Reply:
        about = json.loads(request.body or b"{}")
        name = about.get("name") or request.query.get("name")
        if not name:
            raise Refused(400, "Required parameter: name")
        default = request.headers.get("x-upload-content-type", "application/octet-stream")
        kind = about.get("contentType", default)
        identifier = uuid4().hex
        with self._lock:
            self._uploads[identifier] = _Upload(bucket, name, kind, request.query)
        host = request.headers["host"]
        where = f"http://{host}/upload/storage/v1/b/{quote(bucket.name)}/o"
        where = f"{where}?uploadType=resumable&upload_id={identifier}"
        return Reply(200, b"", {"Location": where, "X-GUploader-UploadID": identifier})

    def _chunk(self, request: Request, bucket: Bucket) -> Reply:
        upload = self._uploads.get(request.query.get("upload_id", ""))
        if upload is None:
            raise Refused(404, "No such upload")
        if upload.finished is None:
            sent = request.headers.get("content-range", "")
            match = re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", sent)
            if sent and not match:
                raise Refused(400, f"Invalid Content-Range {sent!r}")
            if not match or match[1] is not None:
                first = int(match[1]) if match else 0
                if first > len(upload.data):
                    raise Refused(503, "A chunk is missing before this one")
                del upload.data[first:]
                upload.data += request.body
            if match and (match[3] == "*" or int(match[3]) > len(upload.data)):
                got = {"Range": f"bytes=0-{len(upload.data) - 1}"} if upload.data else {}
                return Reply(308, b"", got)
            new = Object(bucket.name, upload.name, bytes(upload.data), upload.content_type)
            upload.finished = upload.bucket.put(new, upload.conditions)
        return json_reply(upload.finished.resource())


def _related(body: bytes, content_type: str) -> tuple[dict[str, Any], bytes, str]:
    """Return metadata, data and type of the data of a multipart/related body."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    if not found:
        raise Refused(400, "multipart without a boundary")
    _, about, data, _ = body.split(f"--{found[1]}".encode(), 3)
    head, _, content = data.partition(b"\r\n\r\n")
    kind = re.search(rb"(?i)content-type: *([^\r\n]+)", head)
    metadata = json.loads(about.partition(b"\r\n\r\n")[2])
    return metadata, content.removesuffix(b"\r\n"), kind[1].decode() if kind else ""
