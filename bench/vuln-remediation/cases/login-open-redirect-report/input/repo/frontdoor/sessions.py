"""Sessions, kept in memory."""

import secrets


class Sessions:
    """Who is logged in, by the value of the session cookie."""

    def __init__(self) -> None:
        self._users: dict[str, str] = {}

    def start(self, user: str) -> str:
        """Begin a session and return the value for its cookie."""
        session_id = secrets.token_urlsafe(32)
        self._users[session_id] = user
        return session_id

    def user(self, session_id: str | None) -> str | None:
        """Return who has this session, or None."""
        return None if session_id is None else self._users.get(session_id)

    def end(self, session_id: str | None) -> None:
        """Forget a session. It does not matter if there is none."""
        if session_id is not None:
            self._users.pop(session_id, None)
