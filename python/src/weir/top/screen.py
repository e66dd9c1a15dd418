# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `weir top`, with curses."""

from __future__ import annotations

import contextlib
import curses
import locale
import os
from collections.abc import Iterable

from . import text
from .model import Model, Object, Row, number, plain, rate
from .talk import Feed

_LEAST_ROWS, _LEAST_COLUMNS = 10, 40
_REAL, _CONGESTION, _HEAD, _GOOD = 1, 2, 3, 4
_KEYS = "? help  s sort  / filter  Enter zoom  e change  p pause  w write  q end"
_HELP = """
  up down j k   choose a cloud            Enter   only this cloud, and back
  s             sort by another column    /       only names that contain a text
  e             change it: a line, which is sent as typed
  p             pause the picture, and resume
  w             write the picture to a file
  f             dump the flight: a recording of the last seconds
  Escape        back, from here too     q       end

  emul, cong, REAL: packets a second that the scenario drops, that its
  queues drop, and that weir itself loses. REAL should be 0.
  delay: the median since the last sample. late: after the due time.
"""


class NoScreen(Exception):
    """It cannot be drawn here: the text says why, and what to do."""


def check_terminal() -> None:
    """Raises NoScreen. curses itself would end the process."""
    if not os.isatty(0) or not os.isatty(1):
        raise NoScreen("it needs a terminal; for a pipe: weir ctl sample 1s")
    terminal = os.environ.get("TERM")
    try:
        curses.setupterm(terminal or "", 1)
        placed = terminal is not None and curses.tigetstr("cup")
    except curses.error:
        placed = False
    if not placed:
        raise NoScreen(f"the terminal `{(terminal or '')[:40]}` (TERM) cannot be drawn on, because "
                       "its cursor cannot be positioned; use weir ctl sample 1s, or set TERM to "
                       "what it is")


class Screen:
    """Between open() and close() the terminal is curses'."""

    def __init__(self) -> None:
        self.selected = 0  # row of the model; the order is that of the screen
        self.zoom = ""  # the only cloud shown; "": all are
        self.zoomed = ""  # weir's answer about that cloud
        self.help = False
        self.scrolled = 0  # lines of a text above the picture
        self.status = ""
        self._below = 0  # lines of it below the picture
        self._first = 0  # the first row drawn

    def open(self) -> None:
        locale.setlocale(locale.LC_CTYPE, "")
        self._utf8 = locale.nl_langinfo(locale.CODESET) == "UTF-8"
        self.window = curses.initscr()
        curses.cbreak()
        curses.noecho()
        self.window.keypad(True)
        self.window.nodelay(True)
        curses.set_escdelay(50)
        show_cursor(False)
        self._colours = curses.has_colors() and "NO_COLOR" not in os.environ
        if self._colours:
            curses.start_color()
            ground = curses.COLOR_BLACK
            with contextlib.suppress(curses.error):
                curses.use_default_colors()
                ground = -1
            for pair, colour in ((_REAL, curses.COLOR_RED), (_CONGESTION, curses.COLOR_YELLOW),
                                 (_HEAD, curses.COLOR_CYAN), (_GOOD, curses.COLOR_GREEN)):
                curses.init_pair(pair, colour, ground)

    def close(self) -> None:
        with contextlib.suppress(curses.error):
            curses.endwin()

    def resize(self) -> None:
        with contextlib.suppress(OSError, curses.error):
            columns, rows = os.get_terminal_size(1)
            curses.resizeterm(rows, columns)

    def lines(self) -> Iterable[bytes]:
        """Yields the present picture, as lines in the encoding of the terminal."""
        for row in range(curses.LINES):
            yield self.window.instr(row, 0).rstrip(b" ")

    # -- parts; each function returns the row behind its part --

    def _look(self, pair: int) -> int:
        """Without colours, red text is bold and reversed, and has a mark besides."""
        if self._colours:
            return curses.color_pair(pair) | (curses.A_BOLD if pair == _REAL else 0)
        return (curses.A_BOLD | curses.A_REVERSE if pair == _REAL
                else curses.A_BOLD if pair == _HEAD else curses.A_NORMAL)

    def _put(self, row: int, column: int, how: int, words: str) -> None:
        """Draws words, which are cut at the edge."""
        if 0 <= row < curses.LINES and 0 <= column < curses.COLS:
            with contextlib.suppress(curses.error):  # the last place of the last line
                self.window.addnstr(row, column, words, curses.COLS - column, how)

    def _line(self, row: int, how: int, words: str) -> int:
        self._put(row, 0, how, words)
        return row + 1

    def _head(self, feed: Feed, model: Model) -> int:
        sample = model.sample
        state = "  PAUSED" if model.paused else "" if feed.link else "  NOT CONNECTED"
        return self._line(0, self._look(_HEAD) | curses.A_REVERSE, (
            f"weir {plain(feed.hello.get('weir'))}  up {text.time(number(sample, 't_ns'))}  "
            f"seed {feed.hello.get('seed')}  {number(sample, 'clouds_in_all'):.0f} clouds, "
            f"{number(sample, 'clouds_busy'):.0f} busy  by {model.sort}"
            f"{'  /' if model.filter else ''}{model.filter}  {text.time(model.seconds * 1e9)}"
            f"{state}"))

    def _ports(self, ports: Iterable[Object], seconds: float, row: int, end: int) -> int:
        row = self._line(row, self._look(_HEAD),
                         "port              in bit/s out bit/s   in/s  out/s   lost late p50     "
                         "p99     max")
        for port in ports:
            if row >= end:
                break
            flow, late, lost = rate(port, seconds), port.get("lateness_ns"), number(port, "lost")
            up = port.get("link_up") is True
            times = [text.time(number(late, key)) for key in ("p50", "p99", "max")]
            self._line(row, curses.A_NORMAL if up else self._look(_REAL), (
                f"{plain(port.get('port'))[:16]:16} {text.count(flow.in_bps):>9} "
                f"{text.count(flow.out_bps):>9} {text.count(flow.in_pps):>6} "
                f"{text.count(flow.out_pps):>6} {'':6} {times[0]:>8} {times[1]:>7} {times[2]:>7}"
                f"{'' if up else ' DOWN'}"))
            self._lost(row, 58, curses.A_NORMAL, lost)
            row += 1
        return row

    def _lost(self, row: int, end: int, how: int, lost: float) -> None:
        """Draws what weir itself has lost, up to this column."""
        words = ("!" if lost > 0 else "") + text.count(lost)
        self._put(row, end - len(words), how | (self._look(_REAL) if lost > 0 else 0), words)

    def _name_columns(self) -> int:
        return 17 + min(max(curses.COLS - 100, 0), 40)

    def _cloud(self, cloud: Row, row: int, selected: bool) -> None:
        columns = self._name_columns()
        name = f"{cloud.name} ({cloud.clouds})" if cloud.clouds else cloud.name
        how = curses.A_REVERSE if selected else curses.A_NORMAL
        self._line(row, how, (
            f"{name[:columns]:{columns}} {text.count(cloud.rate.in_bps):>9} "
            f"{text.count(cloud.rate.out_bps):>9} {'':6} {'':6} {'':6} "
            f"{text.count(cloud.queue_bytes):>7} {text.time(cloud.delay_p50):>7} "))
        for end, value, pair in ((27, cloud.emulated, 0), (34, cloud.congestion, _CONGESTION)):
            words = text.count(value)
            self._put(row, columns + end - len(words),
                      how | (self._look(pair) if pair and value > 0 else 0), words)
        self._lost(row, columns + 41, how, cloud.real)
        points = curses.COLS - (columns + 58)
        if points > 0:
            self._put(row, columns + 58, self._look(_GOOD) if self._colours else curses.A_NORMAL,
                      text.spark(cloud.history, points, self._utf8))

    def _clouds(self, model: Model, row: int, end: int) -> int:
        columns, room, n = self._name_columns(), max(end - row - 1, 1), len(model.rows)
        self.selected = max(min(self.selected, n - 1), 0)
        self._first = min(max(self._first, self.selected - room + 1), self.selected)
        row = self._line(row, self._look(_HEAD), (
            f"{'cloud':{columns}} {'in bit/s':>9} {'out bit/s':>9} {'emul/s':>6} {'cong/s':>6} "
            f"{'REAL/s':>6} {'queue B':>7} {'delay':>7} queue"))
        for i, cloud in enumerate(model.rows[self._first:self._first + max(end - row, 0)]):
            self._cloud(cloud, row, self._first + i == self.selected)
            row += 1
        if n == 0 and row < end:
            self._line(row, curses.A_NORMAL,
                       "  no name of the busiest clouds contains this; Enter shows the cloud of "
                       "this name" if model.filter else "  none")
        return end

    def _workers(self, workers: Iterable[Object], row: int, end: int) -> int:
        row = self._line(row, self._look(_HEAD),
                         "worker role               cpu   busy    held  memory      of   longest "
                         "stalls")
        for worker in workers:
            if row >= end:
                break
            polls = number(worker, "polls")
            busy = number(worker, "busy_polls") / polls * 100 if polls > 0 else 0.0
            held, used, memory = (text.count(number(worker, key)) for key in (
                "held_packets", "memory_used_bytes", "memory_bytes"))
            row = self._line(row, curses.A_NORMAL, (
                f"{number(worker, 'worker'):6.0f} {plain(worker.get('role'))[:17]:17} "
                f"{number(worker, 'cpu'):4.0f} {busy:5.1f}% {held:>7} {used:>7} {memory:>7} "
                f"{text.time(number(worker, 'longest_poll_ns')):>9} "
                f"{number(worker, 'stalls'):6.0f}"))
        return row

    def _events(self, model: Model, row: int, end: int) -> None:
        """Draws the latest events, the newest last."""
        row = self._line(row, self._look(_HEAD), "events")
        room = end - row
        for event in [*model.events][-room:] if room > 0 else []:
            row = self._line(row, self._look(_REAL) if event.real else curses.A_NORMAL, event.text)

    def _text(self, words: str, row: int, end: int, others: int) -> int:
        """Draws a text in the rows up to `end`. It is roomy if it leaves `others` rows free."""
        page = text.page(words, end - row - others, end - row, self.scrolled)
        self.scrolled, self._below = page.begin, page.below
        for line in page.lines:
            row = self._line(row, self._look(_REAL) if line.startswith("warning")
                             else curses.A_NORMAL, line)
        return row

    def draw(self, feed: Feed, model: Model) -> None:
        self.window.erase()
        if curses.LINES < _LEAST_ROWS or curses.COLS < _LEAST_COLUMNS:
            self._line(0, curses.A_NORMAL, "too small: 40 x 10 at least")
        else:
            self._draw(feed, model)
        self.window.refresh()

    def _draw(self, feed: Feed, model: Model) -> None:
        sample, events, last = model.sample or {}, curses.LINES // 6 + 1, curses.LINES - 1
        row = self._head(feed, model)
        self._below = 0
        if self.help:
            self._text(_HELP, row, last, 0)
        elif self.zoom:
            # What does not fit takes the place of the events.
            row = max(self._text(self.zoomed, row, last, events), last - events)
            if last - row > 1:
                self._events(model, row, last)
        elif model.sample is not None:
            ports, workers = sample.get("ports", ()), sample.get("workers", ())
            n_workers = min(len(workers), curses.LINES // 6)
            row = self._ports(ports, model.seconds, row,
                              row + min(len(ports), curses.LINES // 5) + 1)
            row = self._clouds(model, row, last - events - n_workers - 1)
            row = self._workers(workers, row, row + n_workers + 1)
            self._events(model, row, last)
        more = f"up, down: {self._below} more lines below  Escape back  ? help"
        self._line(last, self._look(_HEAD), self.status or (more if self._below else _KEYS))

    def draw_typed(self, prompt: str, typed: str) -> None:
        """Draws a line at the bottom, with its end in sight."""
        width = max(curses.COLS - len(prompt) - 1, 1)
        row = curses.LINES - 1
        with contextlib.suppress(curses.error):
            self.window.move(row, 0)
            self.window.clrtoeol()
            self.window.addstr(row, 0, prompt, curses.A_BOLD)
            self.window.addstr(typed[-width:])
        self.window.refresh()


def show_cursor(shown: bool) -> None:
    with contextlib.suppress(curses.error):  # a terminal that always shows it
        curses.curs_set(1 if shown else 0)
