"""What stands before every request: who may ask, how much may be sent, and what a browser may do with the answer.

A web page of somebody else can make a browser send requests to this server, and a name of his can be made to point
here. So the Host must be ours, and what changes anything must come from our own page. Nothing of a request is logged.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.exceptions import HTTPException

from guessproof.web.refusals import Refusal, RefusalBody

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

COOKIE = "guessproof"
LARGEST_BODY = 2 * 1024 * 1024
LARGEST_UPLOAD = 512 * 1024 * 1024
UPLOADS = "/api/uploads"
OPEN = ("/api/login",)  # what answers without a token; the page itself holds nothing
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}


@dataclass(frozen=True)
class Guard:
    """Who may ask. `hosts` are the names by which this server is reached; `token` is None on the loopback only."""

    hosts: frozenset[str]
    token: str | None = None

    @classmethod
    def for_address(cls, host: str, port: int, token: str | None, names: tuple[str, ...] = ()) -> Guard:
        """The names of a server that listens there."""
        bare = f"[{host}]" if ":" in host and not host.startswith("[") else host
        every = {*LOOPBACK, *names, *([] if bare in ("0.0.0.0", "[::]") else [bare])}  # noqa: S104 - compared, not bound
        return cls(frozenset(name.lower() + port_words for name in every for port_words in _ports(port)), token)

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return host.lower() in self.hosts

    def lets_in(self, headers: dict[str, str]) -> bool:
        """Whether the token was shown before."""
        if self.token is None:
            return True
        try:
            shown = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return shown is not None and self.matches(shown.value)

    def matches(self, shown: str) -> bool:
        """Whether this is the token, told apart in constant time."""
        return self.token is not None and hmac.compare_digest(shown.encode(), self.token.encode())


def _ports(port: int) -> tuple[str, ...]:
    return (f":{port}", "") if port in (80, 443) else (f":{port}",)


@dataclass
class RequestGate:
    """ASGI middleware: refuses before anything is read, and puts its headers on every answer."""

    app: Asgi
    guard: Guard
    largest_upload: int = LARGEST_UPLOAD
    headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks over a web socket
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        refusal = self._refused(scope, headers)
        if refusal is not None:
            await _answer(self._with_headers(send, scope["path"]), *refusal)
            return
        limit = self.largest_upload if scope["path"] == UPLOADS else LARGEST_BODY
        await self.app(scope, _limited(receive, limit), self._with_headers(send, scope["path"]))

    def _refused(self, scope: Message, headers: dict[str, str]) -> tuple[int, str, str] | None:
        method, path = scope["method"], scope["path"]
        if not self.guard.knows(headers.get("host", "")):
            return 421, "this server is not called so", "use the address that guessproof serve printed"
        origin = headers.get("origin")
        if origin is not None and not self._ours(origin):
            return 403, "another page sent this request", "use the page of this server"
        if method not in ("GET", "HEAD") and headers.get("x-guessproof") is None:
            return 403, "a request that changes something needs the header X-Guessproof", "send X-Guessproof: 1"
        if path.startswith(("/api/", "/reports/")) and path not in OPEN and not self.guard.lets_in(headers):
            return 401, "the token was not shown", "enter the token that guessproof serve printed"
        limit = self.largest_upload if path == UPLOADS else LARGEST_BODY
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > limit:
            return 413, f"more than {limit // 2**20} MB were sent", "send less"
        return None

    def _ours(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and self.guard.knows(host)

    def _with_headers(self, send: Send, path: str) -> Send:
        policy = REPORT_POLICY if path.startswith("/reports/") else POLICY
        fixed = [(k.encode(), v.encode()) for k, v in {**HEADERS, "content-security-policy": policy}.items()]

        async def sender(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in fixed}
                kept = [(k, v) for k, v in message.get("headers", []) if k.lower() not in names]
                message = {**message, "headers": [*kept, *fixed]}
            await send(message)

        return sender


class TooMuchError(HTTPException):
    """More was sent than was announced or allowed; what parses a body lets an error of HTTP through."""

    def __init__(self) -> None:
        super().__init__(413, "too much was sent; send less")


def _limited(receive: Receive, limit: int) -> Receive:
    seen = 0

    async def receiver() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooMuchError
        return message

    return receiver


async def _answer(send: Send, status: int, problem: str, remedy: str) -> None:
    refusal = Refusal(kind="web", message=f"{problem}; {remedy}", problem=problem, remedy=remedy)
    body = json.dumps(RefusalBody(error=refusal).model_dump()).encode()
    start = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
