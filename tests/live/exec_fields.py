# SPDX-License-Identifier: BSD-3-Clause
"""What of a packet arrives at the other side of `weir exec`'s gateway.

exec_fields.py server          in the world: answers datagrams, and TCP at ports 7 and 8
exec_fields.py client ADDRESS  the command: its datagrams, in both directions
exec_fields.py tcp ADDRESS     the command: connections, one that changes its DSCP
exec_fields.py watch IFACE     in the world: prints TCP segments of port 7 until it is ended
exec_fields.py inside FILE     prints those at the command's end of a capture by weir exec --pcap
"""
import fcntl
import socket
import struct
import sys
import threading

IP_TOS, IP_TTL, IP_RECVTTL, IP_RECVTOS = 1, 2, 12, 13
FLOWINFO, HOPLIMIT_ASKED, HOPLIMIT, TCLASS, NO_LABEL = 11, 51, 52, 67, 70
UDP_SEGMENT = 103
SIOCATMARK = 0x8905
V4, V6 = socket.AF_INET, socket.AF_INET6


def ask(sock):
    """Asks for TOS, TTL and flow label of what comes, and sends no label that is not given."""
    if sock.family == V4:
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
    else:
        for option, value in (FLOWINFO, 1), (HOPLIMIT_ASKED, 1), (NO_LABEL, 0):
            sock.setsockopt(socket.IPPROTO_IPV6, option, value)


def fields(family, tos, ttl, label):
    """Makes the ancillary data that sends a datagram with these fields."""
    if family == V4:
        return [(0, IP_TOS, struct.pack("i", tos)), (0, IP_TTL, struct.pack("i", ttl))]
    return [(41, TCLASS, struct.pack("i", tos)), (41, HOPLIMIT, struct.pack("i", ttl)),
            (41, FLOWINFO, struct.pack("!I", label))]


def receive(sock):
    """Returns a datagram, its sender, and its (TOS, TTL, label)."""
    data, extra, _, who = sock.recvmsg(65536, 500)
    tos = ttl = label = 0
    for level, kind, value in extra:
        if (level, kind) == (0, IP_TOS):
            tos = value[0]
        elif (level, kind) in ((0, IP_TTL), (41, HOPLIMIT)):
            ttl = struct.unpack("i", value)[0]
        elif (level, kind) == (41, FLOWINFO):
            word = struct.unpack("!I", value)[0]
            tos, label = word >> 20 & 255, word & 0xfffff
    return data, who, (tos, ttl, label)


# A question of the client: how many datagrams the answer has, and its fields. The answer says which
# fields the question had. With more than one datagram, the kernel cuts a train (GSO).
QUESTION = struct.Struct("!HBBI")
ANSWER = struct.Struct("!BBI42x")


def serve_datagrams(family):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == V6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind(("", 7))
    ask(sock)
    while True:
        data, who, had = receive(sock)
        n, tos, ttl, label = QUESTION.unpack(data[:QUESTION.size])
        extra = fields(family, tos, ttl, label)
        if n > 1:
            extra.append((socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", ANSWER.size)))
        sock.sendmsg([ANSWER.pack(*had) * n], extra, 0, who)


def at_mark(sock):
    return struct.unpack("i", fcntl.ioctl(sock, SIOCATMARK, bytes(4)))[0]


def read_marked(sock, n):
    """Reads n bytes of a stream; `<x>` is a byte with the mark of urgent data."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    said = ""
    while n > 0:
        sock.recv(1, socket.MSG_PEEK)
        urgent = at_mark(sock)
        part = sock.recv(1 if urgent else n)
        if not part:
            break
        n -= len(part)
        said += f"<{part.decode()}>" if urgent else part.decode()
    return said


def send_marked(sock):
    sock.sendall(b"abc")
    sock.send(b"!", socket.MSG_OOB)
    sock.sendall(b"def")


def serve_tcp(port, answer):
    server = socket.create_server(("::", port), family=V6, dualstack_ipv6=True, backlog=64)
    while True:
        peer = server.accept()[0]
        threading.Thread(target=answer, args=(peer,), daemon=True).start()


def echo(peer):
    """Answers with another DSCP."""
    peer.setsockopt(socket.IPPROTO_IP, IP_TOS, 0x68)
    peer.setsockopt(socket.IPPROTO_IPV6, TCLASS, 0x68)
    while data := peer.recv(1 << 16):
        peer.sendall(data)
    peer.close()


def echo_marked(peer):
    """Says how it has received the marked byte, and sends one back."""
    peer.sendall(f"{read_marked(peer, 7):9}".encode())
    send_marked(peer)
    peer.recv(1)


def server():
    for work in ((serve_datagrams, V4), (serve_datagrams, V6), (serve_tcp, 7, echo),
                 (serve_tcp, 8, echo_marked)):
        threading.Thread(target=work[0], args=work[1:], daemon=True).start()
    threading.Event().wait()


def check(what, is_it, should):
    if is_it != should:
        sys.exit(f"{what}: {is_it} instead of {should}")


def family_of(address):
    return V6 if ":" in address else V4


def client(address):
    """Every TOS in both directions, with different fields in each datagram of a flow."""
    sock = socket.socket(family_of(address), socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.settimeout(60)
    ask(sock)
    sock.connect((address, 7))
    is6 = sock.family == V6
    for tos in range(256):
        ttl, label = 2 + tos // 2, (0x10000 + tos) * is6
        question = QUESTION.pack(1, 255 - tos, 130 - tos // 2, 0xf0000 + tos)
        sock.sendmsg([question], fields(sock.family, tos, ttl, label))
        data, _, had = receive(sock)
        check(f"to {address}", ANSWER.unpack(data), (tos, ttl - 1, label))
        check(f"from {address}", had, (255 - tos, 129 - tos // 2, (0xf0000 + tos) * is6))
    # Trains: the kernel hands them to the first device in one piece.
    question = QUESTION.pack(20, 0x2e << 2 | 3, 64, 5).ljust(100, b"-")
    sock.sendmsg([question * 10], fields(sock.family, 0xb9, 64, 9 * is6) +
                 [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", len(question)))])
    for i in range(200):
        data, _, had = receive(sock)
        check(f"train to {address}", ANSWER.unpack(data), (0xb9, 63, 9 * is6))
        check(f"train from {address}", had, (0xbb, 63, 5 * is6))
    echo_request(address)


def echo_request(address):
    """The kernel answers an echo with the TOS of the request."""
    is6 = family_of(address) == V6
    try:
        sock = socket.socket(family_of(address), socket.SOCK_DGRAM, 58 if is6 else 1)
    except PermissionError:
        return
    sock.settimeout(60)
    ask(sock)
    sock.connect((address, 0))
    for tos in 0x00, 0x03, 0xb9, 0xfc:
        sock.sendmsg([struct.pack("!BBHHH", 128 if is6 else 8, 0, 0, 0, tos)],
                     fields(sock.family, tos, 9, 0))
        data, _, had = receive(sock)
        check(f"echo to {address}", had[:2], (tos, 63))


def tcp(address):
    """A connection that changes its DSCP, and one with urgent data."""
    sock = socket.socket(family_of(address))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 600)
    sock.settimeout(60)
    sock.connect((address, 7))
    for dscp in 0x00, 0x48, 0xb8, 0x00, 0x20:
        if sock.family == V4:
            sock.setsockopt(socket.IPPROTO_IP, IP_TOS, dscp)
        else:
            sock.setsockopt(socket.IPPROTO_IPV6, TCLASS, dscp)
        sock.sendall(b"x")
        sock.recv(1)
    sock.close()
    sock = socket.create_connection((address, 8), timeout=60)
    send_marked(sock)
    said = b""
    while len(said) < 9:
        said += sock.recv(9 - len(said))
    check(f"urgent data to {address}", said.decode(), "abc<!>def")
    check(f"urgent data from {address}", read_marked(sock, 7), "abc<!>def")


def segment_text(frame):
    """Describes a TCP segment to or from port 7: direction, TOS, TTL, flags, MSS if it opens."""
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == 0x800 and frame[23] == 6:
        tos, ttl, at = frame[15], frame[22], 14 + (frame[14] & 15) * 4
    elif kind == 0x86dd and frame[20] == 6:
        tos, ttl, at = struct.unpack("!H", frame[14:16])[0] >> 4 & 255, frame[21], 54
    else:
        return None
    from_port, to_port = struct.unpack("!HH", frame[at:at + 4])
    if 7 not in (from_port, to_port):
        return None
    flags = struct.unpack("!H", frame[at + 12:at + 14])[0] & 0x1ff
    data = frame[at + (frame[at + 12] >> 4) * 4:]
    names = "".join(name for bit, name in enumerate("FSRPAUEC") if flags >> bit & 1)
    mss = struct.unpack("!H", frame[at + 22:at + 24])[0] if flags & 2 else "-"
    has = "data" if flags & 8 and data else "-"
    return f"{'to' if to_port == 7 else 'from'} {tos:#04x} {ttl} {names} {mss} {has}"


def watch(interface):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
    sock.bind((interface, 0))
    print("watching", flush=True)
    while True:
        frame, who = sock.recvfrom(65536)
        text = segment_text(frame)
        if text:
            print(text, flush=True)


def inside(path):
    """Reads the enhanced packet blocks of the interface `command`, the second one of the file."""
    data, at, names = open(path, "rb").read(), 0, []
    while at < len(data):
        kind, size = struct.unpack("<II", data[at:at + 8])
        if kind == 1:
            names.append(b"command" in data[at:at + size])
        if kind == 6:
            interface, _, _, length = struct.unpack("<IIII", data[at + 8:at + 24])
            text = segment_text(data[at + 28:at + 28 + length])
            if text and names[interface]:
                print(text)
        at += size


globals()[sys.argv[1]](*sys.argv[2:])
