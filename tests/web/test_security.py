"""Only the page itself, opened with the token, gets in; each rule has a request that breaks it."""

from __future__ import annotations

import json

import pytest
from annotate_page import (
    BOX,
    HOME,
    PORT,
    TOKEN,
    app_of,
    browser,
    make_pictures,
    make_static,
    marked,
    put,
)
from starlette.testclient import TestClient

from groupcm.web.annotate.project import PROJECT_HEADER
from groupcm.web.server import security
from groupcm.web.server.app import page_app
from groupcm.web.server.library import PictureLibrary

OPENED = {"Cookie": f"groupcm_{PORT}={TOKEN}"}


@pytest.fixture
def app(tmp_path):
    static = make_static(tmp_path / "static")
    return app_of(make_pictures(tmp_path / "in"), static=static)


@pytest.fixture
def stranger(app):
    """A client that brings nothing of its own."""
    return TestClient(app, base_url=HOME, follow_redirects=False)


def refused(answer, status: int = 403) -> bool:
    """Whether a request got no more than a sentence."""
    return answer.status_code == status and len(answer.text) < 200


def test_the_token_opens_the_page_and_leaves_the_address(stranger):
    answer = stranger.get(f"/?token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"groupcm_{PORT}={TOKEN}")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert stranger.get("/").text.endswith("page</title>")


@pytest.mark.parametrize("path", ["/", "/api/project", "/static/annotate.js", "/api/pictures/0"])
@pytest.mark.parametrize("cookie", [None, "groupcm_8765=wrong", f"groupcm_1={TOKEN}", "é"])
def test_without_the_cookie_there_is_nothing(stranger, path, cookie):
    headers = {} if cookie is None else {"Cookie": cookie.encode()}
    answer = stranger.get(path, headers=headers)
    assert refused(answer)
    assert "printed in the terminal" in answer.text
    assert stranger.get(path, headers=OPENED).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", "%C3%A9"])
def test_another_token_opens_nothing(stranger, token):
    answer = stranger.get(f"/?token={token}")
    assert refused(answer)
    assert "set-cookie" not in answer.headers


def test_the_token_opens_nothing_but_the_page(stranger):
    assert refused(stranger.get(f"/api/project?token={TOKEN}"))
    assert refused(stranger.post(f"/?token={TOKEN}", headers={"Origin": HOME}))


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil:{PORT}"],
)
def test_other_hosts_are_refused(stranger, host):
    assert refused(stranger.get("/api/project", headers={"Host": host, **OPENED}))
    answer = stranger.get(f"/?token={TOKEN}", headers={"Host": host})
    assert refused(answer)
    assert "set-cookie" not in answer.headers


def test_this_computer_has_two_names(stranger):
    headers = {"Host": f"localhost:{PORT}", **OPENED}
    assert stranger.get("/api/project", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:8888", ""],
)
@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
def test_other_origins_are_refused(stranger, method, origin):
    headers = {"Origin": origin, **OPENED}
    assert refused(stranger.request(method, "/api/pictures/0", headers=headers))


def test_a_change_must_tell_where_it_comes_from(app, stranger):
    body = {"name": "bleeding"}
    assert refused(stranger.post("/api/categories", json=body, headers=OPENED))
    project = stranger.get("/api/project", headers=OPENED).json()["project"]
    same = {"Sec-Fetch-Site": "same-origin", PROJECT_HEADER: project, **OPENED}
    assert stranger.post("/api/categories", json=body, headers=same).status_code == 200
    assert "bleeding" in browser(app).get("/api/project").json()["categories"]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_are_refused(stranger, site):
    # "same-site" is any other server of this computer: browsers do not tell ports apart.
    headers = {"Sec-Fetch-Site": site, **OPENED}
    assert refused(stranger.get("/", headers=headers))
    assert refused(stranger.get("/api/pictures/0/pixels", headers=headers))
    assert refused(stranger.put("/api/pictures/0", headers={"Origin": HOME, **headers}))


def test_a_link_elsewhere_may_open_the_page(stranger):
    # A redirect would still count as asked for by the other site, and bring no cookie.
    answer = stranger.get(f"/?token={TOKEN}", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 200
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.text == '<meta http-equiv="refresh" content="0;url=/">'
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/static/../library.py",
        "/static/%2e%2e/library.py",
        "/static/..%2flibrary.py",
        "/static//etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/api/pictures/..%2f..%2fetc%2fpasswd",
        "/api/pictures/-1",
        "/api/pictures/3",
        "/api/pictures/3/pixels",
        "/api/pictures/99999999999999999999/thumbnail",
        "/api/pictures/a.png",
    ],
)
def test_no_path_leads_elsewhere(app, path):
    answer = browser(app).get(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


def test_static_files_are_no_links_out(tmp_path):
    static = make_static(tmp_path / "static")
    (tmp_path / "secret.txt").write_text("secret")
    (static / "link.txt").symlink_to(tmp_path / "secret.txt")
    client = browser(app_of(make_pictures(tmp_path / "in"), static=static))
    assert client.get("/static/link.txt").status_code == 404
    assert client.get("/static/annotate.js").headers["content-type"].startswith("text/javascript")


def in_pieces(n_bytes: int, size: int = 2**20):
    """Give a body without telling its length."""
    for _ in range(n_bytes // size):
        yield b" " * size


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("PUT", "/api/pictures/0", security.BODY_LIMIT),
        ("POST", "/api/import?format=csv", security.IMPORT_LIMIT),
    ],
)
def test_bodies_have_a_limit_told_or_not(app, method, path, limit):
    client = browser(app)
    for body in (b" " * (limit + 2**20), in_pieces(limit + 2**20)):
        answer = client.request(method, path, content=body)
        assert answer.status_code == 413
        assert f"at most {limit // 2**20} MB" in answer.json()["error"]
    # One that keeps to it is read, and found to be nothing.
    for body in (b" " * limit, in_pieces(limit)):
        assert client.request(method, path, content=body).status_code == 400


def test_a_length_that_lies_does_not_help(app):
    client = browser(app)
    headers = {"Content-Length": "3"}
    body = in_pieces(security.BODY_LIMIT + 2**20)
    assert client.put("/api/pictures/0", content=body, headers=headers).status_code == 413


def check_headers(answer) -> None:
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_every_answer_carries_the_policy(app, stranger):
    client = browser(app)
    answers = [
        client.get("/"),
        client.get("/static/annotate.js"),
        client.get("/api/pictures"),
        client.get("/api/pictures/0/thumbnail"),
        client.get("/no/such/page"),
        client.put("/api/pictures/0", content=b"{"),
        client.request("TRACE", "/"),
        stranger.get("/"),
        stranger.get(f"/?token={TOKEN}"),
        stranger.get("/", headers={"Host": "evil.example"}),
    ]
    for answer in answers:
        check_headers(answer)
    assert client.get("/api/pictures").headers["cache-control"] == "no-store"
    assert stranger.get("/api/pictures").headers["cache-control"] == "no-store"


def test_an_error_of_ours_is_a_sentence_without_its_words(tmp_path, caplog):
    from starlette.routing import Route

    def broken(_request):
        raise RuntimeError("private words")

    app = page_app(
        "annotate",
        [Route("/api/broken", broken)],
        PictureLibrary(make_pictures(tmp_path)),
        token=TOKEN,
        port=PORT,
    )
    answer = browser(app).get("/api/broken")
    assert answer.status_code == 500
    assert set(answer.json()) == {"error"}
    assert "private" not in answer.text
    check_headers(answer)
    assert "private words" in caplog.text


def test_no_socket_is_opened(app):
    from starlette.websockets import WebSocketDisconnect

    with (
        pytest.raises(WebSocketDisconnect),
        browser(app).websocket_connect(f"ws://127.0.0.1:{PORT}/", headers=OPENED),
    ):
        pass


def test_markup_in_names_is_only_ever_in_json(tmp_path):
    name = '<img src=x onerror=alert(1)>&".png'
    folder = make_pictures(tmp_path / "<script>alert(1)", name)
    client = browser(app_of(folder, static=make_static(tmp_path / "static")))
    put(client, 0, marked(BOX))
    answers = [
        client.get("/api/pictures"),
        client.get("/api/pictures/0"),
        client.get("/api/project"),
        put(client, 0, version=1),
    ]
    for answer in answers:
        assert answer.headers["content-type"] == "application/json"
    assert answers[0].json()["names"] == [name]
    assert answers[-1].status_code == 409
    assert name in json.loads(answers[-1].content)["error"]
    assert "script" not in client.get("/").text.replace("<script ", "")


@pytest.mark.parametrize(
    ("folder", "download"),
    [
        ("frames", "frames-csv.csv"),
        ('a"; filename="evil.exe', "a-filename-evil.exe-csv.csv"),
        ("Über\nraum\r\nSet-Cookie: x", "ber-raum-Set-Cookie-x-csv.csv"),
        ("..;", "annotations-csv.csv"),
        ("図", "annotations-csv.csv"),
    ],
)
def test_downloads_have_plain_names(tmp_path, folder, download):
    client = browser(app_of(make_pictures(tmp_path / folder)))
    put(client, 0, marked(BOX))
    answer = client.get("/api/export?format=csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="{download}"'
    assert "set-cookie" not in answer.headers
