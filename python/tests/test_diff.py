# SPDX-License-Identifier: BSD-3-Clause
"""How the fates of two runs are paired and summed. test_recording.py and tests/record/again.py
compare recordings."""

import random

from weir.diff import Differences, Histogram

NAMES = ["loss", "full", "delivered"]
LOSS, FULL, DELIVERED, NOTHING = range(4)


def delivered(run, packet, delay, of="a", length=100, copy=""):
    return f"{run} {of},{packet}{copy} {length}+{delay} {1000 * packet} "


def dropped(run, packet, why, of="a", copy=""):
    return f"{run} {of},{packet}{copy} 100-{why} {1000 * packet} "


def differences(*fates, room=64, end=True):
    made = Differences(NAMES, [["a", "b"], ["b", "c"]], room)
    for one in fates:
        made.take(one)
    if end:
        made.end()
    return made


def is_same(made):
    return made.document([[0], [0]], [])["same"]


def test_equal_runs_have_no_difference_in_whatever_order_each_decides():
    def fates(run, packets):
        return "".join(delivered(run, n, 500) if n % 3 else dropped(run, n, LOSS) for n in packets)

    made = differences(fates(0, range(1, 41)) + fates(1, range(40, 0, -1)))
    assert (made.pairs, made.equal, is_same(made)) == (40, 27, True)


def test_the_earliest_of_each_change_are_named_and_the_first_of_all():
    made = differences(*(dropped(1, n, LOSS) + delivered(0, n, 10) for n in (9, 4, 7, 30, 2, 8)),
                       dropped(0, 1, FULL) + delivered(1, 1, 10))
    n, few = made.changes[DELIVERED, LOSS]
    assert n == 6 and [packet for _, _, packet in few] == [2, 4, 7]
    assert made.first == ((1000, 0, 1), FULL, DELIVERED, 0) and made.changed == 7


def test_delays_differ_with_their_sign():
    # 10 packets are earlier by 7, 30 equal, 10 later by 1 to 10.
    made = differences("".join(
        delivered(0, n, 100) + delivered(1, n, 93 if n <= 10 else max(100, 60 + n))
        for n in range(1, 51)))
    assert [made.delay(share) for share in (0, 100000, 500000, 990000, 1000000)] == [
        -7, -7, 0, 9, 10]
    assert not is_same(made)


def test_the_least_and_the_greatest_difference_are_exact():
    pairs = [(100000000, 98765432), (100000000, 100000001), (100000000, 123456789), (0, 23456780)]
    made = differences("".join(delivered(0, n, before) + delivered(1, n, after)
                               for n, (before, after) in enumerate(pairs, 1)))
    assert (made.delay(0), made.delay(1000000)) == (98765432 - 100000000, 23456789)


def test_a_histogram_is_the_same_in_whatever_order_its_values_come():
    rng = random.Random(4)
    values = [int(10 ** rng.uniform(0, 15)) for _ in range(2000)]
    one, other = Histogram(), Histogram()
    one.add(values)
    for value in values:
        other.add([value])
    assert vars(one) == vars(other)
    ranked = sorted(values)
    for share in range(0, 1000000, 9999):
        exact = ranked[max(-(-len(values) * share // 1000000), 1) - 1]
        assert exact >= 2**48 or abs(one.percentile(share) - exact) <= exact / 15


def test_copies_are_paired_with_copies_and_ports_with_ports():
    fates = ["{} a,5,copy 100-0 1 ", "{} b,5 100+1 1 ", "{} a,5 100+1 1 "]
    made = differences("".join(fates).format(0, 0, 0) + "".join(fates[::-1]).format(1, 1, 1))
    assert is_same(made) and made.pairs == 3


def test_fates_of_one_packet_are_paired_in_their_order():
    made = differences(delivered(0, 5, 1) + dropped(0, 5, LOSS) + delivered(1, 5, 1)
                       + dropped(1, 5, FULL))
    assert made.changes == {(LOSS, FULL): (1, [(5000, 0, 5)])} and made.equal == 1


def test_what_has_no_partner_was_not_decided_there():
    made = differences(delivered(0, 1, 1) + dropped(1, 2, FULL, of="c"))
    assert {change: n for change, (n, _) in made.changes.items()} == {
        (DELIVERED, NOTHING): 1, (NOTHING, FULL): 1}
    assert made.document([[0], [0]], [])["changes"][1]["few"][0]["port"] == "c"


def test_a_bounded_number_waits_and_the_oldest_go_first():
    made = differences("".join(delivered(0, n, 1) for n in range(1, 201)),
                       "".join(delivered(1, n, 1) for n in range(137, 201)))
    assert (made.gone, made.equal, made.pairs) == (136, 64, 200)
    assert made.changes[DELIVERED, NOTHING][0] == 136


def test_packets_of_another_length_are_a_difference():
    made = differences(delivered(0, 3, 1) + delivered(1, 3, 1, length=101))
    assert made.other_length == 1 and made.equal == 1 and not is_same(made)


def test_lengths_are_compared_where_delays_differ_too():
    made = differences("".join(delivered(0, n, 1) + delivered(1, n, 2, length=100 + n % 2)
                               for n in range(1, 11)))
    assert (made.other_length, made.pairs, made.later.count) == (5, 10, 10)


def test_own_packets_are_counted_only():
    made = differences()
    assert made.document([[0, 2, 0], [0, 2, 0]], [])["same"]
    assert made.document([[0, 2, 0], [1, 2, 0]], [])["own"] == [
        {"fate": "loss", "packets": [0, 1]}, {"fate": "full", "packets": [2, 2]}]
    assert not made.document([[0, 2, 0], [1, 2, 0]], [])["same"]
