#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints how the kernel schedules the threads of a process: name, policy, level, slice in us.

usage: threads.py PID      a line for each thread, such as `dpdk-worker1 fifo 50 0`
"""

import ctypes
import os
import struct
import sys

SYS_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}[os.uname().machine]
POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle"}


def scheduling(thread):
    attributes = ctypes.create_string_buffer(48)
    if ctypes.CDLL(None).syscall(SYS_SCHED_GETATTR, thread, attributes, 48, 0) < 0:
        return None
    _, policy, _, _, level, slice_ns = struct.unpack_from("IIQiIQ", attributes)
    return POLICIES.get(policy, policy), level, slice_ns // 1000


for name in os.listdir(f"/proc/{sys.argv[1]}/task"):
    with open(f"/proc/{sys.argv[1]}/task/{name}/comm", encoding="ascii") as file:
        comm = file.read().strip().replace(" ", "-")
    found = scheduling(int(name))
    if found:
        print(comm, *found)
