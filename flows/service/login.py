"""Guard the report server: refuse what none of its pages asks for, and let in whoever has the token of the printed address.

The first request with the token sets a cookie, and is sent on to the address without it.
"""

import hmac
import re
from collections.abc import Mapping, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from schemas.printing import printable
from tasks.reporting.page import render_template
from tasks.reporting.view.site import STYLESHEET

STYLES = f"/static/{STYLESHEET}"
"""Everybody's: the page that asks for the token is shown with it."""


def message_page(status: int, words: str, again: str = "", headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """Return a page that says what is wrong, a line for each of these. `again`: where a link leads that asks once more."""
    page = render_template("message.html.jinja", lines=words.splitlines(), again=again)
    return HTMLResponse(printable(page), status, headers)


def admit(request: Request, *, token: str, cookie: str, stays: bool) -> Response | None:
    """Return null for a request that may go on, else its answer. `stays`: the token is the same after a restart."""
    path, query = (request.scope[part].decode("ascii", "replace") for part in ("raw_path", "query_string"))
    fields = query.split("&")
    rest = "&".join(field for field in fields if not field.startswith("token="))
    # With the host, so that no path, such as one that begins with two slashes, names another server.
    address = f"http://{request.headers['host']}{path}{f'?{rest}' if rest else ''}"
    given = [field.removeprefix("token=") for field in fields if field.startswith("token=")]
    shown = given or [request.cookies.get(cookie, "")]
    if not all(hmac.compare_digest(text.encode(), token.encode()) for text in shown) and (given or path != STYLES):
        return message_page(401, "open the address that the command printed", again="" if given else address)
    if not given:
        return None
    response = RedirectResponse(address, 303)
    response.set_cookie(cookie, token, 30 * 24 * 60 * 60 if stays else None, httponly=True, samesite="strict")
    return response


def require_own(request: Request, hosts: Sequence[str]) -> None:
    """Raise HTTPException unless it is a request as our own pages make it, or as a browser does when an address is opened."""
    headers, host = request.headers, request.headers.get("host", "")
    is_named = re.fullmatch(rf"(?:{'|'.join(map(re.escape, hosts))})(?::[0-9]+)?", host)
    if not is_named or not request.scope["raw_path"].startswith(b"/"):
        raise HTTPException(400, f"this server is not the one that was asked for\nexpected: {' or '.join(hosts)}\ngot: {host}")
    if request.method not in {"GET", "HEAD"}:
        raise HTTPException(405, "these pages can only be read, with GET or HEAD", {"Allow": "GET, HEAD"})
    is_own = headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
    is_opened = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    if headers.get("origin", f"http://{host}") != f"http://{host}" or not (is_own or is_opened):
        raise HTTPException(403, "a page from elsewhere asked for this\nOpen the address itself, or follow a link to it.")
