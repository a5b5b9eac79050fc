"""Requests that no page of ours makes, as bytes on a socket: each is refused, or answered as if nothing were special about it."""

import json
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import NamedTuple, get_args

import pytest

from flows.runtime.local_server import listen
from flows.service.report_server import HEADERS, serve_reports
from schemas.documents.answered_item import ItemExplanation
from tasks.reporting.view.addresses import PageKind
from tests.flows.commands.past_runs import past_runs
from tests.rows import each_row

ENTRY = "let-me-in"
OUTSIDE = "what stands outside"
UNREADABLE = b"Invalid HTTP request received."
"""What the server itself says of bytes that are no request; no page of ours, and so without its headers."""

VIEW = "/view/@RUN@"
ROW = f"{VIEW}/row?dataset=mini_eq_test&item_id=eq_test-001&model=m&setting=base&repetition=0"
SENT = ("Host: @HOST@", "Cookie: @COOKIE@")
CROSS = "Sec-Fetch-Site: cross-site"


class Site(NamedTuple):
    port: int
    run: str


class Answer(NamedTuple):
    status: int
    head: str
    body: bytes


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> Path:  # noqa: ARG001  runs need it
    """A lake of one run, and links of many kinds that lead out of it."""
    folder, past = tmp_path_factory.mktemp("attacked"), past_runs(tmp_path_factory.getbasetemp())
    copytree(past.lake, folder / "lake", ignore=ignore_patterns(past.before))
    run = past.after
    runs, outside = folder / "lake" / "runs", folder / "outside"
    outside.mkdir()
    manifest = json.loads((runs / run / "manifest.json").read_text(encoding="utf-8")) | {
        "run": "away",
        "package_version": OUTSIDE,
    }
    (outside / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (outside / "report.html").write_text(OUTSIDE, encoding="utf-8")
    (folder / "lake" / "report.html").write_text(OUTSIDE, encoding="utf-8")
    (runs / "away").symlink_to(outside)
    (runs / run / "link.html").symlink_to(outside / "report.html")
    return folder / "lake"


@pytest.fixture(scope="module")
def site(lake: Path) -> Iterator[Site]:
    (run,) = (path.name for path in (lake / "runs").iterdir() if not path.is_symlink())
    with listen("127.0.0.1", 0, "--port") as listening, serve_reports(listening, [lake], ENTRY) as origin:
        yield Site(int(origin.rpartition(":")[2]), run)


def ask(site: Site, first: str, headers: Sequence[str] = SENT, body: str = "") -> Answer:
    """Send these lines as they are."""
    text = "\r\n".join((first, *headers, "Connection: close", "", body))
    own = {"HOST": f"127.0.0.1:{site.port}", "RUN": site.run, "COOKIE": f"moodflow-{site.port}={ENTRY}", "LONG": "a" * 70_000}
    for sign, value in own.items():
        text = text.replace(f"@{sign}@", value)
    return send(site, text.encode("utf-8", "surrogateescape"))


def send(site: Site, sent: bytes) -> Answer:
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(2**16), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    return Answer(int(head.split(b" ")[1]), head.decode("latin-1").lower(), body)


def get(target: str, *headers: str) -> tuple[str, tuple[str, ...]]:
    return f"GET {target} HTTP/1.1", (*SENT, *headers)


TRAVERSALS = (
    *("/../report.html", "/x/../../report.html", "/%2e%2e/report.html", "/..%2freport.html", "/%252e%252e/report.html"),
    *("/@RUN@/..%2f..%2freport.html", "/@RUN@/%252e%252e%252freport.html", "/%c0%ae%c0%ae/report.html", "/..%c0%afreport.html"),
    *("/@RUN@/..%5c..%5creport.html", "/..\\report.html", "//etc/passwd", "/etc/passwd", "/%2fetc/passwd", "/@RUN@//etc/passwd"),
    *("/@RUN@/report.html%00.txt", "/%00/report.html", "/%ef%bc%8e%ef%bc%8e/report.html", "/..%e2%88%95report.html"),
    *("/./report.html", "/~/report.html", "/@RUN@/link.html", "/away/report.html", "/away/manifest.json", "/away/run"),
    *(f"{VIEW}/..%2frun", f"{VIEW}/%2e%2e", "/view/..%2f..%2foutside/run", "/view/%2e%2e/run", "/view/away/run"),
    *("/view/@RUN@%00/run", "/static/..%2fview.css", "/static/%2e%2e%2f@RUN@", f"/{'a' * 300}/b", "/leaderboard/0/..%2f..%2fx"),
    *("/leaderboard/0/%2fetc%2fpasswd.yaml", "/leaderboard/-1/moodbench-mini", f"/leaderboard/{'9' * 500}/moodbench-mini"),
)
QUERIES = (
    *(
        "?x=1",
        "?dataset=a&dataset=b",
        "?order=nothing",
        "?shortest=-1",
        "?shortest=1e999",
        "?gate=%zz",
    ),
    *(
        f"?text={'x' * 201}",
        f"?text={'%00' * 2600}",
        "?after=..%2f..%2fetc",
        "?after=999999999",
        "?after=%7B%22a%22%3A1%7D",
    ),
    *("?after=gASVIAAAAA", "?changed_since=..%2f..%2foutside", "?changed_since=away", "?status=right'--"),
    f"?{'&'.join(f'p{n}=1' for n in range(900))}",
)
HARMLESS_QUERIES = (
    "?text={{1234*5678}}",
    "?text=%0d%0aX-Injected:%201",
    "?text=%3Cscript%3Ealert(1)%3C/script%3E",
    "?&&&",
    "?text=",
    "?shortest=9999999999999999999999",
    "?group=__class__=x",
    "?text=%ff%fe",
    "?text=%c3%28",
)
HOSTS = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1.", "127.0.0.1@evil.example", "0.0.0.0", "")
METHODS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get")
TOKENS = ("", "let-me", "let-me-in2", "%6cet-me-in", "%ff", "x&token=let-me-in")
ATTACKS = (
    *((*get(target), {400, 404}) for target in TRAVERSALS),
    *((*get(f"{VIEW}/rows{query}"), {400, 404}) for query in QUERIES),
    *((*get(f"{VIEW}/rows{query}"), {200}) for query in HARMLESS_QUERIES),
    (*get(ROW.replace("repetition=0", f"repetition={10**30}")), {400}),
    (*get(f"{ROW}&beside_run=away"), {404}),
    (*get(f"{ROW}&format=yaml"), {200}),
    (*get(f"{VIEW}/row?dataset=mini_eq_test"), {400}),
    (*get(f"{VIEW}/compare?other=/etc"), {400}),
    (*get(f"{VIEW}/map?model=m"), {400}),
    (*get(f"{VIEW}/unread?shape=%3Cb%3E%00"), {400}),
    (*get(f"{VIEW}/score?dataset={{{{1234*5678}}}}"), {200, 400}),
    (*get(f"/{'a' * 1001}/b"), {404}),
    (*get(f"{VIEW}/rows?text=@LONG@"), {400}),
    (*get("/", "X-Long: @LONG@"), {200, 400}),
    *((*get("/", f"Range: {wanted}"), {200}) for wanted in ("bytes=0-9", "bytes=0-,0-,0-", "bytes=-1", "items=0-1")),
    # Only under the own name.
    *(("GET / HTTP/1.1", (f"Host: {host}", SENT[1]), {400}) for host in HOSTS),
    ("GET / HTTP/1.1", SENT[1:], {400}),
    ("GET / HTTP/1.1", (SENT[0], "Host: evil.example", SENT[1]), {400}),
    ("GET / HTTP/1.0", SENT[1:], {400}),
    ("GET / HTTP/1.1", ("Host: LOCALHOST:1", SENT[1]), {400}),
    (*get("http://evil.example/"), {400}),
    (*get("/", "X-Forwarded-Host: evil.example"), {200}),
    # Not asked for by a page from elsewhere.
    *(
        (*get("/", f"Origin: {origin}"), {403})
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://@HOST@")
    ),
    *((*get("/", CROSS, f"Sec-Fetch-Mode: {mode}"), {403}) for mode in ("cors", "no-cors")),
    (*get("/", CROSS, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"), {403}),
    (*get("/", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"), {403}),
    (*get("/", CROSS, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), {200}),
    # Only read.
    *((f"{method} / HTTP/1.1", SENT, {405}) for method in METHODS),
    ("CONNECT evil.example:443 HTTP/1.1", SENT, {400}),
    # Only with the token.
    *(
        ("GET / HTTP/1.1", (SENT[0], f"Cookie: {cookie}"), {401})
        for cookie in ("", "@COOKIE@x", "moodflow-1=let-me-in", "moodflow=let-me-in", "x=let-me-in", f"{'a=b; ' * 500}", "=;;=")
    ),
    *((f"GET /?token={given} HTTP/1.1", SENT, {401}) for given in TOKENS),
    ("GET /@RUN@/report.html HTTP/1.1", SENT[:1], {401}),
    (f"GET {VIEW}/run HTTP/1.1", SENT[:1], {401}),
    ("GET /static/../ HTTP/1.1", SENT[:1], {401}),
    # Bytes that two servers could read in two ways.
    ("GET / HTTP/1.1", (*SENT, "Content-Length: 5", "Content-Length: 6"), {400}),
    ("GET / HTTP/1.1", (*SENT, "Content-Length: 0", "Transfer-Encoding: chunked"), {200, 400}),
    ("GET / HTTP/1.1", (*SENT, "Transfer-Encoding: gzip, chunked"), {400, 501}),
    ("GET / HTTP/1.1", (*SENT, "X-Folded: a", " b: c"), {200, 400}),
    ("GET / HTTP/1.1", (*SENT, "X-Space : a"), {400}),
    ("GET / HTTP/9.9", SENT, {200, 400, 505}),
    ("GET  / HTTP/1.1", SENT, {400}),
    ("GET /", (), {400}),
    ("\x16\x03\x01\x02", (), {400}),
    ("GET / HTTP/1.1", (*SENT, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA=="), {200}),
)


@each_row(("first", "headers", "statuses"), ATTACKS)
def test_an_attack_is_refused(
    site: Site, capfd: pytest.CaptureFixture[str], first: str, headers: tuple[str, ...], statuses: set[int]
) -> None:
    answer = ask(site, first, headers)
    assert answer.status in statuses
    assert not any(text in capfd.readouterr().err for text in ("Traceback", "could not be made"))
    for text in ("Traceback", OUTSIDE, "root:x:", "7006652", "<script>alert"):
        assert text.encode() not in answer.body
    assert ("\r\nx-injected" in answer.head, "\r\nserver:" in answer.head) == (False, False)
    if answer.body != UNREADABLE:
        assert [name for name in HEADERS if f"\r\n{name.lower()}: " not in answer.head] == []


def test_a_token_becomes_a_cookie(site: Site) -> None:
    answer = ask(site, f"GET {VIEW}/rows?text=a%26b&token={ENTRY}&model=m HTTP/1.1", SENT[:1])
    assert answer.status == 303
    assert f"\r\nlocation: http://127.0.0.1:{site.port}/view/{site.run}/rows?text=a%26b&model=m\r\n".lower() in answer.head
    assert f"\r\nset-cookie: moodflow-{site.port}={ENTRY}; httponly; path=/; samesite=strict\r\n" in answer.head
    # Whatever the path, it stays on this server.
    for path in ("//evil.example/", "/\\evil.example/", "/%0d%0aX:1/"):
        answer = ask(site, f"GET {path}?token={ENTRY} HTTP/1.1", SENT[:1])
        assert (answer.status, f"\r\nlocation: http://127.0.0.1:{site.port}/" in answer.head) == (303, True)


def test_a_page_in_words_holds_no_markup(site: Site) -> None:
    page = ask(site, *get(f"{VIEW}/rows?%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE=1")).body.decode()
    assert "Wrong parameters: &lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in page


@each_row("kind", get_args(PageKind))
def test_each_kind_of_page_is_served(site: Site, kind: PageKind) -> None:
    target = ROW if kind == "row" else f"{VIEW}/{kind}"
    answer = ask(site, *get(target))
    assert (answer.status, "style-src 'self'; img-src" in answer.head, b"<script" in answer.body) == (200, True, False)
    assert b'<link rel="stylesheet" href="/static/view.css">' in answer.body


def test_a_row_is_served_as_its_document(site: Site) -> None:
    document = ItemExplanation.model_validate_json(ask(site, *get(f"{ROW}&format=json")).body)
    assert (document.run, document.dataset) == (site.run, "mini_eq_test")


def test_a_stranger_gets_a_way_on(site: Site) -> None:
    page = ask(site, f"GET {VIEW}/run HTTP/1.1", SENT[:1]).body.decode()
    assert f'<a href="http://127.0.0.1:{site.port}/view/{site.run}/run">go on to the page</a>' in page


def test_a_damaged_lake_is_told(lake: Path, site: Site) -> None:
    for path in (lake / "items").rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    answer = ask(site, *get(ROW))
    assert (answer.status, b"items" in answer.body, b"Traceback" in answer.body) == (409, True, False)
