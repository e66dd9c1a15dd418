# SPDX-License-Identifier: BSD-3-Clause
"""The log of a command that runs unattended, as src/dataplane/machine/run_log.h has it: a line goes
to the journal of systemd, with fields, if standard error leads there, else to standard error. It
never waits for the journal; lines that the journal did not take are counted."""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading

JOURNAL = "/run/systemd/journal/socket"
LEVELS = ("error", "warning", "notice", "info", "debug")
_PRIORITIES = dict(zip(LEVELS, "34567"))  # of syslog(3)


def _leads_to_journal(fd: int) -> bool:
    """systemd says so in $JOURNAL_STREAM: the device and inode of what it has connected."""
    try:
        state = os.fstat(fd)
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{state.st_dev}:{state.st_ino}"


def _entry(fields: dict[str, str]) -> bytes:
    """Returns an entry in the native journal protocol."""
    parts = []
    for name, value in fields.items():
        raw = value.encode(errors="surrogateescape")
        if b"\n" in raw:
            parts += [name.encode(), b"\n", struct.pack("<Q", len(raw)), raw, b"\n"]
        else:
            parts += [name.encode(), b"=", raw, b"\n"]
    return b"".join(parts)


class Log:
    """`command`: `serve`; lines begin with it. `most`: the least important level that is
    written."""

    def __init__(self, command: str, most: str = "notice", journal: str = JOURNAL) -> None:
        self._command, self._most = command, LEVELS.index(most)
        self._path = journal
        self._journal = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                         if _leads_to_journal(2) else None)
        self._lock = threading.Lock()
        self._lost = 0

    def error(self, text: str) -> None:
        self._say("error", text)

    def warning(self, text: str) -> None:
        self._say("warning", text)

    def notice(self, text: str) -> None:
        self._say("notice", text)

    def _say(self, level: str, text: str) -> None:
        if LEVELS.index(level) > self._most:
            return
        with self._lock:
            if self._journal is None:
                self._print(text)
                return
            try:
                self._tell_lost()
                self._send(level, text)
            except BlockingIOError:  # not to standard error, which leads to the journal, too
                self._lost += 1
            except OSError:
                self._print(text)

    def _print(self, text: str) -> None:
        sys.stderr.write(f"weir {self._command}: {text}\n")
        sys.stderr.flush()

    def _send(self, level: str, text: str) -> None:
        assert self._journal is not None
        entry = _entry({"MESSAGE": text, "PRIORITY": _PRIORITIES[level],
                        "SYSLOG_IDENTIFIER": "weir", "WEIR_COMMAND": self._command})
        self._journal.sendto(entry, socket.MSG_DONTWAIT, self._path)

    def _tell_lost(self) -> None:
        if self._lost:
            self._send("warning", f"{self._lost} lines are missing here: the journal was not "
                                  "accepting messages")
            self._lost = 0

    def end(self) -> None:
        if self._journal is None or not self._lost:
            return
        try:
            self._tell_lost()
        except OSError:
            self._print("lines are missing at the end: the journal was not accepting messages")
