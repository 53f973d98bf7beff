"""The cookie that says whose a run is, the components' scripts and styles, and how scripts are compressed."""

import asyncio
import gzip
import re
from pathlib import Path

import plotly.offline
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import config

from rnnviz.ui import serving
from rnnviz.ui.serving import COOKIE, OwnerCookie, PackedScripts, owner

SCRIPT = b"var answer = 42;" * 500
served = []


def script(_request):
    served.append(1)
    return Response(SCRIPT, media_type="text/javascript", headers={"cache-control": "max-age=1"})


@pytest.fixture
def client():
    served.clear()
    routes = [
        Route("/", lambda _: HTMLResponse("page")),
        Route("/data", lambda _: PlainTextResponse("data")),
        Route("/static/js/a.js", script),
        Route("/rnn/static/js/a.js", script),
        Route("/static/unknown.js", lambda _: HTMLResponse("<html>the app, as for any unknown path</html>")),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(OwnerCookie), Middleware(PackedScripts)]))


def test_a_browser_gets_one_cookie_with_its_first_page_and_keeps_it(client):
    assert "set-cookie" not in client.get("/data").headers
    given = client.get("/").headers["set-cookie"]
    assert given.startswith(f"{COOKIE}=")
    assert "HttpOnly" in given
    assert "SameSite=Lax" in given
    assert "Secure" not in given
    assert "set-cookie" not in client.get("/").headers


def test_two_browsers_are_two_owners_and_no_owner_is_the_cookie_itself(client):
    one = client.get("/").cookies[COOKIE]
    client.cookies.clear()
    other = client.get("/").cookies[COOKIE]
    assert owner({COOKIE: one}, "s") != owner({COOKIE: other}, "s")
    assert one not in owner({COOKIE: one}, "s")
    assert owner({}, "a session") != owner({}, "another")


def test_over_https_the_cookie_never_travels_in_the_clear(client):
    assert "Secure" in client.get("https://testserver/").headers["set-cookie"]


@pytest.mark.parametrize("path", ["/static/js/a.js", "/rnn/static/js/a.js"])
def test_a_script_is_compressed_once_and_arrives_whole(client, path):
    for _ in range(2):
        with client.stream("GET", path) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["cache-control"] == "max-age=1"
        assert gzip.decompress(raw) == SCRIPT
        assert len(raw) == int(answer.headers["content-length"]) < len(SCRIPT) / 10
    assert len(served) == 1


def test_who_cannot_unpack_gets_it_plain_and_a_missing_script_is_missing(client):
    plain = client.get("/static/js/a.js", headers={"accept-encoding": "identity"})
    assert plain.content == SCRIPT
    assert "content-encoding" not in plain.headers
    assert client.get("/static/js/b.js").status_code == 404


def test_a_page_that_answers_for_a_missing_script_is_not_kept_as_one(client):
    answer = client.get("/static/unknown.js")
    assert "the app" in answer.text
    assert "content-encoding" not in answer.headers


# ---------------------------------------------------------------- the components' scripts and styles

COMPONENTS = Path(serving.__file__).with_name("components")
ASSETS = sorted(serving.assets())


def an_asset(request):
    served.append(1)
    return serving.asset(request)


@pytest.fixture
def assets():
    """A server with the route that app.py has for them."""
    served.clear()
    route = Route(f"{serving.base()}/assets/{{stamp}}/{{name:path}}", an_asset)
    return TestClient(Starlette(routes=[route], middleware=[Middleware(PackedScripts)]))


def test_the_assets_are_the_scripts_and_styles_of_the_components_and_plotly_alone():
    files = {path.relative_to(COMPONENTS).as_posix() for path in COMPONENTS.rglob("*") if path.is_file()}
    assert set(ASSETS) == {name for name in files if name.endswith((".js", ".css"))} | {"plotly.min.js"}
    assert {"chart/chart.js", "chart/chart.css", "cell/cell.js", "cursor.js", "payload.js"} <= set(ASSETS)


def test_plotlys_file_is_the_installed_packages():
    path = serving.assets()["plotly.min.js"]
    assert path.read_text(encoding="utf-8") == plotly.offline.get_plotlyjs()


@pytest.mark.parametrize("name", ASSETS)
def test_an_asset_is_compressed_once_and_arrives_whole_and_for_good(assets, name):
    for _ in range(2):
        with assets.stream("GET", serving.address(name)) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.status_code == 200
        assert answer.headers["content-encoding"] == "gzip"
        assert gzip.decompress(raw) == serving.assets()[name].read_bytes()
        assert len(raw) == int(answer.headers["content-length"])
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        assert answer.headers["content-type"].partition(";")[0] == kind
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(served) == 1


def test_an_asset_is_there_for_who_cannot_unpack(assets):
    plain = assets.get(serving.address("cursor.js"), headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == (COMPONENTS / "cursor.js").read_bytes()


@pytest.mark.parametrize("accepts", ["gzip", "identity"])
@pytest.mark.parametrize(
    "path",
    [
        "/assets/000000000000/cursor.js",  # another stamp: what it meant is not what is here now
        "/assets/{stamp}x/cursor.js",
        "/assets/{stamp}/nothing.js",
        "/assets/{stamp}/",
        "/assets/{stamp}/chart",
        "/assets/{stamp}/payload.py",
        "/assets/{stamp}/chart/__init__.py",
        "/assets/{stamp}/%2e%2e/icon.svg",
        "/assets/{stamp}/..%2fserving.py",
        "/assets/{stamp}/chart/%2e%2e/cursor.js",
        "/assets/{stamp}/chart%2f..%2fcursor.js",
        "/assets/{stamp}/%2e%2e/components/cursor.js",
        "/assets/{stamp}/%2fetc/hosts",
    ],
)
def test_what_is_not_an_asset_is_not_served(assets, path, accepts):
    for _ in range(2):  # nor kept as one
        answer = assets.get(path.format(stamp=serving.stamp()), headers={"accept-encoding": accepts})
        assert (answer.status_code, answer.content) == (404, b"")
    assert len(served) == 2  # it came as far as the assets' own door


def test_the_stamp_is_a_word_for_what_the_assets_hold(monkeypatch, tmp_path):
    held, stamped = serving.assets(), serving.stamp()
    fresh = serving.stamp.__wrapped__  # without its cache
    assert re.fullmatch("[0-9a-f]{12}", stamped)
    assert fresh() == stamped
    changed = tmp_path / "cursor.js"
    changed.write_bytes(held["cursor.js"].read_bytes() + b"\n")
    with monkeypatch.context() as patch:
        patch.setattr(serving, "assets", lambda: {**held, "cursor.js": changed})
        assert fresh() != stamped
    with monkeypatch.context() as patch:
        patch.setattr(serving.importlib.metadata, "version", lambda name: "0.0.0")  # of Plotly
        assert fresh() != stamped


@pytest.fixture
def under():
    """Sets the path under which everything is served."""
    before = config.get_option("server.baseUrlPath")
    yield lambda path: config.set_option("server.baseUrlPath", path)
    config.set_option("server.baseUrlPath", before)


@pytest.mark.parametrize(("path", "base"), [("", ""), ("/", ""), ("rnn", "/rnn"), ("/rnn/", "/rnn"), ("a/b", "/a/b")])
def test_an_address_starts_with_the_path_under_which_everything_is_served(under, path, base, request):
    under(path)
    assert serving.base() == base
    address = serving.address("cell/cell.css")
    assert address == f"{base}/assets/{serving.stamp()}/cell/cell.css"
    client = request.getfixturevalue("assets")
    assert client.get(address).content == serving.assets()["cell/cell.css"].read_bytes()
    assert client.get(f"/other{address}").status_code == 404


def test_who_leaves_in_the_middle_of_a_script_breaks_it_for_nobody(assets):
    name = "plotly.min.js"

    async def leave():
        async def gone():
            return {"type": "http.disconnect"}

        async def nowhere(_message):
            await asyncio.sleep(0)

        headers = [(b"accept-encoding", b"gzip")]
        scope = {"type": "http", "method": "GET", "path": serving.address(name), "headers": headers}
        await assets.app(scope | {"query_string": b"", "root_path": "", "server": ("testserver", 80)}, gone, nowhere)

    asyncio.run(leave())
    with assets.stream("GET", serving.address(name)) as answer:
        raw = b"".join(answer.iter_raw())
    assert gzip.decompress(raw) == serving.assets()[name].read_bytes()
