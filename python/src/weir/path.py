# SPDX-License-Identifier: BSD-3-Clause
"""Two network namespaces joined by a weir, as root and as an ordinary user.

    with weir.Path("rate 2mbit queue 20kB", "delay 280ms") as path:
        server = path.server.popen(["iperf3", "-s", "-1"])
        path.client.run(["iperf3", "-c", path.server.host], check=True)

A path is made by `weir exec --between` (docs/exec.md): namespaces without names, which disappear
with the processes in them, with offloads, addresses and host names set up. A process at each end
starts the processes of the test. If the process that made a Path ends, even by `kill -9`, the
processes at both ends are killed, and the namespaces disappear.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

from . import program
from .client import Client
from .end import DEVNULL, End
from .errors import Disconnected, Failed, WeirError
from .live import Live
from .recording import Recording, flight_words
from .scenario import Scenario

__tracebackhide__ = True  # pytest shows the line of the test, and not these

END_S = 60.0  # a weir that takes longer to end is killed


class Path(Live):
    """`client` and `server`, and a weir between them. `down` leads to the client, `up` to the
    server.

    `down` and `up` are statements, or lists of them. `scenario` is the name of one of configs/, a
    file, or a Scenario with clouds of these names. `record`: what crosses the path is captured,
    counted and drawn; the files are in `folder` when the path has ended. `recording`: everything
    that comes in is also recorded, in the subfolder `recording`, up to this size, such as "16MB";
    weir.Recording replays it. `flight`, in place of `recording`, keeps only the last so many
    seconds (a number, or as "10s"), or what fits into so much memory, such as "64MB";
    `flight_dump()` makes a recording of it. If no `folder` is given, the files are removed at the
    end."""

    def __init__(self, down: str | Sequence[str] = (), up: str | Sequence[str] = (), *,
                 scenario: Scenario | str | None = None, seed: int | None = None,
                 folder: str | os.PathLike[str] | None = None, record: bool = True,
                 recording: str | None = None, flight: float | str | None = None,
                 weir: str | os.PathLike[str] | None = None) -> None:
        self.seed = seed if seed is not None else int.from_bytes(os.urandom(4), "big")
        self.client, self.server = End("client"), End("server")
        self.record = record
        self._limit = recording
        self._flight = flight
        self._statements = {"down": down, "up": up}
        self._scenario = scenario
        self._weir = weir
        self._given = folder
        self._process: subprocess.Popen[str] | None = None
        self._left = contextlib.ExitStack()
        self._control: Client | None = None
        self._begun = ""

    # -- start and end --

    def _text_of(self, way: str) -> str:
        statements = self._statements[way]
        return statements if isinstance(statements, str) else " ".join(map(str, statements))

    def _words(self) -> list[str]:
        words = [program.find(self._weir), "exec", *([] if self.record else ["-q"]),
                 "--seed", str(self.seed),
                 "-s", self._socket, "--log-level", "warning"]
        if isinstance(self._scenario, Scenario):
            path = self.folder / "scenario.weir"
            path.write_text(str(self._scenario), encoding="utf-8")
            words += ["-c", str(path)]
        elif self._scenario is not None:
            words += (["-c", self._scenario] if os.path.exists(self._scenario)
                      else [self._scenario])
        for way in ("down", "up"):
            if self._text_of(way):
                words += [f"--{way}", self._text_of(way)]
        if self.record:
            for option, name in (("report", "report.json"), ("log", "fates.csv"),
                                 ("pcap", "crossed.pcapng"), ("picture", "picture.html")):
                words += [f"--{option}", str(self.folder / name)]
        if self._limit is not None:
            words += ["--record", str(self.folder / "recording"), "--limit", self._limit]
        if self._flight is not None:
            words += flight_words(self._flight, to=self.folder / "flight")
        return [*words, "--between", self.server._command(True), self.client._command(False)]

    def __enter__(self) -> Path:
        if self.client._channel.fileno() < 0 or self._process is not None:
            raise WeirError("this path has begun already; each `with` takes a weir.Path of its own")
        with contextlib.ExitStack() as left:
            for end in (self.client, self.server):
                left.callback(end._hang_up)
                left.callback(end._theirs.close)
            self._process = self._start(left)
            self._left = left.pop_all()
        for end in (self.client, self.server):
            end._theirs.close()
        try:
            self._meet()
        except BaseException:
            with contextlib.suppress(Failed):  # the first error takes precedence
                self.close()
            raise
        return self

    def _start(self, left: contextlib.ExitStack) -> subprocess.Popen[str]:
        """Starts weir exec. `left` receives the clean-up for the end of the path, or for a failure
        here."""
        own = tempfile.mkdtemp(prefix="weir-path-") if self._given is None else None
        if own is not None:
            left.callback(shutil.rmtree, own, ignore_errors=True)
        self.folder = pathlib.Path(own or os.fspath(self._given or ".")).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        # A socket's name may have at most 107 bytes, and the folder's name may be longer.
        place = os.open(self.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        left.callback(os.close, place)
        self._socket = f"/proc/self/fd/{place}/control"
        # "a": reading moves the offset, which weir shares.
        self._said = left.enter_context(
            open(self.folder / "weir.log", "a+", encoding="utf-8", errors="replace"))
        self._said.truncate(0)
        theirs = [end._theirs.fileno() for end in (self.client, self.server)]
        return subprocess.Popen(self._words(), pass_fds=[*theirs, place], stdin=DEVNULL,
                                stdout=self._said, stderr=self._said, text=True,
                                start_new_session=True)

    def _hear(self, end: End) -> dict[str, Any]:
        """Returns the first message of an end, or raises the reason why there will be none."""
        assert self._process is not None
        gone = os.pidfd_open(self._process.pid)
        try:
            waited = select.poll()
            waited.register(end._channel, select.POLLIN)
            waited.register(gone, select.POLLIN)
            if end._channel.fileno() in dict(waited.poll()):
                return end._answer()
            self._process.wait()
            raise self._failed()
        except Disconnected:
            self._process.wait(60)
            raise self._failed() from None
        finally:
            os.close(gone)

    def _messages(self) -> str:
        self._said.seek(0)
        return self._said.read()

    def _failed(self) -> Failed:
        assert self._process is not None
        return program.failed("exec", self._process.returncode or 0, self._messages())

    def _meet(self) -> None:
        first = self._hear(self.client)
        self.server._channel.sendall(b"\n")
        self._hear(self.server)
        addresses = first["addresses"]
        self.server.addresses = tuple(addresses["A"])
        self.client.addresses = tuple(addresses["B"])
        self._control = Client(self._socket)
        self._begun = self._control.config()

    def close(self) -> None:
        """Ends the path and all processes at its ends. Then the record is in `folder`. If weir
        could not write all of it, or did not end by itself, errors.Failed is raised."""
        if self._process is None:
            return
        if self._control is not None:
            self._control.close()
        for end in (self.client, self.server):
            end._hang_up()
        wrong = None
        try:
            if self._process.wait(END_S) != 0:
                wrong = self._failed()
        except subprocess.TimeoutExpired:
            self._process.kill()
            wrong = Failed(f"weir exec did not end within {END_S:g} s and was killed; the record "
                           "is incomplete", self._process.wait(), self._messages())
        self._process = None
        self._left.close()
        if wrong is not None:
            raise wrong

    # -- operations --

    @property
    def control(self) -> Client:
        """A client of the path's weir."""
        if self._control is None:
            raise WeirError("the path begins with its `with` statement")
        return self._control

    @property
    def scenario(self) -> str:
        """The scenario at the start, as the text of a scenario file."""
        return self._begun

    @property
    def recording(self) -> Recording | None:
        """The recording of all that came in, once the path has ended. None if nothing was recorded,
        or if the recording is incomplete because it reached its limit."""
        folder = self.folder / "recording"
        if self._limit is None or not (folder / "outcome.json").exists():
            return None
        found = Recording(folder, weir=self._weir)
        return None if (found.outcome or {})["recorded"]["ended_early"] else found

    def flight_dump(self, folder: str | os.PathLike[str] | None = None) -> Recording:
        """Dumps the flight into a new folder, and returns it as a recording. If `folder` is None,
        the folder is `flight-DATE` in the path's own folder."""
        return self.control.flight_dump(folder, weir=self._weir)

    def _last(self) -> str:
        if self._process is None:
            return "no flight: the path had ended before"
        try:
            return ("to run its last seconds again: weir replay --recording "
                    f"{self.flight_dump().folder}")
        except Exception as error:  # this may be why the test has failed
            return f"no flight: {error}"

    def evidence(self) -> str:
        """Ends the path, and returns a description of the path and of what crossed it."""
        try:
            now = self.control.config()
        except Exception:  # this may be why the test has failed
            now = self.scenario
        last = [self._last()] if self._flight is not None else []
        try:
            self.close()
        except Failed as error:
            last.append(f"the record is incomplete: {error}")
        parts = [f"repeat it with --weir-seed {self.seed}", "", "The path began with",
                 self.scenario]
        if now != self.scenario:
            parts += ["and was at the end", now]
        log = self.folder / "weir.log"
        parts.append(log.read_text(encoding="utf-8", errors="replace") if log.exists() else "")
        for name, what in (("crossed.pcapng", "the packets at both ends"),
                           ("fates.csv", "the fate of every packet"),
                           ("report.json", "the counters"), ("picture.html", "a picture")):
            if (self.folder / name).exists():
                parts.append(f"{what}: {self.folder / name}")
        recorded = self.folder / "recording"
        if self.recording is not None:
            parts.append(f"to run all of it again: weir replay --recording {recorded}")
        elif (recorded / "outcome.json").exists():
            shutil.rmtree(recorded, ignore_errors=True)
            parts.append(f"no recording: more than {self._limit}")
        elif (recorded / "recording.json").exists():
            parts.append(f"to run again what was recorded: weir replay --recording {recorded}")
        return "\n".join(parts + last)
