#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the page of `weir serve` in a headless Chromium, with 65,536 clouds and a change each
second: its memory, its frames per second, and whether it requests anything from another host.

A weir of one worker plays a capture with as many senders as clouds, in a loop; nothing leaves the
machine. Chromium is controlled through a pipe (--remote-debugging-pipe). At the end the script
prints the growth of the page's heap and nodes since the second minute, the frames per second, and
all requested addresses. The exit status is 1 if one of these is on another host.

usage: page.py WEIR [--minutes 10] [--clouds 65536] [--pictures FOLDER]
"""

import argparse
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../control"))
from browser import Browser  # noqa: E402

FRAME = bytes.fromhex("020000000002" "020000000001" "0800")


def capture(path, senders, seconds, size=300):
    """Writes one packet of each sender, evenly spread over this many seconds, and after every
    eighth packet one of the few senders that send most."""
    order = []
    for i in range(senders):
        order += [i, i // 8 % 64] if i % 8 == 0 else [i]
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for place, i in enumerate(order):
            at = place * int(seconds * 1e9) // len(order)
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, size - 14, i & 0xffff, 0, 64, 17, 0,
                             0x0a000000 + i, 0xc6120001)
            udp = struct.pack(">HHHH", 1000, 2000, size - 34, 0)
            frame = (FRAME + ip + udp).ljust(size, b"\0")
            file.write(struct.pack("<IIII", at // 10**9, at % 10**9, size, size) + frame)


def scenario(folder, clouds):
    capture(os.path.join(folder, "senders.pcap"), clouds, max(1.0, clouds / 32768))
    capture(os.path.join(folder, "answers.pcap"), 1000, 1, 1000)
    path = os.path.join(folder, "page.weir")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"""seed 7
port lan device file:{folder}/senders.pcap,loop
port wan device file:{folder}/answers.pcap,loop
clouds homes from lan to wan per source 10.0.0.0/16 most {clouds}
clouds homes loss random 1%
clouds homes rate 128kbit queue 8kB
clouds homes delay 40ms jitter 4ms
cloud answers from wan to lan
cloud answers delay 20ms
""")
    return path


def wait_for(what, true, process=None, patience=120):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        got = true()
        if got:
            return got
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"page.py: waited in vain for {what}")


FRAMES = """new Promise((done) => { const begin = performance.now(); let n = 0;
const step = (now) => { n++; if (now - begin < 5000) requestAnimationFrame(step);
else done(n * 1000 / (now - begin)); }; requestAnimationFrame(step); })"""


def pictures(browser, folder):
    os.makedirs(folder, exist_ok=True)
    for name, width, height, dark, mobile in (("serve-light", 1280, 1000, False, False),
                                              ("serve-dark", 1280, 1000, True, False),
                                              ("serve-phone", 390, 844, True, True),
                                              ("serve-wall", 1920, 1080, True, False)):
        browser.size(width, height, dark, mobile)
        time.sleep(3)
        browser.picture(os.path.join(folder, name + ".png"))
    browser.size(1280, 1000)


def changes(weir, socket, end):
    """Makes a change each second, until `end` is set."""
    n = 0
    while not end.wait(1):
        n += 1
        line = f"cloud answers delay {20 + n % 10}ms"
        subprocess.run([weir, "ctl", "-s", socket, line], check=True, stdout=subprocess.DEVNULL)


def watch(browser, minutes):
    rows = []
    for minute in range(minutes):
        begin = time.monotonic()
        frames = [browser.run(FRAMES) for _ in range(3)]
        time.sleep(max(0, 60 - (time.monotonic() - begin)))
        heap, nodes = browser.memory()
        rows.append((heap, nodes, min(frames)))
        print(f"minute {minute + 1}: heap {heap / 1e6:.2f} MB, {nodes} nodes, "
              f"{min(frames):.1f} to {max(frames):.1f} frames a second, "
              f"{browser.run('weir.taken')} samples, load {os.getloadavg()[0]:.1f}", flush=True)
    return rows


def tell(browser, rows, url):
    asked = sorted(browser.asked)
    host = re.match(r"http://[^/]+/", url)[0]
    foreign = [one for one in asked if not one.startswith((host, "data:", "about:"))]
    if len(rows) > 1:
        (first, nodes, _), (last, more, _) = rows[1 if len(rows) > 2 else 0], rows[-1]
        print(f"heap {first / 1e6:.2f} MB, then {last / 1e6:.2f} MB; nodes {nodes}, then {more}; "
              f"least frames a second {min(row[2] for row in rows):.1f}")
    print("asked for:", *asked, sep="\n  ")
    print("of other hosts:", foreign or "nothing")
    print("errors of the page:", browser.wrong or "none")
    return 1 if foreign or browser.wrong else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.rpartition("usage: ")[2])
    parser.add_argument("weir")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--clouds", type=int, default=65536)
    parser.add_argument("--pictures")
    given = parser.parse_args()
    weir = os.path.abspath(given.weir)
    program = Browser.program()
    if program is None:
        print("page.py: there is no Chromium here (apt install chromium)")
        return 77
    folder, started, end = tempfile.mkdtemp(prefix="weir-page-"), [], threading.Event()
    socket, log = os.path.join(folder, "socket"), open(os.path.join(folder, "log"), "w+")
    browser = changer = None
    try:
        started.append(subprocess.Popen(
            [weir, "run", "-c", scenario(folder, given.clouds), "-s", socket, "--", "--no-huge"],
            stdout=log, stderr=log))
        wait_for("weir run", lambda: os.path.exists(socket), started[0])
        started.append(subprocess.Popen(
            [weir, "serve", "-s", socket, "--listen", "127.0.0.1:0", "--allow-changes"],
            stdout=subprocess.PIPE, text=True))
        url = started[1].stdout.readline().split()[-1]
        token = started[1].stdout.readline().partition("#token=")[2].strip()
        browser = Browser(program, folder)
        browser.open(f"{url}#token={token}")
        browser.size(1280, 1000)
        wait_for("samples on the page", lambda: (browser.run("weir.taken") or 0) > 3)
        changer = threading.Thread(target=changes, args=(weir, socket, end))
        changer.start()
        if given.pictures:
            time.sleep(60)
            pictures(browser, given.pictures)
        rows = watch(browser, given.minutes)
        used = [open(f"/proc/{p.pid}/status", encoding="ascii").read() for p in started]
        print("serve holds", re.search(r"VmRSS:\s+(.*)", used[1])[1])
        return tell(browser, rows, url)
    finally:
        end.set()
        if changer:
            changer.join()
        if browser:
            browser.end()
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
