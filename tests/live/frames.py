#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sends frames of many protocols through weir, from a veth in a namespace to a tap of this process
and back, and compares every byte.

The tap is made for a port. Says `ready`, and begins when a line comes.

usage: frames.py NAMESPACE INTERFACE TAP
"""
import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys

PATIENCE_S = 60
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 1, 8, 23
PACKET_MR_PROMISC, TAG_THERE = 1, 0x10
ETH_P_ALL = 3
AUXDATA = struct.Struct("=IIIHHHH")  # tp_status, ..., tp_vlan_tci, tp_vlan_tpid

HOST, PEER = "020000000001", "020000000002"
IP = "4500001c00010000401166ce0a0900010a090002 0009000900080000"
FRAMES = {  # to an address, from HOST or PEER: all that follows
    "VLAN": (None, "8100 0007 0800" + IP),
    "priority tag, VLAN 0": (None, "8100 a000 0800" + IP),
    "VLAN 4095, DEI": (None, "8100 ffff 0800" + IP),
    "QinQ, 802.1ad": (None, "88a8 0009 8100 0007 0800" + IP),
    "QinQ, two 802.1Q": (None, "8100 0009 8100 0007 0800" + IP),
    "QinQ, 9100": (None, "9100 0009 8100 0007 0800" + IP),
    "802.1ad alone": (None, "88a8 2009 0800" + IP),
    "three tags": (None, "88a8 0009 8100 0007 8100 0003 0800" + IP),
    "PPPoE discovery": ("ffffffffffff", "8863 11 09 0000 0004 0101 0000"),
    "PPPoE session": (None, "8864 11 00 0001 001e 0021" + IP),
    "MPLS, two labels": (None, "8847 0001 0040 0001 1140" + IP),
    "MPLS in a VLAN": (None, "8100 0007 8847 0001 1140" + IP),
    "PTP": ("011b19000000", "88f7 00 02 002c" + "00" * 40),
    "PTP, not forwarded by switches": ("0180c200000e", "88f7 02 02 0036" + "00" * 50),
    "802.1X": ("0180c2000003", "888e 01 01 0000"),
    "LLDP": ("0180c200000e", "88cc 0207 04" + HOST + "0000"),
    "spanning tree, 802.3": ("0180c2000000", "0026 424203" + "00" * 35),
    "pause": ("0180c2000001", "8808 0001 ffff" + "00" * 42),
    "ARP": ("ffffffffffff", "0806 0001 0800 0604 0001" + HOST + "0a090001 000000000000 0a090002"),
    "loopback test": (None, "9000 0000 0100" + "00" * 42),
    "1,514 bytes": (None, "88b5" + "5a" * 1500),
    "1,518 bytes with a tag": (None, "8100 0007 88b5" + "5a" * 1500),
    **{f"runt of {n} bytes": (None, "88b5" + "a5" * (n - 14)) for n in (14, 15, 18, 20, 42, 59)},
}


def frame(to, source, rest):
    return bytes.fromhex(to + source + rest.replace(" ", ""))


def socket_in(namespace, interface):
    with open("/proc/self/ns/net", encoding="ascii") as here, \
         open(f"/run/netns/{namespace}", encoding="ascii") as there:
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.setns(there.fileno(), 0) == 0
        host = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        host.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        host.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        index = socket.if_nametoindex(interface)
        host.bind((interface, ETH_P_ALL))
        host.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                        struct.pack("iHH8s", index, PACKET_MR_PROMISC, 0, b""))
        assert libc.setns(here.fileno(), 0) == 0
    return host


def tap_make(name):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
    return fd


def received(host):
    """Returns the next frame, with the tag that the kernel has taken out of it."""
    data, ancillary, _, _ = host.recvmsg(4096, socket.CMSG_SPACE(AUXDATA.size))
    for level, kind, auxiliary in ancillary:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, *_, tci, tpid = AUXDATA.unpack(auxiliary[:AUXDATA.size])
            if status & TAG_THERE:
                data = data[:12] + struct.pack("!HH", tpid, tci) + data[12:]
    return data


def expect(fd, read, sent, what):
    assert select.select([fd], [], [], PATIENCE_S)[0], f"{what}: nothing arrives"
    got = read()
    assert got == sent, f"{what}:\n  sent     {sent.hex()}\n  received {got.hex()}"


def refused(send, data):
    try:
        send(data)
    except OSError:
        return
    raise AssertionError(f"the kernel sends {len(data)} bytes: they need a test of their own")


def main():
    namespace, interface, name = sys.argv[1:]
    tap = tap_make(name)
    host = socket_in(namespace, interface)
    print("ready", flush=True)
    sys.stdin.readline()
    for what, (to, rest) in FRAMES.items():
        there, back = frame(to or PEER, HOST, rest), frame(to or HOST, PEER, rest)
        host.send(there)
        expect(tap, lambda: os.read(tap, 4096), there, f"{what}, from veth to tap")
        os.write(tap, back)
        expect(host, lambda: received(host), back, f"{what}, from tap to veth")
        print(f"ok: {what}")
    # Less than an Ethernet header never comes as far as weir.
    refused(host.send, bytes(13))
    refused(lambda data: os.write(tap, data), bytes(13))


main()
