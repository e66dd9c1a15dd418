# SPDX-License-Identifier: BSD-3-Clause
"""The options of `weir learn` (learn_command.c)."""

from __future__ import annotations

from .._command import CommandError, Given

CLOCKS = ("guess", "same", "apart")


class Options:
    def __init__(self, given: Given) -> None:
        check(given)
        self.files = given.words
        self.live, self.server = given.get("live", ""), given.get("server", "")
        self.sent, self.received = given.get("sent", ""), given.get("received", "")
        self.out, self.picture = given.get("out"), given.get("picture")
        self.pairs, self.headers = given.get("pairs"), given.get("headers")
        self.clocks = given.get("clocks", "guess")
        self.time_ns, self.most_bps = int(given["time"]), int(given["most"])
        self.windows_ns, self.seed = int(given.get("windows", 0)), int(given["seed"])
        self.trace, self.one_way = "trace" in given, "one-way" in given
        self.json, self.stay = "json" in given, "stay" in given


def check(given: Given) -> None:
    """Rejects what does not go together."""
    files, captures = given.words, "sent" in given or "received" in given
    trace, live, server = "trace" in given, "live" in given, "server" in given
    ways = captures + trace + live + server
    for clocks in given.every("clocks"):
        if clocks not in CLOCKS:
            raise CommandError(f"--clocks `{clocks}` is none of guess, same and apart")
    if ways > 1:
        raise CommandError("--sent and --received, --trace, --live and --server are four ways: "
                           "choose one")
    if captures:
        _check_captures(given)
    measured = not trace and not server
    # Options of one way to learn, which would do nothing in another one.
    for option, to, fine in (
            ("one-way", "--sent and --received", "sent" in given),
            ("pairs", "--sent and --received", "sent" in given),
            ("headers", "one capture", len(files) == 1 and not trace),
            ("time", "--live", live), ("most", "--live or --server", live or server),
            ("stay", "--server", server), ("picture", "packets that were measured", measured),
            ("windows", "packets that were measured", measured)):
        if option in given.given and not fine:
            raise CommandError(f"--{option} belongs to {to}")
    if trace and not files:
        raise CommandError("--trace needs the names of traces")
    if (live or server) and files:
        raise CommandError(f"{files[0]}: nothing is read from a file here")
    if ways == 0 and len(files) != 1:
        raise CommandError("give two captures, --sent PCAP --received PCAP, or one file of "
                           "measurements")


def _check_captures(given: Given) -> None:
    if "sent" not in given or "received" not in given:
        raise CommandError("give the captures of both ends: --sent PCAP --received PCAP")
    for word in given.words:
        raise CommandError(f"{word}: the captures are named by --sent and --received; a file "
                           "without an option stands alone")
    if given["sent"] == given["received"]:
        raise CommandError(f"{given['sent']} is named twice; the captures of both ends are needed")
