"""A model's server that follows a script, on loopback: what agents talk to in tests.

It speaks, streaming (SSE) and not:

- ``POST /v1/chat/completions``: OpenAI Chat Completions
- ``POST /v1/responses``: OpenAI Responses
- ``POST /v1/messages``, ``/v1/messages/count_tokens``: Anthropic Messages
- ``POST /v1beta/models/M:generateContent``, ``:streamGenerateContent``: Gemini
- ``GET /v1/models``

The same request under the same script always gets the same bytes.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import threading
import time
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
from typing import Any
from typing import Self


_CREATED = 1_700_000_000
_KINDS = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}


@dataclass(frozen=True)
class Tokens:
    """What an answer is said to take."""

    input: int = 1000
    output: int = 50
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class Turn:
    """One answer of the model, or an error instead of it."""

    text: str = ""
    #: (name, arguments); arguments that are a string make a custom tool call.
    tools: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    tokens: Tokens = Tokens()
    #: An HTTP error is answered instead.
    status: int = 0
    #: Of an error, in seconds.
    retry_after: int | None = None
    #: After so many errors, or cuts, the answer comes.
    times: int = 1_000_000
    #: Of a streamed answer's events, how many come before the connection is cut; of
    #: any other answer, one that is cut is cut in the middle.
    cut_after: int | None = None
    #: Before the answer.
    pause_seconds: float = 0.0


@dataclass
class Request:
    """One request as it came; of a key, only that there was one."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class ModelServer:
    """Serves a script while the block runs; ``requests`` has what was asked.

    Which turn answers: that of the first rule whose text stands in the request; else
    by how many rounds of tool results the request holds, so that a request that is
    repeated gets the same answer; with ``counting``, the next one (for agents that call
    no tools). The last turn answers whatever comes after it.
    """

    def __init__(
        self,
        turns: Sequence[Turn],
        *,
        rules: Mapping[str, Turn] | None = None,
        counting: bool = False,
    ) -> None:
        self._turns = turns
        self._rules = dict(rules or {})
        self._counting = counting
        self._lock = threading.Lock()
        self._counter = 0
        self._faults: dict[str, int] = {}
        self.requests: list[Request] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """The server's, without a path."""
        return f"http://{self.endpoint}"

    def questions(self) -> list[Request]:
        """Return the requests to the model itself."""
        return [
            request
            for request in self.requests
            if request.method == "POST" and _kind(request.path)
        ]

    def choose(self, kind: str, body: Any, raw: str) -> tuple[str, Turn]:
        """Return the turn that answers, and a name for it."""
        for number, (text, turn) in enumerate(self._rules.items()):
            if text in raw:
                return f"r{number}", turn
        with self._lock:
            number = self._counter if self._counting else _tool_rounds(kind, body)
            self._counter += 1
        return f"t{number}", self._turns[min(number, len(self._turns) - 1)]

    def still_fails(self, label: str, turn: Turn) -> bool:
        """Count a fault of a turn; False when it has come often enough."""
        with self._lock:
            self._faults[label] = self._faults.get(label, 0) + 1
            fails = self._faults[label] <= turn.times
            # It is the same turn that answers when the question is repeated.
            self._counter -= fails
            return fails


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is no fault."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._note(None)
        if self.path.partition("?")[0].endswith("/models"):
            model = {"id": "fake", "object": "model", "created": _CREATED}
            self._send({"object": "list", "data": [model | {"owned_by": "test"}]})
        else:
            self._send({"ok": True})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        raw = self._body().decode("utf-8", "replace")
        body = json.loads(raw) if raw else {}
        self._note(body)
        path = self.path.partition("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self._send({"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
            return
        kind = _kind(path)
        if not kind:
            self._send({"error": {"type": "not_found", "message": path}}, 404)
            return
        owner = self.server.owner
        label, turn = owner.choose(kind, body, raw)
        time.sleep(turn.pause_seconds)
        faulty = turn.status or turn.cut_after is not None
        if faulty and not owner.still_fails(label, turn):
            turn = dataclasses.replace(turn, status=0, cut_after=None)
        if turn.status:
            self._fail(kind, turn)
            return
        model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
        answer = _DIALECTS[kind](label, turn, model)
        if body.get("stream") or path.endswith(":streamGenerateContent"):
            self._stream(answer.events, turn.cut_after)
        else:
            self._send(answer.whole, cut=turn.cut_after is not None)

    def _note(self, body: Any) -> None:
        hidden = ("authorization", "x-api-key", "x-goog-api-key")
        headers = {
            name.lower(): "***" if name.lower() in hidden else value
            for name, value in self.headers.items()
        }
        request = Request(self.command, self.path, headers, body)
        self.server.owner.requests.append(request)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            return gzip.decompress(raw)
        return raw

    def _fail(self, kind: str, turn: Turn) -> None:
        words = f"scripted error {turn.status}"
        error: dict[str, Any] = {"type": "scripted_error", "message": words}
        if kind == "gemini":
            error = {"code": turn.status, "status": "SCRIPTED", "message": words}
        headers = {}
        if turn.retry_after is not None:
            headers["retry-after"] = str(turn.retry_after)
        self._send({"type": "error", "error": error}, turn.status, headers)

    def _send(
        self,
        value: Any,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        cut: bool = False,
    ) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut

    def _stream(self, events: Sequence[_Event], cut_after: int | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events[:cut_after]:
            text = data if isinstance(data, str) else json.dumps(data)
            line = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
            encoded = line.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(encoded), encoded))
            self.wfile.flush()
        if cut_after is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True


#: (name or None, data).
_Event = tuple[str | None, Any]


@dataclass
class _Answer:
    """An answer in one piece, and as the events of a stream."""

    whole: Any
    events: list[_Event] = field(default_factory=list)


def _kind(path: str) -> str:
    path = path.partition("?")[0]
    return next((kind for end, kind in _KINDS.items() if path.endswith(end)), "")


def _tool_rounds(kind: str, body: Any) -> int:
    """Return how many rounds of tool results a request holds: the turn that is due.

    (Counting the assistant's messages would not do: some agents open with made-up
    ones.)
    """
    key = {"responses": "input", "gemini": "contents"}.get(kind, "messages")
    items = body.get(key) or []
    flags = [
        _is_result(kind, item)
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict)
    ]
    return sum(
        flag and (place == 0 or not flags[place - 1])
        for place, flag in enumerate(flags)
    )


def _is_result(kind: str, item: Mapping[str, Any]) -> bool:
    if kind == "responses":
        return str(item.get("type", "")).endswith("_call_output")
    if kind == "chat":
        return item.get("role") == "tool"
    parts = item.get("parts" if kind == "gemini" else "content")
    return isinstance(parts, list) and any(
        isinstance(part, dict)
        and (part.get("type") == "tool_result" or "functionResponse" in part)
        for part in parts
    )


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), 24):
        yield text[start : start + 24]


def _chat(label: str, turn: Turn, model: str) -> _Answer:
    calls: list[dict[str, Any]] = [
        {
            "id": f"call_{label}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(turn.tools)
    ]
    reason = "tool_calls" if calls else "stop"
    tokens = turn.tokens
    prompt = tokens.input + tokens.cache_read
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
    }
    head = {"id": f"chatcmpl-{label}", "created": _CREATED, "model": model}
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": reason}
    whole = {**head, "object": "chat.completion", "usage": usage, "choices": [choice]}

    def chunk(delta: Any, finish: str | None = None) -> _Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return None, {
            **head,
            "object": "chat.completion.chunk",
            "choices": [choice],
        }

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": piece}) for piece in _pieces(turn.text)]
    events += [
        chunk({"tool_calls": [{"index": number, **call}]})
        for number, call in enumerate(calls)
    ]
    events += [
        chunk({}, reason),
        (None, {**chunk({})[1], "choices": [], "usage": usage}),
        (None, "[DONE]"),
    ]
    return _Answer(whole, events)


def _responses(label: str, turn: Turn, model: str) -> _Answer:
    tokens = turn.tokens
    prompt = tokens.input + tokens.cache_read
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + tokens.output,
    }
    items = list(_response_items(label, turn))
    base = {
        "id": f"resp_{label}",
        "object": "response",
        "created_at": _CREATED,
        "model": model,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    whole = {**base, "status": "completed", "output": items, "usage": usage}
    started = {**base, "status": "in_progress", "output": [], "usage": None}
    named: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": started})
    ]
    for index, item in enumerate(items):
        named += _response_events(index, item)
    named.append(("response.completed", {"response": whole}))
    events: list[_Event] = [
        (name, {"type": name, "sequence_number": number, **data})
        for number, (name, data) in enumerate(named)
    ]
    return _Answer(whole, events)


def _response_items(label: str, turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{label}",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
    for number, (name, arguments) in enumerate(turn.tools):
        ids = {
            "id": f"fc_{label}_{number}",
            "call_id": f"call_{label}_{number}",
            "name": name,
            "status": "completed",
        }
        if isinstance(arguments, str):
            yield {"type": "custom_tool_call", **ids, "input": arguments}
        else:
            text = json.dumps(arguments)
            yield {"type": "function_call", **ids, "arguments": text}


def _response_events(
    index: int, item: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = {**item, "status": "in_progress"}
    place = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "message":
        part = item["content"][0]
        inner = {**place, "content_index": 0}
        empty = {**part, "text": ""}
        added = {"output_index": index, "item": {**begun, "content": []}}
        yield "response.output_item.added", added
        yield "response.content_part.added", {**inner, "part": empty}
        for piece in _pieces(part["text"]):
            yield "response.output_text.delta", {**inner, "delta": piece}
        yield "response.output_text.done", {**inner, "text": part["text"]}
        yield "response.content_part.done", {**inner, "part": part}
    else:
        custom = item["type"] == "custom_tool_call"
        key = "input" if custom else "arguments"
        name = "custom_tool_call_input" if custom else "function_call_arguments"
        added = {"output_index": index, "item": {**begun, key: ""}}
        yield "response.output_item.added", added
        yield f"response.{name}.delta", {**place, "delta": item[key]}
        yield f"response.{name}.done", {**place, key: item[key]}
    yield "response.output_item.done", {"output_index": index, "item": item}


def _anthropic(label: str, turn: Turn, model: str) -> _Answer:
    tokens = turn.tokens
    usage = {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }
    blocks: list[dict[str, Any]] = []
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    blocks += [
        {
            "type": "tool_use",
            "id": f"toolu_{label}_{number}",
            "name": name,
            "input": arguments,
        }
        for number, (name, arguments) in enumerate(turn.tools)
    ]
    reason = "tool_use" if turn.tools else "end_turn"
    base: dict[str, Any] = {
        "id": f"msg_{label}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "stop_sequence": None,
    }
    whole = {**base, "content": blocks, "stop_reason": reason, "usage": usage}
    first = {**base, "content": [], "stop_reason": None}
    named: list[tuple[str, dict[str, Any]]] = [
        (
            "message_start",
            {"message": {**first, "usage": {**usage, "output_tokens": 1}}},
        )
    ]
    for index, block in enumerate(blocks):
        named += _block_events(index, block)
    delta = {"stop_reason": reason, "stop_sequence": None}
    named.append(("message_delta", {"delta": delta, "usage": usage}))
    named.append(("message_stop", {}))
    return _Answer(whole, [(name, {"type": name, **data}) for name, data in named])


def _block_events(
    index: int, block: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    is_text = block["type"] == "text"
    empty = {**block, "text": ""} if is_text else {**block, "input": {}}
    yield "content_block_start", {"index": index, "content_block": empty}
    for piece in _pieces(block["text"] if is_text else json.dumps(block["input"])):
        delta = (
            {"type": "text_delta", "text": piece}
            if is_text
            else {"type": "input_json_delta", "partial_json": piece}
        )
        yield "content_block_delta", {"index": index, "delta": delta}
    yield "content_block_stop", {"index": index}


def _gemini(label: str, turn: Turn, model: str) -> _Answer:
    parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
    parts += [
        {
            "functionCall": {
                "id": f"call_{label}_{number}",
                "name": name,
                "args": arguments,
            }
        }
        for number, (name, arguments) in enumerate(turn.tools)
    ]
    tokens = turn.tokens
    prompt = tokens.input + tokens.cache_read
    whole = {
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", "parts": parts},
                "finishReason": "STOP",
            }
        ],
        "modelVersion": model,
        "responseId": f"resp_{label}",
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": tokens.output,
            "cachedContentTokenCount": tokens.cache_read,
            "totalTokenCount": prompt + tokens.output,
        },
    }
    said = [
        (None, {"candidates": [{"index": 0, "content": content}]})
        for piece in _pieces(turn.text)
        for content in [{"role": "model", "parts": [{"text": piece}]}]
    ]
    rest = parts[bool(turn.text) :]
    end = {"role": "model", "parts": rest}
    last = {"index": 0, "content": end, "finishReason": "STOP"}
    return _Answer(whole, [*said, (None, {**whole, "candidates": [last]})])


_DIALECTS: Mapping[str, Callable[[str, Turn, str], _Answer]] = {
    "anthropic": _anthropic,
    "chat": _chat,
    "gemini": _gemini,
    "responses": _responses,
}
