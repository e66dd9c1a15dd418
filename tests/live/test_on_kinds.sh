#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir on: interfaces of every kind, and what happens to them. In A: a bond and a VLAN above one
# interface, a bridge with another one, frames of 9000 bytes; B has the other ends.

. "$(dirname "$0")/topology.sh"
need python3
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"

for host in A B; do
	ip netns add $host
	ip -n $host link set lo up
done
for link in eth0 lan big; do
	ip -n A link add $link mtu 9000 type veth peer name $link mtu 9000 netns B
done
for host in A B; do
	for link in eth0 lan big; do
		ip netns exec $host sysctl -qw net.ipv6.conf.$link.accept_dad=0
	done
done
ip -n A link add br0 type bridge
ip -n A link set lan master br0
vlan=yes
ip -n A link add tagged link eth0 type vlan id 7 2>/dev/null || vlan=no
[ $vlan = no ] || ip -n B link add tagged link eth0 type vlan id 7
for host in A B; do
	for link in eth0 lan big tagged br0; do
		ip -n $host link set $link up 2>/dev/null || true
	done
done
bond=yes
ip -n A link add bond0 type bond mode active-backup 2>/dev/null || bond=no
if [ $bond = yes ]; then
	ip -n A link add leg mtu 1500 type veth peer name leg netns B
	ip -n A link set leg master bond0
	ip -n A link set bond0 up
	ip -n B link set leg up
fi
give() # number: addresses of a network, at A's interface and at B's
{
	ip -n A addr add 192.0.2.$((8 * $1 + 1))/29 dev "$2"
	ip -n A addr add "2001:db8:$1::1/64" dev "$2" nodad
	ip -n B addr add 192.0.2.$((8 * $1 + 2))/29 dev "$3"
	ip -n B addr add "2001:db8:$1::2/64" dev "$3" nodad
}
give 1 eth0 eth0
give 2 br0 lan
give 3 big big
[ $vlan = no ] || give 4 tagged tagged
[ $bond = no ] || give 5 bond0 leg

on() # arguments: one more weir
{
	n=$((n + 1))
	"$WEIR" on "$@" --netns A -q -s "$socket$n" 2>"$work/on$n" &
	last=$!
	background="$background $last"
	until_true said 'weir on: running' "$work/on$n" || fail "$*: $(cat "$work/on$n")"
}
off()
{
	kill -TERM $last
	wait $last || fail "weir ended with status $?: $(cat "$work/on$n")"
}
n=0
background=
least() # arguments of ping: the least round trip
{
	$in_a ping -c 3 -i 0.2 -W 20 "$@" >"$work/ping" || fail "$*: $(cat "$work/ping")"
	sed -n 's/.*time=\([0-9.]*\) ms/\1/p' "$work/ping" | sort -n | head -n 1
}
delays() # what network least most
{
	within "$1: round trip in ms" "$(least 192.0.2.$((8 * $2 + 2)))" "$3" "$4" || fail "$1"
	within "$1, IPv6: round trip in ms" "$(least "2001:db8:$2::2")" "$3" "$4" || fail "$1"
}

# ---- a bridge, and its member below: each adds its delay
on br0 10ms
bridge=$last
delays "bridge" 2 20 39
on lan 5ms
delays "bridge and member" 2 30 49
off
delays "bridge, and no more its member" 2 20 29.9
last=$bridge
off

# ---- a VLAN interface, and the one below: tags stay
if [ $vlan = yes ]; then
	on tagged 10ms
	delays "VLAN" 4 20 39
	delays "beside the VLAN" 1 0 19
	off
	on eth0 10ms
	delays "below the VLAN" 4 20 39
	off
fi
if [ $bond = yes ]; then
	on bond0 10ms
	delays "bond" 5 20 39
	off
fi

# ---- frames of 9000 bytes, and multicast
on big 10ms
within "9000 bytes: round trip in ms" "$(least -M do -s 8972 192.0.2.26)" 20 39 || fail "MTU"
within "9000 bytes, IPv6: round trip in ms" "$(least -M do -s 8952 2001:db8:3::2)" 20 39 ||
	fail "MTU"
within "multicast: round trip in ms" "$(least ff02::1%big)" 20 39 || fail "multicast"

# ---- down and up, renamed: weir stays; disappears: weir says so and ends
ip -n A link set big down
ip -n A link set big up
ip -n A addr replace 2001:db8:3::1/64 dev big nodad
delays "down and up" 3 20 39
ip -n A link set big name huge
delays "renamed" 3 20 39
ip -n A link del huge
status=0
wait $last || status=$?
[ $status = 1 ] && said 'interface big is not there any more' "$work/on$n" ||
	fail "status $status: $(cat "$work/on$n")"

# ---- what is inside weir at the end comes out
on eth0 300ms
send_one()
{
	$in_a ping -c 1 -W 20 192.0.2.10 >"$work/ping" &
	ping=$!
}
# A packet that has gone before somebody looked is followed by another.
is_inside()
{
	! grep -q transmitted "$work/ping" || send_one
	[ "$("$WEIR" ctl -j -s "$socket$n" show cloud up | jq .held_packets)" = 1 ]
}
send_one
until_true is_inside || fail "no packet is inside weir"
off
wait $ping || fail "the packet inside weir is lost: $(cat "$work/ping")"

# ---- by a scenario
cat >"$work/scenario.weir" <<'EOF'
port host inside eth0
port net outside eth0
cloud down from net to host
cloud up from host to net
cloud down delay 5ms
cloud up delay 5ms
EOF
: >"$work/weir.err"
$in_a "$WEIR" run -c "$work/scenario.weir" $resting -s "$socket" >"$work/weir.out" \
	2>"$work/weir.err" &
weir_pid=$!
weir_runs
delays "scenario" 1 10 29
ctl show config | grep -q '^port host inside eth0$' || fail "$(ctl show config)"
failed=0
weir_stop
[ $failed = 0 ] || fail "weir did not end as it should"
delays "no scenario" 1 0 9.9
sed -i 's/^port host.*/port host device net_null0/' "$work/scenario.weir"
if $in_a "$WEIR" run -c "$work/scenario.weir" -s "$socket" >"$work/half" 2>&1; then
	fail "half an interface is not refused"
fi
said 'it is the outside of interface eth0, whose inside is no port' "$work/half" ||
	fail "$(cat "$work/half")"
! ip -n A link | grep -q weir || fail "something is left: $(ip -n A -br link)"
