# SPDX-License-Identifier: BSD-3-Clause
"""What the commands of weir that are Python share (src/control/python/python.h): their command line
and error, the process that answers them, and a file that is written whole."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO, Any, Self


class CommandError(Exception):
    """What ends a command, in one line. `wrong`: what was asked for is, and nothing was done."""

    def __init__(self, text: str, wrong: bool = True, interrupted: bool = False) -> None:
        super().__init__(text)
        self.wrong, self.interrupted = wrong, interrupted


class Given(dict[str, str]):
    """A command line, which the program has checked: the values of options by their names. A number
    is in the unit of a field of its type, a flag is "". Options that are not given, and have no
    initial value, are left out. `words` are no options."""

    def __init__(self, words: Sequence[str]) -> None:
        first = words.index("--")
        second = words.index("--", first + 1)
        initial, self._given = ([word.split("=", 1) for word in part]
                                for part in (words[:first], words[first + 1:second]))
        super().__init__([*initial, *self._given])
        self.words = [*words[second + 1:]]
        self.given = {name for name, _ in self._given}

    def every(self, option: str) -> list[str]:
        """Returns the values of an option that may be given several times."""
        return [value for name, value in self._given if name == option]

    def check_parts(self, parts_of: Mapping[str, Sequence[str]], parts: Sequence[str]) -> None:
        """Rejects an option that applies to none of these parts of the command: it has no effect,
        so it is a mistake."""
        for option, its in parts_of.items():
            if option in self.given and not set(its) & {*parts}:
                raise CommandError(f"--{option} applies only to {listing(its)}")


def listing(words: Sequence[str]) -> str:
    """Returns `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def is_text(word: str) -> bool:
    """Returns whether it is UTF-8 text without control characters."""
    return not re.search(r"[\0-\x08\n-\x1f\x7f-\x9f\ud800-\udfff]", word)


def path_text(path: str) -> str:
    """Returns a path as a question has it: a character for each byte."""
    return os.fsencode(path).decode("latin-1")


def failure(answer: Mapping[str, Any], name: str) -> CommandError:
    """Returns the error that an answer is about a file: `NAME:LINE: TEXT`."""
    where = f"{name}:{answer['line']}: " if answer.get("line") else f"{name}: " if name else ""
    return CommandError(where + str(answer["error"]), bool(answer.get("wrong", False)),
                        bool(answer.get("interrupted", False)))


def encoded(question: Mapping[str, Any]) -> bytes:
    return json.dumps(question, ensure_ascii=False).encode(errors="replace") + b"\n"


class Process:
    """A process `weir ...` that answers questions: each is a line of JSON, and so is its answer. It
    ends when its questions do, or with this process."""

    def __init__(self, program: str, *words: str) -> None:
        try:
            self._popen = subprocess.Popen([program, *words], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise CommandError(f"{program} cannot be started: {error.strerror}",
                               wrong=False) from None
        assert self._popen.stdin and self._popen.stdout
        self._questions: IO[bytes] = self._popen.stdin
        self.answers: IO[bytes] = self._popen.stdout
        self.ended = False

    def send(self, question: bytes) -> None:
        rest = memoryview(question)
        try:
            while rest:
                rest = rest[self._questions.write(rest):]
        except OSError:
            pass  # it has ended: there will be no answer

    def receive(self) -> bytes | None:
        """Returns the answer to the question; None if the process has ended before."""
        parts = [b""]
        while not parts[-1].endswith(b"\n"):
            parts.append(self.answers.read(1 << 16) or b"")
            if not parts[-1]:
                self.end()
                return None
        return b"".join(parts)

    def signal(self, number: int) -> None:
        self._popen.send_signal(number)

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._popen.terminate()
            self._questions.close()
            self.answers.close()
            self._popen.wait()


class Answers:
    """What answers questions, and the questions that any command may have."""

    def exchange(self, question: bytes) -> bytes:
        """Returns the line that answers a line."""
        raise NotImplementedError

    def ask(self, question: Mapping[str, Any], name: str = "") -> dict[str, Any]:
        """Returns the answer. Raises CommandError if it is an error, about the file of this
        name."""
        answer: dict[str, Any] = json.loads(self.exchange(encoded(question)))
        if "error" in answer:
            raise failure(answer, name)
        return answer

    def nearest(self, word: str, words: Sequence[str]) -> str | None:
        """Returns the word that may be meant."""
        found = self.ask({"ask": "nearest", "word": word, "words": words})["nearest"]
        return found if found is None else str(found)

    def table(self, columns: str, rows: Sequence[Sequence[str]]) -> str:
        """Returns rows of cells as a text. `columns` has l or r for each column."""
        cells = [cell for row in rows for cell in row]
        return str(self.ask({"ask": "table", "columns": columns, "cells": cells})["text"])


class Weir(Answers):
    """The first process, and the questions that need no other one. It is started at once, because
    it starts while this one goes on."""

    def __init__(self, program: str, *words: str) -> None:
        self.program, self.words = program, words
        self.first = self._now = Process(program, *words)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.first.end()
        self._now.end()

    def exchange(self, question: bytes) -> bytes:
        """If the process has ended, another one is asked."""
        for _ in range(2):
            if self._now.ended:
                self._now = Process(self.program, *self.words)
            self._now.send(question)
            if line := self._now.receive():
                return line
        raise CommandError("the process that was asked has ended", wrong=False)


class AtomicFile:
    """A file that takes its name only when it is completely written. Until then it is beside its
    target. A target that is no regular file is written directly; a symbolic link is followed."""

    def __init__(self, path: str) -> None:
        self.path, self.target = path, os.path.realpath(path)
        self._temporary = ""
        try:
            self._fd = self._open()
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from None

    def _open(self) -> int:
        mode = 0o666 & ~_umask()
        try:
            old = os.stat(self.target)
        except FileNotFoundError:
            pass
        else:
            if not stat.S_ISREG(old.st_mode):
                return os.open(self.target, os.O_WRONLY | os.O_CLOEXEC)
            if not os.access(self.target, os.W_OK):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
            mode = old.st_mode & 0o777
        self._temporary = f"{self.target}.weir-{os.getpid()}"
        fd = os.open(self._temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.fchmod(fd, mode)
        return fd

    def write(self, text: str) -> None:
        try:
            with open(self._fd, "w", encoding="utf-8", errors="surrogateescape",
                      newline="") as file:
                file.write(text)
        except OSError as error:
            raise self._failed(error) from None

    def publish(self) -> None:
        if self._temporary:
            try:
                os.replace(self._temporary, self.target)
            except OSError as error:
                raise self._failed(error) from None
            self._temporary = ""

    def discard(self) -> None:
        if self._temporary:
            os.unlink(self._temporary)
            self._temporary = ""

    def _failed(self, error: OSError) -> CommandError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return CommandError(f"{self.path}: writing failed: {error.strerror}"
                            + ("; make room, or write it elsewhere" if full else ""), wrong=False)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
