# SPDX-License-Identifier: BSD-3-Clause
"""The main loop of `weir top`: keys, the connection and the picture. Its options:
top_command.c."""

from __future__ import annotations

import curses
import sys
import time
from collections.abc import Callable, Sequence

from .._command import CommandError, Given
from .._link import LinkError
from .keys import Keys
from .model import Model
from .screen import NoScreen, Screen, check_terminal
from .signals import Signals
from .talk import Asked, Feed, Flight, Lease, files_of

_LOOK_S = 1.0  # it connects again each second


def main(words: Sequence[str]) -> int:
    """Returns the exit status; errors go to stderr."""
    given = Given(words)
    if given.words:
        raise CommandError(f"`{given.words[0]}` is not expected; a cloud is chosen in the picture")
    feed = Feed(given.get("socket"), given["interval"])
    try:
        # The first connection must succeed, so that a wrong path is reported at once.
        feed.connect()
        check_terminal()
    except (LinkError, NoScreen) as error:
        print(f"weir top: {error}", file=sys.stderr)
        return 2 if isinstance(error, LinkError) else 1
    screen, signals = Screen(), Signals()
    screen.open()
    try:
        Top(feed, screen, Keys(screen, signals)).loop()
    finally:
        screen.close()
    return 0


class Top:
    def __init__(self, feed: Feed, screen: Screen, keys: Keys) -> None:
        self.feed, self.screen, self.keys = feed, screen, keys
        self.lease, self.flight, self.model = Lease(feed.path), Flight(feed.path), Model()
        self._zoomed_n = 0  # the sample at which the zoomed cloud was last queried
        self._over = self._changed = False
        self._does: dict[int, Callable[[], None]] = {
            ord("q"): self._end, ord("f"): self.flight.dump, ord("p"): self._pause,
            ord("s"): self.model.sort_on, ord("/"): self._filter, ord("e"): self._change,
            ord("w"): self._write, ord("?"): self._help, ord("h"): self._help, 27: self._leave}
        self._does |= dict.fromkeys((10, 13, curses.KEY_ENTER), self._zoom)
        self._moves = {curses.KEY_UP: -1, ord("k"): -1, curses.KEY_DOWN: 1, ord("j"): 1,
                       curses.KEY_PPAGE: -10, curses.KEY_NPAGE: 10}

    def loop(self) -> None:
        while not self._over and not self.keys.over:
            if self.feed.link is None:
                try:
                    self.feed.connect()
                except LinkError as error:
                    self.feed.said = str(error)
            self.lease.poll()
            self._hear()
            if (self.screen.zoom and self.feed.link is not None and not self.model.paused
                    and self._zoomed_n != self.model.n_samples):
                self._ask_zoom()
            if self._changed:
                self.screen.draw(self.feed, self.model)
            self._changed = False
            self._wait()

    def _hear(self) -> None:
        """Moves a message of the connections to the status line."""
        said_by: tuple[Feed | Lease | Flight, ...] = (self.feed, self.lease, self.flight)
        for of in said_by:
            if of.said:
                self.screen.status, of.said = of.said, ""
                self._changed = True
                return

    def _wait(self) -> None:
        links = [link for link in (self.feed.link, self.flight.link) if link is not None]
        ready = self.keys.wait([link.fileno() for link in links], self.lease.wait_s(_LOOK_S))
        for link in links:
            if link.fileno() not in ready:
                continue
            if link is self.feed.link:
                self.feed.read(self.model)
            else:
                self.flight.read()
            self._changed = True
        while (key := self.keys.next()) is not None:
            self._key(key)

    # -- the effect of keys --

    def _key(self, key: int) -> None:
        self._changed = True
        if key == curses.KEY_RESIZE:
            return
        self.screen.status = ""
        if key in self._moves:
            self._move(self._moves[key])
        elif key in self._does:
            self._does[key]()

    def _end(self) -> None:
        self._over = True

    def _pause(self) -> None:
        self.model.paused = not self.model.paused

    def _help(self) -> None:
        self.screen.help = not self.screen.help
        self.screen.scrolled = 0

    def _leave(self) -> None:
        """Leaves what was opened last: the help, then the cloud that is shown alone."""
        if not self.screen.help:
            self.screen.zoom = ""
        self.screen.help = False
        self.screen.scrolled = 0

    def _move(self, rows: int) -> None:
        """Chooses another cloud, or scrolls the text that is shown instead of them."""
        if self.screen.help or self.screen.zoom:
            self.screen.scrolled = max(self.screen.scrolled + rows, 0)
        else:
            most = max(len(self.model.rows) - 1, 0)
            self.screen.selected = min(max(self.screen.selected + rows, 0), most)

    def _filter(self) -> None:
        typed = self._type("filter> ", self.model.filter)
        if typed is not None:
            self.model.filter, self.screen.selected = typed, 0
        self.model.arrange()

    def _selected(self) -> str:
        rows, at = self.model.rows, self.screen.selected
        return self.screen.zoom or (rows[at].name if at < len(rows) else "")

    def _zoom(self) -> None:
        self.screen.zoom = "" if self.screen.zoom else self._selected() or self.model.filter
        self.screen.scrolled = 0
        if self.screen.zoom:
            self._ask_zoom()

    def _ask_zoom(self) -> None:
        name, slash, address = self.screen.zoom.partition("/")
        try:
            self.screen.zoomed = self.feed.ask(f"show clouds {name} {address}" if slash
                                               else f"show cloud {name}")
        except Asked as error:
            self.screen.zoomed = str(error)
        self._zoomed_n = self.model.n_samples

    def _change(self) -> None:
        line = self._type("change> ", f"cloud {self._selected().partition('/')[0]} ")
        if line is None:
            return
        try:
            said = self._send(line).partition("\n")[0]
            self.screen.status = f"done: {line}" + (f"; {said}" if said else "")
        except Asked as error:
            self.screen.status = "not done: " + str(error).partition("\n")[0]
        if self.screen.zoom:
            self._ask_zoom()

    def _send(self, line: str) -> str:
        """Executes what was typed: a line for weir; `lease TIME LINE`; or a command about the lease
        that is held. Returns the answer."""
        if line.startswith("lease "):
            self.lease.make(line.removeprefix("lease "))
        elif self.lease.held and line in ("keep", "revert"):
            self.lease.say(line)
        else:
            return self.feed.ask(line, files_of(line))
        return ""

    def _write(self) -> None:
        path = self._type("write to> ", time.strftime("weir-top-%Y%m%d-%H%M%S.txt"))
        if path is None:
            return
        self.screen.draw(self.feed, self.model)
        try:
            with open(path, "wb") as file:
                file.writelines(line + b"\n" for line in self.screen.lines())
            self.screen.status = f"written: {path}"
        except OSError as error:
            self.screen.status = f"{path}: {error.strerror}"

    def _type(self, prompt: str, text: str) -> str | None:
        return self.keys.type(prompt, text, self.lease.poll)
