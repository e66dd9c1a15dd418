# SPDX-License-Identifier: BSD-3-Clause
"""The paths that are served, and the function that answers each."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

from .._command import CommandError, Weir
from .._link import LinkError
from ..page import theme
from . import metrics
from .changes import Asks, Busy
from .connections import Connections
from .feed import Feed
from .message import Answer, Request, line
from .request import (
    BODY_BYTES_MAX,
    NoChange,
    cloud_line,
    conversation,
    from_read,
    host_is_ours,
    origin_is_ours,
    token_is_right,
    wants_openmetrics,
)
from .stream import Streams

_JSON = "application/json"
_EVENTS = "text/event-stream"
_PAGE = pathlib.Path(__file__).with_name("page")
_PARTS = {"/": ("page.html", "text/html; charset=utf-8"),
          "/style.css": ("style.css", "text/css; charset=utf-8"),
          **{f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8")
             for name in ("chart", "table", "live", "change", "explain")},
          "/icon.svg": ("icon.svg", "image/svg+xml")}


class Program:
    """What only the program itself knows: see src/control/serve/serve_command.c."""

    def __init__(self, path: str) -> None:
        self._words = (path, "serve", "--answer")
        with Weir(*self._words) as weir:
            self.table = metrics.Table(weir.ask({"ask": "metrics"}))

    def lease_ns(self, text: str) -> int:
        try:
            with Weir(*self._words) as weir:
                return int(weir.ask({"ask": "lease", "text": text})["ns"])
        except CommandError as error:
            raise NoChange(str(error)) from None


class Routes:
    """`name`: a Host that is accepted besides addresses; `token` None: no changes."""

    def __init__(self, program: Program, feed: Feed, name: str | None, token: str | None) -> None:
        self._program, self._feed, self._name, self._token = program, feed, name, token
        self._asks = Asks(feed.path)
        self._streams = Streams(feed)
        self.connections = Connections(feed.path)
        self._parts = {path: (_PAGE.joinpath(leaf).read_bytes(), type)
                       for path, (leaf, type) in _PARTS.items()}
        self._parts["/theme.css"] = theme.css().encode(), "text/css"
        self._gets: dict[str, Callable[[Request], Answer]] = {
            "/metrics": self._metrics, "/events": self._events, "/live": self._live,
            "/cloud": self._cloud, "/scenario": self._scenario, "/connections": self._connections}

    def admit(self, request: Request) -> Answer | None:
        """Returns why a request is refused, before its body is read."""
        headers = request.headers
        host = headers.get("Host")
        if not host_is_ours(host, self._name):
            return line(403, "this Host name is not accepted: use the address, or start weir serve "
                             "with --name NAME")
        ours = origin_is_ours(headers.get("Origin"), headers.get("Sec-Fetch-Site"), host)
        if not ours and request.path != "/":  # any site may link to the page
            return line(403, "a page of another site may not request this")
        if request.method != "POST":
            return None
        if self._token is None:
            return line(403, "changes are not allowed here: start weir serve with --allow-changes")
        if not token_is_right(headers.get("Authorization"), self._token):
            return line(401, "the token is not the one that weir serve was started with; send "
                             "Authorization: Bearer TOKEN")
        return None

    def route(self, request: Request) -> Answer:
        """HEAD is allowed where GET is."""
        path, gets = request.path, request.method in ("GET", "HEAD")
        if path == "/change":
            if request.method == "POST":
                return self._change(request)
            return line(405, "only POST is allowed here", ("Allow", "POST"))
        if not gets:
            return line(405, "only GET and HEAD are allowed here", ("Allow", "GET, HEAD"))
        if path in self._gets:
            return self._gets[path](request)
        if path in self._parts:
            body, type = self._parts[path]
            return Answer(200, body, type)
        return line(404, "not found; there are /, /metrics, /events, /live, /scenario, "
                         "/connections and /cloud?name=NAME")

    # -- what weir has counted --

    def _metrics(self, request: Request) -> Answer:
        openmetrics = wants_openmetrics(request.headers.get("Accept"))
        totals, table = self._feed.totals(), self._program.table
        if totals is None:
            body = metrics.text(table, None, {}, openmetrics).encode()
        else:
            with totals.lock:  # who comes meanwhile gets the same text
                if openmetrics not in totals.texts:
                    totals.texts[openmetrics] = metrics.text(
                        table, totals.raw, totals.hello, openmetrics).encode(errors="replace")
                body = totals.texts[openmetrics]
        return Answer(200, body, metrics.content_type(openmetrics))

    def _connections(self, request: Request) -> Answer:
        return Answer(200, self.connections.text().encode(errors="replace"), _JSON)

    # -- streams --

    def _events(self, request: Request) -> Answer:
        return self._stream(request, live=False)

    def _live(self, request: Request) -> Answer:
        return self._stream(request, live=True)

    def _stream(self, request: Request, live: bool) -> Answer:
        if request.method == "HEAD":
            return Answer(200, type=_EVENTS)
        last = request.headers.get("Last-Event-ID", request.query.get("lastEventId"))
        text = last if last is not None else request.query.get("from")
        begin = from_read(text) if text is not None else None
        if text is not None and begin is None:
            return line(400, "weir serve sends no such Last-Event-ID" if last is not None
                        else "`from` must be the number of an event, or `oldest`")
        if last is not None and begin is not None:
            begin = begin.after()
        stream = self._streams.open(live, begin)
        if stream is None:
            return line(503, "too many listeners; try again later")
        return Answer(200, type=_EVENTS, parts=stream.parts(), close=stream.close)

    # -- queries and changes --

    def _text(self, command: str) -> Answer:
        """Answers with the text that weir answers to a line."""
        try:
            ok, text = self._asks.ask(command)
        except LinkError as error:
            return line(503, str(error))
        return Answer(200 if ok else 404, text.encode(errors="surrogateescape"))

    def _cloud(self, request: Request) -> Answer:
        command = cloud_line(request.query.get("name", ""))
        if command is None:
            return line(400, "`name` must be the name of a cloud: /cloud?name=down")
        return self._text(command)

    def _scenario(self, request: Request) -> Answer:
        return self._text("show config")

    def _change(self, request: Request) -> Answer:
        said: dict[str, Any]
        try:
            lines = conversation(request.body, request.query.get("lease", ""),
                                 self._program.lease_ns)
            said = self._asks.change(lines)
        except Busy:
            return line(503, "too many requests; try again later")
        except NoChange as error:
            said = {"ok": False, "sent": [], "error": str(error), "line": error.line}
        status = (200 if said["ok"] else 413 if len(request.body) > BODY_BYTES_MAX else 422)
        body = json.dumps(said, separators=(",", ":"), ensure_ascii=False)
        return Answer(status, body.encode(errors="replace"), _JSON)
