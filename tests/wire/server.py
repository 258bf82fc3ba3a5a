"""The server: one script, both protocols, a log.

with serve([{"text": "Hello."}]) as session:
    OpenAI(base_url=session.url + "/v1", api_key="sk-test")...
session.requests   # what was asked, in neutral form, in the order of the turns that answered
session.refused    # what was turned down, and why
"""

from __future__ import annotations

import contextlib
import json
import threading
import traceback
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from . import chat, normal, responses
from .checks import Refused
from .items import Memory
from .script import Json, Turn, turns, words

# Headers that the SDK or HTTP itself sets. What is left was asked for by the program.
USUAL_HEADERS = words(
    """
    accept accept-encoding api-key authorization connection content-length content-type host idempotency-key
    openai-beta transfer-encoding user-agent
    """
)
FIRST_AZURE_VERSION = "2025-03-01-preview"


class Session:
    """One program's run: the turns still to play, what the endpoint remembers, and the log."""

    def __init__(self, script: Sequence[Mapping[str, Any]], compatible: bool) -> None:
        self.url = ""
        self.refused: list[str] = []
        self.compatible = compatible
        self.memory = Memory()
        self._waiting: list[Turn] = list(turns(script))
        self._log: list[tuple[int, Json]] = []
        self._lock = threading.Lock()

    @property
    def requests(self) -> list[Json]:
        """The requests that were answered, in the order of the script."""
        return [request for _, request in sorted(self._log, key=lambda entry: entry[0])]

    @property
    def unplayed(self) -> int:
        """How many turns nobody asked for."""
        return len(self._waiting)

    def take(self, request: Json) -> Turn:
        """The turn that answers this request. Logs the request."""
        said = json.dumps(request, ensure_ascii=False)
        with self._lock:
            for turn in self._waiting:
                if turn.when is None or turn.when in said:
                    self._waiting.remove(turn)
                    self._log.append((turn.index, request))
                    return turn
        raise Refused("The script has no turn left for this request.")

    def refuse(self, path: str, error: Refused) -> None:
        """Note a request that was turned down."""
        with self._lock:
            self.refused.append(f"{path}: {error.status} {error.message}")


@contextlib.contextmanager
def serve(script: Sequence[Mapping[str, Any]], compatible: bool = False) -> Iterator[Session]:
    """Play ``script`` on a free port of this machine for as long as the block runs.

    ``compatible``: the endpoint is not OpenAI's but one that imitates its Chat Completions, and takes
    parameters there which OpenAI does not know. Such a program cannot be migrated, only left alone.
    """
    session = Session(script, compatible)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"session": session}))
    server.daemon_threads = True
    server.block_on_close = False
    session.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield session
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    session: Session
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = urllib.parse.urlsplit(self.path).path
        # A client that stops reading (a `break` out of a stream) is no failure.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            try:
                self._answer(path, body)
            except Refused as error:
                self.session.refuse(f"POST {path}", error)
                self._send(error.body(), error.status)
            except ConnectionError:
                raise
            except Exception:
                # A fault of this server must show as such, not as a connection that broke.
                self.session.refuse(f"POST {path}", Refused(traceback.format_exc(), status=500))
                self._send({"error": {"message": "fault in the server", "type": "server_error"}}, 500)

    def do_GET(self) -> None:
        error = Refused(f"Unknown request URL: GET {self.path}.", code="unknown_url", status=404)
        self.session.refuse(f"GET {self.path}", error)
        self._send(error.body(), error.status)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the session keeps the log."""

    def _answer(self, path: str, raw: bytes) -> None:
        is_chat = path.endswith("/chat/completions")
        if not is_chat and not path.endswith("/responses"):
            raise Refused(f"Invalid URL (POST {path})", status=404)
        self._check_access(is_chat)
        try:
            body = json.loads(raw)
        except ValueError as error:
            raise Refused("We could not parse the JSON body of your request.") from error
        if is_chat:
            self._check_chat(body)
            request = normal.from_chat(body)
        else:
            responses.check(body, self.session.memory)
            request = normal.from_responses(body)
        turn = self._turn(is_chat, body, {**request, **self._surroundings()})
        if turn.status is not None:
            error = {"message": turn.error, "type": "scripted_error", "param": None, "code": None}
            self._send({"error": error}, turn.status)
        elif turn.too_long:
            error = {**(chat if is_chat else responses).TOO_LONG, "type": "invalid_request_error"}
            self._send({"error": {**error, "code": "context_length_exceeded"}}, 400)
        elif is_chat:
            self._play_chat(turn, body)
        else:
            self._play_responses(turn, body)

    def _check_chat(self, body: Json) -> None:
        try:
            chat.check(body)
        except Refused as error:
            if not (self.session.compatible and error.code == "unknown_parameter"):
                raise

    def _turn(self, is_chat: bool, body: Json, request: Json) -> Turn:
        protocol = chat if is_chat else responses
        turn = self.session.take(request)
        # A model may call a tool that does not exist, but none at all where no tools are offered.
        if turn.calls and not protocol.tool_names(body):
            raise Refused(f"The script calls '{turn.calls[0].name}', but this request offers no tools.")
        return turn if protocol.may_call_many(body) else turn.one_call()

    def _play_chat(self, turn: Turn, body: Json) -> None:
        if body.get("stream"):
            chunks = (f"data: {json.dumps(chunk)}\n\n" for chunk in chat.stream(turn, body))
            self._send_stream([*chunks, *(["data: [DONE]\n\n"] if turn.failed is None else [])])
        elif turn.failed is not None:
            error = {"message": turn.failed, "type": "server_error", "param": None, "code": "server_error"}
            self._send({"error": error}, 500)
        else:
            self._send(chat.play(turn, body))

    def _play_responses(self, turn: Turn, body: Json) -> None:
        self.session.memory.keep(responses.output(turn, body), stored=body.get("store") is not False)
        if body.get("stream"):
            events = responses.stream(turn, body)
            self._send_stream(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        else:
            self._send(responses.play(turn, body))

    def _check_access(self, is_chat: bool) -> None:
        azure = self.headers.get("api-key")
        if not azure and not (self.headers.get("authorization") or "").startswith("Bearer "):
            raise Refused("You didn't provide an API key.", status=401)
        version = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("api-version", [None])[0]
        if version is not None and not is_chat and not self.path.startswith("/openai/v1/"):
            # Dated versions without "-preview" never had the API; older previews are too old.
            if not version.endswith("-preview"):
                raise Refused("Resource not found", status=404)
            if version < FIRST_AZURE_VERSION:
                need = f"enabled only for api-version {FIRST_AZURE_VERSION} and later"
                raise Refused(f"Azure OpenAI Responses API is {need}")

    def _surroundings(self) -> Json:
        """What the program asked for outside the body."""
        query = urllib.parse.urlsplit(self.path).query
        headers = {
            name.lower(): value
            for name, value in self.headers.items()
            if name.lower() not in USUAL_HEADERS and not name.lower().startswith("x-stainless-")
        }
        timeout = self.headers.get("x-stainless-read-timeout")
        found = {"headers": headers, "query": query, "timeout": timeout}
        return {key: value for key, value in found.items() if value}

    def _send(self, body: Json, status: int = 200) -> None:
        payload = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        if status != 200:
            # Retry as the SDK would, without the wait; never where another try cannot help.
            scripted = body["error"]["type"] == "scripted_error"
            self.send_header(*(("retry-after-ms", "1") if scripted else ("x-should-retry", "false")))
        self._request_id()
        self.end_headers()
        self.wfile.write(payload)

    def _send_stream(self, events: Iterable[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self._request_id()
        self.end_headers()
        for event in events:
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def _request_id(self) -> None:
        self.send_header("x-request-id", f"req_{len(self.session.requests):03}")
