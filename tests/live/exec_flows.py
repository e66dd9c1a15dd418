# SPDX-License-Identifier: BSD-3-Clause
"""Two connections of UDP for test_exec_flows.sh.

receive FILE            writes what arrives: FLOW NUMBER, a line for each datagram
send HOST BY RUN FILE   sends the datagrams of both, mixed by chance; writes both addresses. BY
                        connection: from ports that the kernel chooses
offline FOLDER WEIR BY  replays the same datagrams, one connection after the other, and compares
                        what arrives with FOLDER/BY.1 and 2
"""

import collections
import pathlib
import random
import socket
import struct
import subprocess
import sys
import threading
import time

PORTS = {"flow": (5001, 5002), "connection": (40000, 50000)}
FLOWS = 2
PORT = 7000
EACH = 400


def payload(flow, number):
    return struct.pack("!HH", flow, number) + bytes(20 + number % 50)


def receive(name):
    with open(name, "w", encoding="ascii") as file, socket.socket(
            socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind(("", PORT))
        while True:
            print(*struct.unpack("!HH", sock.recv(2000)[:4]), file=file, flush=True)


def send_one(sock, flow, host):
    with sock:
        for number in range(1, EACH):
            sock.sendto(payload(flow, number), (host, PORT))
            if random.random() < 0.2:
                time.sleep(random.random() / 200)


def send(host, by, run, name):
    random.seed(run)
    threads = []
    for flow in range(FLOWS):  # begin in this order
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("", PORTS[by][flow] if by == "flow" else 0))
        sock.sendto(payload(flow, 0), (host, PORT))
        threads.append(threading.Thread(target=send_one, args=(sock, flow, host)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((host, PORT))
        addresses = sock.getsockname()[0], sock.getpeername()[0]
    pathlib.Path(name).write_text(" ".join(addresses), encoding="ascii")


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def udp_checksum(addresses, datagram):
    return checksum(addresses + struct.pack("!HH", 17, len(datagram)) + datagram)


def frame(source, target, port, flow, number):
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    body = payload(flow, number)
    head = struct.pack("!HHH", port, PORT, 8 + len(body))
    udp = head + struct.pack("!H", udp_checksum(addresses, head + bytes(2) + body)) + body
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0) + addresses
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return bytes(12) + b"\x08\x00" + ip + udp


def write_capture(name, frames):
    with open(name, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for at, data in enumerate(frames):
            file.write(struct.pack("<IIII", at // 1000, at % 1000 * 1000, len(data), len(data)) +
                       data)


def read_capture(name):
    data = pathlib.Path(name).read_bytes()
    at = 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def offline(folder, weir, by):
    folder = pathlib.Path(folder)
    source, target = (folder / "addresses").read_text(encoding="ascii").split()
    write_capture(folder / "in.pcap", [frame(source, target, PORTS[by][flow], flow, number)
                                       for flow in range(FLOWS) for number in range(EACH)])
    subprocess.run([weir, "replay", "-q", "-c", folder / f"{by}.weir", "--in",
                    f"b={folder}/in.pcap", "--out", f"a={folder}/out.pcap"], check=True)
    expected = collections.Counter()
    for data in read_capture(folder / "out.pcap"):
        if udp_checksum(data[26:34], data[34:]) == 0:  # the kernel drops the others
            expected[data[42:46]] += 1
    for run in (1, 2):
        seen = collections.Counter()
        for line in (folder / f"{by}.{run}").read_text(encoding="ascii").splitlines():
            seen[struct.pack("!HH", *map(int, line.split()))] += 1
        differ = {struct.unpack("!HH", key): (seen[key], expected[key])
                  for key in seen | expected if seen[key] != expected[key]}
        assert not differ, f"by {by}, run {run}, live and replayed: {differ}"
    total = FLOWS * EACH
    print(f"{total - len(expected)} of {total} do not arrive, "
          f"{sum(n > 1 for n in expected.values())} arrive twice")
    assert total / 10 < len(expected) < total


{"receive": receive, "send": send, "offline": offline}[sys.argv[1]](*sys.argv[2:])
