#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests stalls while changes are under way: the whole process is stopped (SIGSTOP), or one worker
(ptrace), and continued.

usage: stalls.py WEIR
"""

import ctypes
import json
import os
import select
import signal
import sys
import threading
import time

from conversation import Client, Weir

PTRACE_ATTACH, PTRACE_DETACH, WALL = 16, 17, 0x40000000
SLEEP_S = 0.01
STOP_S = 4  # longer than control waits for anything


def expect(what, heard, expected):
    if heard != expected:
        raise AssertionError(f"{what}: heard {heard!r}, expected {expected!r}")


def config(client):
    """Returns all lines of the answer to `show config`."""
    client.socket.sendall(b"show config\n")
    lines = []
    while not lines or lines[-1] != "ok":
        lines.append(client.file.readline().decode().rstrip("\n"))
    return lines


def a_stop_of_the_process_with_changes_in_the_pipe(weir):
    client = Client(weir.path)
    lines = [f"cloud up delay {i}ms" for i in range(1, 401)]
    client.socket.sendall("".join(line + "\n" for line in lines).encode())
    time.sleep(0.01)
    weir.process.send_signal(signal.SIGSTOP)
    time.sleep(STOP_S)
    weir.process.send_signal(signal.SIGCONT)
    for line in lines:
        expect(line, client.answers(1), "ok")
    expect("a change after it", client.say("cloud up delay 77ms"), "ok")
    if "cloud up delay 77ms" not in config(client):
        raise AssertionError("show config does not have what is in force")
    client.close()


def worker_of(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm") as file:
            if "worker" in file.read():
                return int(task)
    return None


def ptrace(libc, request, task):
    if libc.ptrace(request, task, None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def a_stop_of_one_worker(weir):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    worker = worker_of(weir.process.pid)
    if worker is None:
        return "no thread of that name"
    client, other = Client(weir.path), Client(weir.path)
    try:
        ptrace(libc, PTRACE_ATTACH, worker)
    except OSError as error:
        return f"ptrace: {error}"
    os.waitpid(worker, WALL)
    client.socket.sendall(b"cloud up delay 5ms\n")
    time.sleep(0.5)
    # If a `show` waited for the worker, its answer would come after that to the change, which weir
    # gives up after 3 s. The order shows it, even on a slow, busy machine.
    expect("a look meanwhile", other.say("show workers"), "ok")
    if select.select([client.socket], [], [], 0)[0]:
        raise AssertionError("a look waits for a worker that stands still")
    heard = client.file.readline().decode()
    if not heard.startswith("accepted, but worker 0 on processor ") or client.answers(1) != "ok":
        raise AssertionError(f"a change that is not taken is answered: {heard}")
    lines = config(other)
    if "cloud up delay 5ms" not in lines or "is stalled" not in lines[0]:
        raise AssertionError(f"show config says meanwhile: {lines}")
    if "has not taken the previous change; nothing is changed" not in other.say(
            "cloud up delay 6ms"):
        raise AssertionError("a further change is not refused")
    ptrace(libc, PTRACE_DETACH, worker)
    expect("a change after it", other.say("cloud up delay 7ms"), "ok")
    lines = config(other)
    if "cloud up delay 7ms" not in lines or "is stalled" in lines[0]:
        raise AssertionError(f"show config says afterwards: {lines}")
    client.close()
    other.close()
    return None


def polls(client):
    client.socket.sendall(b"show workers\n")
    return json.loads(client.file.readline())["workers"][0]["polls"]


def a_worker_that_sleeps_polls_no_more_often_than_it_was_told(weir):
    client = Client(weir.path)
    client.say("json on")
    began, before = time.monotonic(), polls(client)
    time.sleep(1)
    more, took_s = polls(client) - before, time.monotonic() - began
    # One more for the poll that had begun.
    if not 0 < more <= took_s / SLEEP_S + 1:
        raise AssertionError(f"{more} polls in {took_s} s")
    client.close()


def forty_clients_at_once_are_all_answered(weir):
    """Each on a connection of its own, as `weir ctl` has; each waits until all changes before its
    own have been taken over."""
    answers = []

    def change(number):
        client = Client(weir.path)
        answers.append(client.say(f"cloud up delay {number + 1}ms"))
        client.close()

    threads = [threading.Thread(target=change, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if answers != ["ok"] * 40:
        raise AssertionError(f"the answers are {answers}")


def sigterm_ends_it(weir):
    weir.process.send_signal(signal.SIGTERM)
    if weir.process.wait(60) != 0 or "every packet is accounted for" not in weir.said():
        raise AssertionError(f"it ends with status {weir.process.returncode}: {weir.said()}")


def main():
    tests = (a_worker_that_sleeps_polls_no_more_often_than_it_was_told,
             a_stop_of_the_process_with_changes_in_the_pipe, a_stop_of_one_worker,
             forty_clients_at_once_are_all_answered, sigterm_ends_it)
    weir = Weir(sys.argv[1], "stalls", "--sleep", f"{SLEEP_S}s")
    failed = 0
    print(f"1..{len(tests)}")
    try:
        for number, test in enumerate(tests, 1):
            name = test.__name__.replace("_", " ")
            try:
                why = test(weir)
                print(f"ok {number} - {name}" + (f" # SKIP {why}" if why else ""))
            except (AssertionError, OSError) as error:
                failed = 1
                print(f"# {error}\nnot ok {number} - {name}")
    finally:
        weir.stop()
    return failed


if __name__ == "__main__":
    sys.exit(main())
