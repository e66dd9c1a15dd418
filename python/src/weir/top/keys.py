# SPDX-License-Identifier: BSD-3-Clause
"""Keys of the terminal, and what else `weir top` waits for."""

from __future__ import annotations

import curses
import select
from collections import deque
from collections.abc import Callable, Iterable

from .screen import Screen, show_cursor
from .signals import Signals

# After so many times in turn at which the terminal was readable, but had no key, its input has
# ended, or must not be read any more.
_EMPTY_MAX = 3
_TYPE_S = 0.2
_ENTER = (10, 13, curses.KEY_ENTER)
_CANCEL = (27, 7)
_ERASE = (curses.KEY_BACKSPACE, 127, 8)
_CLEAR = 21  # ^U
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL
_LINE_MAX = 400


class Keys:
    """`over`: a signal has ended it, or the terminal is gone."""

    def __init__(self, screen: Screen, signals: Signals) -> None:
        self._screen, self._signals = screen, signals
        self._typed: deque[int] = deque()
        self._empty = 0
        self._gone = False

    @property
    def over(self) -> bool:
        return self._gone or self._signals.over

    def next(self) -> int | None:
        """Returns the next key that was typed; None: there is none."""
        return self._typed.popleft() if self._typed and not self.over else None

    def wait(self, others: Iterable[int], wait_s: float) -> set[int]:
        """Waits for keys, a signal, or one of other descriptors, and returns those that are
        readable."""
        polled = select.poll()
        for fd in (0, self._signals.fileno(), *others):
            polled.register(fd, select.POLLIN)
        ready = dict(polled.poll(wait_s * 1000))
        self._gone |= bool(ready.get(0, 0) & _GONE)
        if self._signals.take():
            self._screen.resize()
        before = len(self._typed)
        while not self.over and (key := self._screen.window.getch()) >= 0:
            self._typed.append(key)
        self._empty = self._empty + 1 if ready.get(0) and len(self._typed) == before else 0
        self._gone |= self._empty == _EMPTY_MAX
        return {*ready} - {0, self._signals.fileno()}

    def type(self, prompt: str, text: str, meanwhile: Callable[[], None]) -> str | None:
        """Edits a line at the bottom, after a prompt; `text` is its initial content. Returns None
        if the user cancels, or it is over. The picture stands still meanwhile; `meanwhile` is
        called often."""
        show_cursor(True)
        try:
            while not self.over:
                self._screen.draw_typed(prompt, text)
                self.wait((), 0 if self._typed else _TYPE_S)
                while (key := self.next()) is not None:
                    if key in _ENTER:
                        return text
                    if key in _CANCEL:
                        return None
                    text = _edited(text, key)
                meanwhile()
            return None
        finally:
            show_cursor(False)


def _edited(text: str, key: int) -> str:
    if key in _ERASE:
        return text[:-1]
    if key == _CLEAR:
        return ""
    return text + chr(key) if 32 <= key < 127 and len(text) < _LINE_MAX else text
