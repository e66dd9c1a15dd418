# SPDX-License-Identifier: BSD-3-Clause
"""Signals, as something to wait for. While the terminal's output is stopped (^S), drawing blocks,
and no handler of Python runs; a thread then sees the second SIGTERM, SIGHUP or SIGINT, which ends
the process."""

from __future__ import annotations

import os
import signal
import threading

_ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Signals:
    """`over`: one that ends it has come. Its descriptor is readable when any has come, also that
    the window has another size."""

    def __init__(self) -> None:
        self.over = False
        self._told, self._tell = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._came, came = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(came, False)
        for number in (*_ENDS, signal.SIGWINCH):
            signal.signal(number, lambda number, frame: None)
        signal.set_wakeup_fd(came)
        threading.Thread(target=self._watch, name="signals", daemon=True).start()

    def _watch(self) -> None:
        while True:
            for number in os.read(self._came, 64):
                if number in _ENDS and self.over:
                    os._exit(128 + number)
                self.over |= number in _ENDS
            try:
                os.write(self._tell, b"s")
            except BlockingIOError:
                pass  # it was told before

    def fileno(self) -> int:
        return self._told

    def take(self) -> bool:
        """Returns whether any has come since the last call."""
        try:
            return bool(os.read(self._told, 1024))
        except BlockingIOError:
            return False
