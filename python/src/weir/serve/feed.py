# SPDX-License-Identifier: BSD-3-Clause
"""The conversation on which weir pushes events and samples, and answers `show totals`. If it is
lost, the feed connects again by itself, once a second.

Events are kept as weir keeps them, at most EVENTS and EVENT_BYTES, with weir's numbers; a new run
begins an empty log. Of the samples the latest is kept. Samples are requested only while a live
stream is open, totals when somebody wants metrics."""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
import time
from collections import deque
from typing import Any

from .._link import Link, LinkError
from .._log import Log

_AGAIN_S = 1.0
_SILENT_S = 10.0  # allowed for an answer that is due
_FRESH_S = 0.2  # totals up to this age are used again
_TOTALS_S = 5.0  # to wait for totals
_ROWS = 128  # clouds in a sample
EVENTS = 4096
EVENT_BYTES = 1 << 20


class Events:
    """The events that are kept, each as weir has sent it. `first`: the number of the oldest;
    `next`: that of the one that comes next."""

    def __init__(self) -> None:
        self.clear()

    def clear(self, first: int = 1) -> None:
        self.first = self.next = first
        self._kept: deque[bytes] = deque()
        self._bytes = 0

    def add(self, number: int, line: bytes) -> None:
        # The first event, or the first after some that have gone from weir's own log.
        if number != self.next:
            self.clear(number)
        self._kept.append(line)
        self._bytes += len(line)
        self.next += 1
        while len(self._kept) > EVENTS or self._bytes > EVENT_BYTES:
            self._bytes -= len(self._kept.popleft())
            self.first += 1

    def get(self, number: int) -> bytes | None:
        return self._kept[number - self.first] if self.first <= number < self.next else None


class Totals:
    """An answer to `show totals`, with the `hello` of its weir. `texts`: what was made of it."""

    def __init__(self, raw: dict[str, Any], hello: dict[str, Any]) -> None:
        self.raw, self.hello = raw, hello
        self.at = time.monotonic()
        self.lock = threading.Lock()
        self.texts: dict[bool, bytes] = {}


class Feed:
    """What weir says. Its members are read and written with `news`, which is notified of each
    change of them."""

    def __init__(self, path: str | None, log: Log, interval_ns: int, clouds: int,
                 may_change: bool) -> None:
        self.path, self.log = path, log
        self.interval_ns, self.may_change = interval_ns, may_change
        self._clouds = clouds
        self.news = threading.Condition()
        self.ends = False
        self.up = False  # weir has answered `hello`
        self.said = "weir has not answered yet"  # why it is not up
        self.hello: dict[str, Any] | None = None  # the latest
        self.run = ""  # the run of the events that are kept
        self.events = Events()
        self.sample: bytes | None = None
        self.states = self.samples = 0  # how often each has changed
        self.n_live = 0  # streams that want samples
        self._totals: Totals | None = None
        self._wanted = self._asked = False  # totals
        self._woken, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._follow_ever, name="feed", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        with self.news:
            self.ends = True
            self.news.notify_all()
        self.wake()

    def wake(self) -> None:
        """To be called when something is wanted of weir."""
        with contextlib.suppress(BlockingIOError):  # it will wake
            os.write(self._wake, b"w")

    def totals(self) -> Totals | None:
        """Returns totals that are at most 200 ms old; None if weir does not answer."""
        now = time.monotonic()
        end = now + _TOTALS_S
        with self.news:
            since = now
            if self._totals is not None and now - self._totals.at <= _FRESH_S:
                since = self._totals.at
            else:
                self._wanted = self.up
                self.wake()
            while (self._wanted and not self.ends and time.monotonic() < end
                   and (self._totals is None or self._totals.at < since)):
                self.news.wait(end - time.monotonic())
            totals = self._totals
            return totals if totals is not None and totals.at >= since else None

    # -- following weir: the feed's own thread --

    def _follow_ever(self) -> None:
        while not self.ends:
            said = self._follow_once()
            with self.news:
                if not self.ends and (self.up or said != self.said):
                    self.states += 1
                    self.log.warning(said)
                self.said = said
                self.up = self._wanted = self._asked = False
                self._totals = None
                self.news.notify_all()
                self.news.wait_for(lambda: self.ends, _AGAIN_S)

    def _follow_once(self) -> str:
        """Follows weir until it has gone. Returns what to say of that."""
        try:
            link = Link(self.path, _SILENT_S)
        except LinkError as error:
            return str(error)
        with contextlib.closing(link):
            try:
                hello = link.greet("weir serve", "totals")
            except (LinkError, ValueError) as error:
                return str(error) if isinstance(error, LinkError) else "weir does not answer"
            self._ask_for_events(link, self._take_hello(hello))
            try:
                return self._follow(link)
            except (LinkError, ValueError):
                return "weir has gone; trying again each second"

    def _take_hello(self, hello: dict[str, Any]) -> int:
        """Returns the event to begin with; 0: the oldest."""
        with self.news:
            self.hello = hello
            if hello["run"] != self.run:
                self.run = hello["run"]
                self.events.clear()
                self.sample = None
            self.up, self.said = True, ""
            self.states += 1
            begin = self.events.next if self.events.first != self.events.next else 0
            self.news.notify_all()
        self.log.notice(f"weir {hello.get('weir', '')} answers, run {hello['run']}")
        if self.may_change and hello.get("read_only"):
            self.log.warning("its socket is read-only, so nothing can be changed; name the "
                             "control socket with -s")
        return begin

    def _ask_for_events(self, link: Link, begin: int) -> None:
        link.send(f"events from {begin or 'oldest'}")

    def _follow(self, link: Link) -> str:
        polled = select.poll()
        polled.register(link.fileno(), select.POLLIN)
        polled.register(self._woken, select.POLLIN)
        sampling, heard = False, time.monotonic()
        while not self.ends:
            with self.news:
                live, totals = self.n_live > 0, self._wanted and not self._asked
                self._asked |= totals
            if live != sampling or totals:
                heard = time.monotonic()
            if live != sampling:
                link.send(f"sample {self.interval_ns}ns clouds {_ROWS}" if live else "sample off")
            if totals:
                link.send(f"show totals {self._clouds}")
            sampling = live
            ready = {fd for fd, _ in polled.poll(_AGAIN_S * 1000)}
            if self._woken in ready:
                os.read(self._woken, 1 << 16)
            if link.fileno() in ready:
                for line in link.receive():
                    if resume := self._take(line):
                        self._ask_for_events(link, resume)
                    heard = time.monotonic()
            patience = _SILENT_S + (2 * self.interval_ns / 1e9 if sampling else 0)
            if (self._asked or sampling) and time.monotonic() - heard > patience:
                return "weir does not answer; trying again each second"
        return ""

    def _take(self, line: bytes) -> int:
        """Takes a line. Returns the event from which weir resumes, because the next one has gone;
        else 0."""
        message = json.loads(line)
        with self.news:
            resume = 0
            if "event" in message:
                self.events.add(int(message["seq"]), line)
            elif "sample" in message:
                self.sample = line
                self.samples += 1
            else:
                resume = self._take_answer(message)
            self.news.notify_all()
        return resume

    def _take_answer(self, answer: dict[str, Any]) -> int:
        error = answer.get("error")
        if "clouds_in_all" in answer:
            self._totals = Totals(answer, self.hello or {})
        elif error is None:
            return 0
        elif error.get("code") == "gone":
            return int(error["resume"])
        self._wanted = self._asked = False
        return 0
