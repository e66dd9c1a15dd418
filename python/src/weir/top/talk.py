# SPDX-License-Identifier: BSD-3-Clause
"""The connections of `weir top`. One receives what weir pushes; it is made again when weir was
started again. A second one carries queries and changes. A lease and a dump of the flight have one
each while they last."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any

from .._command import CommandError, Weir
from .._link import Link, LinkError, Silent, message_of
from .model import Model

_AGAIN_S = 1.0
_PATIENCE_S = 5.0  # to wait for an answer, while the picture stands still
_FIRST_S = 60.0  # the first time there is no picture yet, and ^C ends the process
_PARTS = 3  # how often a lease is renewed within its time


class Asked(Exception):
    """weir has refused, or cannot be asked: the text says why."""


def files_of(line: str) -> list[str]:
    """Returns the files that a line names, which are opened with the rights of who typed it."""
    try:
        with Weir(os.environ["WEIR"], "top", "--answer") as weir:
            return list(weir.ask({"ask": "files", "line": line})["files"])
    except CommandError:
        return []


class Feed:
    """What weir pushes. `said`: for the status line; "": nothing new."""

    def __init__(self, path: str | None, interval_ns: str) -> None:
        self.path = path
        self.said = ""
        self.hello: dict[str, Any] = {}
        self.link: Link | None = None  # None: not connected
        self._sample = f"sample {interval_ns}ns clouds 128"
        self._asks: Link | None = None
        self._run = ""  # of the weir that was connected last
        self._next = 0  # the next event
        self._again_at = 0.0

    def close(self) -> None:
        for link in (self.link, self._asks):
            if link is not None:
                link.close()
        self.link = self._asks = None

    def connect(self) -> None:
        """Connects, if it is not connected and the time has come. Raises LinkError."""
        if self.link is not None or time.monotonic() < self._again_at:
            return
        self._again_at = time.monotonic() + _AGAIN_S
        link = Link(self.path, _PATIENCE_S if self._run else _FIRST_S)
        try:
            self._greeted(link.greet("weir top"))
        except (LinkError, ValueError) as error:
            link.close()
            raise LinkError(str(error)) from None
        link.wait(_PATIENCE_S)
        self.link = link
        self._subscribe(link)

    def _greeted(self, hello: dict[str, Any]) -> None:
        self.hello = hello
        if hello["run"] == self._run:
            self.said = "connected again"
            return
        self.said = "weir was restarted: all counters begin at 0" if self._run else ""
        self._run, self._next = hello["run"], 0

    def _subscribe(self, link: Link) -> None:
        link.send(f"events from {self._next or 'oldest'}")
        link.send(self._sample)

    def read(self, model: Model) -> None:
        """To be called when the link is readable. The model takes what is pushed."""
        assert self.link is not None
        try:
            for line in self.link.receive():
                message = json.loads(line)
                if "event" in message:
                    self._next = int(message["seq"]) + 1
                if "ok" in message:
                    self._answered(message, self.link)
                else:
                    model.take(message)
        except Silent:
            pass
        except (LinkError, ValueError):
            self.close()
            self._again_at = time.monotonic() + _AGAIN_S
            self.said = "weir has gone; trying again each second"

    def _answered(self, answer: dict[str, Any], link: Link) -> None:
        """Handles the answer to a command that was sent without waiting."""
        error = answer.get("error")
        if error is None:
            return
        self.said = message_of(answer)
        if error.get("code") == "gone":
            self._next = int(error["resume"])
            self._subscribe(link)

    def ask(self, line: str, files: Sequence[str] = ()) -> str:
        """Sends a command in text mode, and returns its answer. Raises Asked."""
        try:
            if self._asks is None:
                self._asks = Link(self.path, _PATIENCE_S)
            ok, text = self._asks.ask(line, files)
        except LinkError as error:
            if self._asks is not None:
                self._asks.close()
                self._asks = None
                raise Asked("weir does not answer" if isinstance(error, Silent)
                            else "weir hung up") from None
            raise Asked(str(error)) from None
        if not ok and "connect again" in text:  # it closes one that was idle for 10 minutes
            self._asks.close()
            self._asks = None
        if not ok:
            raise Asked(text)
        return text


class Lease:
    """A change that lasts as long as top runs: made under a lease (docs/control.md), which is
    renewed over a connection of its own. When top has ended, in whatever way, weir undoes the
    change when the time is up. One at a time: a new lease replaces the one before, which ends when
    its time is up."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._link: Link | None = None
        self._every_s = 0.0
        self._next_at = 0.0
        self.said = ""

    @property
    def held(self) -> bool:
        return self._link is not None

    def make(self, words: str) -> None:
        """`words`: `TIME LINE`. Raises Asked; then nothing was changed."""
        duration, _, line = words.partition(" ")
        if not line.strip():
            raise Asked("write `lease TIME LINE`, like `lease 10s cloud down delay 80ms`")
        try:
            link = Link(self._path, _PATIENCE_S)
        except LinkError as error:
            raise Asked(str(error)) from None
        try:
            self._ask(link, "json on")
            self._ask(link, f"begin lease {duration}")
            self._ask(link, line.strip(), files_of(line.strip()))
            self._ask(link, "commit")
        except Asked:
            link.close()  # aborts the batch that has begun
            raise
        self.close()
        self._link = link

    def say(self, line: str) -> None:
        """Sends `keep` or `revert` for the lease that is held. Raises Asked."""
        assert self._link is not None
        self._ask(self._link, line)
        self.close()

    def poll(self) -> None:
        """Renews the lease if the time has come. To be called often."""
        if self._link is None or time.monotonic() < self._next_at:
            return
        try:
            self._ask(self._link, "renew")
        except Asked as error:
            self.said = f"the lease is not renewed any more: {error}"
            self.close()

    def wait_s(self, most: float) -> float:
        """Returns the time until poll() has something to do, but at most `most`."""
        return most if self._link is None else min(max(self._next_at - time.monotonic(), 0), most)

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None

    def _ask(self, link: Link, line: str, files: Sequence[str] = ()) -> None:
        try:
            answer = link.ask_json(line, files)
        except (LinkError, ValueError):
            raise Asked("weir does not answer") from None
        if answer.get("ok") is False:
            raise Asked(message_of(answer))
        if answer.get("lease_ns"):
            self._every_s = answer["lease_ns"] / 1e9 / _PARTS
        self._next_at = time.monotonic() + self._every_s


class Flight:
    """A dump of the flight (docs/record.md) into the default folder. It has a connection of its
    own, because writing to a disk takes time, and the picture continues meanwhile. If the link is
    closed, the dump continues."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self.link: Link | None = None  # None: no dump is under way
        self.said = ""

    def dump(self) -> None:
        if self.link is None:
            try:
                self.link = Link(self._path, _PATIENCE_S)
            except LinkError as error:
                self.said = f"not dumped: {error}"
                return
            self.link.send("flight dump")
        self.said = "the flight is being dumped"

    def read(self) -> None:
        """To be called when the link is readable: reads the result."""
        assert self.link is not None
        try:
            ok, text = self.link.answer()
            what = "flight dumped in " + text if ok else "not dumped: " + _without_name(text)
        except LinkError:
            what = "not dumped: weir hung up"
        self.said = what.partition("\n")[0]
        self.link.close()
        self.link = None


def _without_name(error: str) -> str:
    """Returns an error, `NAME: what is wrong`, without its name."""
    _, colon, text = error.partition(": ")
    return text if colon else error
