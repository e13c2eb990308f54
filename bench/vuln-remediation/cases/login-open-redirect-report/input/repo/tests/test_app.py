import io
from urllib.parse import urlencode

import pytest

from frontdoor import Accounts, Settings, SettingsError, hash_password, make_app

SETTINGS = """
[redirects]
default = /home
hosts =
    billing.acme.example
    *.partners.acme.example
"""


@pytest.fixture
def app():
    accounts = Accounts({"jo": hash_password("correct horse")})
    return make_app(Settings.parse(SETTINGS), accounts)


def request(app, method, path, query="", form=""):
    answer = {}

    def start_response(status, headers):
        answer.update(dict(headers), status=status)

    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(form)),
        "wsgi.input": io.BytesIO(form.encode()),
    }
    answer["body"] = b"".join(app(environ, start_response)).decode()
    return answer


def log_in(app, wanted, password="correct horse"):
    form = urlencode({"user": "jo", "password": password, "next": wanted})
    return request(app, "POST", "/login", form=form)


def test_login_leads_to_next(app):
    answer = log_in(app, "/reports/7")
    assert answer["status"] == "303 See Other"
    assert answer["Location"] == "/reports/7"
    assert "HttpOnly" in answer["Set-Cookie"]


def test_wrong_password(app):
    answer = log_in(app, "/reports/7", password="guess")
    assert answer["status"] == "403 Forbidden"
    assert "Set-Cookie" not in answer


def test_form_carries_next_along(app):
    answer = request(app, "GET", "/login", query="next=%2Freports%2F7")
    assert 'name="next" value="/reports/7"' in answer["body"]


def test_form_does_not_carry_a_foreign_host(app):
    answer = request(app, "GET", "/login", query="next=https%3A%2F%2Fevil.example")
    assert 'name="next" value="/home"' in answer["body"]


def test_logout(app):
    answer = request(app, "GET", "/logout", query="next=/bye")
    assert answer["Location"] == "/bye"
    assert "Max-Age=0" in answer["Set-Cookie"]


def test_unknown_page(app):
    assert request(app, "GET", "/nothing")["status"] == "404 Not Found"


def test_settings_with_a_bad_host():
    with pytest.raises(SettingsError, match="is not a host"):
        Settings.parse("[redirects]\nhosts = https://billing.acme.example\n")
