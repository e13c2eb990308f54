"""The pages, as HTML."""

from html import escape

_LOGIN = """\
<!doctype html>
<title>Log in</title>
{message}<form method="post" action="/login">
<input type="hidden" name="next" value="{wanted}">
<input name="user" autocomplete="username">
<input name="password" type="password" autocomplete="current-password">
<button>Log in</button>
</form>
"""


def login_page(wanted: str, *, message: str = "") -> str:
    """Return the form. It carries ``next`` along."""
    paragraph = f"<p>{escape(message)}</p>\n" if message else ""
    return _LOGIN.format(message=paragraph, wanted=escape(wanted))
