"""The cookie that says whose a run is, and the compressed scripts."""

import gzip

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

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
