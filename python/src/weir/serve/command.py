# SPDX-License-Identifier: BSD-3-Clause
"""`weir serve`. Its options: serve_command.c."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

from .._command import CommandError, Given
from .._log import Log
from .feed import Feed
from .listen import listen
from .routes import Program, Routes
from .server import Server

_TOKEN_LEAST, _TOKEN_MOST = 16, 255
_BLANKS = b" \t\r\n"


def _token_from(path: str) -> str:
    """Returns the first line of the file, up to the first blank."""
    try:
        with open(path, "rb") as file:
            text = file.readline(_TOKEN_MOST + 1)
    except OSError as error:
        raise CommandError(f"--token-file {path}: {error.strerror}", wrong=False) from None
    blank = min((at for at in map(text.find, map(bytes, zip(_BLANKS))) if at >= 0),
                default=len(text))
    if blank > _TOKEN_MOST or blank < _TOKEN_LEAST:
        how = (f"more than {_TOKEN_MOST}" if blank > _TOKEN_MOST else f"fewer than {_TOKEN_LEAST}")
        raise CommandError(f"--token-file {path}: its first line has {how} characters",
                           wrong=False)
    return text[:blank].decode("latin-1")


def main(words: Sequence[str]) -> int:
    """Serves until SIGTERM or SIGINT. Returns the exit status."""
    given = Given(words)
    for word in given.words:
        raise CommandError(f"`{word}` is not expected; write --listen {word}")
    if "token-file" in given and "allow-changes" not in given:
        raise CommandError("--token-file needs --allow-changes")
    log = Log("serve", given["log-level"])
    try:
        _serve(given, log)
        status = 0
    except CommandError as error:
        log.error(str(error))
        status = 2 if error.wrong else 1
    log.end()
    return status


def _serve(given: Given, log: Log) -> None:
    changes, token = "allow-changes" in given, None
    if changes:
        file = given.get("token-file")
        token = _token_from(file) if file is not None else secrets.token_hex(16)
    over = _until_signal()
    with contextlib.closing(listen(given.get("listen", "127.0.0.1:9470"))) as listener:
        feed = Feed(given.get("socket"), log, int(given["interval"]), int(given["clouds"]),
                    changes)
        routes = Routes(Program(os.environ["WEIR"]), feed, given.get("name"), token)
        server = Server(listener, log, routes.admit, routes.route)
        feed.begin()
        server.begin()
        _say(listener.url)
        if changes and "token-file" not in given:
            _say(f"to change what runs: {listener.url}#token={token}")
        if not listener.loopback:
            log.warning("warning: anyone who reaches this address, or listens on the way, sees "
                        "everything" + (", and can change it with the token" if changes else "")
                        + ": put a proxy with TLS and passwords in front of it")
        while not over.wait(1.0):
            server.tick()
            routes.connections.tick()
        feed.end()
        routes.connections.end()
        server.end()


def _say(text: str) -> None:
    """Prints a line in one write, also with $PYTHONUNBUFFERED, so that no line of the log can come
    between."""
    sys.stdout.write(f"weir serve: {text}\n")
    sys.stdout.flush()


def _until_signal() -> threading.Event:
    """Returns what is set by the first SIGTERM or SIGINT. The second ends the process."""
    over = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        over.set()
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    return over
