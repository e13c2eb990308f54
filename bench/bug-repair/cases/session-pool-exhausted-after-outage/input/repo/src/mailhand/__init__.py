"""Hand messages to a mail relay over pooled sessions."""

from mailhand.connection import Connection, Credentials
from mailhand.errors import (
    LoginRejected,
    MailhandError,
    PoolExhausted,
    RecipientRefused,
    RelayUnavailable,
)
from mailhand.memory import MemoryRelay
from mailhand.message import Message
from mailhand.pool import SessionPool
from mailhand.sender import BatchReport, Sender

__all__ = [
    "BatchReport",
    "Connection",
    "Credentials",
    "LoginRejected",
    "MailhandError",
    "MemoryRelay",
    "Message",
    "PoolExhausted",
    "RecipientRefused",
    "RelayUnavailable",
    "Sender",
    "SessionPool",
]
