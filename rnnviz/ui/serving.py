"""What the server adds to Streamlit's answers: a cookie that says whose a run is, the components' scripts, and scripts
compressed."""

import asyncio
import gzip
import hashlib
import importlib.metadata
import importlib.util
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "rnnviz_owner"
YEAR = 365 * 24 * 3600
PACKED = (".js", ".css", ".svg", ".json", ".map")
PLOTLY = "plotly.min.js"


def base() -> str:
    """The path under which everything is served, without a slash at its end: our own routes are not under it by
    themselves."""
    return f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")


@cache
def assets() -> dict[str, Path]:
    """The scripts and styles of the components by path, and the one Plotly, of the installed package."""
    folder = Path(__file__).with_name("components")
    files = [path for kind in ("js", "css") for path in sorted(folder.rglob(f"*.{kind}"))]
    found = {path.relative_to(folder).as_posix(): path for path in files}
    plotly = importlib.util.find_spec("plotly")
    assert plotly is not None
    assert plotly.origin is not None
    return found | {PLOTLY: Path(plotly.origin).parent / "package_data" / PLOTLY}


@cache
def stamp() -> str:
    """A word for what the assets hold, part of their addresses: so browsers may keep them for good."""
    content = [path.read_bytes() for name, path in assets().items() if name != PLOTLY]
    return hashlib.sha256(b"".join([*content, importlib.metadata.version("plotly").encode()])).hexdigest()[:12]


def address(name: str) -> str:
    """Where a browser gets an asset: they lie as in components/, so that one imports another as it does there."""
    return f"{base()}/assets/{stamp()}/{name}"


def asset(request: Request) -> Response:
    """The file behind an address."""
    path = assets().get(request.path_params["name"])
    if path is None or request.path_params["stamp"] != stamp():
        return Response(status_code=404)
    kind = "text/css" if path.suffix == ".css" else "text/javascript"
    headers = {"cache-control": f"public, max-age={YEAR}, immutable", "x-content-type-options": "nosniff"}
    return FileResponse(path, media_type=kind, headers=headers)


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
    """Compresses scripts once and keeps them: a first load is 7.5 MB without, times thirty in a class.

    Their names hold a hash of their content, so that what is kept is never stale.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.kept: dict[str, tuple[list[tuple[bytes, bytes]], bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        script = ("/static/" in path or "/assets/" in path) and path.endswith(PACKED)
        wanted = scope["type"] == "http" and scope["method"] == "GET" and script
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

            async def patient() -> Message:
                # Who asked first may leave: what is kept for everybody is collected whole all the same.
                return await asyncio.Future()

            await self.app(scope, patient, collect)
            found = Headers(raw=start["headers"])
            # An unknown path is answered with a page and 200: that is not a script, and anyone can ask for many.
            if start["status"] != 200 or found.get("content-type", "").startswith("text/html"):
                await send(start)
                await send({"type": "http.response.body", "body": bytes(body)})
                return
            headers = MutableHeaders(raw=list(start["headers"]))
            packed = bytes(body)
            if "content-encoding" not in found:  # Streamlit itself compresses what is not its own
                packed = await asyncio.to_thread(gzip.compress, packed, 6)
                headers["content-encoding"], headers["vary"] = "gzip", "Accept-Encoding"
            headers["content-length"] = str(len(packed))
            self.kept[path] = (headers.raw, packed)
        headers_raw, packed = self.kept[path]
        await send({"type": "http.response.start", "status": 200, "headers": headers_raw})
        await send({"type": "http.response.body", "body": packed})
