# SPDX-License-Identifier: BSD-3-Clause
"""What can be done with a path that runs: weir.Path, and weir.on."""

from __future__ import annotations

import os
from types import TracebackType

from . import language, protocol, show
from .client import Client
from .errors import Failed
from .show import Spread

__tracebackhide__ = True  # pytest shows the line of the test, and not these


def _lateness(port: show.Port, most_ns: int) -> str | None:
    """Describes how many packets left the port later than that; None: none did. The buckets are
    1/32 octave wide, so the number is right to 3 % of `most_ns`."""
    whole = port.raw.get("lateness_ns") or {}
    if whole.get("max_ns", 0) <= most_ns:
        return None
    late = sum(count for top, count in whole["buckets"] if top > most_ns)
    return (f"port {port.name}: {late} of {whole['count']} packets left more than "
            f"{protocol.time_text(most_ns)} late, the latest "
            f"{protocol.time_text(whole['max_ns'])}")


def _machine() -> str:
    return (f"load average {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} "
            "processors")


class Live:
    """Two clouds, `down` and `up`, of a weir that runs."""

    _weir: str | os.PathLike[str] | None

    @property
    def control(self) -> Client:
        """A client of the path's weir."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends weir. errors.Failed is raised if weir has failed."""
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            self.close()
        except Failed:
            if kind is None:  # otherwise the error of the block takes precedence
                raise

    def down(self, *statements: str) -> None:
        """Changes the direction `down`: statements as after `cloud down`, in one transaction."""
        self.control.change(*(f"cloud down {statement}" for statement in statements))

    def up(self, *statements: str) -> None:
        """Changes the direction `up`, likewise."""
        self.control.change(*(f"cloud up {statement}" for statement in statements))

    def show(self, way: str = "down") -> show.Cloud:
        """Returns the counters of a direction since the start."""
        return self.control.cloud(way, everything=True)

    def real_losses(self) -> dict[str, int]:
        """Returns the packets that weir itself has lost, though the scenario did not ask for it;
        `{}` if there are none."""
        kinds = language.tables(self._weir).reasons
        totals = self.control.totals()
        lost = {f"port {port.name}": port.really_lost for port in totals.ports if port.really_lost}
        for cloud in totals.clouds:
            for reason, count in cloud.drops.items():
                if count and kinds.get(reason, "real") == "real":
                    lost[f"cloud {cloud.name}, {reason}"] = count
        return lost

    def assert_no_real_loss(self) -> None:
        """Raises AssertionError if weir itself has lost a packet, though the scenario did not ask
        for it: then the measurement is in doubt."""
        lost = self.real_losses()
        if lost:
            raise AssertionError("weir itself lost packets, which the scenario did not ask for: "
                                 + ", ".join(f"{count} at {where}"
                                             for where, count in lost.items()))

    def lateness(self) -> dict[str, Spread]:
        """Returns for each port how long after their due time packets have left there, in ns, since
        the start or `clear counters`. The values are None where none has left."""
        return {port.name: port.lateness_ns for port in self.control.ports()}

    def assert_punctual(self, most: float | str = "2ms") -> None:
        """Raises AssertionError if a packet has left later than `most` after its due time (seconds,
        or a text such as "2ms"), because weir did not get the processor in time: then the delays
        of the scenario are not those that the test has met."""
        most_ns = protocol.nanoseconds(most)
        totals = self.control.totals()
        late = [_lateness(port, most_ns) for port in totals.ports]
        found = [text for text in late if text is not None]
        if not found:
            return
        poll_ns = max((worker.longest_poll_ns for worker in totals.workers), default=0)
        raise AssertionError("\n".join([
            f"weir was not punctual to {most}, so the delays were longer than the scenario's:",
            *(f"  {text}" for text in found),
            f"weir did not get a processor for up to {protocol.time_text(poll_ns)}; "
            f"{_machine()}",
            "run less beside the test (pytest -n 1), or give weir more of the machine: as root, or "
            "with a processor of its own"]))
