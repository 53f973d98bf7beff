"""What the server adds to Streamlit's answers: a cookie that says whose a run is, and compressed scripts."""

import asyncio
import gzip
import hashlib
import secrets
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "rnnviz_owner"
YEAR = 365 * 24 * 3600
PACKED = (".js", ".css", ".svg", ".json", ".map")


def owner(cookies: Mapping[str, str], session: str) -> str:
    """Whose browser this is: a hash of the cookie, so that no store holds a secret; the session where there is no
    cookie."""
    cookie = cookies.get(COOKIE)
    return hashlib.sha256((cookie if isinstance(cookie, str) and cookie else session).encode()).hexdigest()


class OwnerCookie:
    """Gives each browser a random cookie with its first page; scripts cannot read it, other sites cannot send it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or f"{COOKIE}=" in Headers(scope=scope).get("cookie", ""):
            await self.app(scope, receive, send)
            return

        async def named(message: Message) -> None:
            # Only with a page: several answers at once, each with another cookie, would make a browser several owners.
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    attributes = f"HttpOnly; SameSite=Lax; Path=/; Max-Age={YEAR}"
                    secure = "; Secure" if scope.get("scheme") == "https" else ""
                    headers.append("set-cookie", f"{COOKIE}={secrets.token_urlsafe(24)}; {attributes}{secure}")
            await send(message)

        await self.app(scope, receive, named)


class PackedScripts:
    """Compresses Streamlit's scripts once and keeps them: a first load is 7.5 MB without, times thirty in a class.

    Their names hold a hash of their content, so that what is kept is never stale.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.kept: dict[str, tuple[list[tuple[bytes, bytes]], bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        wanted = scope["type"] == "http" and scope["method"] == "GET" and "/static/" in path and path.endswith(PACKED)
        asked = Headers(scope=scope) if wanted else Headers()
        if not wanted or "gzip" not in asked.get("accept-encoding", "") or "range" in asked or "if-none-match" in asked:
            await self.app(scope, receive, send)
            return
        if path not in self.kept:
            start: Message = {}
            body = bytearray()

            async def collect(message: Message) -> None:
                if message["type"] == "http.response.start":
                    start.update(message)
                elif message["type"] == "http.response.body":
                    body.extend(message.get("body", b""))

            await self.app(scope, receive, collect)
            found = Headers(raw=start["headers"])
            # An unknown path is answered with a page and 200: that is not a script, and anyone can ask for many.
            if start["status"] != 200 or found.get("content-type", "").startswith("text/html"):
                await send(start)
                await send({"type": "http.response.body", "body": bytes(body)})
                return
            packed = await asyncio.to_thread(gzip.compress, bytes(body), 6)
            headers = MutableHeaders(raw=list(start["headers"]))
            headers["content-encoding"], headers["content-length"], headers["vary"] = (
                "gzip",
                str(len(packed)),
                "Accept-Encoding",
            )
            self.kept[path] = (headers.raw, packed)
        headers_raw, packed = self.kept[path]
        await send({"type": "http.response.start", "status": 200, "headers": headers_raw})
        await send({"type": "http.response.body", "body": packed})
