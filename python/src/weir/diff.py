# SPDX-License-Identifier: BSD-3-Clause
"""`weir diff`, behind the command line that the program itself has checked (diff_command.c): how
the fates of two runs differ, which that program executes meanwhile."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ._command import CommandError, Given, Process, encoded, path_text

ROOM = 1 << 20  # fates that wait for their counterpart
EXAMPLES, SETS, SPANS = 3, 32, 1 << 16
Example = tuple[int, int, int]  # when it came to the cloud, its port, and its number there


class Histogram:
    """What src/emulation/account/histogram.h keeps of the same values.

    >>> some = Histogram()
    >>> some.add(range(1, 100001))
    >>> some.bits, some.percentile(500000), some.percentile(1000000)
    (6, 49999, 100000)
    """

    BUCKETS, BITS, MOST = 1024, 16, 2**48 - 1

    def __init__(self) -> None:
        self.count = self.min = self.max = 0
        self.bits = self.BITS
        self.buckets: Counter[int] = Counter()

    def add(self, values: Sequence[int]) -> None:
        if not values:
            return
        self.min = min(min(values), self.min) if self.count else min(values)
        self.max = max(max(values), self.max)
        self.count += len(values)
        if self.max > self.MOST:
            values = [min(value, self.MOST) for value in values]
        bits = self.bits
        least, most = min(self.min, self.MOST), min(self.max, self.MOST)
        while _bucket(most, bits) - _bucket(least, bits) >= self.BUCKETS:
            bits -= 1
        if bits < self.bits:
            before, self.buckets = self.buckets, Counter()
            for bucket, n in before.items():
                self.buckets[_bucket(_floor(bucket, self.bits), bits)] += n
            self.bits = bits
        buckets, octave = self.buckets, 1 << bits
        for value in values:  # as in _bucket
            shift = (value | octave).bit_length() - 1 - bits
            buckets[(shift << bits) + (value >> shift)] += 1

    def percentile(self, per_million: int) -> int:
        rank, seen = -(-self.count * per_million // 1000000), 0
        if rank <= 1:
            return self.min
        for bucket, n in sorted(self.buckets.items()) if rank < self.count else ():
            if seen + n >= rank:
                low = max(_floor(bucket, self.bits), self.min)
                top = min(_floor(bucket + 1, self.bits) - 1, self.max)
                return low + (top - low) * (2 * (rank - seen) - 1) // (2 * n)
            seen += n
        return self.max


def _bucket(value: int, bits: int) -> int:
    shift = (value | 1 << bits).bit_length() - 1 - bits
    return (shift << bits) + (value >> shift)


def _floor(bucket: int, bits: int) -> int:
    shift = max((bucket >> bits) - 1, 0)
    return (bucket - (shift << bits)) << shift


class Differences:
    """Pairs of fates, summed. A pair has the fates of one packet in both runs, in the order of its
    clouds; copies are paired with copies. A fate waits until its counterpart comes. If there is
    none, the packet did not reach that cloud there, or was not decided: it waits in a queue at the
    end. At most ROOM wait, so memory is bounded, however long the runs are; then the one that has
    waited longest has no counterpart.

    The delay of a packet is the time from its arrival at the cloud until it leaves it. A difference
    of delays is positive if the second run took longer."""

    def __init__(self, became: Sequence[str], ports: Sequence[Sequence[str]],
                 room: int = ROOM) -> None:
        """`became`: the reasons, and last `delivered`."""
        self.became = [*became, "not decided"]
        self.delivered, self.nothing = len(became) - 1, len(became)
        self.ports = list(dict.fromkeys([*ports[0], *ports[1]]))
        self._port = {name: at for at, name in enumerate(self.ports)}
        self._room = room
        self._waiting: dict[str, tuple[str, ...]] = {}
        self.pairs = self.equal = self.other_length = self.gone = 0
        self.changes: dict[tuple[int, int], tuple[int, list[Example]]] = {}
        self.first: tuple[Example, int, int, int] | None = None
        self.later, self.earlier = Histogram(), Histogram()
        self._first_ns = sys.maxsize
        self._spans: list[int] = []

    def take(self, fates: str) -> None:
        """Takes fates of both runs, as diff_command.c tells them."""
        waiting, spans, pairs, equal = self._waiting, self._spans, 0, 0
        for one in zip(*[iter(fates.split())] * 4):
            run, packet, fate, _ = one
            other = waiting.get(packet)
            if other is None:
                waiting[packet] = one
                continue
            if other[0] == run:
                waiting[packet] = other + one
                continue
            if len(other) == 4:
                del waiting[packet]
            else:
                waiting[packet] = other[4:]
            if other[2] == fate:
                pairs += 1
                equal += "+" in fate
                continue
            first, second = (one, other) if run == "0" else (other, one)
            length, _, before = first[2].partition("+")
            other_length, _, after = second[2].partition("+")
            if (before and after and length == other_length
                    and int(first[3]) > self._first_ns):  # most differences are of this kind
                pairs += 1
                spans.append(int(after) - int(before))
            else:
                self._add(first, second)
        self.pairs += pairs
        self.equal += equal
        if len(waiting) > self._room:
            self.gone += self._let_go(len(waiting) - self._room)
        if len(spans) >= SPANS:
            self._add_spans()

    def end(self) -> None:
        """What waits now has no counterpart."""
        self._let_go(len(self._waiting))
        self._add_spans()

    def _add_spans(self) -> None:
        self.later.add([span for span in self._spans if span > 0])
        self.earlier.add([-span for span in self._spans if span < 0])
        self._spans.clear()

    def _let_go(self, packets: int) -> int:
        before = self.pairs
        for packet in list(itertools.islice(self._waiting, packets)):
            left = iter(self._waiting.pop(packet))
            for one in zip(left, left, left, left):
                self._add(one, None) if one[0] == "0" else self._add(None, one)
        return self.pairs - before

    def _fate(self, one: tuple[str, ...] | None) -> tuple[int, int | None, int]:
        """Returns what it became, its length, and its delay."""
        if one is None:
            return self.nothing, None, 0
        length, delivered, delay = one[2].partition("+")
        if delivered:
            return self.delivered, int(length), int(delay)
        length, _, became = length.partition("-")
        return int(became), int(length), 0

    def _add(self, first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> None:
        """Adds a pair of unequal fates."""
        known = first or second
        assert known
        port, number = known[1].removesuffix(",copy").split(",")
        at = int(known[3]), self._port[port], int(number)
        was, length, before_ns = self._fate(first)
        becomes, other_length, after_ns = self._fate(second)
        later_ns = after_ns - before_ns if was == becomes else 0
        self.pairs += 1
        if first and second and length != other_length:
            self.other_length += 1
        if was != becomes:
            n, few = self.changes.get((was, becomes), (0, []))
            self.changes[was, becomes] = n + 1, sorted([*few, at])[:EXAMPLES]
        elif later_ns:
            self._spans.append(later_ns)
        elif was == self.delivered:
            self.equal += 1
        if self.first is None or at < self.first[0]:
            self.first, self._first_ns = (at, was, becomes, later_ns), at[0]

    @property
    def changed(self) -> int:
        return sum(n for n, _ in self.changes.values())

    def delay(self, per_million: int) -> int:
        """Returns the difference of delays below which so many of them lie: first the earlier ones,
        by descending amount, then the equal ones, then the later ones. The extremes are exact."""
        earlier, later = self.earlier, self.later
        n = earlier.count + self.equal + later.count
        rank = (n - 1) * per_million // 1000000
        if n == 0 or earlier.count <= rank < earlier.count + self.equal:
            return 0
        if rank < earlier.count:
            n = earlier.count
            return -(earlier.percentile((n - rank) * 1000000 // n) if rank else earlier.max)
        rank, n = rank - earlier.count - self.equal + 1, later.count
        return later.percentile(rank * 1000000 // n) if rank < n else later.max

    def document(self, own: Sequence[Sequence[int]], runs: Sequence[Any]) -> dict[str, Any]:
        """Returns what `weir diff --json` prints. `own`: fates of weir's own packets, which have no
        number, by what they became."""
        first = self.first and {**self._example(self.first[0]), "from": self.became[self.first[1]],
                                "to": self.became[self.first[2]], "later_ns": self.first[3]}
        return {
            "same": self.first is None and own[0] == own[1], "fates": self.pairs,
            "changed": self.changed, "other_length": self.other_length,
            "changes": [{"from": self.became[was], "to": self.became[becomes], "packets": n,
                         "few": [self._example(one) for one in few]}
                        for (was, becomes), (n, few) in sorted(self.changes.items())],
            "delays": {"equal": self.equal, "longer": self.later.count,
                       "shorter": self.earlier.count, "min_ns": self.delay(0),
                       "p50_ns": self.delay(500000), "p99_ns": self.delay(990000),
                       "max_ns": self.delay(1000000)},
            "first": first,
            "own": [{"fate": fate, "packets": counts}
                    for fate, *counts in zip(self.became, *own) if any(counts)],
            "unpaired_early": self.gone, "runs": runs}

    def _example(self, one: Example) -> dict[str, Any]:
        return {"port": self.ports[one[1]], "packet": one[2], "at_ns": one[0]}


# ---- text ----

def _seconds(ns: int) -> str:
    return f"+{ns // 10**9}.{ns % 10**9:09} s"


def _packet(one: Any) -> str:
    return f"packet {one['packet']} of port {one['port']} at {_seconds(one['at_ns'])}"


def _longer(ns: int) -> str:
    """Returns by how much a delay is longer, with its sign, to nine digits.

    >>> _longer(-1500), _longer(0), _longer(12345678912345)
    ('-1.5 µs', '+0 ns', '+12345.6789 s')
    """
    exponent = min((len(str(abs(ns))) - 1) // 3, 3)
    value = abs(ns) / 1000**exponent
    decimals = max(9 - len(str(int(value))), 0)
    # As human_unit.h rounds: half away from zero.
    whole, part = divmod(int(value * 10**decimals + 0.5), 10**decimals)
    text = f"{whole}.{part:0{decimals}}".rstrip("0").rstrip(".")
    return f"{'-' if ns < 0 else '+'}{text} {('ns', 'µs', 'ms', 's')[exponent]}"


def _count(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yields the lines that `weir diff` prints, from what it prints for programs."""
    packets = [run["packets"] for run in found["runs"]]
    delays = found["delays"]
    yield (f"{packets[0]:,} and {_count(packets[1], 'packet', 'packets')} came in; "
           f"{_count(found['fates'], 'fate', 'fates')} compared")
    yield ("the same: every fate, every delay" if found["same"] else
           _count(found["changed"], "packet has", "packets have") + " a different fate")
    for change in found["changes"]:
        yield f"  {change['from']:12} -> {change['to']:12} {change['packets']}"
        for one in change["few"]:
            yield "      " + _packet(one)
    if found["other_length"]:
        yield (_count(found["other_length"], "packet differs", "packets differ")
               + " in length: different packets")
    for own in found["own"]:
        one, other = own["packets"]
        if one != other:
            yield f"  of weir's own packets {own['fate']}: {one}, and {other}"
    n = delays["equal"] + delays["longer"] + delays["shorter"]
    yield (f"delays, of {n} delivered in both: {delays['equal']} equal, {delays['longer']} longer, "
           f"{delays['shorter']} shorter")
    if delays["equal"] < n:
        yield "  by: " + ", ".join(f"{name} {_longer(delays[name + '_ns'])}"
                                   for name in ("min", "p50", "p99", "max"))
    if first := found["first"]:
        if first["from"] != first["to"]:
            how = f"{first['from']} -> {first['to']}"
        else:
            how = (f"its delay differs by {_longer(first['later_ns'])}" if first["later_ns"]
                   else "its length differs")
        yield f"first difference: {_packet(first)}: {how}"
    if found["unpaired_early"]:
        yield (_count(found["unpaired_early"], "fate is counted", "fates are counted")
               + " as having no counterpart, after waiting too long for it")
    for name, run in zip(("the first", "the second"), found["runs"]):
        for worker in run["unknown"]:
            yield (f"{name}, worker {worker['worker']}: known up to "
                   f"{_seconds(worker['known_ns'])}: {worker['why']}")
        if run["damage"]:
            yield f"{name}, ingress.pcapng: {run['damage']}"


class _Failed(Exception):
    """The program has said why it could not compare the runs."""


class _Weir(Process):
    """The program, which executes both runs."""

    def answer(self) -> dict[str, Any]:
        answer = self.receive()
        if not answer or answer == b"{}\n":
            raise _Failed
        found: dict[str, Any] = json.loads(answer)
        return found

    def ask(self, **question: Any) -> dict[str, Any]:
        self.send(encoded(question))
        return self.answer()


def _compare(weir: _Weir, runs: Sequence[Any]) -> dict[str, Any]:
    differences, ended = Differences(**weir.ask(ask="begin", runs=runs)), False
    question = encoded({"ask": "fates"})
    weir.send(question)
    while not ended:
        answer = weir.answer()
        ended = answer["ended"]
        if not ended:
            weir.send(question)  # it goes on meanwhile
        differences.take(answer["fates"])
    differences.end()
    return differences.document(**weir.ask(ask="end"))


def _runs(given: Given) -> list[dict[str, Any]]:
    """Returns both runs, as the program is asked for them."""
    changed = given.given & {"config", "set", "seed", "ideal"}
    folders = given.words
    if not 1 <= len(folders) <= 2:
        raise CommandError("give one recording or two: weir diff DIR DIR")
    if len(folders) == 2 and changed:
        raise CommandError("-c, --set, --seed and --ideal are for a rerun of one recording; here "
                           "are two")
    if len(folders) == 1 and not changed:
        raise CommandError(f"{folders[0]}: compare it with another recording, or give -c FILE, "
                           "--set LINE, --seed N or --ideal")
    sets, until, config = given.every("set"), given.get("until"), given.get("config")
    if len(sets) > SETS:
        raise CommandError(f"--set: more than {SETS} lines")
    return [{"path": path_text(folders[0]), "until_ns": until},
            {"path": path_text(folders[-1]), "until_ns": until,
             "config": path_text(config) if config else None, "set": sets,
             "seed": given.get("seed"), "ideal": "ideal" in given}]


def main(words: Sequence[str]) -> int:
    """Returns 0: the same; 1: different; 2: it could not be compared."""
    given = Given(words)
    weir = None
    try:
        runs = _runs(given)
        weir = _Weir(os.environ["WEIR"], "diff", "--answer")
        found = _compare(weir, runs)
    except CommandError as error:
        print(f"weir diff: {error}", file=sys.stderr)
        return 2
    except _Failed:
        return 2
    finally:
        if weir:
            weir.end()
    if "json" in given:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        print(*lines(found), sep="\n")
    return 0 if found["same"] else 1
