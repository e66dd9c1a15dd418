# SPDX-License-Identifier: BSD-3-Clause
"""A connection of a browser, with a thread of its own: its requests, which http.server parses, and
their answers.

Whoever may connect may be hostile, so all is bounded: how long a header and a body may be, and how
long each step may take. A request must have arrived completely within _REQUEST_S, and its answer
must be read within _ANSWER_S. A stream of events may last, as long as some of it is read every
_IDLE_S."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import io
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from .message import Answer, Request, line
from .request import BODY_BYTES_MAX

if TYPE_CHECKING:
    from .server import Server

_HEADERS_BYTES = 32768
_REQUEST_S = 15.0
_ANSWER_S = 120.0
_IDLE_S = 30.0
_EVER = float("inf")
_HEADERS = (
    ("Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


class _Refused(Exception):
    def __init__(self, answer: Answer) -> None:
        self.answer = answer


class _Reader:
    """What http.server reads a request from: at most `left` bytes."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file
        self.left = _HEADERS_BYTES

    def readline(self, most: int) -> bytes:
        got = self._file.readline(min(most, self.left + 1))
        self.left -= len(got)
        if self.left < 0:
            raise http.client.LineTooLong("header")
        return got

    def skip(self) -> None:
        pass

    def close(self) -> None:
        self._file.close()


class Visitor(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    responses = {**http.server.BaseHTTPRequestHandler.responses,  # as RFC 9110 calls them
                 413: ("Content Too Large", ""), 422: ("Unprocessable Content", "")}
    timeout = _IDLE_S

    def __init__(self, server: Server, connection: socket.socket) -> None:
        self.until = time.monotonic() + _REQUEST_S
        self.streams = False
        self._server = server
        server.opened(self)
        try:
            super().__init__(connection, "", server)  # type: ignore[arg-type]
        except OSError:
            pass  # it has gone, or was hung up
        finally:
            server.closed(self)

    def hang_up(self) -> None:
        """For another thread: what waits for the socket sees its end."""
        with contextlib.suppress(OSError):
            self.request.shutdown(socket.SHUT_RDWR)

    def setup(self) -> None:
        super().setup()
        self._file = self.rfile
        self._head = _Reader(self._file)  # type: ignore[arg-type]
        self.rfile = self._head  # type: ignore[assignment]

    # -- one request --

    def handle_one_request(self) -> None:
        self.close_connection = True
        self._head.left = _HEADERS_BYTES
        try:
            self.raw_requestline = b"\n"
            while self.raw_requestline in (b"\n", b"\r\n"):
                self.raw_requestline = self._head.readline(_HEADERS_BYTES)
            if not self.raw_requestline or not self.parse_request():
                return
            answer = self._answered()
        except http.client.LineTooLong:
            return self.send_error(414)
        except _Refused as refused:
            self.close_connection = True
            answer = refused.answer
        self.until = time.monotonic() + _ANSWER_S
        self._send(answer)
        self.until = time.monotonic() + _REQUEST_S

    def _answered(self) -> Answer:
        words = self.requestline.split()
        if len(words) != 3:  # HTTP/0.9
            self.request_version = self.protocol_version
            raise _Refused(line(400, "this is not HTTP/1.1"))
        for name in ("Host", "Content-Length", "Transfer-Encoding"):
            if len(self.headers.get_all(name, ())) > 1:
                raise _Refused(line(400, f"there is more than one {name}"))
        path, _, query = words[1].partition("?")
        request = Request(self.command, unquote(path, errors="surrogateescape"), self.headers,
                          {name: values[0] for name, values in parse_qs(
                              query, keep_blank_values=True, errors="surrogateescape").items()})
        refusal = self._server.admit(request)
        if self.headers.get("Expect", "").lower() == "100-continue":
            if refusal is not None:  # the body does not come
                raise _Refused(refusal)
            self.send_response_only(100)
            self.end_headers()
        request.body = self._body()
        if refusal is not None:
            return refusal
        self.until = _EVER  # until it is answered
        try:
            return self._server.route(request)
        except Exception as error:
            self._server.log.error(f"{request.path}: {type(error).__name__}: {error}")
            raise _Refused(line(500, "weir serve failed; its log says why")) from error

    def handle_expect_100(self) -> bool:
        return True  # see above

    # -- the body --

    def _body(self) -> bytes:
        """Reads it to its end, which most clients need before they read an answer."""
        if (coding := self.headers.get("Transfer-Encoding")) is not None:
            if coding.lower() != "chunked" or "Content-Length" in self.headers:
                raise _Refused(line(400, "the body must be chunked, or have a length"))
            return self._chunks()
        length = self.headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdigit() or len(length) > 18:
            raise _Refused(line(400, "the Content-Length is no number"))
        return self._read(b"", int(length))

    def _read(self, before: bytes, n: int) -> bytes:
        """Reads `n` bytes. Returns the beginning of all."""
        while n > 0:
            part = self._file.read1(min(n, 1 << 16))  # type: ignore[attr-defined]
            if not part:
                raise ConnectionError
            n -= len(part)
            before += part[:BODY_BYTES_MAX + 1 - len(before)]
        return before

    def _chunks(self) -> bytes:
        body = b""
        while True:
            size = self._file.readline(1026).split(b";")[0].strip()
            if not size or len(size) > 15 or size.strip(b"0123456789abcdefABCDEF"):
                raise _Refused(line(400, "a chunk has no size"))
            body = self._read(body, int(size, 16))
            if int(size, 16) == 0:
                break
            if self._file.readline(2) != b"\r\n":
                raise _Refused(line(400, "a chunk has another size"))
        self._head.left = _HEADERS_BYTES
        while self._head.readline(_HEADERS_BYTES).strip():  # trailers
            pass
        return body

    # -- the answer --

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        self.send_header("Date", self.date_time_string())
        for name, value in (("Content-Type", answer.type), *answer.more, *_HEADERS):
            self.send_header(name, value)
        chunked = answer.parts is not None and self.request_version == "HTTP/1.1"
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif answer.parts is None:
            self.send_header("Content-Length", str(len(answer.body)))
        else:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        elif self.request_version == "HTTP/1.0":
            self.send_header("Connection", "keep-alive")
        head = b"".join(self._headers_buffer) + b"\r\n"
        self._headers_buffer: list[bytes] = []
        if answer.parts is None:
            return self._write(head + (b"" if self.command == "HEAD" else answer.body))
        try:
            self._write(head)
            self.until, self.streams = _EVER, True
            for part in answer.parts:
                self._write(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
            if chunked:
                self._write(b"0\r\n\r\n")
            self.close_connection = True
        finally:
            answer.close()

    def _write(self, data: bytes) -> None:
        """As sendall(), but the time that it may take begins again with each byte that is read."""
        rest = memoryview(data)
        while rest:
            rest = rest[self.connection.send(rest):]

    def send_error(self, code: int, message: str | None = None,
                   explain: str | None = None) -> None:
        """Answers what http.server cannot parse."""
        self.close_connection = True
        self.request_version, self.command = self.protocol_version, ""
        self._send(line(code, self.responses[code][0].lower()))

    def log_message(self, format: str, *arguments: Any) -> None:
        pass
