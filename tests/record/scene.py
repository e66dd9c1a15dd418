# SPDX-License-Identifier: BSD-3-Clause
"""A live weir between captures, recorded and replayed.

Ports are captures that play in real time. Their outputs have the instants at which packets were
due. So the output of the live run can be compared with that of the replay, byte for byte, without
any code of weir's.
"""
import collections
import os
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time

WEIR = sys.argv[1]
PATIENCE_S = 60
# Under a sanitizer idle workers sleep, so that tests leave the processors to each other. In a
# release, and in a pipeline, they poll.
IDLE = ["--sleep", "200us"] if os.environ.get("WEIR_SANITIZED") else []
UNDER_WAY = 2048
started = []


def end_started():
    """Ends processes that a failed claim has left running, since they would slow down the next
    one."""
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
    started.clear()


def ip_frame(rng, number, bytes_):
    tcp = number % 3 == 0
    length = bytes_ - 14
    head = struct.pack(
        ">BBHHHBBH4s4s", 0x45, number % 4, length, number & 0xFFFF, 0x4000, 64, 6 if tcp else 17, 0,
        bytes([192, 0, 2, 1 + number % 9]), bytes([198, 51, 100, 1 + number % 5]))
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    head = head[:10] + struct.pack(">H", total) + head[12:]
    ports = struct.pack(">HH", 1000 + number % 7, 5201)
    if tcp:
        transport = ports + struct.pack(">IIBBHHH", number * 1000 & 0xFFFFFFFF, 1, 0x50, 0x10, 1000,
                                        0, 0)
    else:
        transport = ports + struct.pack(">HH", length - 20, 0)
    frame = b"\x02\0\0\0\0\x0a\x02\0\0\0\0\x0b\x08\0" + head + transport
    return frame + bytes(rng.getrandbits(8) for _ in range(8)) + bytes(
        max(0, bytes_ - len(frame) - 8))


def write_capture(path, seed, packets, gap_ns):
    """Writes bursts and pauses; every length from the smallest to a jumbo frame."""
    rng = random.Random(seed)
    t_ns = 1000 * 10**9
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for number in range(packets):
            if rng.random() < 0.7:
                t_ns += rng.randrange(2 * gap_ns)
            frame = ip_frame(rng, number, rng.choice([62, 62, 120, 590, 1514, 4000]))
            out.write(struct.pack("<IIII", t_ns // 10**9, t_ns % 10**9, len(frame), len(frame)))
            out.write(frame)
    return t_ns - 1000 * 10**9


def hostile_frame(rng, frame):
    """Returns a frame that no stack sends: truncated anywhere, or with wrong bits and lengths, or
    with stacked tags and headers."""
    data = bytearray(frame)
    kind = rng.randrange(8)
    if kind == 0:
        del data[rng.randrange(1, len(data)):]
    elif kind == 1:
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(min(len(data), 60))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        data[12:12] = b"".join(rng.choice([b"\x81\0", b"\x88\xa8", b"\x91\0"]) + rng.randbytes(2)
                               for _ in range(rng.randrange(1, 20)))
    elif kind == 3:  # lengths of the packet and of the IP header
        data[14] = rng.choice([0x40, 0x44, 0x45, 0x4f, 0x60, 0xf5])
        data[16:18] = struct.pack(">H", rng.choice([0, 1, 19, 20, 21, 40, 65535]))
    elif kind == 4:  # time to live, fragments, protocols
        data[20:24] = (rng.randbytes(2)
                       + bytes([rng.choice([0, 1, 2]), rng.choice([1, 6, 17, 47, 58, 255])]))
    elif kind == 5:  # IPv6 with endless extension headers
        count = rng.randrange(40)
        data[12:] = (b"\x86\xdd\x60\0\0\0" + struct.pack(">H", 8 * count) + b"\0\2"
                     + rng.randbytes(32)
                     + b"".join(bytes([rng.choice([0, 43, 44, 60, 51]), rng.choice([0, 0, 255])])
                                + rng.randbytes(6)
                                for _ in range(count)))
    elif kind == 6:  # TCP's data offset and options
        data[46:48] = rng.randbytes(2)
        data[54:] = rng.randbytes(max(0, len(data) - 54))
    else:
        data = bytearray(rng.randbytes(rng.choice([1, 13, 14, 15, 60, 1514, 9000])))
    return bytes(data)


def write_hostile(path, seed, packets, gap_ns):
    """Writes packets of a real Linux (tests/replay/data), with hostile ones between them."""
    rng = random.Random(seed)
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../replay/data/linux-tcp.pcap")
    said = [frame for _, frame in read_capture(data) if len(frame) >= 54]
    t_ns = 1000 * 10**9
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for _ in range(packets):
            if rng.random() < 0.7:
                t_ns += rng.randrange(2 * gap_ns)
            frame = rng.choice(said)
            if rng.random() < 0.7:
                frame = hostile_frame(rng, frame)
            out.write(struct.pack("<IIII", t_ns // 10**9, t_ns % 10**9, len(frame), len(frame)))
            out.write(frame)
    return t_ns - 1000 * 10**9


def read_capture(path):
    """Returns pairs of an instant and a frame."""
    with open(path, "rb") as file:
        data = file.read()
    at, packets = 24, []
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from("<IIII", data, at)
        packets.append((seconds * 10**9 + fraction, data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return packets


def blocks(data):
    """Yields the blocks of a pcapng: offset, type and length."""
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield at, kind, length
        at += length


def around(level):
    """Returns the environment for the program of a level of x86-64, such as "v3"; None: for the one
    that weir chooses."""
    return os.environ | {"WEIR_LEVEL": level} if level else None


class Scene:
    """A folder with the captures of ports, and a run of weir between them."""

    def __init__(self, folder, ports, packets=8000, gap_ns=100000, seed=1, write=write_capture):
        self.folder, self.ports = folder, ports
        self.lasts_s = 0
        for index, port in enumerate(ports):
            lasts = write(self.at(f"{port}.pcap"), seed * 100 + index, packets, gap_ns)
            self.lasts_s = max(self.lasts_s, lasts / 10**9)

    def at(self, name):
        return os.path.join(self.folder, name)

    def scenario(self, text):
        """Returns the text, preceded by a device for each port."""
        for port in self.ports:
            device = f"file:{self.at(port)}.pcap,out={self.at('live-' + port)}.pcap"
            text = re.sub(rf"(?m)^port {port}\b.*$", f"port {port} device {device}", text)
        with open(self.at("live.weir"), "w") as out:
            out.write(text)

    def start(self, *options, record="R", level=None):
        records = ["--record", self.at(record)] if record else []
        idle = [] if "pipeline" in options or "--sleep" in options else IDLE
        self.process = subprocess.Popen(
            [WEIR, "run", "-c", self.at("live.weir"), "-s", self.at("socket"), "-q", *records,
             *idle, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=around(level))
        started.append(self.process)
        self.heard = b""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return Client(self.at("socket"))
            except OSError:
                if self.process.poll() is not None:
                    raise AssertionError(self.process.stdout.read().decode())
                assert time.monotonic() < end, "weir does not answer"
                time.sleep(0.01)

    def until_said(self, words, times=1):
        """Waits until weir has said this so often, however busy the machine is."""
        end = time.monotonic() + PATIENCE_S
        while self.heard.count(words.encode()) < times:
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, end - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            assert more, (f"`{words}` is not said {times} times: "
                          f"{self.heard.decode(errors='replace')}")
            self.heard += more

    def until_played(self):
        """Waits until all captures have been played."""
        self.until_said("has been played to its end", len(self.ports))

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        said = (self.heard + self.process.stdout.read()).decode()
        status = self.process.wait()
        assert number == signal.SIGKILL or status == 0, f"status {status}: {said}"
        return said

    def again(self, *options, record="R", outputs=True, status=0, level=None):
        outs = [word for port in self.ports for word in
                ("--out", f"{port}={self.at('again-' + port)}.pcap")] if outputs else []
        done = subprocess.run([WEIR, "replay", "--recording", self.at(record), "-q", *outs,
                               *options], capture_output=True, env=around(level))
        said = (done.stdout + done.stderr).decode(errors="replace")
        assert status in (None, done.returncode), f"status {done.returncode}, not {status}: {said}"
        return said

    def assert_equal(self, due=0, until_ns=None):
        """Compares what left live with what leaves in the replay: the same frames at the same
        instants. A live port dates them by the machine's clock, so all times of a port have the
        same offset. Packets that several workers let out at one instant have no order. `until_ns`:
        compares only what left before this instant."""
        left = 0
        for port in self.ports:
            live = read_capture(self.at(f"live-{port}.pcap"))
            again = read_capture(self.at(f"again-{port}.pcap"))
            if until_ns is not None:
                again = [one for one in again if one[0] < until_ns]
                base = min(live)[0] - min(again)[0] if again else 0
                live = [one for one in live if one[0] - base < until_ns] if again else []
            # Packets on their way between workers when weir ended have left their cloud. `due`
            # packets had not reached an outlet, because the device was full.
            assert 0 <= len(again) - len(live) <= UNDER_WAY + due, (
                f"port {port}: {len(live)} left, {len(again)} again")
            if not live:
                continue
            # A packet on its way to the last worker may be due before one that has left from
            # another worker.
            base = min(live)[0] - min(again)[0]
            missing = collections.Counter(again)
            missing.subtract((t - base, frame) for t, frame in live)
            other = min((one for one, n in missing.items() if n < 0), default=None)
            assert other is None, (
                f"port {port}: one that left at +{other[0]} ns did not leave again")
            left += len(live)
        return left


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.say("json on")

    def say(self, line):
        self.socket.sendall(line.encode() + b"\n")
        answer = self.file.readline()
        assert answer, "weir hung up"
        return answer

    def close(self):
        self.file.close()
        self.socket.close()
