# SPDX-License-Identifier: BSD-3-Clause
"""A document as tables: each is a list of columns, filled from rows, or from objects in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .._command import Answers
from .document import Row, burst_is_least, inner, number, rows_of, text

DROPPED_MUCH = 0.05  # share from which a figure is about drops rather than forwarding
Column = tuple[str, Callable[[Row], str]]  # its heading, and what makes a cell of a row


def fixed(heading: str, key: str, decimals: int, unit: float = 1) -> Column:
    return heading, lambda row: f"{number(row, key) / unit:.{decimals}f}"


def whole(heading: str, key: str) -> Column:
    return heading, lambda row: f"{int(number(row, key)):,}"


def words(heading: str, key: str) -> Column:
    return heading, lambda row: text(row, key)


def _draw(weir: Answers, sides: str, columns: Sequence[Column], rows: Iterable[Row]) -> str:
    return weir.table(sides, [[heading for heading, _ in columns],
                              *([cell(row) for _, cell in columns] for row in rows)])


# ---- cost, depth, clouds ----

def _spread(row: Row) -> str:
    """By how much the runs deviate from their median, in percent."""
    median = number(row, "mpps")
    most = max(median - number(row, "mpps_min"), number(row, "mpps_max") - median)
    return f"{most / median * 100 if median > 0 else 0:.0f}"


def _remark(row: Row) -> str:
    """What readers must know before they rely on the figure."""
    drops, lost = number(row, "dropped_mpps"), number(row, "lost_packets")
    dropped = drops / (drops + number(row, "mpps")) if drops > 0 else 0
    disturbed, missed = number(row, "disturbed_runs"), number(row, "flight_missed")
    if row.get("mbufs_short") is True:
        return "limited by packet buffers"
    if lost > 0:
        return f"limited by memory: {lost:.0f} lost"
    if dropped > DROPPED_MUCH:
        return (f"the scenario drops {dropped * 100:.1f} %: {number(row, 'ns_per_arrival'):.1f} "
                "ns per arriving packet")
    if missed == 1:
        return "the flight keeps no packets"
    if missed > 0:
        return (f"the flight keeps {number(row, 'flight_mpps'):.1f} Mpps, and misses "
                f"{missed * 100:.0f} %")
    if disturbed > 0:
        return (f"{disturbed:.0f} of {number(row, 'runs'):.0f} runs disturbed, "
                f"{number(row, 'taken') * 100:.1f} % taken away")
    return ""


_FORWARDING: list[Column] = [
    fixed("Mpps", "mpps", 2), ("+-%", _spread), fixed("ns/pkt", "ns_per_packet", 2),
    fixed("cycles", "cycles_per_packet", 1), fixed("ceiling", "ceiling_mpps", 1),
    fixed("ratio", "ratio", 3)]
_COST = [words("scenario", "scenario"), words("ports", "ports"), words("bytes", "frames"),
         *_FORWARDING, fixed("Gbit/s", "gbps", 1), ("", _remark)]
_DEPTH = [whole("in flight", "in_flight_packets"), fixed("delay ms", "delay_ns", 1, 1e6),
          *_FORWARDING, fixed("bytes", "bytes_per_packet", 1),
          fixed("against first", "relative", 3), ("", _remark)]
_CLOUDS = [whole("clouds", "clouds"), *_FORWARDING, fixed("against first", "relative", 3),
           ("", _remark)]

# ---- precision, clock ----

_PERCENTILES = [whole(name, name) for name in ("p50", "p90", "p99", "p99.9", "p99.99", "max")]
_LATE = [*_PERCENTILES, fixed("early", "early", 0)]
_OFF = [*_PERCENTILES, whole("count", "count")]


def _late(row: Row, name: str, key: str, share: str | None = None) -> list[str]:
    found = inner(row, key)
    # If no turn was calm, there are no packets, and no figures.
    there = number(found, "count") > 0
    return [name, *(cell(found) if there else "-" for _, cell in _LATE),
            f"{number(row, share) * 100:.3f}" if share else ""]


def _precision(weir: Answers, document: Row) -> str:
    rows = [["load", "ns late", *(heading for heading, _ in _LATE), "taken %", ""]]
    seconds = 0.0
    for row in rows_of(document, "precision"):
        seconds = number(row, "seconds")
        rows += [
            [text(row, "load"), *_late(row, "weir", "lateness_ns", "taken"),
             f"{number(row, 'missed_packets'):.0f} missed, {number(row, 'lost_packets'):.0f} lost"],
            ["", *_late(row, "weir, calm", "calm_ns"),
             f"{number(row, 'calm_turns'):.0f} of {number(row, 'turns'):.0f} turns"],
            ["", *_late(row, "machine", "noise_ns", "noise_taken"), ""],
            ["", *_late(row, "end to end", "through_ns"), ""]]
    return ("\nprecision: how long after their due times packets leave, beside a loop that only "
            f"reads the TSC; {seconds:.2g} s each\n" + weir.table("llrrrrrrrrl", rows))


def _clock(weir: Answers, document: Row) -> str:
    rows = [["ns, either way", *(heading for heading, _ in _OFF), ""]]
    for row in rows_of(document, "clock"):
        for name, key, remark in (
                ("100 ms", "error_ns", f"{number(row, 'disturbed_samples'):.0f} of "
                 f"{number(row, 'samples'):.0f} samples disturbed"),
                ("since the start", "distance_ns", "")):
            found = inner(row, key)
            rows.append([name, *(cell(found) for _, cell in _OFF), remark])
    return "\nclock: weir's clock against CLOCK_MONOTONIC_RAW\n" + weir.table("lrrrrrrrl", rows)


# ---- rfc2544, latency ----

_RFC2544: list[Column] = [
    fixed("bytes", "frame_bytes", 0), fixed("line", "line_mpps", 3),
    fixed("offered", "offered_mpps", 3), fixed("NDR Mpps", "throughput_mpps", 3),
    ("Gbit/s", lambda row:
        f"{number(row, 'throughput_mpps') * number(row, 'frame_bytes') * 8 / 1e3:.2f}"),
    fixed("PDR Mpps", "pdr_mpps", 3), fixed("lat us", "latency_mean_ns", 1, 1e3),
    fixed("p99 us", "latency_ns.p99", 1, 1e3), fixed("max us", "latency_ns.max", 1, 1e3),
    ("back-to-back", lambda row:
        (">=" if burst_is_least(row) else "") + f"{number(row, 'back_to_back_frames'):.0f}"),
    ("disturbed", lambda row:
        f"{number(row, 'disturbed_trials'):.0f} of {number(row, 'trials'):.0f}")]
# What RFC 8219 and RFC 9004 derive from the same trials.
_SPREADS = [
    fixed("bytes", "frame_bytes", 0), fixed("NDR least", "throughput.min", 3),
    fixed("greatest", "throughput.max", 3),
    fixed("typical us", "typical_latency_ns.median", 1, 1e3),
    fixed("worst case us", "worst_case_latency_ns.median", 1, 1e3),
    fixed("PDV us", "delay_variation_ns.median", 1, 1e3),
    fixed("burst least", "back_to_back.min", 0), fixed("greatest", "back_to_back.max", 0),
    fixed("deviation", "back_to_back.deviation", 0),
    fixed("buffer us", "implied_buffer_ns", 1, 1e3),
    fixed("corrected us", "corrected_buffer_ns", 1, 1e3)]


def _rfc2544(weir: Answers, document: Row) -> str:
    rows = rows_of(document, "rfc2544")
    row = rows[0]
    said = (f"\nRFC 2544, under test: {text(row, 'under_test')}; trials of "
            f"{number(row, 'trial_seconds'):.3g} s (RFC: 60), latency "
            f"{number(row, 'latency_repeats'):.0f} x {number(row, 'latency_seconds'):.3g} s (RFC: "
            f"20 x 120), bursts {number(row, 'back_to_back_repeats'):.0f} times (RFC: 50)\n"
            + _draw(weir, "rrrrrrrrrrr", _RFC2544, rows)
            + "\nRFC 8219: latency of 500 tagged frames, and packet delay variation; RFC 9004: "
            "back-to-back\n" + _draw(weir, "rrrrrrrrrrr", _SPREADS, rows)
            + "\nframe loss rate, by share of the highest offered rate\n")
    for row in rows:
        said += f"  {number(row, 'frame_bytes'):4.0f} B:" + "".join(
            f"  {number(point, 'share') * 100:.0f} %: {number(point, 'loss') * 100:.3g} %"
            for point in row.get("loss", [])) + "\n"
    return said


_LATENCY: list[Column] = [
    words("from", "from"), words("to", "to"), fixed("bytes", "frame_bytes", 0),
    whole("loop p50", "loop_ns.p50"), whole("p99", "loop_ns.p99"), whole("max", "loop_ns.max"),
    fixed("wire", "wire_ns", 0), fixed("cable", "cable_ns", 0), whole("rest", "latency_ns"),
    ("", lambda row: "" if number(row, "line_bps") > 0 else "wire unknown: give --line-rate")]

# ---- reconf, soak: windows of time ----

_WINDOW: list[Column] = [
    whole("offered", "offered_packets"), whole("lost", "lost_packets"),
    whole("missed", "missed_packets"), whole("by others", "missed_away_packets"),
    fixed("late us p50", "lateness_ns.p50", 1, 1e3), fixed("p99", "lateness_ns.p99", 1, 1e3),
    fixed("p99.9", "lateness_ns.p99.9", 1, 1e3), fixed("p99.99", "lateness_ns.p99.99", 1, 1e3),
    fixed("max", "lateness_ns.max", 1, 1e3), fixed("longest poll", "longest_poll_ns", 1, 1e3),
    fixed("own", "own_longest_poll_ns", 1, 1e3), whole("later", "late_packets"),
    ("taken", lambda window: f"{number(window, 'taken') * 100:.1f} %")]
_SOAK = [fixed("until s", "until_s", 0), *_WINDOW, whole("changes", "changes"),
         whole("attached", "attached"), whole("RSS KiB", "rss_kib"),
         whole("written KiB", "written_kib"), whole("unaccounted", "unaccounted_packets")]


def _reconf(weir: Answers, document: Row) -> str:
    row = rows_of(document, "reconf")[0]
    rows = [["", *(heading for heading, _ in _WINDOW)]]
    for name, key in (("with changes", "with"), ("without", "without")):
        window = inner(row, key)
        rows.append([name, *(cell(window) for _, cell in _WINDOW)])
    return (f"\nreconf: during {number(row, 'changes'):.0f} changes at 1 Mpps, weir blocked "
            f"packets for {number(row, 'blocked_ns') / 1e6:.3f} ms in total; others had its "
            f"processor for {number(row, 'taken_ns') / 1e6:.3f} ms, which blocked them for another "
            f"{number(row, 'blocked_away_ns') / 1e6:.3f} ms\n"
            + weir.table("lrrrrrrrrrrrrr", rows))


def _soak(weir: Answers, document: Row) -> str:
    row = rows_of(document, "soak")[0]
    return (f"\nsoak: at a loss of {number(row, 'loss_bound'):.2g}, the critical load is "
            f"{number(row, 'critical_mpps'):.2f} Mpps ({number(row, 'critical_mpps_min'):.2f} to "
            f"{number(row, 'critical_mpps_max'):.2f}, {number(row, 'searches'):.0f} searches); the "
            f"load since then is {number(row, 'load_mpps'):.2f} Mpps\n"
            + _draw(weir, "rrrrrrrrrrrrrrrrrrr", _SOAK, row.get("parts", [])))


# ---- the whole ----

_PARTS: dict[str, tuple[str, str, list[Column]] | Callable[[Answers, Row], str]] = {
    "cost": ("cost: packets a second on the workers' cores, against the ports alone (ceiling)",
             "llrrrrrrrrl", _COST),
    "precision": _precision,
    "depth": ("depth: cost and memory by packets in flight, 64 bytes", "rrrrrrrrrrl", _DEPTH),
    "clouds": ("clouds: cost by the number of clouds, 64 bytes, 10 ms", "rrrrrrrrl", _CLOUDS),
    "clock": _clock,
    "rfc2544": _rfc2544,
    "latency": ("latency: ns over a loop, minus wire and cable: tx-latency of one device and "
                "rx-latency of the other", "llrrrrrrrl", _LATENCY),
    "reconf": _reconf,
    "soak": _soak,
}


def _machine(document: Row) -> str:
    """Describes the machine, and of the conditions those that hold for the parts that were
    measured."""
    machine = inner(document, "machine")
    there = {text(row, "part") for row in document.get("rows", [])}
    medians = bool(there & {"cost", "depth", "clouds"})
    live = bool(there - {"clock"})  # with devices, which the clock needs not
    weir = bool(there - {"clock", "latency"})  # with weir between them, too
    said = (f"{text(machine, 'cpu')}, {number(machine, 'processors'):.0f} processors, TSC "
            f"{number(machine, 'tsc_hz') / 1e6:.1f} MHz")
    if text(machine, "hypervisor"):
        said += ", a guest of " + text(machine, "hypervisor")
    if live:
        said += ", hugepages" if machine.get("hugepages") is True else ", no hugepages"
    said += (f"\nweir {text(machine, 'weir')}, {text(machine, 'dpdk')}, Linux "
             f"{text(machine, 'kernel')}")
    if medians:
        runs = number(machine, "runs")
        said += (f"; medians of {runs:.0f} run{'' if runs == 1 else 's'} of "
                 f"{number(machine, 'seconds'):.2g} s")
    if weir:
        said += (", " if medians else "; ") + text(machine, "layout")
    if live:
        said += f"{', ' if weir else '; '}processor {number(machine, 'core'):.0f}"
        said += ", real-time priority" if number(machine, "priority") > 0 else ""
    if number(machine, "flight_ns") > 0:
        said += f", flight of {number(machine, 'flight_ns') / 1e9:.3g} s"
    if number(machine, "flight_snap_bytes") > 0:
        said += f" with {number(machine, 'flight_snap_bytes'):.0f} bytes of each frame"
    return said + "\n"


def tables(document: Row, weir: Answers) -> str:
    """Returns the whole document as tables for people."""
    said = _machine(document)
    for part, drawn in _PARTS.items():
        rows = rows_of(document, part)
        if rows and isinstance(drawn, tuple):
            title, sides, columns = drawn
            said += f"\n{title}\n" + _draw(weir, sides, columns, rows)
        elif rows and callable(drawn):
            said += drawn(weir, document)
    return said + "".join(f"\n{remark}\n" for remark in document.get("remarks", []))


def findings(doctor: Sequence[Row], core: float) -> str:
    """Returns what the examination of a processor found (src/control/show/doctor.h)."""
    said = f"\nprocessor {core:.0f}, that of the worker\n"
    marks = {"good": "good", "costs": "COSTS"}
    for finding in doctor:
        lines = [f"{marks.get(text(finding, 'state'), '-'):<5}  {text(finding, 'subject'):<22} "
                 f"{text(finding, 'what')}"]
        lines += [f"{'':<30}{what}: {text(finding, key)}"
                  for what, key in (("costs", "cost"), ("remedy", "remedy")) if text(finding, key)]
        said += "".join(f"  {line}\n" for line in lines)
    return said
