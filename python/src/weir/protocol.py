# SPDX-License-Identifier: BSD-3-Clause
"""The control protocol (docs/control.md) without a socket.

`Conversation` turns bytes into answers and into the messages that are pushed between them. An
operation is a generator: it yields lines to send, receives the answers, and returns their meaning.
So `Client` and `AsyncClient` differ only in how they read and write.

>>> talk = Conversation()
>>> talk.feed(b'{"event":"link","seq":3}\\n{"ok":tr')
>>> talk.feed(b'ue}\\n')
>>> talk.pushed.popleft()["seq"], talk.answers.popleft()
(3, {'ok': True})
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from . import show
from ._words import written
from .errors import Disconnected, NoAnswer, ProtocolError, Refusal, refusal

PROTOCOL = 1
CAPABILITIES = ("hello", "events", "sample", "lease")

Answer = dict[str, Any]
Files = Mapping[str, "str | os.PathLike[str]"]
T = TypeVar("T")


@dataclass(frozen=True)
class Say:
    """Lines to send at once, each of which gets one answer. `files` are sent before them."""

    lines: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()


Operation = Generator[Say, list[Answer], T]


class Conversation:
    """The bytes of one connection, in JSON mode."""

    def __init__(self) -> None:
        self._rest = b""
        self.answers: deque[Answer] = deque()
        self.pushed: deque[Answer] = deque()

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        if line.startswith(b"err "):  # weir has not read `json on` yet
            name, _, text = line[4:].decode(errors="replace").partition(": ")
            raise refusal({"name": name, "message": text, "code": "dismissed"})
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ProtocolError(f"this is not an answer of weir: {line[:60]!r}")
        if "event" in answer or "sample" in answer:
            self.pushed.append(answer)
        else:
            self.answers.append(answer)


def check(answer: Answer, line: str = "") -> Answer:
    """Returns the answer, or raises its error. Only its `ok` decides whether it is an error."""
    if answer.get("ok") is False:
        raise refusal(answer.get("error") or {}, line)
    return answer


def one_line(line: str) -> str:
    if "\n" in line or "\r" in line:
        raise ValueError("a line break would make two lines of it; give each line separately")
    return line


def named(files: Files | None) -> tuple[tuple[str, str], ...]:
    return tuple((name, os.fspath(path)) for name, path in (files or {}).items())


# ---- operations ----


def hello() -> Operation[show.Hello]:
    answers = yield Say(("json on", "hello"))
    try:
        check(answers[0], "json on")
        said = show.made(show.Hello, check(answers[1], "hello"))
    except Refusal as error:
        raise ProtocolError("what answers there is not a weir that this package can talk to: "
                            f"it does not know `{error.text or 'hello'}`") from error
    if said.protocol != PROTOCOL:
        raise ProtocolError(f"weir {said.weir} speaks protocol {said.protocol}, and this package "
                            f"{PROTOCOL}; install the package of that weir")
    return said


def line(text: str, files: Files | None = None) -> Operation[Answer]:
    answers = yield Say((one_line(text),), named(files))
    return check(answers[-1], text)


def change(lines: Iterable[str], files: Files | None = None,
           begin: str = "begin") -> Operation[Answer]:
    """Makes one transaction. The first error is raised after the batch has been aborted."""
    texts = tuple(one_line(text) for text in lines)
    if len(texts) == 1 and begin == "begin":
        return (yield from line(texts[0], files))
    if not texts and begin == "begin":
        return {"ok": True}
    answers = yield Say((begin, *texts), named(files))
    wrong = next(((a, t) for a, t in zip(answers, (begin, *texts)) if a.get("ok") is False), None)
    if wrong:
        yield Say(("abort",))
        raise refusal(wrong[0].get("error") or {}, wrong[1])
    answers = yield Say(("commit",))
    return check(answers[0])


def load(scenario: object) -> Operation[Answer]:
    """Replaces the running scenario. As in a file, only a line break ends a line: str.splitlines()
    also divides at U+2028 and others."""
    lines = str(scenario).encode().splitlines()
    return change([line.decode() for line in lines], begin="begin whole")


def cloud(name: str, everything: bool = False) -> Operation[show.Cloud]:
    answer = yield from line(f"show cloud {name}" + (" all" if everything else ""))
    return show.made(show.Cloud, answer)


def clouds() -> Operation[list[Answer]]:
    answer = yield from line("show cloud")
    return list(answer["clouds"])


def ports() -> Operation[list[show.Port]]:
    answer = yield from line("show ports")
    return [show.made(show.Port, row) for row in answer["ports"]]


def workers() -> Operation[list[show.Worker]]:
    answer = yield from line("show workers")
    return [show.made(show.Worker, row) for row in answer["workers"]]


def totals(most: int = 256) -> Operation[show.Totals]:
    answer = yield from line(f"show totals {most}")
    return show.made(show.Totals, answer)


def config() -> Operation[str]:
    answer = yield from line("show config")
    return str(answer["config"])


def flight_dump(folder: str | os.PathLike[str] | None = None) -> Operation[str]:
    """Returns the folder of the dump. `folder` is sent as an absolute path, as weir may run in
    another directory.

    >>> next(flight_dump("/var/tmp/an incident")).lines, next(flight_dump()).lines
    (('flight dump "/var/tmp/an incident"',), ('flight dump',))
    """
    where = "" if folder is None else " " + written(os.path.abspath(folder))
    answer = yield from line("flight dump" + where)
    return str(answer["folder"])


def started(text: str) -> Operation[Answer]:
    """Starts a stream, after `json on` and `hello`."""
    yield from hello()
    return (yield from line(text))


def duration(seconds: float | str) -> str:
    """Returns a time in the language's notation, from seconds or from a text with its unit. Seconds
    are rounded to nanoseconds.

    >>> duration(0.25), duration("80ms"), duration(5), duration(0.0625), duration(4e-9)
    ('250ms', '80ms', '5s', '62500us', '4ns')
    """
    if isinstance(seconds, str):
        return seconds
    ns = round(seconds * 1e9)
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns % size == 0:
            return f"{ns // size}{unit}"
    return f"{ns}ns"


def nanoseconds(time: float | str) -> int:
    """Returns a time in ns, from seconds or from a text with its unit.

    >>> nanoseconds("2ms"), nanoseconds(0.25), nanoseconds("1.5s")
    (2000000, 250000000, 1500000000)
    """
    if not isinstance(time, str):
        return round(time * 1e9)
    for unit, size in (("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9)):
        if time.endswith(unit):
            return round(float(time.removesuffix(unit)) * size)
    raise ValueError(f"{time!r} is not a time: a number and ns, us, ms or s, such as '2ms'")


def time_text(ns: float) -> str:
    """Returns a time for people, with three digits.

    >>> time_text(346_123_456), time_text(48_000), time_text(0)
    ('346 ms', '48 us', '0 ns')
    """
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def next_of(conversation: Conversation) -> Answer | None:
    """Returns the next pushed message, or None. Raises the last message of a weir that closes the
    connection."""
    if conversation.pushed:
        return conversation.pushed.popleft()
    if conversation.answers:
        check(conversation.answers.popleft())
    return None


def hung_up() -> Disconnected:
    return Disconnected("weir has closed the connection: it has ended, or was ended")


def closed() -> Disconnected:
    return Disconnected("this client is closed; it also closes when a call stops waiting for its "
                        "answer")


def tell_broken(error: BaseException, timeout: float | None = None) -> None:
    """Raises the error for a conversation that was interrupted by `error`, so that not all answers
    will be read."""
    if isinstance(error, TimeoutError) and timeout is not None:
        raise NoAnswer(f"weir has not answered in {timeout:g} s: the connection is closed, and "
                       "it is not known whether weir does what was asked") from error
    if isinstance(error, ConnectionError):
        raise hung_up() from error
