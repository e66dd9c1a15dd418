#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A cable between a port and another network namespace, as VPNs and virtual machines have one: two
interfaces of a process, the second of which is moved into the namespace. What one sends, the other
receives, super-frames and unfinished checksums included. Says `ready` when both are up, and ends
with its standard input.

With `tun` they carry IP packets. With `tap` they carry Ethernet frames; frames in the port have the
tags that are given (8100-0007: EtherType and number), those in the namespace have none.

usage: cable.py tun|tap NAME NAMESPACE OTHER-NAME [TAG...]
"""
import fcntl
import os
import select
import struct
import subprocess
import sys

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
KINDS = {"tun": 0x0001, "tap": 0x0002}
IFF_NO_PI, IFF_VNET_HDR = 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 = 0x01, 0x02, 0x04
VNET = struct.Struct("<BBHHHH")
NEEDS_CSUM = 1
BYTES_MAX = VNET.size + 65536 + 64
ADDRESSES = 12


def make(kind, name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    flags = KINDS[kind] | IFF_NO_PI | IFF_VNET_HDR
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
    fcntl.ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)
    return fd


def lengthen(packet, bytes_more):
    """Moves what the header says of the frame behind it."""
    flags, gso, head, size, start, offset = VNET.unpack_from(packet)
    if flags & NEEDS_CSUM:
        start += bytes_more
    if gso:
        head += bytes_more
    return VNET.pack(flags, gso, head, size, start, offset)


def tag(packet, tags):
    at = VNET.size + ADDRESSES
    return lengthen(packet, len(tags)) + packet[VNET.size:at] + tags + packet[at:]


def untag(packet, tags):
    at = VNET.size + ADDRESSES
    if packet[at:at + len(tags)] != tags:
        return None
    return lengthen(packet, -len(tags)) + packet[VNET.size:at] + packet[at + len(tags):]


def main():
    kind, near, namespace, far, *tags = sys.argv[1:]
    tags = bytes.fromhex("".join(tags).replace("-", ""))
    port, host = make(kind, near), make(kind, near + "x")
    subprocess.run(["ip", "link", "set", near + "x", "netns", namespace, "name", far], check=True)
    subprocess.run(["ip", "-n", namespace, "link", "set", far, "up"], check=True)
    subprocess.run(["ip", "link", "set", near, "up"], check=True)
    print("ready", flush=True)
    other = {port: host, host: port}
    while True:
        for fd in select.select([0, port, host], [], [])[0]:
            if fd == 0:
                return
            packet = os.read(fd, BYTES_MAX)
            if tags:
                packet = tag(packet, tags) if fd == host else untag(packet, tags)
            try:
                if packet:
                    os.write(other[fd], packet)
            except OSError as error:
                print(f"{len(packet)} bytes are lost: {error}", file=sys.stderr)


main()
