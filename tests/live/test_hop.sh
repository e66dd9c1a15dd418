#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A 10.9.0.1 -- wa [ -> R1 -> R2 -> R3 -> ] wb -- 10.9.0.2 B      R1 192.0.2.1, 2001:db8::1, ...
#                    [ <- R1 <- R2 <- R3 <- ]                       between R2 and R3: mtu 1400
#
# traceroute shows the three routers in order, and in reverse order from B; tracepath finds the
# smallest mtu; a ping that is too big gets an error or is fragmented; and the routers answer ping.

. "$(dirname "$0")/topology.sh"
need traceroute tracepath
make_hosts

# IPv6 with static neighbours: this test is not about their discovery.
v6_host() # namespace, address, the other's, the other's namespace
{
	ip netns exec "$1" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0 ||
		skip "this kernel has no IPv6"
	ip netns exec "$1" ip addr add "$2/64" dev eth0 nodad || skip "this kernel has no IPv6"
	ip netns exec "$1" ip neigh replace "$3" \
		lladdr "$(ip netns exec "$4" cat /sys/class/net/eth0/address)" dev eth0
	ip netns exec "$1" ip route replace default via "$3" dev eth0
}
v6_host A 2001:db8:9::1 2001:db8:9::2 B
v6_host B 2001:db8:9::2 2001:db8:9::1 A
$in_a ip route replace 192.0.2.0/24 via 10.9.0.2
$in_b ip route replace 192.0.2.0/24 via 10.9.0.1

scenario <<'SCENARIO'
cloud down delay 2ms
cloud down hop 192.0.2.1 2001:db8::1 through up-1
cloud down-2 from down to b
cloud down-2 hop 192.0.2.2 2001:db8::2 mtu 1400 through up-2
cloud down-2 delay 2ms
cloud down-3 from down-2 to b
cloud down-3 hop 192.0.2.3 2001:db8::3
cloud up hop 192.0.2.3 2001:db8::3 mtu 1400
cloud up-2 from up to a
cloud up-2 hop 192.0.2.2 2001:db8::2
cloud up-2 delay 2ms
cloud up-1 from up-2 to a
cloud up-1 hop 192.0.2.1 2001:db8::1
cloud up-1 delay 2ms
SCENARIO
cpu=${WEIR_CPU:-$(($(nproc) - 1))}
weir_start --cores "$cpu"

# Prints the second column of lines " N  ADDRESS ...", in one line.
addresses()
{
	sed -n 's/^ *[0-9][0-9]*  *\([0-9a-f.:]*\) .*/\1/p' | tr '\n' ' '
}

expect() # what, expected, seen
{
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3': $(cat "$work/tool")"
	echo "ok: $1: $3"
}

# One probe at a time, with long timeouts: a busy machine is late, but loses nothing.
trace() # runner, options, target
{
	"$@" >"$work/tool" 2>&1 || fail "$*: $(cat "$work/tool")"
	addresses <"$work/tool"
}

v4='192.0.2.1 192.0.2.2 192.0.2.3 10.9.0.2 '
v6='2001:db8::1 2001:db8::2 2001:db8::3 2001:db8:9::2 '
options='-n -q 1 -N 1 -w 20'
expect 'traceroute' "$v4" "$(trace $in_a traceroute $options 10.9.0.2)"
expect 'traceroute -I' "$v4" "$(trace $in_a traceroute -I $options 10.9.0.2)"
expect 'traceroute -6' "$v6" "$(trace $in_a traceroute -6 $options 2001:db8:9::2)"
expect 'traceroute from the other side' '192.0.2.3 192.0.2.2 192.0.2.1 10.9.0.1 ' \
	"$(trace $in_b traceroute $options 10.9.0.1)"
expect 'traceroute -6 from the other side' '2001:db8::3 2001:db8::2 2001:db8::1 2001:db8:9::1 ' \
	"$(trace $in_b traceroute -6 $options 2001:db8:9::1)"

# Prints each hop that it names once, and the mtu of the path.
path() # runner, options, target
{
	"$@" >"$work/tool" 2>&1 || fail "$*: $(cat "$work/tool")"
	sed -n 's/^ *[0-9][0-9]*:  *\([0-9a-f.:]*\) .*/\1/p' "$work/tool" | uniq | tr '\n' ' '
	sed -n 's/.*Resume: \(pmtu [0-9]*\) .*/\1/p' "$work/tool"
}
expect 'tracepath' "${v4}pmtu 1400" "$(path $in_a tracepath -n 10.9.0.2)"
cat "$work/tool"
expect 'tracepath -6' "${v6}pmtu 1400" "$(path $in_a tracepath -6 -n 2001:db8:9::2)"

# Flushes the cached path MTU, so that the router has to fragment, not A. (Packets have at most 1500
# bytes: DPDK's af_packet driver reassembles fragments, and truncates what is longer than a frame.)
$in_a ip route flush cache
$in_a ip -6 route flush cache
generated()
{
	ctl -j show cloud down-2 | jq .generated
}
before=$(generated)
for size in 1372 1373 1472; do
	$in_a ping -M dont -s "$size" -c 3 -i 0.2 -W 20 10.9.0.2 >"$work/tool" 2>&1 ||
		fail "ping -M dont -s $size: $(cat "$work/tool")"
done
expect 'ping -M dont, fragments that R2 has made' 6 $(($(generated) - before))
$in_a ping -M do -s 1373 -c 1 -W 20 10.9.0.2 >"$work/tool" 2>&1 &&
	fail "a packet of 1401 bytes passed a path with an mtu of 1400"
grep -q 'From 192.0.2.2 .*Frag needed and DF set (mtu = 1400)' "$work/tool" ||
	fail "ping -M do: $(cat "$work/tool")"
echo 'ok: ping -M do, one byte too long: fragmentation needed, mtu 1400, from R2'
for router in 192.0.2.1 192.0.2.2 192.0.2.3; do
	$in_a ping -c 1 -W 20 "$router" >"$work/tool" || fail "ping $router: $(cat "$work/tool")"
done
$in_a ping -6 -c 1 -W 20 2001:db8::3 >"$work/tool" || fail "ping -6: $(cat "$work/tool")"
$in_b ping -c 1 -W 20 192.0.2.1 >"$work/tool" || fail "ping R1 from B: $(cat "$work/tool")"
echo 'ok: routers answer ping'

ctl -j show cloud down-2 >"$work/tool"
jq -e '.drops."ttl-expired" > 0 and .drops."too-big" > 0 and .generated > 0' "$work/tool" \
	>/dev/null || fail "counters: $(cat "$work/tool")"
weir_stop

# The two directions belong to two workers. An answer leaves at the port of one worker, but is made
# by the other. No packet can pass a cloud of another worker, so weir refuses.
"$WEIR" run -c "$work/scenario.weir" -s "$socket" --cores "$cpu,$cpu" >"$work/tool" 2>&1 &&
	fail 'through a cloud of another worker was not refused'
grep -q 'belong to different workers' "$work/tool" || fail "$(cat "$work/tool")"
echo 'ok: through a cloud of another worker is refused'
sed -i 's/ through .*//' "$work/scenario.weir"
weir_start --cores "$cpu,$cpu"
expect 'traceroute, a worker a port' "$v4" "$(trace $in_a traceroute $options 10.9.0.2)"
weir_stop
weir_start --cores "$cpu,$cpu,$cpu" --layout pipeline
expect 'traceroute -6, a pipeline' "$v6" "$(trace $in_a traceroute -6 $options 2001:db8:9::2)"
