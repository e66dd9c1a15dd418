#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Workloads that iperf3 does not have, for held_out.py: a page, and frames of a video. And all
workloads in turn, for held_out_netem.sh.

usage: workloads.py page-server ADDRESS SECONDS   serves pages over TCP until the time is over
       workloads.py page ADDRESS SECONDS          loads one page after another
       workloads.py video ADDRESS SECONDS         sends frames over UDP
       workloads.py all ADDRESS SECONDS RUNS BULK loads all from the page-server and the iperf3 -s
                                                  there, behind BULK seconds of CUBIC; prints when
                                                  each began and ended, as JSON

A page is a document of 40 kB, and behind it 24 objects of 2 to 60 kB over six connections, as a
browser has them. Between two pages is half a second. A video has 25 frames a second and 2 Mbit/s;
each fiftieth frame is five times as long as the others. All of this is the same in every run.
"""
import json
import random
import socket
import struct
import subprocess
import sys
import threading
import time

PORT = 8090
OBJECTS = [random.Random(7).randrange(2_000, 60_000) for _ in range(24)]
DOCUMENT = 40_000
CONNECTIONS = 6
FRAMES_A_SECOND, KEY_EACH, KEY_LONGER = 25, 50, 5
FRAME = int(2e6 / 8 / FRAMES_A_SECOND / (1 + (KEY_LONGER - 1) / KEY_EACH))
DATAGRAM = 1200
VIDEO = 1 << 31  # asks for seconds of a video, in place of bytes
IPERF = {"reno": ["-C", "reno"], "bbr": ["-C", "bbr"], "two flows": ["-C", "cubic", "-P", "2"]}


def received(peer, count):
    """Reads so many bytes; returns them, or None at the end of the stream."""
    read = b""
    while len(read) < count:
        more = peer.recv(min(count - len(read), 1 << 16))
        if not more:
            return None
        read += more
    return read


def serve(address, seconds):
    def answer(peer):
        with peer:
            while (asked := received(peer, 4)) is not None:
                size = struct.unpack("!I", asked)[0]
                if size & VIDEO:
                    video(peer.getpeername()[0], size & ~VIDEO)
                    peer.sendall(b"done")
                else:
                    peer.sendall(bytes(size))

    with socket.create_server((address, PORT), backlog=64) as server:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            server.settimeout(left)
            try:
                peer, _ = server.accept()
            except TimeoutError:
                break
            threading.Thread(target=answer, args=(peer,), daemon=True).start()


def load(address):
    """Loads a page."""
    def fetch(sizes, peer):
        with peer:
            for size in sizes:
                peer.sendall(struct.pack("!I", size))
                received(peer, size)

    fetch([DOCUMENT], socket.create_connection((address, PORT)))
    threads = [threading.Thread(target=lambda i=i: fetch(
        OBJECTS[i::CONNECTIONS], socket.create_connection((address, PORT))))
        for i in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def page(address, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        load(address)
        time.sleep(0.5)


def video(address, seconds):
    begin = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(int(seconds * FRAMES_A_SECOND)):
            time.sleep(max(0.0, begin + number / FRAMES_A_SECOND - time.monotonic()))
            left = FRAME * (KEY_LONGER if number % KEY_EACH == 0 else 1)
            while left > 0:
                # A number in each makes packets differ.
                sender.sendto(struct.pack("!II", number, left).ljust(min(left, DATAGRAM), b"v"),
                              (address, PORT))
                left -= DATAGRAM


def watch(address, seconds):
    with socket.create_connection((address, PORT)) as peer:
        peer.sendall(struct.pack("!I", VIDEO | round(seconds)))
        received(peer, 4)


def every(address, seconds, runs, bulk):
    def iperf(words, seconds):
        subprocess.run(["iperf3", "-R", "-c", address, "-t", str(round(seconds)), *words],
                       check=True, stdout=subprocess.DEVNULL)

    works = [("bulk", lambda: iperf(["-C", "cubic"], bulk))] if bulk else []
    for _ in range(int(runs)):
        works += [(name, lambda words=words: iperf(words, seconds))
                  for name, words in IPERF.items()]
        works += [("page", lambda: page(address, seconds)),
                  ("video", lambda: watch(address, seconds))]
    for name, work in works:
        begin = time.time()
        work()
        time.sleep(0.5)  # what is still on its way
        print(json.dumps({"name": name, "begin": begin, "end": time.time()}), flush=True)
        time.sleep(0.5)


if __name__ == "__main__":
    {"page-server": serve, "page": page, "video": video, "all": every}[sys.argv[1]](
        sys.argv[2], *map(float, sys.argv[3:]))
