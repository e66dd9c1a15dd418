# SPDX-License-Identifier: BSD-3-Clause
"""Traffic for tests of `weir learn`: UDP packets as captures, written by NumPy.

A capture has the first 64 bytes of each frame, whose length on the wire may be more. `whole` writes
every byte, so that damage can be seen: then all frames have one length.
"""
import struct

import numpy

BEGIN_NS = 1_700_000_000 * 10**9
HEAD = 64
MTU_FRAME = 1514


def poisson(rng, n, mean_ns):
    return BEGIN_NS + numpy.cumsum(rng.exponential(mean_ns, n)).astype(numpy.int64)


def steady(n, gap_ns):
    return BEGIN_NS + (numpy.arange(n) * gap_ns).astype(numpy.int64)


def on_off(rng, n, gap_ns, burst, pause_ns):
    """Bursts of about `burst` packets with one gap, and pauses between them."""
    gaps = numpy.full(n, float(gap_ns))
    starts = rng.random(n) < 1 / burst
    gaps[starts] += rng.exponential(pause_ns, int(starts.sum()))
    return BEGIN_NS + numpy.cumsum(gaps).astype(numpy.int64)


def sizes(rng, n, mix=((0.3, 90), (0.2, 590), (0.5, MTU_FRAME))):
    shares = numpy.array([share for share, _ in mix])
    return rng.choice([size for _, size in mix], n, p=shares / shares.sum())


def read_data(path, most):
    """Returns instants and lengths of the longer packets of a capture, at most so many: data, and
    not what answers it. Its records differ in length."""
    with open(path, "rb") as file:
        raw = file.read()
    word, nano = ("<IIII", raw[:4] == b"\x4d\x3c\xb2\xa1")
    at, stamps, sizes = 24, [], []
    while at + 16 <= len(raw) and len(sizes) < most:
        second, part, there, wire = struct.unpack_from(word, raw, at)
        if wire > 200:
            stamps.append(second * 10**9 + part * (1 if nano else 1000))
            sizes.append(wire)
        at += 16 + there
    stamps = numpy.array(stamps, numpy.int64)
    return BEGIN_NS + stamps - stamps[0], numpy.array(sizes)


def captured(path, n, gap_ns):
    """Packets as a capture has them, again and again, with another mean gap."""
    at, size = read_data(path, n)
    at = (at - BEGIN_NS) * (gap_ns * len(at) / float(at[-1] - BEGIN_NS))
    turns = -(-n // len(at))
    at = (at[None, :] + (at[-1] + gap_ns) * numpy.arange(turns)[:, None]).ravel()[:n]
    return BEGIN_NS + at.astype(numpy.int64), numpy.tile(size, turns)[:n]


def _sum16(words):
    total = words.astype(numpy.uint64).sum(axis=1)
    for _ in range(3):
        total = (total >> 16) + (total & 0xffff)
    return (~total.astype(numpy.uint32) & 0xffff).astype(">u2")


def write(path, at_ns, wire_bytes, source="10.0.0.1", target="10.0.1.1", ports=(5000, 6000),
          whole=False, first_id=1):
    """Writes one flow of UDP as a pcap with nanoseconds."""
    n = len(at_ns)
    wire_bytes = numpy.broadcast_to(numpy.asarray(wire_bytes), n)
    head = int(wire_bytes[0]) if whole else HEAD
    record = numpy.zeros(n, [("s", "<u4"), ("ns", "<u4"), ("bytes", "<u4"), ("wire", "<u4"),
                             ("frame", "u1", head)])
    record["s"], record["ns"] = at_ns // 10**9, at_ns % 10**9
    record["bytes"], record["wire"] = numpy.minimum(wire_bytes, head), wire_bytes
    frame = record["frame"]
    frame[:, 0:14] = list(b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0")
    frame[:, 14] = 0x45
    frame[:, 16:18] = (wire_bytes - 14).astype(">u2").view("u1").reshape(n, 2)
    numbers = first_id + numpy.arange(n)
    frame[:, 18:20] = (numbers & 0xffff).astype(">u2").view("u1").reshape(n, 2)
    frame[:, 22], frame[:, 23] = 64, 17
    frame[:, 26:30] = [int(x) for x in source.split(".")]
    frame[:, 30:34] = [int(x) for x in target.split(".")]
    frame[:, 34:38] = list(ports[0].to_bytes(2, "big") + ports[1].to_bytes(2, "big"))
    frame[:, 38:40] = (wire_bytes - 34).astype(">u2").view("u1").reshape(n, 2)
    frame[:, 42:50] = numbers.astype(">u8").view("u1").reshape(n, 8)
    frame[:, 24:26] = _sum16(frame[:, 14:34].copy().view(">u2")).view("u1").reshape(n, 2)
    if whole:
        even = frame[:, 34:].copy() if head % 2 == 0 else numpy.pad(frame[:, 34:], ((0, 0), (0, 1)))
        pseudo = numpy.zeros((n, 12), "u1")
        pseudo[:, 0:8], pseudo[:, 9] = frame[:, 26:34], 17
        pseudo[:, 10:12] = frame[:, 38:40]
        summed = _sum16(numpy.hstack([pseudo, even]).view(">u2"))
        frame[:, 40:42] = summed.view("u1").reshape(n, 2)
    with open(path, "wb") as out:
        out.write(numpy.array([0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, 1], "<u4").tobytes())
        record.tofile(out)


def disturb(path, skew, nat, begin_ns=BEGIN_NS):
    """Lets the clock of a capture run otherwise, from an instant on, and rewrites the source
    of its packets as a NAT does. Records have one length."""
    head, record = _records(path)
    size = record["frame"].shape[1]
    if skew:
        at = record["s"].astype(numpy.int64) * 10**9 + record["ns"]
        at += numpy.round((at - begin_ns) * skew).astype(numpy.int64)
        record["s"], record["ns"] = at // 10**9, at % 10**9
    if nat:
        frame = record["frame"]
        if size > HEAD:  # the sums change by what the fields do, so damage stays damage
            _mend_sums(frame)
        frame[:, 26:30] = [198, 51, 100, 7]
        frame[:, 34:36] = [0x9c, 0x41]
    with open(path, "wb") as out:
        out.write(head)
        record.tofile(out)


def _mend_sums(frame):
    def words(at):
        return frame[:, at].astype(numpy.uint32) << 8 | frame[:, at + 1]

    def add(at, growth):
        total = (~words(at) & 0xffff) + growth
        total = (total & 0xffff) + (total >> 16)
        total = (total & 0xffff) + (total >> 16)
        word = ~total & 0xffff
        frame[:, at], frame[:, at + 1] = word >> 8, word & 0xff

    address = 0xc633 + 0x6407 + 2 * 0xffff - words(26) - words(28)
    add(24, address)
    add(40, address + 0x9c41 + 0xffff - words(34))


def _records(path):
    raw = numpy.fromfile(path, "u1")
    size = int(raw[24 + 8:24 + 12].view("<u4")[0])
    return raw[:24].tobytes(), numpy.frombuffer(raw[24:].tobytes(), [
        ("s", "<u4"), ("ns", "<u4"), ("bytes", "<u4"), ("wire", "<u4"),
        ("frame", "u1", size)]).copy()


def merge(path, *captures):
    """Puts captures with records of one length into one, in the order of time."""
    read = [_records(capture) for capture in captures]
    records = numpy.concatenate([record for _, record in read])
    order = numpy.lexsort((records["ns"], records["s"]))
    with open(path, "wb") as out:
        out.write(read[0][0])
        records[order].tofile(out)


def shift(path, by_ns, since_ns=0):
    """Sets the clock of a capture, from an instant on."""
    head, record = _records(path)
    at = record["s"].astype(numpy.int64) * 10**9 + record["ns"]
    at += numpy.where(at >= since_ns, by_ns, 0)
    record["s"], record["ns"] = at // 10**9, at % 10**9
    _write_records(path, head, record)


def damage(path, which, byte):
    """Inverts a bit of packets of a capture: of each in one byte."""
    head, record = _records(path)
    record["frame"][which, byte] ^= 4
    _write_records(path, head, record)


def fragment(path):
    """Makes two fragments of one packet of each two packets of a capture."""
    head, record = _records(path)
    frame = record["frame"]
    frame[1::2, 18:20] = frame[0:len(frame) - 1:2, 18:20]
    frame[0::2, 20] = 0x20
    frame[1::2, 20:22] = [0, 185]
    frame[:, 24:26] = 0
    frame[:, 24:26] = _sum16(frame[:, 14:34].copy().view(">u2")).view("u1").reshape(-1, 2)
    _write_records(path, head, record)


def join(path, n):
    """Makes one long frame of each n packets of the second half of a capture, as a host has them
    before its NIC cuts them."""
    head, record = _records(path)
    half = len(record) // 2
    first, record = record[:half], record[half:half + (len(record) - half) // n * n:n].copy()
    record["wire"] = 42 + n * (record["wire"] - 42)
    record["frame"][:, 16:18] = (record["wire"] - 14).astype(">u2").view("u1").reshape(-1, 2)
    record["frame"][:, 24:26] = 0
    record["frame"][:, 24:26] = _sum16(record["frame"][:, 14:34].copy().view(">u2")).view(
        "u1").reshape(-1, 2)
    _write_records(path, head, numpy.concatenate([first, record]))


def keep(path, share):
    """Cuts a capture behind a share of its packets."""
    head, record = _records(path)
    _write_records(path, head, record[:int(share * len(record))])


def _write_records(path, head, record):
    with open(path, "wb") as out:
        out.write(head)
        record.tofile(out)
