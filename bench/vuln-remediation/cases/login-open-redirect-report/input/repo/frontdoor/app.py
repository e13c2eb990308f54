"""The WSGI application."""

from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from frontdoor.accounts import Accounts
from frontdoor.pages import login_page
from frontdoor.sessions import Sessions
from frontdoor.settings import Settings

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

MAX_FORM_BYTES = 16_384


def make_app(
    settings: Settings, accounts: Accounts, sessions: Sessions | None = None
) -> Application:
    """Return the application."""
    sessions = Sessions() if sessions is None else sessions
    policy = settings.redirects

    def app(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        route = (environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"))
        if route == ("GET", "/login"):
            wanted = _first(environ.get("QUERY_STRING", ""), "next")
            page = login_page(policy.target(wanted))
            return _respond(start_response, "200 OK", page)
        if route == ("POST", "/login"):
            return log_in(environ, start_response)
        if route == ("GET", "/logout"):
            sessions.end(_cookie(environ, settings.cookie_name))
            wanted = _first(environ.get("QUERY_STRING", ""), "next")
            cookie = f"{settings.cookie_name}=; Path=/; Max-Age=0"
            return _redirect(start_response, policy.target(wanted), cookie)
        return _respond(start_response, "404 Not Found", "<p>There is no such page</p>")

    def log_in(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        form = _read_form(environ)
        target = policy.target(_first(form, "next"))
        user = _first(form, "user") or ""
        if not accounts.check(user, _first(form, "password") or ""):
            page = login_page(target, message="Wrong user name or password")
            return _respond(start_response, "403 Forbidden", page)
        cookie = (
            f"{settings.cookie_name}={sessions.start(user)}; Path=/; "
            "Secure; HttpOnly; SameSite=Lax"
        )
        return _redirect(start_response, target, cookie)

    return app


def _first(encoded: str, name: str) -> str | None:
    """Decode a query string or a form, and return the first value of a field."""
    return parse_qs(encoded).get(name, [None])[0]


def _read_form(environ: Environ) -> str:
    length = environ.get("CONTENT_LENGTH") or "0"
    size = min(int(length), MAX_FORM_BYTES) if length.isdecimal() else 0
    return environ["wsgi.input"].read(size).decode("ascii", errors="replace")


def _cookie(environ: Environ, name: str) -> str | None:
    try:
        cookies = SimpleCookie(environ.get("HTTP_COOKIE", ""))
    except CookieError:
        return None
    return cookies[name].value if name in cookies else None


def _respond(start_response: StartResponse, status: str, page: str) -> list[bytes]:
    body = page.encode()
    headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(body))),
    ]
    start_response(status, headers)
    return [body]


def _redirect(start_response: StartResponse, target: str, cookie: str) -> list[bytes]:
    headers = [("Location", target), ("Set-Cookie", cookie), ("Content-Length", "0")]
    start_response("303 See Other", headers)
    return [b""]
