"""Guard the service: by token, origin and rate of each request, by the headers of each response.

The service is closed by default. A request must name this computer as its host, since a foreign
name that resolves here is an attack by DNS rebinding. It must not come from another origin's page.
With a token, any host is accepted and the token is required: as `Authorization: Bearer`, or once as
`?token=` or by the form that a browser gets at `/`. The latter two set a cookie that no script can
read and no other site can send. `/health` needs no token.
"""

import asyncio
import hmac
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ufo.schemas.text import host_in
from ufo.webapp.limits import Rate, Refused, ServiceLimits
from ufo.webapp.problems import answer, problem, refusal

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "ufo_session"
_SAFE = ("GET", "HEAD", "OPTIONS")
_PAGE = "/page/"
_OPEN = ("/health", "/page/style/base.css", "/page/style/parts.css")  # without the token, too
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
# A page without scripts. Its form goes to its own address, so that a link to a view still works.
_ENTRANCE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Token · ufo</title>
<link rel="stylesheet" href="/page/style/base.css">
<link rel="stylesheet" href="/page/style/parts.css">
</head>
<body class="page">
<main>
<h1>ufo</h1>
<form class="card" method="post">
<p id="about">This service is opened by a token. Whoever started it knows the token: it is the value
of UFO_TOKEN there.</p>
{wrong}<p><label for="token">Token</label> <input id="token" name="token" type="password"
autocomplete="current-password" aria-describedby="wrong about" required autofocus></p>
<p><button class="primary">Open</button></p>
</form>
</main>
</body>
</html>
"""
_WRONG = (
    '<p id="wrong" role="alert"><strong>⚠ That is not the token of this service.</strong></p>\n'
)
# A browser sends the origin of the form only under this policy.
_OF_ENTRANCE = {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(
        "form-action 'none'", "form-action 'self'"
    ),
    "Referrer-Policy": "same-origin",
}
_MOST_OF_TOKEN = 10_000  # bytes of the form
# For a drawing that is opened by its address: nothing in it runs or loads.
_DRAWING = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class Guard:
    """ASGI middleware that refuses unsafe requests, and sets the headers of every response."""

    def __init__(self, app: ASGIApp, token: str | None, limits: ServiceLimits) -> None:
        self._app = app
        self._token = token
        # The cookie has a hash, which does not reveal the token.
        self._session = sha256(f"ufo session {token}".encode()).hexdigest().encode()
        self._limits = limits
        self._reads = Rate(limits.reads_per_minute)
        self._writes = Rate(limits.writes_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _set_headers(MutableHeaders(scope=message))
            await send(message)

        limits = self._limits
        most, seconds = limits.body_bytes, limits.body_seconds
        if scope["path"] == "/upload":
            most, seconds = limits.upload_bytes, limits.upload_seconds
        measured = _limit_body(receive, most, seconds)
        answered = self._refusal(scope) or _too_large(scope, most)
        if answered is None and not self._is_admitted(scope):
            answered = await self._entrance(scope, _limit_body(receive, _MOST_OF_TOKEN, seconds))
        await (answered or self._app)(scope, measured, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the response that refuses a request; None for a request to accept."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not self._token and host_in(host) not in LOOPBACK:
            return answer(
                problem(
                    421,
                    "the service is for this computer, and the request names another host",
                    "open it as http://127.0.0.1 or localhost; to open it to others, start it with "
                    "a token",
                )
            )
        bearer = self._bearer(headers)
        if not bearer and _is_foreign(headers, host, scope["method"]):
            return answer(
                problem(
                    403,
                    "the request comes from a page of another origin",
                    "use the service's own page, or a program that sends no Origin",
                )
            )
        try:
            # The page itself is some forty small files, which cost nothing to send.
            if not (scope["method"] in _SAFE and scope["path"].startswith(_PAGE)):
                client = (scope.get("client") or ("",))[0]
                (self._reads if scope["method"] in _SAFE else self._writes).take(client)
        except Refused as error:
            return refusal(error)
        return None

    def _is_admitted(self, scope: Scope) -> bool:
        """Return whether a request may enter: it needs no token, or has the token or the cookie."""
        if not self._token or (scope["method"] in _SAFE and scope["path"] in _OPEN):
            return True
        cookie = Request(scope).cookies.get(COOKIE, "").encode()
        return self._bearer(Headers(scope=scope)) or hmac.compare_digest(cookie, self._session)

    def _bearer(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        return (
            bool(self._token)
            and kind.lower() == "bearer"
            and self._is_token(token.strip().encode("latin-1"))
        )

    async def _entrance(self, scope: Scope, receive: Receive) -> Response:
        """Return a response that asks for the token, or sets the cookie if the address or the form
        has the token."""
        is_post = scope["method"] == "POST"
        at_door = scope["path"] == "/" and (is_post or scope["method"] == "GET")
        token = ""
        if at_door:
            sent = await _form(scope, receive) if is_post else scope["query_string"]
            token = parse_qs(sent.decode("latin-1")).get("token", [""])[0]
        if token and self._is_token(token.encode("utf-8", "replace")):
            entered = RedirectResponse("/", 303)
            value = self._session.decode()
            entered.set_cookie(COOKIE, value, httponly=True, samesite="strict", path="/")
            return entered
        challenge = {"WWW-Authenticate": "Bearer"}
        if at_door and "text/html" in Headers(scope=scope).get("accept", ""):
            page = _ENTRANCE.format(wrong=_WRONG if token else "")
            return HTMLResponse(page, 401, challenge | _OF_ENTRANCE)
        return answer(
            problem(
                401,
                "the service is opened by a token, and the request has none or another",
                "load the page again and enter the token, or send it as 'Authorization: Bearer "
                "TOKEN'",
            ),
            challenge,
        )

    def _is_token(self, token: bytes) -> bool:
        assert self._token is not None
        return hmac.compare_digest(token, self._token.encode())


async def _form(scope: Scope, receive: Receive) -> bytes:
    """Return the body of a form; empty if it is too large or incomplete."""
    try:
        return await Request(scope, receive).body()
    except (HTTPException, ClientDisconnect):
        return b""


def _too_large(scope: Scope, most: int) -> Response | None:
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdigit() or (len(length) < 16 and int(length) <= most):
        return None
    return answer(problem(413, f"the body has {length[:30]} bytes, and {most:,} are taken"))


def _limit_body(receive: Receive, most: int, seconds: float) -> Receive:
    """Return a `receive` that fails after `most` bytes, or `seconds` after its first call."""
    size, whole = 0, False
    ends: float | None = None

    async def measured() -> Message:
        nonlocal size, whole, ends
        ends = ends or asyncio.get_running_loop().time() + seconds
        try:
            # After the body, `receive` waits until the client disconnects.
            async with asyncio.timeout_at(None if whole else ends):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the body did not come within {seconds:g} s") from None
        whole = not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > most:
            raise HTTPException(413, f"the body has more than the {most:,} bytes that are taken")
        return message

    return measured


def _is_foreign(headers: Headers, host: str, method: str) -> bool:
    """Return whether a browser sent the request from a page of another origin."""
    origin = headers.get("origin")
    if origin is not None:
        return origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower())
    site = headers.get("sec-fetch-site", "none")
    opened = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return site not in ("same-origin", "none") and not opened


def _set_headers(headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if headers.get("content-type", "").startswith("image/svg+xml"):
        headers["Content-Security-Policy"] = _DRAWING
