# SPDX-License-Identifier: BSD-3-Clause
"""A weir that runs in the process that measures, with clients: what changes cost the
packets that flow meanwhile, and hours at half of the critical load, with all the activity around a
weir that a lab leaves running."""

from __future__ import annotations

import json
import os
import subprocess
import termios
import time
from typing import Any

from .._command import AtomicFile, CommandError
from .changes import BASE, Changes
from .document import number, text
from .plan import Plan
from .tester import closing

STEP_S = 0.1  # in which clients are answered before something else has its turn


# ---- reconf ----

RECONF_PPS, RECONF_CHANGES = 1e6, 1000
FILL_S, QUIET_S = 0.2, 2.0


def reconf(plan: Plan) -> None:
    weir = plan.weir
    plan.progress("reconf: 1000 changes at 1 Mpps")
    plan.ask("live-open", pps=RECONF_PPS, statements=BASE)
    with closing(plan, "live-close"):
        socket = weir.ask({"ask": "live-serve", "pps": RECONF_PPS})["socket"]
        weir.ask({"ask": "live-step", "for": FILL_S})  # the line must fill first
        weir.ask({"ask": "live-begin"})
        weir.ask({"ask": "live-step", "for": QUIET_S})
        without = weir.ask({"ask": "live-window"})["window"]
        changes = Changes(plan, socket, most=RECONF_CHANGES)
        weir.ask({"ask": "live-begin"})
        with changes:
            while changes.is_alive():
                weir.ask({"ask": "live-step", "for": STEP_S})
        answer = weir.ask({"ask": "live-window"})
        with_changes = answer["window"]
        away = with_changes["missed_away_packets"]
        ns = 1e9 / RECONF_PPS  # from one packet to the next
        blocked_ns = (with_changes["lost_packets"] + with_changes["missed_packets"] - away) * ns
        # Time in which others had the worker's processor blocks packets, too, but is not weir's.
        plan.rows.append({
            "part": "reconf", "changes": changes.made, "blocked_ns": blocked_ns,
            "blocked_ns_per_change": blocked_ns / changes.made if changes.made else 0.0,
            "blocked_away_ns": away * ns,
            "taken_ns": with_changes["taken"] * answer["seconds"] * 1e9,
            "with": with_changes, "without": without})


# ---- soak ----

MOST_PPS = 30e6  # offered in the search at most
RESOLUTION = 0.005  # of the search (bench_rfc2544.h)
TRIAL_S, HOUR_S = 0.5, 3600.0
PARTS = 6       # number of parts of a run shorter than as many hours
CHANGE_S = 1.0  # from one change to the next
LEVEL_S = 60.0  # by then weir has taken all memory that it needs
ENDS_S = 2.0


class Audience:
    """`weir top` at a terminal of its own, `weir serve`, and a capture of drops: clients of a
    socket. Those that cannot be started are left out."""

    def __init__(self, socket: str) -> None:
        self._terminal, end = os.openpty()
        termios.tcsetwinsize(end, (24, 80))
        os.set_blocking(self._terminal, False)
        self._running: list[subprocess.Popen[bytes]] = []
        self._start(end, "top", "-s", socket)
        os.close(end)
        self._start(subprocess.DEVNULL, "serve", "-s", socket, "--listen", f"unix:{socket}-http")
        self._start(subprocess.DEVNULL, "ctl", "-s", socket, "capture", "down", "drops", "-o",
                    "/dev/null")

    def _start(self, terminal: int, *words: str) -> None:
        try:
            self._running.append(subprocess.Popen(
                [os.environ["WEIR"], *words], stdin=terminal, stdout=terminal, stderr=terminal,
                env={**os.environ, "TERM": "xterm"}, start_new_session=True))
        except OSError:
            pass

    def running(self) -> int:
        """Returns how many run, without those that have ended by themselves; reads and discards
        what top has drawn."""
        try:
            while os.read(self._terminal, 1 << 16):
                pass
        except OSError:
            pass  # there is no more, or top has ended
        self._running = [each for each in self._running if each.poll() is None]
        return len(self._running)

    def end(self) -> None:
        for each in self._running:
            each.terminate()
        until = time.monotonic() + ENDS_S
        while self.running() > 0:
            if time.monotonic() > until:
                for each in self._running:
                    each.kill()
            time.sleep(0.01)
        os.close(self._terminal)


def _memory(pid: int) -> tuple[int, int]:
    """Returns the resident memory of weir, and how much of it is not pages of mapped files, in KiB.
    The kernel maps and unmaps such pages as it likes, so what weir has written is counted
    separately."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        kib = {name: int(rest.split()[0]) for name, _, rest in
               (line.partition(":") for line in status) if name in ("VmRSS", "RssAnon", "RssShmem")}
    return kib["VmRSS"], kib["RssAnon"] + kib["RssShmem"]


class Soak:
    def __init__(self, plan: Plan, row: dict[str, Any], changes: Changes,
                 audience: Audience) -> None:
        self.plan, self.weir, self.row = plan, plan.weir, row
        self.changes, self.audience = changes, audience
        self.done_s = number(row["parts"][-1], "until_s") if row["parts"] else 0.0
        self.most_s = float(plan.asked["hours"]) * HOUR_S
        self.first: tuple[int, int] | None = None  # memory, when it has settled

    def run(self) -> None:
        part_s = min(self.most_s / PARTS, HOUR_S) if self.most_s < PARTS * HOUR_S else HOUR_S
        while self.done_s < self.most_s and self.changes.is_alive():
            self._part(min(part_s, self.most_s - self.done_s))

    def _part(self, seconds: float) -> None:
        """Runs one part, and adds its row. If a part is interrupted, it counts for its actual
        duration, provided that memory has settled."""
        before = self.changes.made
        self.weir.ask({"ask": "live-begin"})
        try:
            self._serve(seconds)
        except CommandError as error:
            if error.interrupted and self.first:
                self._add(self.changes.made - before)
            raise
        self._add(self.changes.made - before)

    def _serve(self, seconds: float) -> None:
        begin = time.monotonic()
        while (past := time.monotonic() - begin) < seconds:
            self.weir.ask({"ask": "live-step", "for": min(STEP_S, seconds - past)})
            self.audience.running()
            if self.first is None and time.monotonic() - begin > min(LEVEL_S, seconds / 2):
                self.first = _memory(self.plan.pid)

    def _add(self, changes: int) -> None:
        answer = self.weir.ask({"ask": "live-window"})
        self.done_s += answer["seconds"]
        (rss, written), (rss_first, written_first) = _memory(self.plan.pid), self.first or (0, 0)
        self.row["parts"].append({
            **answer["window"], "until_s": self.done_s, "changes": changes,
            "attached": self.audience.running(), "rss_kib": rss, "rss_first_kib": rss_first,
            "written_kib": written, "written_first_kib": written_first,
            "unaccounted_packets": self.weir.ask({"ask": "live-unaccounted"})["packets"]})
        if "continue" in self.plan.given:  # for a run that continues this one
            file = AtomicFile(self.plan.given["continue"])
            file.write(json.dumps(self.row, indent=1, ensure_ascii=False) + "\n")
            file.publish()


def soak(plan: Plan) -> None:
    plan.progress("soak")
    row = _resumed(plan)
    pps = number(row, "load_mpps") * 1e6 if row else MOST_PPS
    if row:
        plan.rows.append(row)
    plan.ask("live-open", pps=pps, statements=BASE)
    with closing(plan, "live-close"):
        if not row:
            row = _critical(plan)
            plan.rows.append(row)
            pps = row["load_mpps"] * 1e6
        socket = plan.weir.ask({"ask": "live-serve", "pps": pps})["socket"]
        with Changes(plan, socket, pause=CHANGE_S) as changes:
            audience = Audience(socket)
            try:
                Soak(plan, row, changes, audience).run()
            finally:
                audience.end()


def _resumed(plan: Plan) -> dict[str, Any] | None:
    """Returns the results of earlier parts; None if there are none."""
    path = plan.given.get("continue")
    if path is None:
        return None
    if not os.path.exists(path):
        # Whether the file can be written is found out before the hours begin, not after the first
        # of them.
        AtomicFile(path).discard()
        return None
    read = plan.weir.ask({"ask": "json", "path": path})
    row = read["json"]
    if isinstance(row, dict) and text(row, "part") == "soak" and number(
            row, "load_mpps") > 0 and isinstance(row.get("parts"), list):
        return row
    raise CommandError(f"{path}: was not written by `weir bench soak --continue`"
                       + (f": {read['text']}" if row is None else ""))


def _critical(plan: Plan) -> dict[str, Any]:
    """Finds the critical load at a bound of loss. Half of it is the load."""
    bound = plan.asked["loss_bound"]
    found = plan.ask("live-critical", most_pps=MOST_PPS, bound=bound,
                     trial_s=plan.seconds(TRIAL_S))
    if found["median"] == 0:
        raise CommandError(
            f"soak: even at {MOST_PPS * RESOLUTION:.3g} packets a second, the share of lost "
            f"packets exceeds {bound:g}; a machine that is busy with other work has no critical "
            "load", wrong=False)
    return {"part": "soak", "critical_mpps": found["median"] / 1e6,
            "critical_mpps_min": found["min"] / 1e6, "critical_mpps_max": found["max"] / 1e6,
            "loss_bound": bound, "searches": found["n"], "load_mpps": found["median"] / 2 / 1e6,
            "parts": []}
