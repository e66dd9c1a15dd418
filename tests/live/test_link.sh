#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- wa [ clouds of 5 ms ] wb -- B        wb goes down for a second, and up again
#
# weir reports it, and nothing breaks. Packets that were due meanwhile are counted as tx full and
# are not sent late, and packets flow again.

. "$(dirname "$0")/topology.sh"
make_hosts
scenario <<SCENARIO
cloud down delay 5ms
cloud up delay 5ms
SCENARIO

weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}"
ping_crosses || fail "no ping before"
ip link set wb down
until_true said 'port b: link down' "$work/weir.err" || fail "link down was not said"
$in_a ping -c 3 -i 0.2 -W 1 10.9.0.2 >/dev/null && fail "a ping crossed a link that is down"
ip link set wb up
until_true said 'port b: link up' "$work/weir.err" || fail "link up was not said"
ping_crosses || fail "no ping after"
grep -q DUP "$work/ping" && fail "stale packets came out"
within "packets dropped while the link was down" \
	"$(ctl -j show ports | jq '.ports[1].tx_full')" 3 3
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "it does not add up"
echo "ok: link down and up"
