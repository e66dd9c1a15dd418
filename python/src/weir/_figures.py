# SPDX-License-Identifier: BSD-3-Clause
"""The members of what weir reports. Made by `python3 -m weir.stubs figures` from
`weir help --json`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PortFigures:
    """Figures of a port."""

    device: str = ""
    """Its device."""
    driver: str = ""
    """The driver of its device."""
    link_up: bool = False
    """1: the link is up."""
    link_bps: int = 0
    """Capacity of the link; 0: not known."""
    rx_packets: int = 0
    """Packets that came in at the port."""
    rx_bytes: int = 0
    """Bytes that came in at the port."""
    tx_packets: int = 0
    """Packets that left at the port."""
    tx_bytes: int = 0
    """Bytes that left at the port."""
    no_cloud: int = 0
    """Packets that came in where no cloud starts."""
    untouched: int = 0
    """Packets that passed untouched."""
    rx_missed: int = 0
    """Lost by the device, before weir saw them."""
    rx_no_mbuf: int = 0
    """Lost because the mempool was empty."""
    tx_full: int = 0
    """Dropped: the device did not take them within 100 ms of their due time."""
    not_sent: int = 0
    """Taken by the device, which says that it could not send them."""
    not_written: int = 0
    """Taken by a file, and could not be written."""
    before_start: int = 0
    """Packets from before the start."""
    unfinished: int = 0
    """Of rx_missed: weir cannot finish what offloads left undone."""
    too_large: int = 0
    """Of not_sent: larger than the interface takes."""
    not_ip: int = 0
    """Of not_sent: no IP, on an interface for IP only."""
    gone: bool = False
    """Its interface is not there."""
    absences: int = 0
    """How often its interface was gone."""
    absent_ns: int = 0
    """For how long its interface was gone, in all."""
    chained: int = 0
    """Of not_sent: longer than its driver sends."""
    time: str = ""
    """Source of the instants of reception: poll, kernel, device."""


@dataclass(frozen=True)
class PortStamps:
    """The `stamps` of a port."""

    packets: int = 0
    """Packets with a time stamp."""
    missing: int = 0
    """Packets without a time stamp."""
    odd: int = 0
    """Time stamps that were implausible, and corrected."""
    aged: int = 0
    """Packets received after weir had passed their instant."""
    oldest_ns: int = 0
    """The longest time by which weir had passed the instant of a packet."""


@dataclass(frozen=True)
class PortLaunch:
    """The `launch` of a port."""

    lead_ns: int = 0
    """Lead of a device that sends at a given time."""
    missed: int = 0
    """Packets whose time to send had passed."""


@dataclass(frozen=True)
class CloudFigures:
    """Figures of a cloud."""

    rx_packets: int = 0
    """Packets that entered the cloud."""
    rx_bytes: int = 0
    """Bytes that entered the cloud."""
    tx_packets: int = 0
    """Packets that left the cloud."""
    tx_bytes: int = 0
    """Bytes that left the cloud."""
    held_packets: int = 0
    """Packets in the cloud now."""
    duplicated: int = 0
    """Copies that the cloud made."""
    generated: int = 0
    """Packets of the cloud's own, like ICMP."""
    reordered: int = 0
    """Packets that overtook others."""
    corrupted: int = 0
    """Packets with errors written in."""
    ecn_marked: int = 0
    """Packets marked CE."""
    becn_sent: int = 0
    """Quenches; each counts as generated, too."""
    rewritten: int = 0
    """Packets in which a bit was changed."""
    becn_marked: int = 0
    """Of becn_sent: those that report a mark; the others report a drop."""
    clouds: int = 0
    """Clouds of the template that exist now."""
    clouds_most: int = 0
    """Clouds that the template may have at most."""


@dataclass(frozen=True)
class CloudSince:
    """Figures of a cloud since its last change."""

    rx_packets: int = 0
    """Packets that entered the cloud."""
    rx_bytes: int = 0
    """Bytes that entered the cloud."""
    tx_packets: int = 0
    """Packets that left the cloud."""
    tx_bytes: int = 0
    """Bytes that left the cloud."""
    duplicated: int = 0
    """Copies that the cloud made."""
    generated: int = 0
    """Packets of the cloud's own, like ICMP."""
    reordered: int = 0
    """Packets that overtook others."""
    corrupted: int = 0
    """Packets with errors written in."""
    ecn_marked: int = 0
    """Packets marked CE."""


@dataclass(frozen=True)
class CloudQueue:
    """The `queue` of a cloud."""

    packets: int = 0
    """Packets that wait now."""
    bytes: int = 0
    """Bytes that wait now."""
    average: float = 0.0
    """Bytes that wait, as the management of the queue computes them."""


@dataclass(frozen=True)
class CloudLine:
    """The `line` of a cloud."""

    packets: int = 0
    """Packets whose time on the line was measured: of a line with jitter."""
    mean_ns: float = 0.0
    """The mean time of packets on the line."""
    deviation_ns: float = 0.0
    """The standard deviation of these times."""
    order_waits: int = 0
    """Packets that would have overtaken, and were held back."""
    order_waited_ns: int = 0
    """For how long packets were held back to keep their order, in all."""


@dataclass(frozen=True)
class CloudFeedback:
    """The `feedback` of a cloud."""

    written: int = 0
    """Headers that the hop has answered."""
    inserted: int = 0
    """Requests inserted by a proxy."""
    answered: int = 0
    """Headers that a proxy filled with answers."""
    stripped: int = 0
    """Headers that a proxy removed."""
    malformed: int = 0
    """Packets passed untouched, because their header is malformed."""
    no_room: int = 0
    """Packets passed untouched, because they have no room for a header."""


@dataclass(frozen=True)
class ClassFigures:
    """Figures of a class."""

    rx_packets: int = 0
    """Packets that came to the class."""
    rx_bytes: int = 0
    """Bytes that came to the class."""
    tx_packets: int = 0
    """Packets that went onto the line."""
    tx_bytes: int = 0
    """Bytes that went onto the line."""
    dropped: int = 0
    """Packets dropped by the limit, the management, or for want of memory."""
    ecn_marked: int = 0
    """Packets marked CE."""


@dataclass(frozen=True)
class WorkerFigures:
    """Figures of a worker."""

    role: str = ""
    """Its role: run-to-completion, rx, emulation or tx."""
    lcore: int = 0
    """Its lcore."""
    cpu: int = 0
    """Its processor."""
    polls: int = 0
    """Rounds of the worker."""
    busy_polls: int = 0
    """Rounds with something to do."""
    longest_poll_ns: int = 0
    """The longest time between two rounds."""
    stalls: int = 0
    """How often the worker made no round for a second."""
    held_packets: int = 0
    """Packets that the worker holds now."""
    memory_used_bytes: int = 0
    """Memory used for held packets."""
    memory_bytes: int = 0
    """Memory available for held packets."""


@dataclass(frozen=True)
class ReplayPortFigures:
    """Figures of a replay-port."""

    rx_packets: int = 0
    """Packets that came in at the port."""
    rx_bytes: int = 0
    """Bytes that came in at the port."""
    tx_packets: int = 0
    """Packets that left at the port."""
    tx_bytes: int = 0
    """Bytes that left at the port."""
    no_cloud: int = 0
    """Packets that came in where no cloud starts."""
    untouched: int = 0
    """Packets that passed untouched."""
    lost: int = 0
    """Packets that weir itself lost; only live."""
    no_file: int = 0
    """Packets that left, but to no file."""
    clock_back: int = 0
    """Packets with a time before that of the one ahead."""
    clock_back_max_ns: int = 0
    """The greatest difference between such a time and that of the packet ahead."""
    sorted: int = 0
    """Of clock_back: put where their time belongs."""
    late: int = 0
    """Of clock_back: too late for that."""
    wrong_stamps: int = 0
    """Packets with a wrong time stamp."""
    clock_set_back: int = 0
    """How often a clock was set back."""
    no_time: int = 0
    """Packets without a time."""
    other_link: int = 0
    """Packets of other link types, left out."""
    truncated: int = 0
    """Packets of which only the beginning is there."""
    damage: str = ""
    """What was wrong with the end of a capture."""
