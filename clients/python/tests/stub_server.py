"""A server with scripted responses, for failures that a real service does not produce on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

StubResponse = str | tuple[int, dict[str, Any]]


class StubServer:
    """Sends one scripted response after the other.

    `drop` closes the connection. Any other text is a stream that ends. A pair is a status, with the body if it is 200,
    or else with headers.
    """

    def __init__(self) -> None:
        self.responses: list[StubResponse] = []
        # Takes the path, for tests in which the order of requests varies.
        self.respond: Callable[[str], StubResponse] = lambda _: self.responses.pop(0)
        self.requests: list[tuple[str, dict[str, str]]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_request(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                stub.requests.append((self.path, dict(self.headers)))
                response = stub.respond(self.path)
                if isinstance(response, str):
                    self.close_connection = True
                    if response != "drop":
                        self.wfile.write(
                            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + response.encode()
                        )
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, content = response
                body = json.dumps(content if status == 200 else {"status": "No.", "code": "no", "detail": ""}).encode()
                self.send_response(status)
                for name, value in ({} if status == 200 else content).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = handle_request  # noqa: N815 - names of the standard library

            def log_message(self, *_: object) -> None:
                """Keeps requests out of the test output."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def __enter__(self) -> StubServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
