#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plays frames through a weir.Network, as ../library/player.c does through weir.h, with the same
words: tests/library/against_replay.py compares what both write with a replay.

usage: player.py SCENARIO SEED FRAMES FOLDER [BATCH [HOW [AT]]]
"""
import contextlib
import json
import os
import struct
import sys

import weir


class Player:
    def __init__(self, scenario, seed, frames, folder, batch="32", how="plain", at="0"):
        with open(frames, "rb") as file:
            self.given = file.read()
        begin_ns = int.from_bytes(self.given[:8], "little")
        self.network = weir.Network(scenario, seed=int(seed), begin_ns=begin_ns)
        self.beside = os.path.dirname(os.path.abspath(scenario))
        self.folder, self.batch, self.how, self.turn_at = folder, int(batch), how, int(at)
        self.outputs = {}

    def frames(self):
        at = 0
        while at < len(self.given):
            t_ns, port, wire, there = struct.unpack_from("<qIII", self.given, at)
            at += 20 + there
            yield weir.Frame(t_ns, self.network.ports[port], self.given[at - there:at], wire)

    def receive(self, until_ns):
        for frame in self.network.receive(until_ns):
            self.outputs[frame.port].write(struct.pack(
                "<4I", *divmod(frame.t_ns, 10 ** 9), len(frame.data), frame.wire_bytes)
                + frame.data)

    def visit(self, until_ns):
        """Receives what leaves by an instant, and visits all instants on the way."""
        while (next_ns := self.network.next_ns()) is not None and next_ns <= until_ns:
            self.receive(next_ns)
            if self.network.next_ns() == next_ns:
                break
        self.receive(until_ns)

    def send(self, frames):
        self.network.send_many(frames)
        if frames and self.how == "next":
            self.visit(frames[-1].t_ns)
        elif frames and self.how != "late":
            self.receive(frames[-1].t_ns)
        frames.clear()

    def turn(self):
        """Another network goes on."""
        with self.network as first:
            self.network = (first.clone() if self.how == "clone"
                            else weir.Network.load(first.save(), folder=self.beside))

    def tell(self, log):
        def told(fate):
            log.write(f"{fate.packet},{fate.port},{fate.arrived_ns},{fate.cloud},{fate.kind},"
                      f"{fate.reason or ''},"
                      f"{'' if fate.leaves_ns is None else fate.leaves_ns},{fate.detail}\n")
        return told

    def play(self):
        with contextlib.ExitStack() as files:
            for port in self.network.ports:
                self.outputs[port] = files.enter_context(open(f"{self.folder}/{port}.pcap", "wb"))
                self.outputs[port].write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
            if self.how == "fates":
                log = files.enter_context(open(f"{self.folder}/log.csv", "w", encoding="utf-8"))
                log.write("packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail\n")
                self.network.on_fate(self.tell(log))
            batch = []
            for n, frame in enumerate(self.frames(), 1):
                batch.append(frame)
                if len(batch) == self.batch or n == self.turn_at:
                    self.send(batch)
                if n == self.turn_at:
                    self.turn()
            self.send(batch)
            while (next_ns := self.network.next_ns()) is not None:
                self.receive(next_ns)
        with open(f"{self.folder}/report.json", "w", encoding="utf-8") as file:
            json.dump(self.network.report().raw, file)


if __name__ == "__main__":
    Player(*sys.argv[1:]).play()
