"""Guard the pages of the report server: refuse what none of its pages asks for, and let in whoever shows the token.

The token stands in the printed address. The first request with it sets a cookie, and is sent on to the address without it.
"""

import hmac
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from schemas.printing import printable
from tasks.reporting.page import make_environment

LONGEST_PATH, LONGEST_QUERY, LONGEST_HEAD = 1_000, 8_000, 32_768
"""Bytes of a request; its head has the cookies of all servers on this machine."""

STATIC = "/static/"
"""What lies below holds nothing of a lake; the page that asks for the token looks the same with it as others."""

KEPT_S = 30 * 24 * 60 * 60
"""How long a browser keeps the cookie of a token that stays."""

SEND_AGAIN = "open the address that the command printed\nIts token lets this browser in."

Endpoint = Callable[[Request], Awaitable[Response]]
Dispatch = Callable[[Request, Endpoint], Awaitable[Response]]


def derive_token(login: str) -> str:
    """Return the token that belongs to the login of a Prefect server: it stays as long as that, and does not tell it."""
    return hmac.digest(login.encode(), b"reports of moodflow serve", "sha256").hex()


def address_with(token: str, origin: str, path: str = "/") -> str:
    """Return the address to print. `path`: with its query, if it has one."""
    return f"{origin}{path}{'&' if '?' in path else '?'}token={token}"


def message_page(status: int, words: str, again: str = "") -> HTMLResponse:
    """Return a page that says what is wrong, a line for each of these. `again`: where a link leads that asks once more."""
    template = make_environment().get_template("message.html.jinja")
    page = template.render(status=status, phrase=HTTPStatus(status).phrase, lines=words.splitlines(), again=again)
    return HTMLResponse(printable(page), status)


def guard(token: str, cookie: str, *, stays: bool) -> Dispatch:
    """Return the middleware of a server with this token. `stays`: it is the same after a restart, so browsers keep the cookie."""

    async def dispatch(request: Request, call_next: Endpoint) -> Response:
        _require_own(request)
        path, query = (request.scope[part].decode("ascii", "replace") for part in ("raw_path", "query_string"))
        fields = query.split("&")
        rest = "&".join(field for field in fields if not field.startswith("token="))
        # With the host, so that no path, such as one that begins with two slashes, names another server.
        address = f"http://{request.headers['host']}{path}{f'?{rest}' if rest else ''}"
        given = [field.removeprefix("token=") for field in fields if field.startswith("token=")]
        if given:
            if not all(_is_same(text, token) for text in given):
                return message_page(401, SEND_AGAIN)
            response = RedirectResponse(address, 303)
            response.set_cookie(cookie, token, KEPT_S if stays else None, httponly=True, samesite="strict")
            return response
        if path.startswith(STATIC) or _is_same(request.cookies.get(cookie, ""), token):
            return await call_next(request)
        return message_page(401, SEND_AGAIN, again=address)

    return dispatch


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _require_own(request: Request) -> None:
    """Raise HTTPException unless it is a request as our own pages make it, or as a browser does when an address is opened."""
    headers, own = request.headers, f"http://{request.headers['host']}"
    if request.method not in {"GET", "HEAD"}:
        raise HTTPException(405, "these pages can only be read, with GET or HEAD", {"Allow": "GET, HEAD"})
    is_own = headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
    is_opened = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    if headers.get("origin", own) != own or not (is_own or is_opened):
        raise HTTPException(403, "a page from elsewhere asked for this\nOpen the address itself, or follow a link to it.")
    path, query = request.scope["raw_path"], request.scope["query_string"]
    if not path.startswith(b"/"):
        raise HTTPException(400, "the address has no path")
    sizes = {
        "path of the address": (len(path), LONGEST_PATH),
        "query of the address": (len(query), LONGEST_QUERY),
        "head of the request": (sum(len(name) + len(value) for name, value in headers.raw), LONGEST_HEAD),
    }
    for part, (size, longest) in sizes.items():
        if size > longest:
            raise HTTPException(400, f"the {part} is too long\nexpected: at most {longest:,} bytes\ngot: {size:,}")
