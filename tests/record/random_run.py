# SPDX-License-Identifier: BSD-3-Clause
"""Random scenarios and changes, for live runs that are replayed (again.py, flight.py)."""
import os
import tempfile
import time

WORKERS = {
    "one worker": [],
    "three workers": ["--cores", "1,1,1"],
    "a pipeline": ["--cores", "1,1,1,1", "--layout", "pipeline"],
}
STATEMENTS = [
    "delay {ms}ms", "delay {ms}ms jitter 1ms", "loss random {pc}%", "rate {mbit}mbit queue 40kB",
    "duplicate {pc}%", "reorder every {ms}", "loss off", "duplicate off", "reorder off",
    "corrupt {pc}%", "corrupt off",
]


def statement(rng, statements=STATEMENTS):
    return rng.choice(statements).format(ms=rng.randrange(1, 20), pc=rng.randrange(1, 9),
                                         mbit=rng.randrange(10, 90))


def disturb(lasts_s, clients, clouds, rng, statements):
    """Two clients make changes at random instants, until one was accepted at least. Returns how
    many were accepted."""
    taken = 0
    end = time.monotonic() + lasts_s
    while taken == 0 or time.monotonic() < end:
        client = rng.choice(clients)
        if rng.random() < 0.1:
            client.say("clear counters")
        line = f"cloud {rng.choice(clouds)} {statement(rng, statements)}"
        taken += b'"ok":true' in client.say(line)
        time.sleep(rng.random() * 0.03)
    return taken


def random_scenario(rng):
    """Returns a random scenario of three clouds between three ports."""
    lines = [f"seed {rng.randrange(1 << 31)}", "port a", "port b", "port c"]
    for cloud, way in (("ab", "a to b"), ("ba", "b to a"), ("ca", "c to a")):
        lines.append(f"cloud {cloud} from {way}")
        lines += [f"cloud {cloud} {line}" for line in (statement(rng) for _ in range(4))
                  if not line.endswith(" off")]
    return "\n".join(lines) + "\n"


def of_shipped_scenarios(source, step, claim):
    """Calls claim(folder, text, options, index) for each `step`-th scenario of configs/, with the
    files that it names. The workers alternate as in WORKERS, but a pipeline has two ports."""
    configs = os.path.join(source, "configs")
    names = sorted(name for name in os.listdir(configs) if name.endswith(".weir"))[::step]
    failures = []
    for index, name in enumerate(names):
        with open(os.path.join(configs, name)) as file:
            text = file.read()
        options = list(WORKERS.values())[index % 3]
        if index % 3 == 2:
            options = ["--cores", "1,1,1", "--layout", "pipeline"]
        elif " through " in text:  # answers go through another cloud: one worker has both
            options = []
        with tempfile.TemporaryDirectory() as folder:
            for other in os.listdir(configs):
                os.symlink(os.path.join(configs, other), os.path.join(folder, other))
            try:
                claim(folder, text, options, index)
            except AssertionError as reason:
                failures.append(f"{name}: {reason}")
    assert not failures, f"{len(failures)} of {len(names)}:\n" + "\n".join(failures)
