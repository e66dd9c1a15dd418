# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of this package.

If weir refuses a line, the class of the error's `code` is raised, a word of the protocol
(docs/control.md):

>>> from weir import errors
>>> try:
...     raise errors.refusal({"name": "dwon", "code": "unknown-cloud", "column": 7,
...                           "message": "there is no cloud `dwon`"}, "cloud dwon delay 5ms")
... except errors.UnknownCloud as error:
...     print(error.code, error.column, error)
unknown-cloud 7 there is no cloud `dwon` (in `cloud dwon delay 5ms`, column 7)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class WeirError(Exception):
    """The base class of all exceptions that this package raises by itself."""


class NotInstalled(WeirError):
    """The program `weir`, or its library, is not installed."""


class ProtocolError(WeirError):
    """The other side is not a weir, or speaks another protocol."""


class Disconnected(WeirError):
    """weir has closed the conversation, or has ended."""


class NoAnswer(Disconnected, TimeoutError):
    """weir has not answered in time. The connection is closed, because a late answer would be taken
    for the answer to the next line. It is not known whether weir does what was asked."""


class NotVirtual(WeirError, NotImplementedError):
    """A loop in virtual time cannot do this, because something outside has a clock of its own."""


class Deadlock(WeirError):
    """In virtual time nothing would ever happen again, or time would stand still."""


class Failed(WeirError):
    """A weir command ended with an error. `status` is its exit status, `stderr` what it printed
    there."""

    def __init__(self, message: str, status: int, stderr: str) -> None:
        super().__init__(message)
        self.status = status
        self.stderr = stderr

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.status, self.stderr)


class ScenarioError(WeirError):
    """A scenario that cannot be written or read. `line` and `column` count from 1; 0: not known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Refusal(WeirError):
    """weir refused a line, and nothing has changed.

    `code` is stable; the message is for people. `name` is the word, cloud or port concerned.
    `column` counts characters from 1; 0 means the whole line. `line` counts the lines of a batch
    from 1; it is 0 without a batch. `text` is the line as it was sent."""

    code: ClassVar[str] = ""
    _by_code: ClassVar[dict[str, type[Refusal]]] = {}

    def __init_subclass__(cls) -> None:
        Refusal._by_code[cls.code] = cls

    def __init__(self, error: Mapping[str, Any], text: str = "") -> None:
        self.error = dict(error)
        self.message = str(error.get("message", ""))
        self.name = str(error.get("name", ""))
        self.column = int(error.get("column", 0))
        self.line = int(error.get("line", 0))
        self.text = text
        if not self.code:  # a code newer than this package
            self.code = str(error.get("code", ""))  # type: ignore[misc]
        where = f" (in `{text}`, column {self.column})" if text and self.column else ""
        super().__init__(self.message + where)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.error, self.text)


def refusal(error: Mapping[str, Any], text: str = "") -> Refusal:
    """Returns the exception for the `error` of an answer."""
    return Refusal._by_code.get(str(error.get("code")), Refusal)(error, text)


class BadCharacter(Refusal):
    code = "bad-character"


class BadFile(Refusal):
    code = "bad-file"


class BadName(Refusal):
    code = "bad-name"


class BadQuote(Refusal):
    code = "bad-quote"


class BadValue(Refusal):
    code = "bad-value"


class Conflict(Refusal):
    code = "conflict"


class DuplicateName(Refusal):
    code = "duplicate-name"


class DuplicateWord(Refusal):
    code = "duplicate-word"


class ExtraWord(Refusal):
    code = "extra-word"


class Full(Refusal):
    code = "full"


class MissingUnit(Refusal):
    code = "missing-unit"


class MissingWord(Refusal):
    code = "missing-word"


class NotHere(Refusal):
    code = "not-here"


class NoMemory(Refusal):
    code = "no-memory"


class OutOfRange(Refusal):
    code = "out-of-range"


class TooFine(Refusal):
    code = "too-fine"


class TooLong(Refusal):
    code = "too-long"


class UnknownCloud(Refusal):
    code = "unknown-cloud"


class UnknownPort(Refusal):
    code = "unknown-port"


class UnknownUnit(Refusal):
    code = "unknown-unit"


class UnknownWord(Refusal):
    code = "unknown-word"


class Refused(Refusal):
    """The line is valid, but the emulator could not make the change."""

    code = "refused"


class Unfinished(Refusal):
    code = "unfinished"


class Dismissed(Refusal):
    """weir has closed the conversation. `resume` is the event from which to continue; 0: not
    known."""

    code = "dismissed"

    def __init__(self, error: Mapping[str, Any], text: str = "") -> None:
        super().__init__(error, text)
        self.resume = int(error.get("resume", 0))


class Gone(Refusal):
    """The requested event is no longer kept. `resume` is the first one that is."""

    code = "gone"

    def __init__(self, error: Mapping[str, Any], text: str = "") -> None:
        super().__init__(error, text)
        self.resume = int(error.get("resume", 0))
