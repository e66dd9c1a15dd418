# SPDX-License-Identifier: BSD-3-Clause
"""Server-sent events. Each client has a position in the feed's events, and receives each event that
is kept once, in order; of samples it receives the latest when it has read what came before. So a
slow client costs _PART_BYTES and a sample, and delays nobody. If events that it has not read are
gone, `event: gone` tells it where it continues. A client that comes back with Last-Event-ID
continues after that event if the run is the same, else with the oldest.

    id: b25f0c1e2a3b4c5d-17        the run, and the number that weir gave the event
    data: {"event":"change",...}   the event, as weir has it

A live stream also has `event: state` (whether weir is connected) and `event: sample`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from .feed import Feed
from .request import From

STREAMS = 64
_PART_BYTES = 65536
_BEAT_S = 15.0  # a comment, so that a lost client is noticed


class Streams:
    """Those that are open, at most STREAMS."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._n = 0

    def open(self, live: bool, begin: From | None) -> Stream | None:
        """`begin` None: from now on. Returns None if there are too many. Who gets one closes it."""
        with self._feed.news:
            if self._n == STREAMS:
                return None
            self._n += 1
            self._feed.n_live += live
            stream = Stream(self, self._feed, live, begin or From(self._feed.events.next))
        self._feed.wake()
        return stream

    def closed(self, live: bool) -> None:
        with self._feed.news:
            self._n -= 1
            self._feed.n_live -= live
        self._feed.wake()


class Stream:
    def __init__(self, streams: Streams, feed: Feed, live: bool, begin: From) -> None:
        self._streams, self._feed, self._live, self._from = streams, feed, live, begin
        self._states = self._samples = -1  # the latest that were sent
        self._beat_at = 0.0  # so that a browser sees at once that the stream is open
        self._begin_in_run()

    def close(self) -> None:
        self._streams.closed(self._live)

    def parts(self) -> Iterator[bytes]:
        """Yields what is to be sent, until weir serve ends."""
        feed = self._feed
        while True:
            with feed.news:
                while not feed.ends and not self._has_news():
                    feed.news.wait(max(0.0, self._beat_at - time.monotonic()))
                if feed.ends:
                    return
                part = self._compose()
            if part:
                yield part

    def _begin_in_run(self) -> None:
        feed, begin = self._feed, self._from
        self._run = feed.run  # of `number`; "": weir has not answered yet
        # An event that is not there yet may still be on its way from weir.
        anew = begin.oldest or (begin.run and begin.run != feed.run)
        self._number = feed.events.first if anew else begin.number

    def _has_news(self) -> bool:
        feed = self._feed
        return (time.monotonic() >= self._beat_at or self._run != feed.run
                or self._number < feed.events.next
                or (self._live and (self._states != feed.states or self._samples != feed.samples)))

    def _compose(self) -> bytes:
        feed, parts = self._feed, []
        if self._run != feed.run:  # of another run, continues with its oldest event
            if self._run:
                self._from = From(oldest=True)
            self._begin_in_run()
        # The state, which names the run, precedes the events of that run.
        if self._live and self._states != feed.states:
            self._states = feed.states
            parts.append(b"event: state\ndata: %s\n\n" % self._state())
        parts += self._events()
        if self._live and self._samples != feed.samples and feed.sample is not None:
            parts.append(b"event: sample\ndata: %s\n\n" % feed.sample)
        self._samples = feed.samples
        if time.monotonic() >= self._beat_at:
            parts.append(b":\n\n")
            self._beat_at = time.monotonic() + _BEAT_S
        return b"".join(parts)

    def _events(self) -> Iterator[bytes]:
        kept, n = self._feed.events, 0
        if self._number < kept.first:
            yield b'event: gone\ndata: {"resume":%d}\n\n' % kept.first
            self._number = kept.first
        while n < _PART_BYTES and (event := kept.get(self._number)) is not None:
            part = b"id: %s-%d\ndata: %s\n\n" % (self._run.encode(), self._number, event)
            self._number += 1
            n += len(part)
            yield part

    def _state(self) -> bytes:
        feed, hello = self._feed, self._feed.hello
        state = {"connected": feed.up, "said": feed.said,
                 "changes": feed.may_change and not (hello or {}).get("read_only"),
                 "interval_ns": feed.interval_ns}
        if hello is not None:
            state["hello"] = hello
        return json.dumps(state, separators=(",", ":"), ensure_ascii=False).encode(
            errors="replace")
