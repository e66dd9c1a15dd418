# SPDX-License-Identifier: BSD-3-Clause
"""The shell of `weir ctl`: line editing, a history that lasts, and completion with TAB, which is
that of the command line (`weir --complete`)."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence

from .._command import Given, Weir
from .._link import Link, LinkError, Silent

with contextlib.suppress(ImportError):  # lines are not edited without it
    import readline

PATIENCE_S = 60.0
HISTORY_LINES = 1000
_CANCELLED = "^C"  # the end of a line that is to be discarded
_SETTINGS = ("tab: complete", "set show-all-if-ambiguous on", "set enable-bracketed-paste off",
             rf'"\C-c": "\C-e{_CANCELLED}\n"')


def main(words: Sequence[str]) -> int:
    """Returns the exit status of weir ctl."""
    given = Given(words)
    try:
        shell = Shell(given.get("socket"))
    except LinkError as error:
        print(f"weir ctl: {error}", file=sys.stderr)
        return 2
    if "json" in given and not shell.ask("json on", quietly=True):
        return 1
    path = history_path(os.environ)
    if "readline" in globals():
        for setting in _SETTINGS:
            readline.parse_and_bind(setting)
        readline.set_completer_delims(" \t")
        readline.set_completer(shell.complete)
        readline.set_auto_history(False)
        for line in read_history(path)[-HISTORY_LINES:]:
            readline.add_history(line)
    try:
        return shell.run()
    finally:
        if path and "readline" in globals():
            _write_history(path)


# ---- the history ----

def history_path(environment: Mapping[str, str]) -> str | None:
    """Returns $XDG_STATE_HOME/weir_history, else ~/.weir_history; None if there is no home."""
    state, home = environment.get("XDG_STATE_HOME", ""), environment.get("HOME", "")
    if state.startswith("/"):
        return f"{state}/weir_history"
    return f"{home}/.weir_history" if home.startswith("/") else None


def read_history(path: str | None) -> list[str]:
    """Returns the lines. Earlier shells wrote them as libedit does, with a heading."""
    try:
        with open(path or os.devnull, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    if lines[:1] != ["_HiStOrY_V2_"]:
        return lines
    return [re.sub(r"\\([0-7]{3}|\\)", lambda found: "\\" if found[1] == "\\" else
                   chr(int(found[1], 8)), line) for line in lines[1:]]


def _write_history(path: str) -> None:
    last = readline.get_current_history_length()
    lines = [readline.get_history_item(i)
             for i in range(max(1, last - HISTORY_LINES + 1), last + 1)]
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
            os.fchmod(fd, 0o600)
            file.writelines(f"{line}\n" for line in lines)


# ---- the shell ----

def completions(socket: str | None, typed: str) -> list[str]:
    """Returns the words that may stand at the end of what is typed."""
    words = typed.split()
    if not typed or typed[-1] in " \t":
        words.append("")
    where = ["-s", socket] if socket else []
    told = subprocess.run([os.environ["WEIR"], "--complete", "ctl", *where, *words],
                          capture_output=True, encoding="utf-8", errors="surrogateescape",
                          check=False).stdout
    return sorted({word for word in told.splitlines() if not word.startswith("/")})


@contextlib.contextmanager
def _keys() -> Iterator[None]:
    """^C is a key that discards the line, as in other shells, and no signal that ends weir ctl,
    until one waits for an answer."""
    before = termios.tcgetattr(0)
    keys = termios.tcgetattr(0)
    if "readline" in globals() and sys.stdout.isatty():  # else input() reads without it
        keys[6][termios.VINTR] = b"\0"  # no character
    termios.tcsetattr(0, termios.TCSADRAIN, keys)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


class Shell:
    def __init__(self, path: str | None) -> None:
        self._path = path
        self._link = Link(path, PATIENCE_S)
        self._json = self._in_batch = False
        self._found: list[str] = []
        self._weir: Weir | None = None  # which knows the files that a line names

    def complete(self, text: str, index: int) -> str | None:
        """Returns the word of this index that may take the place of `text`, for readline."""
        if index == 0:
            typed = readline.get_line_buffer()[:readline.get_endidx()]
            self._found = completions(self._path, typed)
            if len(self._found) == 1:
                self._found[0] += " "
        return self._found[index] if index < len(self._found) else None

    def run(self) -> int:
        """Reads lines until quit, exit or the end of input, and prints the answers."""
        while (line := self._typed()) is not None and line not in ("quit", "exit"):
            if line and not self._do(line):
                return 1
            sys.stdout.flush()
        return 0

    def _typed(self) -> str | None:
        """Returns a line; "" for one that is discarded; None at the end of input."""
        with _keys():
            try:
                line = input("weir (batch)> " if self._in_batch else "weir> ")
            except EOFError:
                print("^D")
                return None
        if line.endswith(_CANCELLED):
            return ""
        if line.strip() not in ("", "quit", "exit") and "readline" in globals():
            last = readline.get_current_history_length()
            if last == 0 or readline.get_history_item(last) != line:
                readline.add_history(line)
        return line.strip()

    def _do(self, line: str) -> bool:
        """Returns false if there is no weir any more."""
        words = line.split()
        if words[0] in ("events", "sample") and words[1:] != ["off"]:
            print("this command never ends; run it outside the shell: weir ctl events, weir ctl "
                  "sample 1s")
        elif words[0] in ("load", "save"):
            sys.stdout.flush()
            subprocess.run([os.environ["WEIR"], "ctl", "-s", self._link.path,
                            *(["-j"] if self._json else []), line], check=False)
        else:
            try:
                return self.ask(line)
            except LinkError as error:
                why = "weir does not answer" if isinstance(error, Silent) else "the server is gone"
                print(f"weir ctl: {line}: {why}", file=sys.stderr)
                return False
        return True

    def ask(self, line: str, quietly: bool = False) -> bool:
        """Prints the answer to a line. Returns false if there is no server any more; quietly: if
        the answer is an error, which alone is printed."""
        try:
            ok, text = self._answer(line)
            closed = not ok and "idle for 10 minutes" in text
        except Silent:
            raise
        except LinkError:
            closed = True
        if closed:
            lost_batch = self._in_batch
            if not self._connect_again():
                return False
            if lost_batch:
                return True
            ok, text = self._answer(line)
        words = line.split()
        if words in (["begin"], ["begin", "whole"]) and ok:
            self._in_batch = True
        elif words == ["commit"] or (words == ["abort"] and ok):
            self._in_batch = False
        if not ok and not text.startswith("{"):
            print(f"err {text}")
        elif not (ok and quietly):
            print(text, end="")
        return ok or not quietly

    def _answer(self, line: str) -> tuple[bool, str]:
        if self._weir is None:
            self._weir = Weir(os.environ["WEIR"], "top", "--answer")
        files = self._weir.ask({"ask": "files", "line": line})["files"]
        self._link.send(line, files)
        if line.split() in (["json", "on"], ["json", "off"]):
            self._json = line.split()[1] == "on"
        receive = self._link.object_line if self._json else self._link.answer
        *refused, answer = [receive() for _ in range(len(files) + 1)]
        # The error that a file was not taken explains more than the error that it is missing.
        return next((one for one in refused if not one[0]), answer) if not answer[0] else answer

    def _connect_again(self) -> bool:
        self._link.close()
        try:
            self._link = Link(self._path, PATIENCE_S)
        except LinkError as error:
            print(f"weir ctl: {error}", file=sys.stderr)
            return False
        json, self._json = self._json, False
        if json:
            self._answer("json on")
        lost = ", the batch is lost: begin again" if self._in_batch else ""
        self._in_batch = False
        print(f"weir ctl: the server had closed the connection; connected again{lost}",
              file=sys.stderr)
        return True
