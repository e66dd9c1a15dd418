# SPDX-License-Identifier: BSD-3-Clause
"""The last connections of the weir that is served, and where their time went: what `weir ctl -j
explain` prints, of which the latest KEPT are kept. It looks at packets only while somebody asks:
_IDLE_S after the last question it ends, and the next question begins anew."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import deque

from .. import program
from .._link import message_of

KEPT = 100
_IDLE_S = 30.0


class Connections:
    def __init__(self, path: str | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._kept: deque[str] = deque(maxlen=KEPT)
        self._n = 0
        self._why = ""  # it cannot look, because ...
        self._asked = 0.0

    def text(self) -> str:
        """Returns {"n":..,"why":"..","connections":[..]}, the latest first. Begins to look, if it
        does not. What it could not do is said once; then it tries again."""
        with self._lock:
            why, self._asked = json.dumps(self._why), time.monotonic()
            if self._process is None:
                self._begin()
            lines = ",".join("\n" + line for line in reversed(self._kept))
            return f'{{"n":{self._n},"why":{why},"connections":[{lines}]}}\n'

    def tick(self) -> None:
        """To be called each second: ends looking, if nobody asks any more."""
        with self._lock:
            if self._process is not None and time.monotonic() > self._asked + _IDLE_S:
                self._process.terminate()

    def end(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.terminate()

    def _begin(self) -> None:
        self._kept.clear()
        self._n, self._why = 0, ""
        where = ["-s", self._path] if self._path else []
        self._process = program.start(
            [program.find(), "ctl", *where, "-j", "explain"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        threading.Thread(target=self._read, args=(self._process,), name="connections",
                         daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout and process.stderr
        with process:
            for line in process.stdout:
                with self._lock:
                    self._kept.append(line.rstrip("\n"))
                    self._n += 1
            said = process.stderr.read().strip()
        with self._lock:
            self._process = None
            self._why = _reason(said) if process.returncode > 0 else ""


def _reason(said: str) -> str:
    """Returns why `weir ctl` has ended, of what it has printed: weir's own words, if it refused."""
    text = said.removeprefix("weir ctl: ")
    try:
        return message_of(json.loads(text))
    except (ValueError, AttributeError):
        return text
