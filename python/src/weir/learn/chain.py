# SPDX-License-Identifier: BSD-3-Clause
"""A channel with hidden states: a Markov chain that moves ahead of each packet, and loses it with a
probability that its new state has (E. Gilbert, "Capacity of a Burst-Noise Channel", 1960; E.
Elliott, 1963; four states: docs/loss.md).

Its likelihood is a product of matrices, one for each run of packets that arrived, of packets that
were lost, and of packets of which nobody knows, because a full queue would have dropped them
anyway (the forward algorithm: L. Rabiner, "A Tutorial on Hidden Markov Models", 1989). It is taken
in pairs, so that a million packets with a few thousand runs take milliseconds.
"""

from __future__ import annotations

import dataclasses
import math

import numpy

from .estimate import Floats, Ints

ARRIVED, LOST, UNKNOWN = range(3)
FLOOR = 1e-12


@dataclasses.dataclass
class Runs:
    """A series of ARRIVED, LOST and UNKNOWN as runs."""

    what: Ints
    length: Ints


def runs_of(series: Ints) -> Runs:
    edges = numpy.flatnonzero(numpy.diff(series)) + 1
    first = numpy.concatenate([[0], edges])
    lengths = numpy.diff(numpy.concatenate([first, [len(series)]]))
    return Runs(series[first].astype(numpy.int64), lengths.astype(numpy.int64))


@dataclasses.dataclass
class Channel:
    """`move[i, j]` is the probability of state j behind state i, `loses[j]` that of a loss in state
    j. It begins in state 0."""

    move: Floats
    loses: Floats

    def seen(self, what: int) -> Floats:
        """Returns the matrix of a packet with this outcome."""
        if what == UNKNOWN:
            return self.move
        return numpy.asarray(self.move * (self.loses if what == LOST else 1 - self.loses))


def elliott(x: Floats) -> Channel:
    """Two states; x is p, r, loss while bad, loss while good."""
    p, r, bad, good = x
    return Channel(numpy.array([[1 - p, p], [r, 1 - r]]), numpy.array([good, bad]))


def gilbert(x: Floats) -> Channel:
    return elliott(numpy.array([x[0], x[1], 1.0, 0.0]))


def random(x: Floats) -> Channel:
    return Channel(numpy.ones((1, 1)), x)


def four(x: Floats) -> Channel:
    """Four states; x is p13, p31, p32, p23, p14. Packets are lost in the last two."""
    p13, p31, p32, p23, p14 = x
    move = numpy.array([[max(1 - p13 - p14, FLOOR), 0, p13, p14], [0, 1 - p23, p23, 0],
                        [p31, p32, max(1 - p31 - p32, FLOOR), 0], [1.0, 0, 0, 0]])
    return Channel(move, numpy.array([0.0, 0.0, 1.0, 1.0]))


CHANNELS = {"random": random, "gilbert": gilbert, "gilbert-elliott": elliott, "four-state": four}


def likelihood(channel: Channel, runs: Runs) -> float:
    """Returns the logarithm of the probability of these outcomes."""
    n = len(channel.move)
    matrices = numpy.empty((len(runs.what), n, n))
    for what in (ARRIVED, LOST, UNKNOWN):
        here = runs.what == what
        if here.any():
            unique, where = numpy.unique(runs.length[here], return_inverse=True)
            matrices[here] = _powers(channel.seen(what), unique)[where]
    start = numpy.zeros(n)
    start[0] = 1.0
    return _chain(start, matrices)


def _chain(start: Floats, matrices: Floats) -> float:
    """Returns the logarithm of the sum of start x M1 x M2 x ..."""
    log = 0.0
    while len(matrices) > 1:
        if len(matrices) % 2:
            matrices = numpy.concatenate([matrices, numpy.eye(matrices.shape[1])[None]])
        matrices = matrices[0::2] @ matrices[1::2]
        top = numpy.maximum(matrices.max(axis=(1, 2)), 1e-300)
        matrices = matrices / top[:, None, None]
        log += float(numpy.log(top).sum())
    total = float((start @ matrices[0]).sum())
    return log + math.log(max(total, 1e-300))


def _powers(matrix: Floats, exponents: Ints) -> Floats:
    """Returns powers of a matrix, all at once by the binary digits of the exponents."""
    found = numpy.tile(numpy.eye(len(matrix)), (len(exponents), 1, 1))
    for digit in range(int(exponents.max()).bit_length()):
        has = exponents >> digit & 1 > 0
        found[has] = found[has] @ matrix
        matrix = matrix @ matrix
    return found


def _all_powers(matrix: Floats, most: int) -> Floats:
    """Returns all powers up to one, each with a scale of its own."""
    found = numpy.eye(len(matrix))[None]
    while len(found) <= most:
        more = found @ (found[-1] @ matrix)
        found = numpy.concatenate([found, more / more.max(axis=(1, 2), keepdims=True)])
    return found[:most + 1]


def predicted(channel: Channel, series: Ints) -> Floats:
    """Returns for each packet how probable its loss is, after what is known of those before it."""
    runs = runs_of(series)
    begins = numpy.empty((len(runs.what), len(channel.move)))
    tables = {what: _all_powers(channel.seen(what), int(runs.length[runs.what == what].max()))
              for what in (ARRIVED, LOST, UNKNOWN) if (runs.what == what).any()}
    state = numpy.zeros(len(channel.move))
    state[0] = 1.0
    for i, (what, length) in enumerate(zip(runs.what.tolist(), runs.length.tolist())):
        begins[i] = state
        state = state @ tables[what][length]
        state = state / max(state.sum(), 1e-300)
    run = numpy.repeat(numpy.arange(len(runs.what)), runs.length)
    offset = numpy.arange(len(series)) - (numpy.cumsum(runs.length) - runs.length)[run]
    found = numpy.empty(len(series))
    loses = channel.move @ channel.loses
    for what, table in tables.items():
        here = series == what
        state = numpy.einsum("ni,nij->nj", begins[run[here]], table[offset[here]])
        found[here] = state @ loses / numpy.maximum(state.sum(axis=1), 1e-300)
    return found
