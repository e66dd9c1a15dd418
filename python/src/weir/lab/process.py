# SPDX-License-Identifier: BSD-3-Clause
"""A process `weir lab answer`, which reads experiments, runs points, and draws tables and pages.

A question is a line of JSON, the answer another one (src/control/lab/lab.h and
src/control/python/python.h have them all).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO, Any


class LabError(Exception):
    """What ends `weir lab`, in one line. `wrong`: what was asked for is, and nothing was run."""

    def __init__(self, text: str, wrong: bool = True) -> None:
        super().__init__(text)
        self.wrong = wrong


def failure(answer: Mapping[str, Any], name: str) -> LabError:
    """Returns the error that an answer is about an experiment: `NAME:LINE: TEXT`."""
    where = f"{name}:{answer['line']}: " if answer.get("line") else f"{name}: " if name else ""
    return LabError(where + str(answer["error"]), bool(answer.get("wrong", False)))


def encoded(question: Mapping[str, Any]) -> bytes:
    return json.dumps(question, ensure_ascii=False).encode(errors="replace") + b"\n"


class Process:
    """A process and what is open to it. It ends when its questions do, or with this process."""

    def __init__(self, program: str) -> None:
        try:
            self._popen = subprocess.Popen([program, "lab", "answer"], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise LabError(f"{program} cannot be started: {error.strerror}", wrong=False) from None
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

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._popen.terminate()
            self._questions.close()
            self.answers.close()
            self._popen.wait()


class Weir:
    """The first process, and the questions that need no other one. It is started at once, because
    it starts while this one goes on."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.first = self._now = Process(program)

    def __enter__(self) -> Weir:
        return self

    def __exit__(self, *error: object) -> None:
        self.first.end()
        self._now.end()

    def _ask(self, question: Mapping[str, Any], name: str = "") -> dict[str, Any]:
        """Returns the answer. If the process has ended, another one is asked. Raises LabError if
        the answer is an error, about the experiment of this name."""
        for _ in range(2):
            if self._now.ended:
                self._now = Process(self.program)
            self._now.send(encoded(question))
            if line := self._now.receive():
                answer: dict[str, Any] = json.loads(line)
                if "error" in answer:
                    raise failure(answer, name)
                return answer
        raise LabError("the process that was asked has ended", wrong=False)

    def read(self, **what: str) -> list[dict[str, Any]]:
        """Returns experiments with their lines, split into words: that of a `path`, or a `text` of
        this `name`; or else those that are built in, of this `name`, or all."""
        for path in [what["path"]] if "path" in what else []:
            if re.search(r"[\0-\x08\n-\x1f\x7f-\x9f\ud800-\udfff]", path):
                raise LabError("the name of this file is not UTF-8 text, as JSON needs it; rename "
                               "the file")
        found = self._ask({"ask": "read", **what})
        return list(found["experiments"])

    def check(self, question: Mapping[str, Any], name: str) -> None:
        """Sees that the point of an experiment of this name can be built."""
        self._ask(question, name)

    def nearest(self, word: str, words: Sequence[str]) -> str | None:
        """Returns the word that may be meant."""
        found = self._ask({"ask": "nearest", "word": word, "words": words})["nearest"]
        return found if found is None else str(found)

    def table(self, columns: str, rows: Sequence[Sequence[str]]) -> str:
        """Returns rows of cells as a text. `columns` has l or r for each column."""
        cells = [cell for row in rows for cell in row]
        return str(self._ask({"ask": "table", "columns": columns, "cells": cells})["text"])

    def page(self, title: str, subtitle: str, parts: Sequence[Mapping[str, Any]]) -> str:
        """Returns a page of HTML."""
        return str(self._ask({"ask": "page", "title": title, "subtitle": subtitle,
                              "parts": parts})["text"])


def path_text(path: str) -> str:
    """Returns a path as a question has it: a character for each byte."""
    return os.fsencode(path).decode("latin-1")
