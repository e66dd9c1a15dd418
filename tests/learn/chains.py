#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of simulated chains, without packets: whether intervals of each model's parameters hold
the truth 95 times in 100, also where a fifth of the packets met a full queue, so that nobody knows
of their loss.

usage: chains.py WEIR ROOT    $WEIR_LEARN_CHAINS says how many chains of each model
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap  # noqa: E402
import learning  # noqa: E402

learning.need(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
import closed_loop  # noqa: E402
import numpy  # noqa: E402
from weir.learn import chain, loss  # noqa: E402

FEW = 8
PACKETS = 100_000
UNKNOWN_RUN = 20  # packets


def drawn(rng, model):
    """Returns parameters as the closed loop has them."""
    p, r = closed_loop.between(rng, 0.002, 0.02), closed_loop.between(rng, 0.05, 0.4)
    return {"gilbert": lambda: [p, r],
            "gilbert-elliott": lambda: [p, min(r, 0.2), rng.uniform(0.3, 0.8),
                                        closed_loop.between(rng, 0.0005, 0.003)],
            "four-state": lambda: [p, r, rng.uniform(0.15, 0.4), rng.uniform(0.15, 0.6),
                                   closed_loop.between(rng, 0.001, 0.005)]}[model]()


def lost_by(rng, channel):
    """Lets a chain move ahead of each packet."""
    steps, state, states = numpy.cumsum(channel.move, axis=1)[:, :-1].tolist(), 0, []
    for x in rng.random(PACKETS).tolist():
        state = sum(x >= edge for edge in steps[state])
        states.append(state)
    return rng.random(PACKETS) < channel.loses[states]


def unknown_of(rng, share):
    """Returns packets that met a full queue, in runs."""
    found = numpy.zeros(PACKETS, bool)
    if share:
        for at in numpy.cumsum(rng.geometric(share / UNKNOWN_RUN, PACKETS)):
            if at >= PACKETS:
                break
            found[at:at + rng.geometric(1 / UNKNOWN_RUN)] = True
    return found


def held(model, count, share):
    """Returns which intervals hold the truth: a row for each chain whose model was found."""
    rng = numpy.random.default_rng([count, len(model), round(100 * share)])
    rows = []
    for _ in range(count):
        truth = drawn(rng, model)
        lost = lost_by(rng, chain.CHANNELS[model](numpy.array(truth)))
        unknown = unknown_of(rng, share)
        found = loss.learn(lost | unknown, unknown)
        if found.model == model:
            rows.append([one.holds(x) for one, x in zip(found.parameters, truth)])
    return numpy.array(rows)


def intervals_hold(model, count, share):
    rows = held(model, count, share)
    assert len(rows) >= 0.8 * count, f"{len(rows)} of {count} are {model}"
    for name, values in zip(loss.PARAMETERS[model], rows.T):
        low, high = closed_loop.bounds(values.tolist(), 0.95)
        print(f"# {model}, {100 * share:.0f} % unknown, {name}: {values.sum()} of {len(values)}: "
              f"{100 * values.mean():.1f} % ({100 * low:.0f} to {100 * high:.0f})")
        # Of 7 parameters, one is outside of its interval of 99.9 % in a run of 140.
        assert closed_loop.bounds(values.tolist(), 0.999)[1] >= 0.93, name


def main():
    count = int(os.environ.get("WEIR_LEARN_CHAINS", FEW))
    kinds = [("gilbert", 0.0), ("gilbert", 0.2)]
    if count > FEW:  # these take a second a chain
        kinds += [("gilbert-elliott", 0.0), ("four-state", 0.0)]
    return tap.run([(f"intervals_of_{model}_hold_with_{100 * share:.0f}_percent_unknown",
                     lambda model=model, share=share: intervals_hold(model, count, share))
                    for model, share in kinds])


if __name__ == "__main__":
    sys.exit(main())
