# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios and changes at random, for live runs that run again (again.py, flight.py)."""
import time

WORKERS = {
    "one worker": [],
    "three workers": ["--cores", "1,1,1"],
    "a pipeline": ["--cores", "1,1,1,1", "--layout", "pipeline"],
}
STATEMENTS = [
    "delay {ms}ms", "delay {ms}ms jitter 1ms", "loss random {pc}%", "rate {mbit}mbit queue 40kB",
    "duplicate {pc}%", "reorder every {ms}", "no loss", "no duplicate", "no reorder",
    "corrupt {pc}%", "no corrupt",
]


def statement(rng, statements=STATEMENTS):
    return rng.choice(statements).format(ms=rng.randrange(1, 20), pc=rng.randrange(1, 9),
                                         mbit=rng.randrange(10, 90))


def disturb(lasts_s, clients, clouds, rng, statements):
    """Changes of two clients, at any instant. How many were taken."""
    taken = 0
    end = time.monotonic() + lasts_s
    while time.monotonic() < end:
        client = rng.choice(clients)
        if rng.random() < 0.1:
            client.say("clear counters")
        line = f"cloud {rng.choice(clouds)} {statement(rng, statements)}"
        taken += b'"ok":true' in client.say(line)
        time.sleep(rng.random() * 0.03)
    return taken


def random_scenario(rng):
    """Three clouds between three ports."""
    lines = [f"seed {rng.randrange(1 << 31)}", "port a", "port b", "port c"]
    for cloud, way in (("ab", "a to b"), ("ba", "b to a"), ("ca", "c to a")):
        lines.append(f"cloud {cloud} from {way}")
        lines += [f"cloud {cloud} {line}" for line in (statement(rng) for _ in range(4))
                  if not line.startswith("no ")]
    return "\n".join(lines) + "\n"
