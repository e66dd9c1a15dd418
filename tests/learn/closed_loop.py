#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random scenarios, through `weir replay`, and learned back.

usage: closed_loop.py WEIR ROOT     claims about a few scenarios; $WEIR_LEARN_LOOPS says how many,
       and $WEIR_LEARN_FIRST from which on
       closed_loop.py WEIR ROOT N   one of them, with all estimates
"""
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

WEIR, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
learning.need(WEIR, ROOT)
import numpy  # noqa: E402
import scipy.stats  # noqa: E402
import traffic  # noqa: E402
from weir.learn import pairs, path  # noqa: E402

PACKETS = 100_000
FEW = 4
# Scenarios of later runs that were learned wrong once: a bucket by its first packets alone, a rate
# that a drift hid, a depth whose interval was too narrow, one that was wrong by six packets.
WRONG_ONCE = (9022, 9078, 9084, 12001, 20142)
MS = 1e6


def between(rng, low, high):
    """A number whose logarithm is uniform."""
    return float(numpy.exp(rng.uniform(numpy.log(low), numpy.log(high))))


def percent(p):
    return f"{100 * p:.6g}%"


def choose_loss(rng):
    """Returns a statement, its model, and its parameters."""
    model = rng.choice(["none", "random", "gilbert", "gilbert-elliott", "four-state"])
    if model == "none":
        return None, "none", {}
    if model == "random":
        p = between(rng, 0.001, 0.05)
        return f"loss random {percent(p)}", model, {"probability": p}
    p, r = between(rng, 0.002, 0.02), between(rng, 0.05, 0.4)
    if model == "gilbert":
        return f"loss gilbert-elliott p {percent(p)} r {percent(r)}", model, {"p": p, "r": r}
    if model == "gilbert-elliott":
        r, bad, good = min(r, 0.2), rng.uniform(0.3, 0.8), between(rng, 0.0005, 0.003)
        return (f"loss gilbert-elliott p {percent(p)} r {percent(r)} bad {percent(bad)} good "
                f"{percent(good)}", model, {"p": p, "r": r, "bad": bad, "good": good})
    values = {"p13": p, "p31": r, "p32": rng.uniform(0.15, 0.4), "p23": rng.uniform(0.15, 0.6),
              "p14": between(rng, 0.001, 0.005)}
    return ("loss four-state " + " ".join(f"{k} {percent(v)}" for k, v in values.items()), model,
            values)


def choose_rate(rng, load_bps):
    kind = rng.choice(["none", "leaky", "token"], p=[0.4, 0.4, 0.2])
    if kind == "none":
        return None, {}
    rate = round(load_bps * rng.uniform(0.75, 1.3))
    unit = rng.choice(["B", "pkt"])
    queue = int(rng.integers(15, 120)) * 1000 if unit == "B" else int(rng.integers(10, 100))
    line = f"rate {rate}bit queue {queue}{unit}"
    truth = {"rate": rate, "queue": (queue, unit)}
    if kind == "token":
        truth["burst"] = int(rng.integers(10, 80)) * 1000
        line += f" algorithm token-bucket burst {truth['burst']}B"
    return line, truth


def choose_delay(rng):
    delay = between(rng, 5, 150)
    family = rng.choice(["constant", "uniform", "normal", "exponential", "gamma", "lognormal",
                         "pareto"])
    if family == "constant":
        return f"delay {delay:.3f}ms", family, {"delay": round(delay, 3) * MS}
    jitter = min(between(rng, 0.3, 8), delay / 4)
    order = rng.choice(["keep", "allow"])
    return (f"delay {delay:.3f}ms jitter {jitter:.3f}ms distribution {family} order {order}",
            family, {"delay": round(delay, 3) * MS, "jitter": round(jitter, 3) * MS})


def choose_traffic(rng, whole):
    """Returns instants, lengths, and the name; of the lab, whose traffic follows the path, a rate
    in place of instants and lengths."""
    kind = rng.choice(["poisson", "steady", "on-off", "capture", "lab"] if not whole else
                      ["poisson", "steady", "on-off"])
    gap = between(rng, 0.2, 2) * MS
    if kind == "lab":
        return None, between(rng, 1e6, 12e6), kind
    if kind == "capture":
        at, size = traffic.captured(os.path.join(ROOT, "tests", "replay", "data",
                                                 "linux-tcp.pcap"), PACKETS, gap)
        return at, size, kind
    at = {"poisson": lambda: traffic.poisson(rng, PACKETS, gap),
          "steady": lambda: traffic.steady(PACKETS, gap),
          "on-off": lambda: traffic.on_off(rng, PACKETS, gap / 2, 300, 200 * gap)}[kind]()
    size = numpy.full(PACKETS, 300) if whole else traffic.sizes(rng, PACKETS)
    return at, size, kind


def lab_traffic(lines, bps, seed):
    """Returns what TCP connections of the lab send across a path; `bps`: its rate, if it has
    none."""
    rates = [line for line in lines if line.startswith("rate")] or [f"rate {bps:.0f}bit queue 60kB"]
    rest = [line for line in lines if line.startswith(("loss", "delay"))]
    seconds, at, size = PACKETS * 8 * 800 / bps, [], []
    while len(at) < PACKETS:  # losses slow them down
        seconds *= 1.1 * PACKETS / max(len(at), PACKETS // 20) if len(at) else 1.0
        at, size = _lab_run(rates + rest, seconds, seed)
    return at, size


def _lab_run(lines, seconds, seed):
    with tempfile.TemporaryDirectory() as folder:
        lab, capture = (os.path.join(folder, name) for name in ("a.lab", "a.pcap"))
        with open(lab, "w", encoding="utf-8") as out:
            out.write(f"title TCP\nset duration {seconds:.0f}s\nset warmup 1s\n"
                      "link one from s1 to s2\n"
                      + "".join(f"cloud one {line}\n" for line in lines)
                      + "cloud one.back delay 20ms\n"
                      + "".join(f"ftp {name} 2 from s1 to s2 packet {size}B window 1000 tick 200ms "
                                "delay 50ns tcp reno\n" for name, size in
                                (("long", 1400), ("short", 500)))
                      + "case reno\nend\n")
        subprocess.run([WEIR, "lab", "run", lab, "--seeds", "1", "--seed", str(seed), "--alone",
                        "--pcap", capture], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, WEIR_PYTHON=sys.executable))
        return traffic.read_data(capture, PACKETS)


class Case:
    """A scenario, its traffic, and what is true of it."""

    def __init__(self, number):
        rng = numpy.random.default_rng(1000 + number)
        whole = rng.random() < 0.1
        self.at, self.size, self.kind = choose_traffic(rng, whole)
        self.whole = whole
        load = self.size if self.at is None else (
            8e9 * float(self.size.sum()) / float(self.at[-1] - self.at[0]))
        lines, self.truth = [], {}
        loss, self.model, truth = choose_loss(rng)
        self._add(lines, "loss", loss, truth)
        if rng.random() < 0.2:
            p = between(rng, 0.002, 0.03)
            self._add(lines, "duplicate", f"duplicate random {percent(p)}", {"probability": p})
        if whole:
            p = between(rng, 0.002, 0.03)
            self._add(lines, "corrupt", f"corrupt random {percent(p)}", {"probability": p})
        self._add(lines, "rate", *choose_rate(rng, load))
        delay, self.family, truth = choose_delay(rng)
        self._add(lines, "delay", delay, truth)
        if self.family == "constant" and rng.random() < 0.4 and self.model == "none":
            p, by = between(rng, 0.002, 0.03), int(rng.integers(1, 8))
            self._add(lines, "reorder", f"reorder random {percent(p)} by {by}pkt",
                      {"probability": p, "by": by})
        self.skew = 100e-6 * rng.choice([-1, 1]) if rng.random() < 0.25 else 0.0
        self.nat = rng.random() < 0.25
        self.seed = int(rng.integers(1, 1 << 40))
        self.lines = lines
        if self.at is None:
            self.at, self.size = lab_traffic(lines, self.truth.get(("rate", "rate"), load),
                                             self.seed % (1 << 31))

    def _add(self, lines, statement, line, truth):
        if line:
            lines.append(line)
            self.truth.update({(statement, name): value for name, value in truth.items()})

    @property
    def text(self):
        return (f"seed {self.seed}\nport a\nport b\ncloud down from a to b\n"
                + "".join(f"cloud down {line}\n" for line in self.lines))

    def direction(self):
        """Returns the packets, as the captures of both ends show them."""
        with tempfile.TemporaryDirectory() as folder:
            sent, received, scenario = (os.path.join(folder, name) for name in
                                        ("a.pcap", "b.pcap", "s.weir"))
            traffic.write(sent, self.at, self.size, whole=self.whole)
            with open(scenario, "w", encoding="utf-8") as out:
                out.write(self.text)
            subprocess.run([WEIR, "replay", "-q", "-c", scenario, "--in", f"a={sent}", "--out",
                            f"b={received}"], check=True, stdout=subprocess.DEVNULL)
            traffic.disturb(received, self.skew, self.nat, int(self.at[0]))
            return pairs.read(sent, received).forward

    def learn(self):
        settled, learned = path.learn_ways({"down": self.direction()})
        return learned["down"], settled


def judge(number):
    """Returns what was learned of a case beside the truth."""
    case = Case(number)
    learned, settled = case.learn()
    rows = []
    found = {key: estimate for key, estimate in
             [((statement, e.name), e) for statement, e in learned.estimates()]}
    if learned.delay.family == "table":
        found.pop(("delay", "jitter"), None)  # there is none in the statement
    for key, truth in case.truth.items():
        estimate = found.get(key)
        if key == ("delay", "delay") and ("rate", "rate") in case.truth and (
                ("rate", "rate") not in found and ("rate", "burst") not in case.truth):
            # Where no packet waits, what the link takes for one is a part of its delay.
            truth += float((8e9 * case.size / case.truth["rate", "rate"]).mean())
        if key == ("rate", "queue"):
            truth, unit = truth
            if estimate is not None and estimate.unit != unit:
                rows.append((key, truth, estimate, None))
                continue
        rows.append((key, truth, estimate,
                     None if estimate is None else estimate.holds(truth)))
    return {"number": number, "lines": case.lines, "kind": case.kind, "model": case.model,
            "chosen": learned.loss.model, "family": case.family, "chosen_family":
            learned.delay.family, "rows": rows, "doubts": learned.doubts,
            "skew": (case.skew, settled.skew), "extra": sorted(set(found) - set(case.truth))}


def judge_all(numbers):
    """Judges many cases, and says at once which intervals do not hold the truth."""
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        results = []
        for result in pool.map(judge, numbers):
            results.append(result)
            for key, truth, estimate, held in result["rows"]:
                if held is False:
                    print(f"# {result['number']}: {result['lines']} {result['kind']}, skew "
                          f"{result['skew'][0]}, {result['chosen']}: {' '.join(key)} {truth}, "
                          f"{estimate}", flush=True)
        return results


def coverage(results):
    """Returns for each parameter whether intervals have held the truth. Those of a model count
    where it was chosen, and by model: `r` of two models is two parameters."""
    held = collections.defaultdict(list)
    for result in results:
        if result["model"] == result["chosen"]:
            for (statement, name), _, _, holds in result["rows"]:
                if holds is not None:
                    held[f"{result['model'] if statement == 'loss' else statement} {name}"].append(
                        holds)
    return dict(sorted(held.items()))


def bounds(values, level):
    """Returns the exact interval (Clopper, Pearson) of a share."""
    found = scipy.stats.binomtest(sum(values), len(values)).proportion_ci(level)
    return found.low, found.high


def claims(results):
    """Returns claims about all of them."""
    def name(row):
        return " ".join(row[0])

    def the_loss_model_is_the_right_one():
        wrong = [f"{r['number']}: {r['lines']}: {r['chosen']}" for r in results
                 if r["chosen"] != r["model"]]
        assert len(wrong) <= 0.05 * len(results), "\n".join(wrong)

    def intervals_hold_the_truth():
        every = [value for values in coverage(results).values() for value in values]
        print(f"# all: {sum(every)} of {len(every)}: {100 * sum(every) / len(every):.1f} %")
        # Of 1,500 intervals of 95 %, 93 to 97 % hold; of 60, at least 51 with 99.9 %.
        assert sum(every) >= (0.93 if len(results) >= 100 else 0.85) * len(every)

    def no_parameter_contradicts_93_to_97_percent():
        wrong = []
        for key, values in coverage(results).items():
            low, high = bounds(values, 0.95)
            print(f"# {key}: {sum(values)} of {len(values)}: {100 * sum(values) / len(values):.1f} "
                  f"% ({100 * low:.0f} to {100 * high:.0f})")
            # Of 25 parameters, one is outside of its interval of 99.9 % in a run of 40.
            low, high = bounds(values, 0.999)
            # An interval that has a floor, as that of a clock's nanosecond, may hold more often.
            if high < 0.93:
                wrong.append(key)
        assert not wrong, wrong

    def rates_are_within_one_percent():
        wrong = [f"{r['number']}: {row}" for r in results for row in r["rows"]
                 if name(row) == "rate rate" and row[2] is not None
                 and abs(row[2].value / row[1] - 1) > 0.01]
        assert not wrong, "\n".join(wrong)

    def limits_are_within_a_packet_or_two_percent():
        wrong = [f"{r['number']}: {r['lines']}: {row}" for r in results for row in r["rows"]
                 if name(row) == "rate queue" and row[3] is not None
                 and abs(row[2].value - row[1]) > max(0.02 * row[1],
                                                      1 if row[2].unit == "pkt" else 1514)]
        assert not wrong, "\n".join(wrong)

    def nothing_is_doubted_that_fits():
        wrong = [f"{r['number']}: {r['lines']}: {r['doubts']}" for r in results if r["doubts"]]
        assert len(wrong) <= 0.05 * len(results), "\n".join(wrong)

    def nothing_is_seen_that_is_not_there():
        wrong = [f"{r['number']}: {r['lines']}: {r['extra']}" for r in results
                 if r["extra"] and r["chosen"] == r["model"]]
        assert len(wrong) <= 0.05 * len(results), "\n".join(wrong)

    return [(claim.__name__, claim) for claim in (
        the_loss_model_is_the_right_one, intervals_hold_the_truth,
        no_parameter_contradicts_93_to_97_percent, rates_are_within_one_percent,
        limits_are_within_a_packet_or_two_percent, nothing_is_doubted_that_fits,
        nothing_is_seen_that_is_not_there)]


def show(result):
    print(result["lines"], result["kind"], "skew", result["skew"])
    print("loss", result["model"], "->", result["chosen"], "; delay", result["family"], "->",
          result["chosen_family"], "; extra", result["extra"])
    for key, truth, estimate, held in result["rows"]:
        print("  ", *key, truth, held, estimate and
              f"{estimate.value:.7g} {estimate.low:.7g}..{estimate.high:.7g} {estimate.basis}")
    for doubt in result["doubts"]:
        print("   doubt:", doubt)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        for one in sys.argv[3:]:
            show(judge(int(one)))
        sys.exit(0)
    begin, count = (int(os.environ.get(name, usual)) for name, usual in
                    (("WEIR_LEARN_FIRST", 0), ("WEIR_LEARN_LOOPS", FEW)))
    again = WRONG_ONCE if count == FEW else ()
    sys.exit(tap.run(claims(judge_all([*range(begin, begin + count), *again]))))
