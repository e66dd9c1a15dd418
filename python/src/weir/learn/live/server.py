# SPDX-License-Identifier: BSD-3-Clause
"""`weir learn --server`: the other end of a `weir learn --live`.

It sends nothing to anybody who has not shown, from the same address, the cookie that it got over
TCP; it sends no faster than allowed, no longer than a session lasts, and stops 3 s after it hears
nothing more. One client at a time: others are told so. It ends after one client, or if none comes
for ten minutes.
"""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
from typing import Any

from ..options import Options
from . import address, turns
from .control import Control
from .prober import HELLO, Gone, Prober

IDLE_S = 600
GREETING_S = 3
TIME_MOST_NS = 300 * 10**9
VERSION = 1
DONE, FAILED, UNABLE = 0, 1, 2


def run(options: Options) -> int:
    """Returns the exit status."""
    try:
        host, port = address.read(options.server)
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=4)
    except (ValueError, OSError) as error:
        print(f"weir learn: --server {options.server}: {getattr(error, 'strerror', None) or error}",
              file=sys.stderr)
        return UNABLE
    print(f"weir learn: serves at {host} port {port}, TCP and UDP", flush=True)
    return Server(listener, family, port, options.most_bps).run(options.stay)


class Server:
    """Clients come one after another."""

    def __init__(self, listener: socket.socket, family: int, port: int, most_bps: int) -> None:
        self.listener, self.family, self.port, self.most_bps = listener, family, port, most_bps
        self.busy = threading.Lock()
        self.ended: list[bool] = []

    def run(self, stay: bool) -> int:
        self.listener.settimeout(0.2)
        last = time.monotonic()
        while stay or not any(self.ended):
            if self.busy.locked():
                last = time.monotonic()
            if not stay and time.monotonic() - last > IDLE_S:
                print("weir learn: nobody has come for ten minutes", file=sys.stderr)
                return FAILED
            try:
                connection, peer = self.listener.accept()
            except TimeoutError:
                continue
            if not self.busy.acquire(blocking=False):
                _refuse(Control(connection, 1), "another client measures: try again later")
                continue
            threading.Thread(target=self._serve, args=(connection, peer), daemon=True).start()
        return DONE

    def _serve(self, connection: socket.socket, peer: Any) -> None:
        control, done = Control(connection), False
        try:
            said = f"{self._session(control, peer[0])} packets"
            control.close()
            done = True
        except (Gone, OSError) as error:
            said = str(error)
            _refuse(control, said)
        finally:
            self.busy.release()
        # Who reads that can come next.
        print(f"weir learn: {peer[0]}: {said}", file=sys.stdout if done else sys.stderr, flush=True)
        self.ended.append(done)

    def _session(self, control: Control, host: str) -> int:
        wanted = control.hear("learn")
        time_ns, most = wanted.get("time_ns"), wanted.get("most")
        if wanted["learn"] != VERSION or not isinstance(time_ns, int) or not isinstance(most, int) \
                or not 0 < time_ns <= TIME_MOST_NS or most < 1:
            raise Gone("that is another version of weir learn, or none")
        most = min(most, self.most_bps)
        cookie = secrets.token_bytes(16)
        prober = Prober(self.family, cookie)
        try:
            prober.socket.bind(self.listener.getsockname())
            control.tell(cookie=cookie.hex(), most=most)
            prober.start(_meet(prober, host))
            control.tell(met=1)
            turns.run(prober, control, False, time_ns, most)
            control.tell(dropped=prober.dropped_here)
            control.give(prober.sent_at, prober.sent_size, prober.came_number, prober.came_at)
            control.hear("thanks")
            return len(prober.sent_at) + len(prober.came_at)
        finally:
            prober.stop()


def _meet(prober: Prober, host: str) -> Any:
    """Returns where the cookie comes from: the host that has it over TCP."""
    end = time.monotonic() + GREETING_S
    while time.monotonic() < end:
        found = prober.receive()
        if found is not None and found[0][0] == HELLO and found[1][0] == host:
            return found[1]
    raise Gone(f"UDP does not come through to the server: none with the cookie in {GREETING_S} s")


def _refuse(control: Control, why: str) -> None:
    """Says why, to a client that may not be there any more."""
    try:
        control.tell(error=why)
    except Gone:
        pass
    control.close()
